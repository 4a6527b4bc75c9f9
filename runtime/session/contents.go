package session

import (
	"sort"
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// View says whose eyes see a log.
type View struct {
	Agent  string
	Branch string // of the agent's run
	None   bool   // only events from From on: those of the invocation
	From   int
}

// Content is something that a model is shown.
type Content struct {
	Role   string // "user" or "model"
	Parts  []Part
	At     int64  // ms since the Unix epoch
	Author string // of the event
	Event  int    // its place in the log
	Mark   uint64 // names all contents up to this one; below 2^53
}

// Size is about the number of its bytes.
func (c *Content) Size() int {
	n := 24
	for i := range c.Parts {
		n += len(c.Parts[i].Raw)
	}
	return n
}

// maxViews is how many views a log keeps the contents of.
const maxViews = 8

// projection is what a view shows, kept up to date as events come.
type projection struct {
	View
	*Log
	read     int     // events of the log that it has read
	covers   []cover // compactions that it shows
	contents []Content
	origins  []int32 // the event at whose place each content stands, ascending
}

// Contents returns what a model is shown, oldest first. The slice holds until events are added, and must not be
// changed.
//
// Shown are the events that have parts, that no later event undid, and that are in the branch of the view, in one
// around it, or in one within it. What others than the agent and the user say and do is told as text of the user,
// without their thoughts. An event with calls stands where the last response to them came, and the responses follow it;
// of several to one call the last one counts, and those without their call are left out. If that is behind something
// that the model said later, a text of the user tells so. A call that waits without any response has one that says that
// it waits. Where a compaction stands for events, its content takes their place; an event stays if a call of it waits,
// or has its response outside. Text without letters is left out.
//
// It costs time only for the events that came since it was last called for the view, unless they undo or compact
// earlier ones or respond to earlier calls.
func (l *Log) Contents(v View) []Content {
	if !v.None {
		v.From = 0
	}
	i := 0
	for i < len(l.views) && l.views[i].View != v {
		i++
	}
	if i == len(l.views) {
		if i == maxViews {
			i--
			l.views = l.views[:i]
		}
		l.views = append(l.views, &projection{View: v, Log: l})
	}
	p := l.views[i]
	copy(l.views[1:], l.views[:i])
	l.views[0] = p
	p.update()
	return p.contents[:len(p.contents):len(p.contents)]
}

func (w *projection) update() {
	l := w.Log
	if w.read == len(l.entries) {
		return
	}
	low := int32(w.read)
	for i := range l.entries[w.read:] {
		low = min(low, l.entries[w.read+i].low)
	}
	w.read = len(l.entries)
	n := len(w.origins)
	for n > 0 && w.origins[n-1] >= low {
		n--
	}
	clear(w.contents[n:])
	w.contents, w.origins = w.contents[:n], w.origins[:n]

	w.covers = l.coversOf(&w.View)
	low = max(low, int32(w.From))
	first := sort.Search(len(l.shown), func(i int) bool { return l.shown[i] >= low })
	next := sort.Search(len(w.covers), func(i int) bool { return w.covers[i].first >= low })
	for _, i := range l.shown[first:] {
		for ; next < len(w.covers) && w.covers[next].first <= i; next++ {
			w.addSummary(w.covers[next])
		}
		w.add(i)
	}
}

// coversOf returns the compactions that a view shows, in order of their ranges: those of its branch and of branches
// around it. Those inside the range of another are left out, so that the ends of the ranges ascend, too.
func (l *Log) coversOf(v *View) []cover {
	var list []cover
	for _, c := range l.covers {
		if around(l.entries[c.event].branch, v.Branch) && int(c.first) >= v.From {
			list = append(list, c)
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		switch {
		case a.first != b.first:
			return a.first < b.first
		case a.last != b.last:
			return a.last > b.last
		}
		return a.event > b.event
	})
	last, shown := int32(-1), list[:0]
	for _, c := range list {
		if c.last > last {
			last, shown = c.last, append(shown, c)
		}
	}
	return shown
}

// sees reports whether a branch is the view's, around it, or within it: all but those beside it.
func (v *View) sees(branch string) bool { return around(branch, v.Branch) || around(v.Branch, branch) }

// around reports whether a branch is another one or around it.
func around(branch, other string) bool {
	rest, ok := strings.CutPrefix(other, branch)
	return ok && (branch == "" || rest == "" || rest[0] == '.')
}

// isCovered reports whether a compaction stands for the i-th event.
func (w *projection) isCovered(i int32) bool {
	k := sort.Search(len(w.covers), func(k int) bool { return w.covers[k].last >= i })
	return k < len(w.covers) && w.covers[k].first <= i
}

// isOpen reports whether a call of an event waits, or has its response outside of what compactions stand for.
func (w *projection) isOpen(e *entry) bool {
	for c := e.call; c < e.call+e.calls; c++ {
		call := &w.calls[c]
		if call.waits && !w.hasResult(call) {
			return true
		}
		if a := w.lastAnswer(call); a >= 0 && !w.isCovered(w.answers[a].event) {
			return true
		}
	}
	return false
}

// put adds a content, whose mark has what it is made of besides.
func (w *projection) put(c Content, origin int32) {
	if n := len(w.contents); n > 0 {
		c.mark(w.contents[n-1].Mark)
	} else if w.Salt != 0 {
		c.mark(w.Salt)
	}
	c.mark(uint64(origin))
	c.mark(uint64(c.Event))
	if w.contents == nil {
		w.contents, w.origins = make([]Content, 0, 8), make([]int32, 0, 8)
	}
	w.contents, w.origins = append(w.contents, c), append(w.origins, origin)
}

// mark mixes a number into the mark: the finalizer of SplitMix64.
func (c *Content) mark(n uint64) {
	x := c.Mark*0x9e3779b97f4a7c15 + n + 1
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	c.Mark = x >> 11
}

// addSummary adds the content of a compaction.
func (w *projection) addSummary(c cover) {
	e := &w.entries[c.event]
	role, parts, _ := readContent(e.content, nil, false)
	shown := parts[:0]
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case PartThought, PartCall, PartResponse:
		default:
			if !isBlank(p) {
				shown = append(shown, *p)
			}
		}
	}
	if len(shown) > 0 {
		w.put(Content{Role: roleOr(role, "user"), Parts: shown, At: e.at, Author: e.author, Event: int(c.event)}, c.first)
	}
}

