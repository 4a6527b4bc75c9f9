package chat

// leading takes reasoning off the beginning of an answer's text: what stands between <think>, with which the text begins but
// for white space, and </think> or the end of the text. All else is prose, whatever is in it; of that, only the white space
// behind the tags is cut out. It holds back what may be the start of a tag, and white space that may stand before one.
type leading struct {
	place leadingPlace
	tag   int    // bytes of leadingTag that the text ends with; 0 for none
	held  []byte // text that is not told
	sure  int    // bytes of it that are reasoning; of the others it is not known
}

// leadingPlace is where in a text the answer is.
type leadingPlace uint8

const (
	inProse   leadingPlace = iota // nothing is looked for
	atStart                       // nothing but white space has come
	inThought                     // behind the tag that opens it
	behind                        // behind the tag that closes it; nothing but white space has come
)

// leadingTag closes reasoning, and without the slash opens it.
const leadingTag = "</think>"

// lead takes the next part of a text of which it is not known that all is prose.
func (a *Answer) lead(text []byte) {
	l := &a.leading
	for i, c := range text {
		if l.tag > 0 && l.place == inThought && c != leadingTag[l.tag] { // that was none
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

// endLead takes what is held back at the end of the text: the start of no tag, or white space.
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
