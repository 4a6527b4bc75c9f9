package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// stream is an answer that arrives in chunks.
type stream struct {
	turn   *turn
	effect *effect
	queue  []runtime.Chunk
	waits  bool
	asleep uint64 // elapsed time when the wait began
	idle   uint64 // ms to wait for a chunk; 0 for ever
	late   bool
	stop   error // set when the rest of the answer is not wanted
}

// Next implements runtime.Stream.
func (s *stream) Next() (chunk runtime.Chunk, more bool, err error) {
	for {
		switch {
		case s.stop != nil:
			return chunk, false, s.stop
		case len(s.queue) > 0:
			chunk, s.queue = s.queue[0], s.queue[1:]
			s.turn.run.Hold(-len(chunk.Data))
			return chunk, true, nil
		case s.effect.settled:
			s.turn.rest()
			return chunk, false, s.effect.err
		case s.late:
			s.late = false
			return chunk, false, runtime.ErrIdle
		}
		s.waits, s.asleep = true, s.turn.run.Elapsed()
		if s.idle > 0 {
			s.turn.timer(s.asleep + s.idle)
		}
		s.effect.owner.park()
		s.waits = false
	}
}

// Idle implements runtime.Stream.
func (s *stream) Idle(ms uint64) { s.idle = ms }

// Cancel implements runtime.Stream.
func (s *stream) Cancel() { s.cancel(fault.Plain("the request was cancelled")) }

func (s *stream) cancel(reason error) {
	if s.stop != nil {
		return
	}
	s.stop = reason
	for _, c := range s.queue {
		s.turn.run.Hold(-len(c.Data))
	}
	s.queue = nil
	if !s.effect.settled {
		s.turn.drop(s.effect)
		s.turn.rest()
		if s.effect.number != 0 {
			s.turn.in.append(&abi.Cancel{Op: abi.OpCancel, Turn: s.turn.number, Effect: s.effect.number})
		}
	}
	s.wake()
}

func (s *stream) wake() {
	if s.waits {
		s.waits = false
		s.turn.in.wake(s.effect.owner)
	}
}

// chunk adds a part of an answer. It drops parts that nobody waits for.
func (in *Instance) chunk(f *abi.Chunk) error {
	t := in.turn(f.Turn)
	if t == nil {
		return nil
	}
	t.run.SetElapsed(f.Elapsed)
	eff := t.find(f.Effect)
	if eff == nil && f.Effect > t.next {
		return neverIssued("Chunk", f.Effect)
	}
	if eff == nil {
		return nil
	}
	data, err := abi.BytesOf(f.Data)
	if err != nil || eff.stream == nil {
		return fault.New(fault.ABIMalformedFrame, "Chunk: the effect is not streaming, or Data is not a byte string")
	}
	c := runtime.Chunk{Status: int(f.Status), Data: append([]byte(nil), data...)}
	for _, h := range f.Headers {
		if len(h) != 2 {
			return fault.New(fault.ABIMalformedFrame, "Chunk: a header is a name and a value")
		}
		c.Headers = append(c.Headers, [2]string{h[0], h[1]})
	}
	eff.stream.queue = append(eff.stream.queue, c)
	t.run.Hold(len(c.Data))
	eff.stream.wake()
	return nil
}

// rest cancels a timer that nobody needs: under a frozen clock its Tick would advance the turn's time.
func (t *turn) rest() {
	if t.due != 0 {
		t.Timer(t.run.Due())
	}
}

// timer requests a Tick at due, unless an earlier one is pending.
func (t *turn) timer(due uint64) {
	if t.due != 0 && t.due <= due {
		return
	}
	t.tickAt(due)
}

// tickAt requests a Tick at due; 0 cancels the request. A time beyond the largest integer becomes that integer.
func (t *turn) tickAt(due uint64) {
	t.due = min(due, abi.MaxInt)
	t.in.append(&abi.Timer{Op: abi.OpTimer, Turn: t.number, Due: t.due})
}

// Timer implements runtime.World. The turn has one timer, for the earliest of gates, deadlines, streams and sleepers.
func (t *turn) Timer(due uint64) {
	if t.ended {
		return
	}
	for _, e := range t.effects {
		if s := e.stream; s != nil && s.waits && s.idle > 0 && (due == 0 || s.asleep+s.idle < due) {
			due = s.asleep + s.idle
		}
	}
	if min(due, abi.MaxInt) != t.due {
		t.tickAt(due)
	}
}

// tick settles gates and ends dispatches whose time is up, wakes streams and sleepers that have waited long enough, and
// sets the timer for the others.
func (in *Instance) tick(f *abi.Tick) {
	t := in.turn(f.Turn)
	if t == nil {
		return
	}
	t.run.SetElapsed(f.Elapsed)
	now := t.run.Elapsed()
	t.due = 0
	for _, e := range t.effects {
		s := e.stream
		if s == nil || !s.waits || s.idle == 0 {
			continue
		}
		if due := s.asleep + s.idle; due > now {
			t.timer(due)
			continue
		}
		s.late = true
		s.wake()
	}
	t.run.Tick()
	t.cancelAborted()
}