func roleOr(role, otherwise string) string {
	if role == "" {
		return otherwise
	}
	return role
}

// isBlank reports whether a part has nothing to show.
func isBlank(p *Part) bool {
	return (p.Kind == PartText || p.Kind == PartThought) && len(p.Text) == 0 && p.Signature() == nil
}

// own reports whether what an author says is shown as it is.
func (w *projection) own(author string) bool { return author == "user" || author == w.Agent }

// add adds what the view shows at the place of the i-th event: the events with calls whose last response it has, and
// itself.
func (w *projection) add(i int32) {
	e := &w.entries[i]
	for a := e.answer; a < e.answer+e.answers; a++ {
		c := w.answers[a].call
		if c < 0 {
			continue
		}
		if of := w.calls[c].event; int(of) >= w.From && w.completes(&w.entries[of]) == a {
			w.show(of, i)
		}
	}
	if w.completes(e) < 0 {
		w.show(i, i)
	}
}

// completes is the last answer to the calls of an event that the view shows as they are, -1 if there is none.
func (w *projection) completes(e *entry) int32 {
	last := int32(-1)
	if w.own(e.author) {
		for c := e.call; c < e.call+e.calls; c++ {
			last = max(last, w.lastAnswer(&w.calls[c]))
		}
	}
	return last
}

