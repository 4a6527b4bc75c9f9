package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/record"
)

// actor is a goroutine's part in a turn: what its own steps caused and what it waits for.
type actor struct {
	call    *call     // the reply that it waits for; nil for none
	whole   bool      // it waits for the turn's end
	busy    bool      // it has something else to do than to run effects
	first   bool      // its steps go before those that wait
	effects []*effect // caused by its steps, not started yet
	mark    uint64    // deliveries that its steps caused lie below
}

// call is a method call that waits for its reply.
type call struct {
	arrived   bool // the reply has come out of the core
	delivered bool // and all that came before it was delivered
	value     []byte
	err       error
}

// delivery is something that came out of the core and has not had its effect on user code yet.
type delivery struct {
	event  event.Event
	scope  uint8
	number uint32 // of the dispatch that an event is from
	call   *call
	effect *effect
	acked  *DispatchContext // was acked inside the core
	cancel uint32
	tick   uint64 // a Timer that is due already
	end    bool
}

// push hands the queued edits to the core. The caller holds t.mu.
func (t *turn) push() error {
	t.edits.close(t.number)
	if len(t.edits.frames) == 0 || t.closed {
		return nil
	}
	return t.exchange(&actor{}, nil)
}

// exchange hands the queued edits and a frame to the core, changes the host's collections as it says, and queues for
// delivery what it tells. The error is the core's refusal of the frame, or its death. The caller holds t.mu.
func (t *turn) exchange(a *actor, frame abi.Frame) error {
	if t.closed {
		return t.deadOr(callAfterEnd())
	}
	t.edits.close(t.number)
	t.batch = append(t.batch[:0], t.edits.frames...)
	t.edits.frames = t.edits.frames[:0]
	if cap(t.edits.frames) > 1<<16 {
		t.edits.frames = nil
	}
	// A context.Context that is cancelled aborts the turn. The core must know before it hears what came of that.
	if state := t.contexts[0].state; !state.aborted && t.outer.Err() != nil {
		if _, starts := frame.(*abi.StartTurn); !starts {
			cause := context.Cause(t.outer)
			state.abort(cause)
			reason := t.errors.keep(cause, describe(cause, cause))
			t.batch = abi.Append(t.batch, &abi.Abort{Turn: t.number, Elapsed: t.tick(), Reason: reason})
		}
	}
	if frame != nil {
		t.batch = abi.Append(t.batch, frame)
	}
	err := t.feed(a, t.batch)
	if cap(t.batch) > 1<<16 {
		t.batch = nil
	}
	if err == nil && t.core.host.options.Verify && !t.closed {
		err = t.verify()
	}
	if err == nil {
		err = t.watch()
	}
	return err
}

// feed runs as many steps as the frames need: the limit of a frame is that of a step's input, too.
func (t *turn) feed(a *actor, in []byte) error {
	limits := t.core.greeting.Limits
	for len(in) > int(limits.Frame) {
		cut := 0
		for {
			_, frame, _, err := abi.Next(in[cut:], limits)
			if err != nil {
				// What stands before the frame that is too large was said already, to the host's collections too.
				if cut > 0 {
					if err := t.step(a, in[:cut]); err != nil {
						return err
					}
				}
				return newError(abi.CodeABILimitExceeded, err.Error(), err)
			}
			if cut+len(frame) > int(limits.Frame) {
				break
			}
			cut += len(frame)
		}
		if err := t.step(a, in[:cut]); err != nil {
			return err
		}
		in = in[cut:]
	}
	return t.step(a, in)
}

// answers are buffers for what steps give. They are not the turns' own, as turns wait long and a request may be large.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// step runs one step. The caller holds t.mu.
func (t *turn) step(a *actor, in []byte) error {
	buffer := answers.Get().(*[]byte)
	defer answers.Put(buffer)
	out, err := t.core.stepTurn((*buffer)[:0], in, a.first)
	if err != nil {
		if errors.Is(err, host.CodeABILimitExceeded) {
			return err // the core has not seen it
		}
		t.perish(err)
		return t.deadOr(err)
	}
	*buffer = out
	t.journal.step(in, out)
	refusal, err := t.read(a, out)
	if err != nil {
		err = t.core.inst.Retire(err)
		t.perish(err)
		return err
	}
	a.mark = t.enqueued
	return refusal
}

