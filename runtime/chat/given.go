package chat

import (
	"github.com/turncore/turncore/abi/value"
)

// Given is what an endpoint gives with an answer to have it back: a map, whose members go back as they came. One of them may be
// a list of maps that are told piece by piece.
type Given struct {
	Members []byte // map without the list; nil for none
	List    string // name of the list; it does not go back without one
	Last    []byte // the list's last entry, with the last piece of its text; nil for none

	name  string // of that text
	text  []byte // all pieces of it
	list  []byte // values of the entries before the last one
	count int    // entries
}

const (
	entryBytes = 64       // what an entry counts for the size of the answer, beside its members
	maxGrowing = 64 << 10 // bytes of an entry that may grow, as it is copied each time
)

// Given is what of the answer goes back so far. Who changes it tells by Keep.
func (a *Answer) Given() *Given { return &a.given }

// Keep tells that what goes back has grown by so many bytes, which count for the answer's size.
func (a *Answer) Keep(grown int) {
	a.pieces.count++
	a.kept = true
	a.fits(grown)
}

// Entry adds an entry to the list, or to the last one what a map says, where grows tells so. text is its text, or a piece of
// that, which stands under the name.
func (a *Answer) Entry(v []byte, grows bool, name string, text []byte) {
	g := &a.given
	before := len(g.Last)
	if grows && before > 0 && before < maxGrowing {
		g.Last = Merge(g.Last, v)
	} else {
		g.flush()
		g.Last, before = v, len(text)-entryBytes
		g.count++
	}
	if len(text) > 0 {
		g.name, g.text = name, append(g.text, text...)
	}
	a.Keep(len(g.Last) - before + len(text))
}

// flush puts the last entry to the others, with all of its text.
func (g *Given) flush() {
	if len(g.text) > 0 {
		g.Last = Merge(g.Last, value.AppendText(value.AppendString(value.AppendMapHeader(nil, 1), g.name), g.text))
	}
	g.list, g.text = append(g.list, g.Last...), g.text[:0]
}

// keepGiven puts what goes back with the first thought, which has no words where there is none.
func (a *Answer) keepGiven() {
	g := &a.given
	payload := g.Members
	if g.List != "" {
		g.flush()
		list := value.AppendListHeader(value.AppendString(value.AppendMapHeader(nil, 1), g.List), g.count)
		payload = Merge(payload, append(list, g.list...))
	}
	if payload == nil || !fits(payload) {
		return
	}
	if len(a.thoughts) == 0 {
		a.thoughtOf(Block)
	}
	a.thoughts[0].payload = payload
}