// show adds what the view shows of the i-th event at the place of another one.
func (w *projection) show(i, origin int32) {
	e := &w.entries[i]
	if e.content == nil || e.compacts || !w.sees(e.branch) {
		return
	}
	own := w.own(e.author)
	if w.isCovered(i) && !(own && w.isOpen(e)) {
		return
	}
	role, parts, _ := readContent(e.content, nil, false)
	c := Content{Role: "user", At: e.at, Author: e.author, Event: int(i)}
	if !own {
		c.Parts = told(append(make([]Part, 0, len(parts)+1), NewText("For context:")), e.author, parts, false)
		if len(c.Parts) > 1 {
			w.put(c, origin)
		}
		return
	}
	if e.author != "user" {
		c.Role = "model"
	}
	c.Role = roleOr(role, c.Role)
	c.Parts = parts[:0]
	a := e.answer
	for p := range parts {
		part := &parts[p]
		if part.Kind == PartResponse && part.ID != "" {
			call := w.answers[a].call
			if a++; call < 0 || w.confirms(a-1) || w.own(w.entries[w.calls[call].event].author) {
				continue // it stands behind its call
			}
			c.Parts = append(c.Parts, tell(e.author, part))
		} else if !isBlank(part) {
			c.Parts = append(c.Parts, *part)
		}
	}
	if len(c.Parts) > 0 {
		// Some APIs refuse a call that directly follows what the model said later.
		if n := len(w.contents); n > 0 && w.contents[n-1].Role == "model" && w.origins[n-1] > i {
			w.put(Content{Role: "user", Parts: []Part{NewText(earlier)}, At: e.at, Author: e.author, Event: int(i)}, origin)
		}
		w.put(c, origin)
	}
	w.addAnswers(e, i, origin)
}

// earlier is told in front of a call that stands behind what the model said after it.
const earlier = "For context: you made the following call earlier."

// addAnswers adds the responses to the calls of the i-th event, in the order of the calls.
func (w *projection) addAnswers(e *entry, i, origin int32) {
	c := Content{Role: "user", Event: -1}
	read := int32(-1)
	var parts []Part
	for k := e.call; k < e.call+e.calls; k++ {
		call := &w.calls[k]
		a := w.lastAnswer(call)
		from, at := i, call.part
		if a >= 0 {
			from, at = w.answers[a].event, w.answers[a].part
		} else if !call.waits {
			continue
		}
		if from != read {
			read, parts = from, w.parts(from)
		}
		part := parts[at]
		if a < 0 {
			part = NewResponse(call.id, part.Name, pending)
		}
		c.Parts = append(c.Parts, part)
		c.mark(uint64(a))
		if int(from) > c.Event {
			e := &w.entries[from]
			c.At, c.Author, c.Event = e.at, e.author, int(from)
		}
	}
	if c.Event >= 0 {
		w.put(c, origin)
	}
}

// pending is the response to a call that waits: {"status": "pending"}.
var pending = []byte("\x81\xa6status\xa7pending")

// told appends what an author said and did, in words. Data and files stay as they are, unless notes are asked for.
func told(list []Part, author string, parts []Part, notes bool) []Part {
	for p := range parts {
		part := &parts[p]
		switch part.Kind {
		case PartThought:
			continue
		case PartText:
			if len(part.Text) == 0 && !(notes && part.Signature() != nil) {
				continue
			}
		case PartOther, PartCodeResult:
			if notes {
				list = append(list, NewText("["+author+"] "+string(part.Note())))
				continue
			}
		}
		list = append(list, tell(author, part))
	}
	return list
}

// tell is a part of another agent's event in words. Data and files stay as they are.
func tell(author string, part *Part) Part {
	said := ""
	switch part.Kind {
	case PartText:
		said = "said: " + string(part.Text)
	case PartCall:
		said = "called tool `" + part.Name + "` with " + jsonOf(part.Value)
	case PartResponse:
		said = "tool `" + part.Name + "` returned " + jsonOf(part.Value)
	default:
		return *part
	}
	return NewText("[" + author + "] " + said)
}

func jsonOf(v []byte) string {
	text, _ := value.AppendJSON(nil, v)
	return string(text)
}
