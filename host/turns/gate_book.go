package turns

import (
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
)

// gateBook lists the open gates of a runner's turns, so that they can be settled from outside.
type gateBook struct {
	mu     sync.Mutex
	last   uint64
	byID   gatesBy[string]
	byTurn gatesBy[gateName]
}

// gateName names a gate of a turn.
type gateName struct{ turnID, id string }

func (b *gateBook) add(g *openGate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	g.sequence = b.last
	b.byID.add(g.id, g)
	b.byTurn.add(gateName{g.turn.id, g.id}, g)
}

func (b *gateBook) remove(g *openGate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.byID.remove(g.id, g)
	b.byTurn.remove(gateName{g.turn.id, g.id}, g)
}

// find returns the one open gate with an id, of one turn or (turnID empty) of any.
func (b *gateBook) find(id, turnID string) (gate event.OpenGate, ok bool) {
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

func (b *gateBook) list() []event.OpenGate {
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

// Gate returns the open gate with the given id, for outside code to settle: an HTTP handler, another goroutine. ok is
// false if there is none, or if several turns have an open gate with that id, because a guess could approve the wrong
// one: then use GateOf.
func (r *TurnRunner) Gate(id string) (gate event.OpenGate, ok bool) { return r.gates.find(id, "") }

// GateOf returns the open gate with the given id of one turn; ok is false if the turn has none or several.
func (r *TurnRunner) GateOf(turnID, id string) (gate event.OpenGate, ok bool) {
	if turnID == "" {
		return nil, false
	}
	return r.gates.find(id, turnID)
}

// Gates returns the open gates of all the runner's turns, in the order in which they were opened.
func (r *TurnRunner) Gates() []event.OpenGate { return r.gates.list() }

// noteGate follows the gates that open and close. The caller holds t.mu.
func (t *turn) noteGate(f *abi.Event) error {
	if event.Kind(f.Kind) == event.KindTurnGateClosed {
		p, err := abi.Decode[abi.GateClosedEvent](f.Payload)
		if g := t.gates[p.Gate]; err == nil && g != nil {
			t.closeGate(g, event.GateResult(p.Result))
		}
		return err
	}
	p, err := abi.Decode[abi.GateOpenEvent](f.Payload)
	if err != nil {
		return err
	}
	text, err := wire.JSON(orNil(p.Payload))
	if err != nil {
		return err
	}
	g := &openGate{
		turn: t, number: p.Gate, dispatch: f.Dispatch, id: p.ID, reason: p.Reason, payload: text,
		createdAt: time.UnixMilli(p.CreatedAt).UTC(), digest: p.Digest,
	}
	if t.gates == nil {
		t.gates = make(map[uint32]*openGate)
	}
	t.gates[p.Gate], t.opened = g, g
	if t.book != nil {
		t.book.add(g)
	}
	return nil
}

func (t *turn) closeGate(g *openGate, result event.GateResult) {
	g.settled, g.result = true, result
	delete(t.gates, g.number)
	if t.book != nil {
		t.book.remove(g)
	}
}

// gateEvent makes the event that opens or closes a gate.
func (t *turn) gateEvent(h event.Head, f *abi.Event) (event.Event, error) {
	if event.Kind(f.Kind) == event.KindTurnGateOpen {
		return &event.TurnGateOpen{Head: h, Gate: t.opened}, nil
	}
	p, err := abi.Decode[abi.GateClosedEvent](f.Payload)
	return &event.TurnGateClosed{Head: h, GateID: p.ID, Result: event.GateResult(p.Result)}, err
}

// abandonGates closes the gates of a turn whose instance has died. The caller holds t.mu.
func (t *turn) abandonGates() {
	var open []*openGate
	for _, g := range t.gates {
		open = append(open, g)
	}
	slices.SortFunc(open, func(a, b *openGate) int { return int(a.number) - int(b.number) })
	for _, g := range open {
		t.closeGate(g, event.GateAborted)
		scope := abi.ScopeTurn
		if g.dispatch > 0 {
			scope |= abi.ScopeDispatch
		}
		h := t.nextHead(begun{dispatch: g.dispatch, iteration: -1})
		t.announce(&event.TurnGateClosed{Head: h, GateID: g.id, Result: event.GateAborted}, scope, g.dispatch)
	}
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
