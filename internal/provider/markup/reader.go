package markup

import "slices"

// DefaultLimit is the limit of a [Reader] that sets none.
const DefaultLimit = 8 << 20

// Options say what a [Reader] looks for.
type Options struct {
	// Formats are the formats to look for. What belongs to no format of the set is prose.
	Formats Formats
	// Tools are the names of the offered tools. Forms of a call that have only a name to go by are looked for with
	// these names.
	Tools []string
	// Opened says that the prompt ends inside reasoning of the first format of reasoning in the set: the text begins
	// with reasoning.
	Opened bool
	// NoOrphans makes a marker of reasoning whose partner is missing a part of the text. Reasoning is then held back
	// until it is closed.
	NoOrphans bool
	// Limit bounds the text of a call behind the marker that opens it, in bytes; 0 is DefaultLimit.
	Limit int
}

// Kind is what a piece of text is.
type Kind uint8

// The kinds of pieces.
const (
	// Prose is text for the user.
	Prose Kind = iota
	// Thought is reasoning.
	Thought
	// Recall says that the last N bytes of prose were reasoning: a closing marker has come whose opening one was in
	// the prompt. The piece has no text.
	Recall
)

// Piece is a piece of a text. Its text is valid until the function it was given to returns.
type Piece struct {
	Kind Kind
	Text []byte
	N    int // for Recall
}

// Result is what the end of a text makes certain.
type Result struct {
	Calls  []Call
	Excess int // number of calls beyond MaxCalls; they are dropped
}

// Reader takes a text apart into prose, reasoning and calls while it comes. It holds back what may become a marker, the
// text of a call that is not complete, and white space that may stand before a marker. A Reader that has ended is
// spent.
type Reader struct {
	options Options
	tools   []string  // sorted
	lead    [256]bool // bytes that a marker, or a call without one, begins with
	emit    func(Piece)
	final   bool // nothing follows the text

	held  buffer    // text that is not decided
	last  byte      // the byte before it, 0 at the start and behind markup
	blank bool      // there is no prose before the place that is looked at
	c     candidate // what the held text may be, if c.form is set
	over  bool      // the candidate is longer than the limit, and not kept
	head  buffer    // the start of it
	think Formats   // the format of the reasoning that the text is inside of
	bare  bool      // nothing of that reasoning has come

	prose, thought flow
	fresh          int  // bytes of prose since reasoning was closed last
	spoke          bool // there was prose before that
	former         int  // calls before that

	calls  []Call
	excess int
	work   int // bytes looked at
}

// New returns a reader for one answer of a model.
func New(o Options) *Reader {
	r := &Reader{options: o, tools: slices.Clone(o.Tools)}
	r.thought.kind = Thought
	if r.options.Limit == 0 {
		r.options.Limit = DefaultLimit
	}
	slices.Sort(r.tools)
	for i := range forms {
		f := &forms[i]
		if f.format&o.Formats == 0 {
			continue
		}
		for _, c := range []byte(f.lead) {
			r.lead[c] = true
		}
		if f.flags&offered != 0 {
			for _, name := range r.tools {
				if name != "" {
					r.lead[name[0]] = true
				}
			}
		}
	}
	for i := range marks {
		if m := &marks[i]; m.format == 0 || m.format&o.Formats != 0 {
			r.lead[m.text[0]] = true
		}
	}
	if o.Opened && o.Formats&Reasoning != 0 {
		r.openThought(o.Formats & Reasoning & -(o.Formats & Reasoning))
	}
	return r
}

// Write takes the next part of the text and calls emit for each piece that is certain by then. It keeps nothing of
// delta. Where a text is cut into parts changes nothing but the size of pieces.
func (r *Reader) Write(delta []byte, emit func(Piece)) {
	r.emit = emit
	if len(r.held) == 0 {
		r.held.text(delta[r.run(delta):])
	} else {
		r.held.text(delta)
		if n := r.run(r.held); n > 0 {
			r.held.set(r.held[n:])
			r.work += len(r.held)
		}
	}
	r.emit = nil
}

// End says that the text has ended. It calls emit for the pieces that remain and returns the calls.
func (r *Reader) End(emit func(Piece)) Result {
	r.emit, r.final = emit, true
	r.run(r.held)
	r.held = nil
	r.prose.end(r)
	r.emit = nil
	return Result{r.calls, r.excess}
}

// run decides what can be decided of t and returns how much that is.
func (r *Reader) run(t []byte) int {
	at, wait := 0, false
	for !wait && (at < len(t) || r.final && r.c.form != nil) {
		var n int
		switch {
		case r.c.form != nil:
			n, wait = r.runCandidate(t[at:])
		case r.think != 0:
			n, wait = r.runThought(t[at:])
		default:
			n, wait = r.runText(t[at:])
		}
		at += n
	}
	return at
}

// runText takes prose up to the next marker.
func (r *Reader) runText(t []byte) (n int, wait bool) {
	r.blank = !r.prose.begun
	before := r.last
	for i, c := range t {
		r.work++
		if r.lead[c] && !(nameByte(c) && nameByte(before)) {
			f, m, n := r.find(t[i:])
			if n == more {
				r.add(t[:i])
				return i, true
			}
			if n >= 0 {
				r.add(t[:i])
				r.last = 0
				return i + r.begin(f, m, n), false
			}
		}
		before = c
		r.blank = r.blank && space(c)
	}
	n = len(t)
	if !r.final {
		n -= partialRune(t)
	}
	r.add(t[:n])
	return n, true
}

// add adds prose.
func (r *Reader) add(t []byte) {
	if len(t) > 0 {
		r.last = t[len(t)-1]
		r.prose.add(r, t)
	}
}

// find looks for a marker at the start of t, or a call without one.
func (r *Reader) find(t []byte) (f *form, m *marker, n int) {
	for i := range forms {
		f = &forms[i]
		if f.format&r.options.Formats == 0 || f.flags&start != 0 && !r.blank || f.flags&weak != 0 && len(r.calls) > 0 && r.calls[0].Format&f.format == 0 {
			continue
		}
		if inSet(t, 0, f.lead) < 0 && (f.flags&offered == 0 || !nameByte(t[0])) {
			continue
		}
		r.c = candidate{}
		r.work++
		if n = r.match(&r.c, f.open, t, 0); n >= 0 || n == more && !r.final {
			if n == more {
				r.work += len(t)
			}
			return f, nil, n
		}
	}
	m, n = r.mark(t, false)
	return nil, m, n
}

// begin acts on a marker of n bytes and returns how many of them are done with.
func (r *Reader) begin(f *form, m *marker, n int) int {
	format := Formats(0)
	switch {
	case f != nil && f.steps != nil:
		r.beginCandidate(f, n)
		return 0
	case f != nil:
		format = f.format & r.c.thought
	case m.kind == closesThought:
		r.recall()
		return n
	case m.kind == opensThought:
		format = m.format
	}
	r.prose.cut = true
	if format != 0 && r.options.NoOrphans {
		r.c = candidate{thought: format}
		r.beginCandidate(&heldThought, n)
		return 0
	}
	if format != 0 {
		r.openThought(format)
	}
	return n
}
