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
	log      *Log
	read     int     // events of the log that it has read
	covers   []cover // compactions that it shows
	contents []Content
	origins  []int // the event at whose place each content stands, ascending
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
		l.views = append(l.views, &projection{View: v, log: l})
	}
	p := l.views[i]
	copy(l.views[1:], l.views[:i])
	l.views[0] = p
	p.update()
	return p.contents[:len(p.contents):len(p.contents)]
}

func (w *projection) update() {
	l := w.log
	if w.read == len(l.entries) {
		return
	}
	low := w.read
	for _, e := range l.entries[w.read:] {
		low = min(low, e.low)
	}
	w.read = len(l.entries)
	n := len(w.origins)
	for n > 0 && w.origins[n-1] >= low {
		n--
	}
	clear(w.contents[n:])
	w.contents, w.origins = w.contents[:n], w.origins[:n]

	w.covers = l.coversOf(&w.View)
	low = max(low, w.From)
	first, next := len(l.shown), len(w.covers)
	for first > 0 && l.shown[first-1].place >= low {
		first--
	}
	for next > 0 && w.covers[next-1].first >= low {
		next--
	}
	for _, e := range l.shown[first:] {
		for ; next < len(w.covers) && w.covers[next].first <= e.place; next++ {
			w.addSummary(&w.covers[next])
		}
		w.add(e)
	}
}

// coversOf returns the compactions that a view shows, in order of their ranges: those of its branch and of branches
// around it. Those inside the range of another are left out, so that the ends of the ranges ascend, too.
func (l *Log) coversOf(v *View) []cover {
	if len(l.covers) == 0 {
		return nil
	}
	var list []cover
	for _, c := range l.covers {
		if around(c.event.branch, v.Branch) && c.first >= v.From {
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
		return a.event.place > b.event.place
	})
	last, shown := -1, list[:0]
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

// isCovered reports whether a compaction stands for an event.
func (w *projection) isCovered(e *entry) bool {
	k, end := 0, len(w.covers)
	for k < end {
		if middle := (k + end) / 2; w.covers[middle].last < e.place {
			k = middle + 1
		} else {
			end = middle
		}
	}
	return k < len(w.covers) && w.covers[k].first <= e.place
}

// isOpen reports whether a call of an event waits, or has its response outside of what compactions stand for.
func (w *projection) isOpen(e *entry) bool {
	for c := e.calls; c != nil; c = c.next {
		if c.waits && !c.hasResult() {
			return true
		}
		if a := c.lastAnswer(); a != nil && !w.isCovered(a.event) {
			return true
		}
	}
	return false
}

// put adds a content, whose mark has what it is made of besides.
func (w *projection) put(c *Content, origin int) {
	if n := len(w.contents); n > 0 {
		c.mark(w.contents[n-1].Mark)
	} else if w.log.Salt != 0 {
		c.mark(w.log.Salt)
	}
	c.mark(uint64(origin))
	c.mark(uint64(c.Event))
	if w.contents == nil {
		w.contents, w.origins = make([]Content, 0, 8), make([]int, 0, 8)
	}
	w.contents, w.origins = append(w.contents, *c), append(w.origins, origin)
}

// mark mixes a number into the mark: the finalizer of SplitMix64.
func (c *Content) mark(n uint64) {
	x := c.Mark*0x9e3779b97f4a7c15 + n + 1
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	c.Mark = x >> 11
}

// of makes the content that of an event, in the role of somebody.
func (c *Content) of(e *entry, role string) {
	c.Role, c.At, c.Author, c.Event = role, e.at, e.author, e.place
}

// addSummary adds the content of a compaction.
func (w *projection) addSummary(of *cover) {
	role, parts, _ := readContent(of.event.content, false)
	var c Content
	c.of(of.event, roleOr(role, "user"))
	c.Parts = parts[:0]
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case PartThought, PartCall, PartResponse:
		default:
			c.show(p)
		}
	}
	if len(c.Parts) > 0 {
		w.put(&c, of.first)
	}
}

func roleOr(role, otherwise string) string {
	if role == "" {
		return otherwise
	}
	return role
}

// show adds a part that has something to show.
func (c *Content) show(p *Part) {
	if p.Kind != PartText && p.Kind != PartThought || len(p.Text) > 0 || p.Signature() != nil {
		c.Parts = addPart(c.Parts, p)
	}
}

// own reports whether what an author says is shown as it is.
func (w *projection) own(author string) bool { return author == "user" || author == w.Agent }

