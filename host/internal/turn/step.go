package turn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/wire"
)

// actor is a goroutine's part in a turn: what its own steps caused and what it waits for.
type actor struct {
	call    *call     // the reply that it waits for; nil for none
	whole   bool      // it waits for the turn's end
	caller  bool      // of an invocation: it takes what effects give
	busy    bool      // it has something else to do than to run effects
	first   bool      // its steps go before those that wait
	effects []*Effect // caused by its steps, not started yet
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
	number uint32 // of the dispatch that an event is from
	scope  uint8  // of the event
	end    bool
	cancel uint32
	call   *call
	effect *Effect
	acked  *Context // was acked inside the core
	tick   uint64   // a Timer that is due already
}

// Push hands the queued edits to the core. The caller holds the turn's lock.
func (t *Turn) Push() error {
	t.edits.close(t.number)
	if len(t.edits.frames) == 0 || t.closed {
		return nil
	}
	return t.exchange(&actor{}, nil)
}

// exchange hands the queued edits and a frame to the core, changes the host's collections as it says, and queues for
// delivery what it tells. The error is the core's refusal of the frame, or its death. The caller holds t.mu.
func (t *Turn) exchange(a *actor, frame abi.Frame) error {
	return t.exchangeIn(takeSpace(), a, frame)
}

// exchangeResult is exchange for a Result.
func (t *Turn) exchangeResult(a *actor, result abi.Result) error {
	s := takeSpace()
	s.result = result
	return t.exchangeIn(s, a, &s.result)
}

// exchangeIn is exchange in a space, which may hold the frame and is free afterwards.
func (t *Turn) exchangeIn(s *space, a *actor, frame abi.Frame) error {
	t.space = s
	defer func() {
		t.space = nil
		s.free()
	}()
	if t.closed {
		return t.deadOr(ErrAfterEnd())
	}
	t.edits.close(t.number)
	s.batch = append(s.batch[:0], t.edits.frames...)
	t.edits.frames = t.edits.frames[:0]
	if cap(t.edits.frames) > 1<<16 {
		t.edits.frames = nil
	}
	// A context.Context that is cancelled aborts the turn. The core must know before it hears what came of that.
	if root := &t.root; !root.aborted && t.outer.Err() != nil {
		if !starts(frame) {
			cause := context.Cause(t.outer)
			root.abort(cause)
			reason := t.errors.keep(cause, describe(cause, cause))
			s.batch = abi.Append(s.batch, &abi.Abort{Turn: t.number, Elapsed: t.tick(), Reason: reason})
		}
	}
	if frame != nil {
		s.batch = abi.Append(s.batch, frame)
		if _, ticks := frame.(*abi.Tick); !ticks {
			t.overdue = 0
		}
	}
	err := t.feed(a, s.batch)
	if err == nil && t.core.Verify && !t.closed {
		err = t.verify()
	}
	if err == nil {
		err = t.enforce(a)
	}
	if err == nil {
		err = t.watch()
	}
	return err
}

// starts tells whether a frame is the first of a turn.
func starts(frame abi.Frame) bool {
	switch frame.(type) {
	case *abi.StartTurn, *abi.StartInvocation:
		return true
	}
	return false
}

