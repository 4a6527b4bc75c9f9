package turn

import (
	"context"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// Run runs the turn to its end. fill completes the frame that starts it, once the turn's id and time are known; it is
// called under the turn's lock.
func (t *Turn) Run(fill func(s Start) error) (Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.leaveUnstarted()
	seed, err := t.begin()
	if err != nil {
		return Outcome{}, err
	}
	f := &abi.StartTurn{Stash: t.root.stash.Encode()}
	bodies := startBodies.Get().(*[]byte)
	if err := fill(Start{turn: t, frame: f, bodies: bodies}); err != nil {
		return Outcome{}, err
	}
	if t.journal, err = newRecorder(t.Journal, t); err != nil {
		return Outcome{}, err
	}
	f.Turn, f.Runner, f.Standalone, f.Now, f.Seed = t.number, t.runner.Number, t.Standalone, t.now, seed
	f.ID, f.SystemPrompt = value.UTF8(t.ID), value.UTF8(t.SystemPrompt)
	f.Aborted = t.abortedBefore()
	a := actor{whole: true, effects: t.first.effects[:0]}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		return Outcome{}, refusedStart(err, f)
	}
	*bodies = (*bodies)[:0]
	startBodies.Put(bodies) // the core has its copy
	return t.run(&a)
}

// Invoke runs the turn as an invocation to its end. f is the frame that starts it, without what a turn knows of itself.
// view has the session's events; its zero value has none. take takes what effects give, one after another, in this
// goroutine; an effect whose gift is not taken fails with take's error. If take ends the goroutine, Finish must follow.
// What an effect gives in a goroutine of its own is taken in another one; if take ends that, Invoke ends its own in the
// same way.
func (t *Turn) Invoke(f *abi.StartInvocation, view collections.View, take func(given any) error) (Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.leaveUnstarted()
	var err error
	if f.Seed, err = t.begin(); err != nil {
		return Outcome{}, err
	}
	t.take = take
	if t.journal, err = newRecorder(t.Journal, t); err != nil {
		return Outcome{}, err
	}
	if n := view.Len(); n > 0 {
		if f.History, err = t.core.History(view); err != nil {
			return Outcome{}, err
		}
		t.journal.history(f.History, view)
		f.Count = uint32(n)
	}
	f.Turn, f.Runner, f.Now, f.ID = t.number, t.runner.Number, t.now, t.ID
	f.Aborted = t.abortedBefore()
	a := actor{whole: true, caller: true, effects: t.first.effects[:0]}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		return Outcome{}, err
	}
	t.core.Counted(view)
	outcome, err := t.run(&a)
	if t.quit != nil {
		t.quit()
	}
	return outcome, err
}

// Finish waits for the end of an invocation whose goroutine is ending.
func (t *Turn) Finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.await(&actor{whole: true, caller: true})
	_, _ = t.ended() // nobody is told
}

// begin reads the clock and the entropy of a turn that is about to start. The caller holds t.mu.
func (t *Turn) begin() (seed []byte, err error) {
	o := &t.core.Options
	if t.now, err = o.Now(); err != nil {
		return nil, err
	}
	if t.ID == "" {
		t.ID = host.NewTurnID(o.Clock, o.Entropy)
	}
	seed = make([]byte, abi.SeedSize)
	o.Entropy(seed)
	return seed, nil
}

// abortedBefore aborts a turn whose caller had left before the start.
func (t *Turn) abortedBefore() bool {
	if t.outer.Err() == nil {
		return false
	}
	t.root.abort(context.Cause(t.outer))
	return true
}

// run waits for the end of a turn that has started. The caller holds t.mu.
func (t *Turn) run(a *actor) (Outcome, error) {
	t.started = true
	if !t.done && t.outer.Done() != nil {
		t.unwatch = context.AfterFunc(t.outer, func() { t.abort(&t.root, context.Cause(t.outer)) })
	}
	t.await(a)
	return t.ended()
}

// leaveUnstarted takes a turn that has not started out of where turns are counted.
func (t *Turn) leaveUnstarted() {
	if !t.started {
		t.leave()
	}
}

// Started tells whether the turn has begun. The caller is the goroutine that runs it.
func (t *Turn) Started() bool { return t.started }

// Start is the start of a turn: what is in its collections.
type Start struct {
	turn   *Turn
	frame  *abi.StartTurn
	bodies *[]byte // that blocks of the frame lie in
}

// startBodies are buffers for the records that turns start with. A message may be large: as garbage, each would soon
// have the collector run, which all turns of the program feel. It frees buffers that nobody takes.
var startBodies = sync.Pool{New: func() any { return new([]byte) }}

// Instruct adds a standing instruction.
func (s Start) Instruct(text string) {
	handle := s.turn.handles.Give(record.NewInstruction(text))
	s.turn.root.records[abi.CollectionInstructions].Add(handle, 1)
	s.frame.Instructions = append(s.frame.Instructions, abi.Instruction{Handle: handle, Text: value.UTF8(text)})
}

// Say adds the user's message.
func (s Start) Say(m *record.Message) error {
	t := s.turn
	room, at := s.room()
	body, err := collections.AppendBody(room, m) // a message has no payload that could run code under the lock
	if err != nil {
		return err
	}
	if n := len(body) - len(room); n > t.core.MaxBody() {
		return tooLargeStart("message", n, TooLarge("", "a record", n, t.core.MaxBody(), nil))
	}
	*s.bodies = body
	s.frame.Message = abi.Block{
		Collection: abi.CollectionMessages, Handle: t.handles.Give(m), Count: 1, Data: abi.BytesIn(body[at:]),
	}
	return nil
}

// room is the buffer with room for the header of a byte string, which begins at at.
func (s Start) room() (room []byte, at int) {
	return append(*s.bodies, make([]byte, abi.BytesRoom)...), len(*s.bodies)
}

// Initial puts records into the start of a dispatch without a turn.
func Initial[R record.Type](s Start, records []R) error {
	t := s.turn
	bodies, at := s.room()
	var block abi.Block
	for _, r := range records {
		if _, twice := t.handles.Find(r); twice {
			continue
		}
		var err error
		if bodies, err = collections.AppendBody(bodies, r); err != nil {
			return err
		}
		handle, kind := t.handles.Give(r), collections.Of(r)
		t.root.records[kind].Add(handle, 1)
		if block.Count == 0 {
			block.Collection, block.Handle = kind, handle
		}
		block.Count++
	}
	if block.Count > 0 {
		*s.bodies = bodies
		block.Data = abi.BytesIn(bodies[at:])
		s.frame.Initial = append(s.frame.Initial, block)
	}
	return nil
}