// add adds what the view shows at the place of an event: the events with calls whose last response it has, and itself.
func (w *projection) add(e *entry) {
	for a := e.answers; a != nil; a = a.next {
		if a.call == nil {
			continue
		}
		if of := a.call.event; of.place >= w.From && w.completes(of) == a {
			w.show(of, e.place)
		}
	}
	if w.completes(e) == nil {
		w.show(e, e.place)
	}
}

// completes is the last answer to the calls of an event that the view shows as they are, nil if there is none.
func (w *projection) completes(e *entry) (last *answer) {
	if !w.own(e.author) {
		return nil
	}
	for c := e.calls; c != nil; c = c.next {
		if a := c.lastAnswer(); last == nil || a != nil && a.number > last.number {
			last = a
		}
	}
	return last
}

// show adds what the view shows of an event at the place of another one.
func (w *projection) show(e *entry, origin int) {
	if e.content == nil || e.compacts || !w.sees(e.branch) {
		return
	}
	own := w.own(e.author)
	if w.isCovered(e) && !(own && w.isOpen(e)) {
		return
	}
	role, parts, _ := readContent(e.content, false)
	var c Content
	if !own {
		c.of(e, "user")
		c.Parts = told(TextParts("For context:"), e.author, parts, false)
		if len(c.Parts) > 1 {
			w.put(&c, origin)
		}
		return
	}
	if e.author != "user" {
		role = roleOr(role, "model")
	}
	c.of(e, roleOr(role, "user"))
	c.Parts = parts[:0]
	a := e.answers
	for p := range parts {
		part := &parts[p]
		if part.Kind != PartResponse || part.ID == "" {
			c.show(part)
			continue
		}
		if a.call != nil && !a.confirms() && !w.own(a.call.event.author) { // others stand behind their calls
			c.Parts = tell(c.Parts, e.author, part)
		}
		a = a.next
	}
	if len(c.Parts) > 0 {
		// Some APIs refuse a call that directly follows what the model said later.
		if n := len(w.contents); n > 0 && w.contents[n-1].Role == "model" && w.origins[n-1] > e.place {
			before := Content{Parts: TextParts(earlier)}
			before.of(e, "user")
			w.put(&before, origin)
		}
		w.put(&c, origin)
	}
	w.addAnswers(e, origin)
}

// earlier is told in front of a call that stands behind what the model said after it.
const earlier = "For context: you made the following call earlier."

// addAnswers adds the responses to the calls of an event, in the order of the calls.
func (w *projection) addAnswers(e *entry, origin int) {
	c := Content{Event: -1}
	var read *entry
	var parts []Part
	for call := e.calls; call != nil; call = call.next {
		a := call.lastAnswer()
		from, at, number := e, call.part, -1
		if a != nil {
			from, at, number = a.event, a.part, a.number
		} else if !call.waits {
			continue
		}
		if from != read {
			read, parts = from, from.parts()
		}
		part := &parts[at]
		if a == nil {
			waits := NewResponse(call.id, part.Name, pending)
			part = &waits
		}
		c.Parts = addPart(c.Parts, part)
		c.mark(uint64(number))
		if from.place > c.Event {
			c.of(from, "user")
		}
	}
	if c.Event >= 0 {
		w.put(&c, origin)
	}
}

// pending is the response to a call that waits: {"status": "pending"}.
var pending = []byte("\x81\xa6status\xa7pending")

// told appends what an author said and did, in words. Data and files stay as they are, unless notes are asked for.
func told(list []Part, author string, parts []Part, notes bool) []Part {
	for p := range parts {
		part := &parts[p]
		switch {
		case part.Kind == PartThought:
		case part.Kind == PartText && len(part.Text) == 0 && !(notes && part.Signature() != nil):
		case notes && (part.Kind == PartOther || part.Kind == PartCodeResult):
			list = addQuoted(list, author, string(part.Note()))
		default:
			list = tell(list, author, part)
		}
	}
	return list
}

// tell appends a part of another agent's event in words. Data and files stay as they are.
func tell(list []Part, author string, part *Part) []Part {
	said := ""
	switch part.Kind {
	case PartText:
		said = "said: " + string(part.Text)
	case PartCall:
		said = "called tool `" + part.Name + "` with " + jsonOf(part.Value)
	case PartResponse:
		said = "tool `" + part.Name + "` returned " + jsonOf(part.Value)
	default:
		return addPart(list, part)
	}
	return addQuoted(list, author, said)
}

// addQuoted adds a text that says whose words it has.
func addQuoted(list []Part, author, said string) []Part {
	p := NewText("[" + author + "] " + said)
	return addPart(list, &p)
}

//go:noinline
func addPart(list []Part, p *Part) []Part { return append(list, *p) }

func jsonOf(v []byte) string {
	text, _ := value.AppendJSON(nil, v)
	return string(text)
}
