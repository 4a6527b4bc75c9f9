package turn

import (
	"context"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// Run runs the turn to its end. fill completes the frame that starts it, once the turn's id and time are known; it is called
// under the turn's lock.
func (t *Turn) Run(fill func(s Start) error) (Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() {
		if !t.started {
			t.leave()
		}
	}()
	o := &t.core.Options
	t.now = o.Clock()
	if t.ID == "" {
		t.ID = host.NewTurnID(o.Clock, o.Entropy)
	}
	seed := make([]byte, 16)
	o.Entropy(seed)
	root := &t.root
	f := &abi.StartTurn{Stash: root.stash.Encode()}
	if err := fill(Start{turn: t, frame: f}); err != nil {
		return Outcome{}, err
	}
	var err error
	if t.journal, err = newRecorder(t.Journal, t); err != nil {
		return Outcome{}, err
	}
	f.Turn, f.Runner, f.Standalone, f.Now, f.Seed = t.number, t.runner.Number, t.Standalone, t.now, seed
	f.ID, f.SystemPrompt = value.UTF8(t.ID), value.UTF8(t.SystemPrompt)
	if t.outer.Err() != nil {
		f.Aborted = true
		root.abort(context.Cause(t.outer))
	}
	a := actor{whole: true}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		return Outcome{}, refusedStart(err, f)
	}
	t.started = true
	if !t.done && t.outer.Done() != nil {
		t.unwatch = context.AfterFunc(t.outer, func() { t.abort(root, context.Cause(t.outer)) })
	}
	t.await(&a)
	return t.ended()
}

// Started tells whether the turn has begun. The caller is the goroutine that runs it.
func (t *Turn) Started() bool { return t.started }

// Start is the start of a turn: what is in its collections.
type Start struct {
	turn  *Turn
	frame *abi.StartTurn
}

// Instruct adds a standing instruction.
func (s Start) Instruct(text string) {
	handle := s.turn.handles.Give(record.NewInstruction(text))
	s.turn.root.records[abi.CollectionInstructions].Add(handle, 1)
	s.frame.Instructions = append(s.frame.Instructions, abi.Instruction{Handle: handle, Text: value.UTF8(text)})
}

// Say adds the user's message.
func (s Start) Say(m *record.Message) error {
	t := s.turn
	body, err := collections.AppendBody(nil, m) // a message has no payload that could run code under the lock
	if err != nil {
		return err
	}
	if n := len(body); n > t.core.MaxBody() {
		return tooLargeStart("message", n, tooLarge(n, t.core.MaxBody()))
	}
	s.frame.Message = abi.Block{Collection: abi.CollectionMessages, Handle: t.handles.Give(m), Count: 1, Data: abi.Bytes(body)}
	return nil
}

// Initial puts records into the start of a dispatch without a turn.
func Initial[R record.Type](s Start, records []R) error {
	t := s.turn
	var bodies []byte
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
		block.Data = abi.Bytes(bodies)
		s.frame.Initial = append(s.frame.Initial, block)
	}
	return nil
}