// read takes in a batch. refusal is a Fault, err a batch that breaks the rules.
func (t *turn) read(a *actor, out []byte) (refusal, err error) {
	if abi.Overflows(out, t.core.greeting.Limits) {
		return nil, fmt.Errorf("the step gave more than %d frames", abi.MaxStepFrames)
	}
	for len(out) > 0 {
		op, frame, rest, err := abi.Next(out, t.core.greeting.Limits)
		if err != nil {
			return nil, err
		}
		out = rest
		switch op {
		case abi.OpEvent:
			err = t.readEvent(frame)
		case abi.OpReply:
			err = t.readReply(frame)
		case abi.OpEffect:
			err = t.readEffect(a, frame)
		case abi.OpSync:
			err = t.readSync(frame)
		case abi.OpCancel:
			var f abi.Cancel
			if err = abi.DecodeTo(frame, &f); err == nil {
				err = t.mine(f.Turn)
				t.enqueue(delivery{cancel: f.Effect})
			}
		case abi.OpTimer:
			var f abi.Timer
			if err = abi.DecodeTo(frame, &f); err == nil {
				err = t.mine(f.Turn)
				t.setTimer(f.Due)
			}
		case abi.OpEnd:
			err = t.readEnd(frame)
		case abi.OpFault:
			refusal = faultError(frame)
		default:
			err = fmt.Errorf("frame %d does not belong in the answer to a turn's frames", op)
		}
		if err != nil {
			return nil, err
		}
	}
	return refusal, nil
}

// mine checks that a frame is of this turn: nothing else may come out of a step that this turn's frames went into.
func (t *turn) mine(number uint32) error {
	if number != t.number {
		return fmt.Errorf("a frame of turn %d came in answer to those of turn %d", number, t.number)
	}
	if t.closed {
		return fmt.Errorf("a frame came after the end of turn %d", number)
	}
	return nil
}

func (t *turn) enqueue(d delivery) {
	t.queue = append(t.queue, d)
	t.enqueued++
}