// feed runs as many steps as the frames need: the limit of a frame is that of a step's input, too.
func (t *Turn) feed(a *actor, in []byte) error {
	limits := t.core.Greeting().Limits
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
				if rest := len(in) - cut; rest > int(limits.Frame) {
					return TooLarge("", "a step", rest, int(limits.Frame), err)
				}
				return host.NewError(abi.CodeABILimitExceeded, err.Error(), err)
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

// space is what steps need. It is no turn's own, as turns wait long and a request may be large.
type space struct {
	args, batch, answer []byte

	// Frames that are sent, and those of the answer. They are here because they escape to the heap.
	edit   abi.Edit
	call   abi.Call
	result abi.Result
	event  abi.Event
	reply  abi.Reply
	effect abi.Effect
	sync   abi.Sync
}

var spaces = sync.Pool{New: func() any { return new(space) }}

func takeSpace() *space { return spaces.Get().(*space) }

// free lets others use it, and keeps nothing of what was sent.
func (s *space) free() {
	s.edit.Data, s.call.Args, s.result.Value, s.result.Error = nil, nil, nil, nil
	spaces.Put(s)
}

// step runs one step. The caller holds t.mu.
func (t *Turn) step(a *actor, in []byte) error {
	out, err := t.core.StepTurn(t.space.answer[:0], in, a.first)
	if err != nil {
		if errors.Is(err, host.CodeABILimitExceeded) {
			return err // the core has not seen it
		}
		t.perish(err)
		return t.deadOr(err)
	}
	t.space.answer = out
	t.cut = t.count(out)
	t.journal.step(in, out)
	refusal, err := t.read(a, out)
	if err != nil {
		err = t.core.Retire(err)
		t.perish(err)
		return err
	}
	a.mark = t.enqueued
	return refusal
}

// read takes in a batch. refusal is a Fault, err a batch that breaks the rules.
func (t *Turn) read(a *actor, out []byte) (refusal, err error) {
	if abi.Overflows(out, t.core.Greeting().Limits) {
		return nil, fmt.Errorf("the step gave more than %d frames", abi.MaxStepFrames)
	}
	for len(out) > 0 {
		op, frame, rest, err := abi.Next(out, t.core.Greeting().Limits)
		if err != nil {
			return nil, err
		}
		out = rest
		if t.cut {
			if frame, err = t.abridge(op, frame); err != nil {
				return nil, err
			}
			if frame == nil {
				continue
			}
		}
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
				t.endModel(f.Effect, 0, context.Canceled)
				t.enqueue(delivery{cancel: f.Effect})
			}
		case abi.OpTimer:
			var f abi.Timer
			if err = abi.DecodeTo(frame, &f); err == nil {
				err = errors.Join(t.mine(f.Turn), t.setTimer(f.Due))
			}
		case abi.OpEnd:
			err = t.readEnd(frame)
		case abi.OpFault:
			refusal = core.FaultError(frame)
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
func (t *Turn) mine(number uint32) error {
	if number != t.number {
		return fmt.Errorf("a frame of turn %d came in answer to those of turn %d", number, t.number)
	}
	if t.closed {
		return fmt.Errorf("a frame came after the end of turn %d", number)
	}
	return nil
}

// queue has what is to be delivered, in order. It is no turn's own, as turns that wait have none.
type queue struct {
	list []delivery
	head int // of the list, what comes next
}

// mostRoom is the room that a queue keeps for the next turn, in deliveries.
const mostRoom = 256

var queues = sync.Pool{New: func() any { return &queue{list: make([]delivery, 0, 8)} }}

// rest is what is still to be delivered.
func (q *queue) rest() []delivery {
	if q == nil {
		return nil
	}
	return q.list[q.head:]
}

// next takes out what comes next.
func (q *queue) next() delivery {
	d := q.list[q.head]
	q.list[q.head] = delivery{}
	q.head++
	return d
}

// free lets others use the queue, of which everything has been delivered.
func (q *queue) free() {
	if q != nil && cap(q.list) <= mostRoom {
		q.list, q.head = q.list[:0], 0
		queues.Put(q)
	}
}

func (t *Turn) enqueue(d delivery) {
	if t.queue == nil {
		t.queue = queues.Get().(*queue)
	}
	t.queue.list = append(t.queue.list, d)
	t.enqueued++
}

func (t *Turn) readReply(frame []byte) error {
	f := &t.space.reply
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

func (t *Turn) readEnd(frame []byte) error {
	var f abi.End
	if err := abi.DecodeTo(frame, &f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	if f.Status > abi.StatusRefused || f.Status == abi.StatusContinue {
		return fmt.Errorf("turn %d ends with status %d, which is none of a turn's", f.Turn, f.Status)
	}
	t.end = ending{
		status: event.Status(f.Status), iterations: int(f.Iterations), err: t.errors.decode(f.Error), refused: f.Status == abi.StatusRefused,
	}
	t.shut()
	return nil
}

// shut closes the turn for calls, and ends the calls that wait. The end is delivered behind what is queued.
func (t *Turn) shut() {
	t.closed = true
	for number, c := range t.calls {
		c.err, c.arrived = t.deadOr(ErrAfterEnd()), true
		delete(t.calls, number)
		t.enqueue(delivery{call: c})
	}
	t.enqueue(delivery{end: true})
}
