package turn

import (
	"slices"
	"sync"

	"github.com/turncore/turncore/host/event"
)

// Gates lists the open gates of a runner's turns, so that they can be settled from outside.
type Gates struct {
	mu     sync.Mutex
	last   uint64
	byID   gatesBy[string]
	byTurn gatesBy[gateName]
}

// gateName names a gate of a turn.
type gateName struct{ turnID, id string }

func (b *Gates) add(g *openGate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	g.sequence = b.last
	b.byID.add(g.id, g)
	b.byTurn.add(gateName{g.turn.ID, g.id}, g)
}

func (b *Gates) remove(g *openGate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byID.remove(g.id, g)
	b.byTurn.remove(gateName{g.turn.ID, g.id}, g)
}

// Find returns the one open gate with an id, of one turn or (turnID empty) of any.
func (b *Gates) Find(id, turnID string) (gate event.OpenGate, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.byTurn.only(gateName{turnID, id})
	if turnID == "" {
		found = b.byID.only(id)
	}
	if found == nil {
		return nil, false
	}
	return found, true
}

// List returns the open gates in the order in which they were opened.
func (b *Gates) List() []event.OpenGate {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*openGate
	for _, same := range b.byID {
		all = same.appendTo(all)
	}
	slices.SortFunc(all, func(a, b *openGate) int { return int(int64(a.sequence) - int64(b.sequence)) })
	gates := make([]event.OpenGate, len(all))
	for i, g := range all {
		gates[i] = g
	}
	return gates
}

// gatesBy are gates by a key that several may have.
type gatesBy[K comparable] map[K]sameGates

// sameGates are the gates of one key: most have one of their own, which needs no set.
type sameGates struct {
	one  *openGate              // nil when there are more, or have been
	more map[*openGate]struct{} // nil for one
}

func (by *gatesBy[K]) add(key K, g *openGate) {
	if *by == nil {
		*by = make(gatesBy[K])
	}
	same, there := (*by)[key]
	switch {
	case !there:
		same.one = g
	case same.more == nil:
		same = sameGates{more: map[*openGate]struct{}{same.one: {}, g: {}}}
	default:
		same.more[g] = struct{}{}
	}
	(*by)[key] = same
}

func (by gatesBy[K]) remove(key K, g *openGate) {
	same := by[key]
	delete(same.more, g)
	if same.one == g || same.one == nil && len(same.more) == 0 {
		delete(by, key)
	}
}

// only returns the gate that alone has a key, or nil.
func (by gatesBy[K]) only(key K) *openGate {
	same := by[key]
	if len(same.more) == 1 {
		for g := range same.more {
			return g
		}
	}
	return same.one
}

func (s sameGates) appendTo(list []*openGate) []*openGate {
	if s.one != nil {
		return append(list, s.one)
	}
	for g := range s.more {
		list = append(list, g)
	}
	return list
}
