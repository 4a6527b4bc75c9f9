package turn

import (
	"fmt"
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/record"
)

// KeepResult keeps a tool handler's result under the effect's number. The caller holds no lock.
func (e *Effect) KeepResult(result any) {
	e.turn.mu.Lock()
	defer e.turn.mu.Unlock()
	e.turn.keep(e.Number, result)
}

// StandFor keeps a tool handler's result and tells the core what stands for it: its parts. The caller holds no lock.
func (e *Effect) StandFor(result any, parts []byte) error {
	t := e.turn
	if n := len(parts); n > t.core.MaxBody() {
		return TooLarge("", "a result", n, t.core.MaxBody(), nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.late {
		return nil
	}
	t.keep(e.Number, result)
	t.Edit(&abi.Edit{
		Context: e.Context.number, Collection: abi.CollectionToolCalls, Edit: abi.EditKeep, Handle: int64(e.Number), Data: abi.Bytes(parts),
	})
	return nil
}

// keep keeps a handler's result. The caller holds t.mu.
func (t *Turn) keep(effect uint32, result any) {
	if t.kept == nil {
		t.kept = make(map[uint32]any)
	}
	t.kept[effect] = result
}

// TakeKept returns what is kept of an effect, which is kept no longer. The caller holds the turn's lock.
func (t *Turn) TakeKept(effect uint32) any {
	result := t.kept[effect]
	delete(t.kept, effect)
	return result
}

// reported is the result that a tool call event shows by the number of the effect that gave it.
func (t *Turn) reported(effect uint32) (any, error) {
	if result, ok := t.kept[effect]; ok {
		return result, nil
	}
	return nil, fmt.Errorf("nothing is kept of effect %d", effect)
}

// adoptResult gives a tool call that the core has made the result that its body stands for. It is kept no longer.
func (t *Turn) adoptResult(r record.Record, effect int64) error {
	c, ok := r.(*record.ToolCall)
	if !ok || effect < 0 || effect > math.MaxUint32 {
		return fmt.Errorf("sync: effect %d has no record for its result", effect)
	}
	if c.Results, ok = t.kept[uint32(effect)]; !ok {
		return fmt.Errorf("sync: nothing is kept of effect %d", effect)
	}
	delete(t.kept, uint32(effect))
	return nil
}