func (t *turn) readReply(frame []byte) error {
	f := &t.frames.reply
	if err := abi.DecodeTo(frame, f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	c := t.calls[f.Call]
	if c == nil {
		return nil // the report of a listener's panic, which nobody waits for
	}
	delete(t.calls, f.Call)
	switch {
	case f.Error != nil && f.Error.Code == "" && f.Error.Handle == 0:
		c.err = sealedError(f.Error.Message)
	case f.Error != nil:
		c.err = t.errors.decode(f.Error)
	case !wire.IsNil(f.Value):
		c.value = bytes.Clone(f.Value)
	}
	c.arrived = true
	t.enqueue(delivery{call: c})
	return nil
}

func (t *turn) readEnd(frame []byte) error {
	var f abi.End
	if err := abi.DecodeTo(frame, &f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	t.end = ending{
		status: event.Status(f.Status), iterations: int(f.Iterations), err: t.errors.decode(f.Error), refused: f.Status == abi.StatusRefused,
	}
	t.shut()
	return nil
}

// shut closes the turn for calls, and ends the calls that wait. The end is delivered behind what is queued.
func (t *turn) shut() {
	t.closed = true
	for number, c := range t.calls {
		c.err, c.arrived = t.deadOr(callAfterEnd()), true
		delete(t.calls, number)
		t.enqueue(delivery{call: c})
	}
	t.enqueue(delivery{end: true})
}

func (t *turn) readSync(frame []byte) error {
	f := &t.frames.sync
	if err := abi.DecodeTo(frame, f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	if f.Sync == abi.SyncOpen {
		return t.openDispatch(f.Context, f.Other)
	}
	c := t.context(f.Context)
	switch {
	case c == nil:
		return fmt.Errorf("sync of context %d, which is not open", f.Context)
	case f.Sync == abi.SyncSignal:
		return t.readSignal(c.dispatch, f)
	case f.Sync == abi.SyncTools && f.Collection == abi.CollectionTools:
		return t.syncTools(c.state, f.Data)
	case f.Sync == abi.SyncDefine && f.Collection == abi.CollectionTools:
		return t.adoptTool(f.Data)
	case f.Collection >= record.Kinds:
		return fmt.Errorf("sync of collection %d", f.Collection)
	}
	o, subject := &c.state.records[f.Collection], f.Handle
	if f.Sync == abi.SyncReplace {
		subject = f.Other
	}
	if f.Sync != abi.SyncRemove {
		kept := int64(0)
		if f.Sync == abi.SyncAdd {
			kept = f.Other
		}
		if err := t.adopt(f.Collection, subject, f.Data, kept); err != nil {
			return err
		}
		if f.Sync == abi.SyncName {
			return nil
		}
		if o.Has(subject) {
			return fmt.Errorf("sync: handle %d is in collection %d already", subject, f.Collection)
		}
	}
	switch f.Sync {
	case abi.SyncAdd:
		o.Add(f.Handle, 1)
	case abi.SyncInsert:
		o.Insert(f.Handle, f.Other)
	case abi.SyncRemove:
		if !o.Remove(f.Handle) {
			return fmt.Errorf("sync: handle %d is not in collection %d", f.Handle, f.Collection)
		}
	case abi.SyncReplace:
		if !o.Replace(f.Handle, f.Other) {
			return fmt.Errorf("sync: handle %d is not in collection %d", f.Handle, f.Collection)
		}
	default:
		return fmt.Errorf("sync %d is unknown", f.Sync)
	}
	return nil
}

// adopt makes sure that a handle names a record of the right kind; the guest's come with their body the first time. kept
// is the effect whose kept result a tool call then holds, 0 for none.
func (t *turn) adopt(kind uint8, handle int64, data abi.Raw, kept int64) error {
	body, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	if body != nil && t.handles.Record(handle) == nil {
		r, err := record.Decode(record.Kind(kind), body)
		if err != nil {
			return err
		}
		if kept != 0 {
			if err := t.adoptResult(r, kept); err != nil {
				return err
			}
		}
		if !t.handles.Adopt(handle, r) {
			return fmt.Errorf("sync: handle %d comes out of turn", handle)
		}
	}
	if r := t.handles.Record(handle); r == nil || collections.Of(r) != kind {
		return fmt.Errorf("sync: handle %d names no record of collection %d", handle, kind)
	}
	return nil
}

func (t *turn) syncTools(c *contextState, data abi.Raw) error {
	list, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	in := abi.NewReader(list)
	var tools []*Tool
	for range in.Array() {
		number := uint32(in.Uint(math.MaxUint32))
		tool := t.tools.tool(number)
		if tool == nil {
			return fmt.Errorf("sync of tool %d, which is not defined", number)
		}
		tools = append(tools, tool)
	}
	c.tools.own()
	c.tools.tools = tools
	return in.Err()
}

// openDispatch makes the context of a dispatch that begins.
func (t *turn) openDispatch(number uint32, source int64) error {
	if int(number) != len(t.contexts) {
		return fmt.Errorf("context %d begins, expected was %d", number, len(t.contexts))
	}
	// The source of a standalone dispatch is the state that the start frame filled.
	from := t.context(uint32(max(source, 0)))
	if from == nil {
		return fmt.Errorf("context %d begins as a copy of %d, which is not open", number, source)
	}
	d := &DispatchContext{dispatchState: &dispatchState{config: t.opening, id: t.dispatchID(number), listen: t.opening.listen}}
	state := from.state.open(number)
	d.base = newBase(&state)
	d.helpers.ctx = d
	t.contexts = append(t.contexts, &dispatchOrTurn{state: &state, dispatch: d})
	return nil
}

// verify compares the collections with the core's.
func (t *turn) verify() error {
	for _, c := range t.contexts {
		if c.state.number == 0 && t.standalone {
			continue
		}
		digest := &call{}
		t.lastCall++
		t.calls[t.lastCall] = digest
		in := abi.Append(nil, &abi.Call{Turn: t.number, Call: t.lastCall, Elapsed: t.elapsed, Context: c.state.number, Method: abi.MethodDigest})
		if err := t.step(&actor{}, in); err != nil {
			return err
		}
		sums := abi.NewReader(digest.value)
		n, err := sums.Array(), sums.Err()
		for kind := 0; kind < n && kind < record.Kinds && err == nil; kind++ {
			if sum := sums.Uint(math.MaxUint32); uint32(sum) != c.state.records[kind].Digest() {
				err = fmt.Errorf("the %s collections of context %d differ", record.Kind(kind).String(), c.state.number)
			}
		}
		if err == nil && n != record.Kinds {
			err = fmt.Errorf("the digest of context %d is malformed", c.state.number)
		}
		if err != nil {
			err = t.core.inst.Retire(err)
			t.perish(err)
			return err
		}
	}
	return nil
}
