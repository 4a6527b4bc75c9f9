package chat

// leading separates reasoning from the beginning of an answer's text: the part between <think>, which may only follow
// white space, and </think> or the end of the text. Everything else is prose, whatever it contains; only the white
// space after the tags is dropped. It holds back a possible start of a tag, and white space that may precede one.
type leading struct {
	place leadingPlace
	tag   int    // length of the prefix of leadingTag at the end of the text; 0 for none
	held  []byte // text not passed on yet
	sure  int    // bytes of it known to be reasoning; the others are undecided
}

// leadingPlace is the position in the text.
type leadingPlace uint8

const (
	inProse   leadingPlace = iota // the rest is prose
	atStart                       // so far there is only white space
	inThought                     // after the opening tag
	behind                        // after the closing tag, with only white space so far
)

// leadingTag is the closing tag; without the slash it is the opening one.
const leadingTag = "</think>"

// lead processes the next part of a text that may still contain reasoning.
func (a *Answer) lead(text []byte) {
	l := &a.leading
	for i, c := range text {
		if l.tag > 0 && l.place == inThought && c != leadingTag[l.tag] { // it was not the tag
			l.tag, l.sure = 0, len(l.held)
		}
		l.held = append(l.held, c)
		switch {
		case l.place != behind && c == leadingTag[l.tag]:
			if l.tag++; l.tag == 1 && l.place == atStart {
				l.tag++
			}
			if l.tag == len(leadingTag) {
				l.place++
				l.tag, l.held = 0, l.held[:l.sure]
			}
		case l.tag == 0 && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			if l.place == behind || l.place == inThought && l.sure == 0 && a.ThoughtLen(inText) < 0 {
				l.held = l.held[:len(l.held)-1]
			}
		case l.place == inThought:
			l.sure = len(l.held)
		default:
			l.place = inProse
			a.think(inText, l.held[:l.sure])
			a.prose(append(l.held[l.sure:], text[i+1:]...))
			return
		}
	}
	if l.sure > 0 {
		a.think(inText, l.held[:l.sure])
		l.held, l.sure = append(l.held[:0], l.held[l.sure:]...), 0
	}
}

// endLead releases the held text at the end: an incomplete tag, or white space.
func (a *Answer) endLead() {
	l := &a.leading
	switch {
	case l.place == atStart:
		a.prose(l.held)
	case l.place == inThought && l.tag > 0:
		a.think(inText, l.held)
	}
	l.place = inProse
}
