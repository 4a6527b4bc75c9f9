package markup

import (
	"bytes"
	"unicode/utf8"
)

// flow is the prose or the reasoning of a text on its way out. Where markup is cut out, the white space on one side
// of it remains, a line end if there is one, and none at the start and at the end of the text.
type flow struct {
	kind  Kind
	begun bool   // something has come out
	cut   bool   // markup was cut out behind the last text
	space buffer // white space behind the last text
	after buffer // white space behind the markup
}

func (f *flow) add(r *Reader, t []byte) {
	n := spaceEnd(t, 0)
	if n == len(t) || f.cut || !f.begun {
		if f.cut {
			f.after.text(t[:n])
		} else {
			f.space.text(t[:n])
		}
		if t = t[n:]; len(t) == 0 {
			return
		}
	}
	if f.cut {
		if !f.begun {
			f.space = f.space[:0]
		} else if len(f.space) == 0 || bytes.IndexByte(f.space, '\n') < 0 && bytes.IndexByte(f.after, '\n') >= 0 {
			f.space.set(f.after)
		}
		f.after = f.after[:0]
	}
	f.begun, f.cut = true, false
	end := len(t)
	for space(t[end-1]) {
		end--
	}
	if len(f.space) > 0 {
		f.space.text(t[:end])
		f.out(r, f.space)
		f.space = f.space[:0]
	} else {
		f.out(r, t[:end])
	}
	f.space.text(t[end:])
}

func (f *flow) out(r *Reader, t []byte) {
	if f.kind == Prose {
		r.fresh += len(t)
	}
	r.emit(Piece{Kind: f.kind, Text: t})
}

// reopen begins another block, with an empty line between it and the one before.
func (f *flow) reopen() {
	f.space.set([]byte("\n\n"))
	f.after, f.cut = f.after[:0], true
}

// end gives out white space at the end of a text that no markup follows.
func (f *flow) end(r *Reader) {
	if !f.cut && len(f.space) > 0 {
		f.out(r, f.space)
	}
}

// partialRune returns the length of a character at the end of t whose rest has not come.
func partialRune(t []byte) int {
	for n := 1; n <= min(len(t), utf8.UTFMax-1); n++ {
		if c := t[len(t)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(t[len(t)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Output puts pieces together.
type Output struct {
	Prose, Reasoning []byte
}

// Add adds a piece, or takes prose back.
func (o *Output) Add(p Piece) {
	switch p.Kind {
	case Prose:
		o.Prose = append(o.Prose, p.Text...)
	case Thought:
		o.Reasoning = append(o.Reasoning, p.Text...)
	case Recall:
		if len(o.Reasoning) > 0 {
			o.Reasoning = append(o.Reasoning, '\n', '\n')
		}
		from := len(o.Prose) - p.N
		o.Reasoning = append(o.Reasoning, o.Prose[from+spaceEnd(o.Prose[from:], 0):]...)
		o.Prose = o.Prose[:from]
	}
}
