package chat

import (
	"github.com/turncore/turncore/abi/value"
)

// Given is data that an endpoint sends with an answer and expects back: a map, whose members go back unchanged. One of
// them may be a list of maps that arrives in pieces.
type Given struct {
	Members []byte // map without the list; nil for none
	List    string // name of the list; without a name it does not go back
	Last    []byte // the list's last entry, with the latest piece of its text; nil for none

	name  string // field name of that text
	text  []byte // all pieces of it
	list  []byte // values of the entries before the last one
	count int    // entries
}

const (
	entryBytes = 64       // counted for an entry in addition to its members
	maxGrowing = 64 << 10 // largest entry that may grow, since each piece copies it
)

// Given is the data to send back so far. Report changes to it with Keep.
func (a *Answer) Given() *Given { return &a.given }

// Keep adds growth of the data to the answer's size.
func (a *Answer) Keep(grown int) {
	a.pieces.count++
	a.kept = true
	a.fits(grown)
}

// Entry adds an entry to the list; with grows it merges a map into the last entry. text is the entry's text, or a piece
// of it, in the field name.
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

// flush completes the last entry with its whole text.
func (g *Given) flush() {
	if len(g.text) > 0 {
		g.Last = Merge(g.Last, value.AppendText(value.AppendString(value.AppendMapHeader(nil, 1), g.name), g.text))
	}
	g.list, g.text = append(g.list, g.Last...), g.text[:0]
}

// keepGiven attaches the data to the first thought; if there is none, it adds an empty one.
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
