package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// writer has the common methods of both contexts.
type writer interface {
	turns.Context
	StoreStandingInstruction(text string) error
	MutateStandingInstruction(old, text string) error
	DeleteStandingInstruction(text string) error
	StoreMemory(*record.Memory) error
	MutateMemory(*record.Memory) error
	DeleteMemory(id string) error
	StoreRetrievable(*record.Retrievable) (*record.Retrievable, error)
	MutateRetrievable(*record.Retrievable) (*record.Retrievable, error)
	DeleteRetrievable(id string) error
	StoreMessage(*record.Message) error
	MutateMessage(*record.Message) error
	DeleteMessage(id string) error
	StoreThought(*record.Thought) error
	MutateThought(*record.Thought) error
	DeleteThought(id string) error
	StoreToolCall(*record.ToolCall) error
	MutateToolCall(*record.ToolCall) error
	DeleteToolCall(id string) error
	ReplaceToolCallGroup(ids []string, replacements []*record.ToolCall) error
	FetchMemories() ([]*record.Memory, error)
	FetchMessages() ([]*record.Message, error)
	FetchThoughts() ([]*record.Thought, error)
	FetchToolCalls() ([]*record.ToolCall, error)
	FetchTools() ([]*turns.Tool, error)
	FetchRetrievables() ([]*record.Retrievable, error)
	RefreshStandingInstructions() ([]string, error)
	EmitMessage(id, delta string, isComplete bool) error
	EmitThought(id, delta string, isComplete bool) error
	EmitInterruptedMessage(id, delta string) error
	EmitInterruptedThought(id, delta string) error
	StoreMediaBytes(id string, bytes io.Reader) (record.MediaReader, error)
	StoreRetrievableBytes(id string, bytes io.Reader) (record.SpoolReader, error)
}

// frame is one call of a function, with the data for its script.
type frame struct {
	game *game
	by   string
	call int // number of the call of this function, from 0

	ctx       writer
	until     context.Context        // of a reader's method and a model's wrapper, which have no other
	dispatch  *turns.DispatchContext // nil outside of a dispatch
	helpers   *turns.Helpers
	next      func()
	inner     func(arg any) (any, error) // what a wrapper is around
	answer    func(arg any) error        // gives a model's answer
	wrapped   map[string]any             // the call that a wrapper is around
	iteration int
	calm      bool            // never panics
	args      json.RawMessage // a tool's
	result    any
}

func (f *frame) enter(ctx turns.Context) {
	f.ctx, _ = ctx.(writer)
	if d, ok := ctx.(*turns.DispatchContext); ok {
		f.dispatch, f.iteration = d, d.Iteration()
	}
}

// errReturned ends a script early.
var errReturned = errors.New("the script returned")

// run runs a function's script.
func (f *frame) run(script Script) error {
	err := f.game.guard(func() error {
		if err := f.do(script); err != nil && err != errReturned {
			return err
		}
		return nil
	})
	if _, refused := err.(refusalError); err != nil && !refused && !f.calm && f.game.player.options.Panics {
		panic(err)
	}
	return err
}

// do runs steps in order, up to the first failure.
func (f *frame) do(script Script) error {
	for _, step := range script {
		if step.At >= 0 && step.At != f.iteration || step.From >= 0 && f.iteration < step.From ||
			step.Call >= 0 && step.Call != f.call {
			continue
		}
		got, err := operations[step.Op](f, step.Arg)
		if err == errReturned {
			return err
		}
		if !step.Try {
			if err != nil {
				return err
			}
			continue
		}
		line := Line{"by": f.by, "did": step.Op}
		if err != nil {
			line["threw"] = f.game.describe(err, 0)
		} else if raw, ok := got.(json.RawMessage); ok {
			line["got"] = plain(raw)
		} else if got != nil {
			line["got"] = got
		}
		f.game.write(line)
	}
	return nil
}

func (f *frame) inTurn() writer {
	if f.ctx == nil {
		panic(malformed("%s has no context", f.by))
	}
	return f.ctx
}

func (f *frame) inDispatch() *turns.DispatchContext {
	if f.dispatch == nil {
		panic(malformed("%s has no dispatch", f.by))
	}
	return f.dispatch
}

func (f *frame) helper() *turns.Helpers {
	if f.helpers == nil {
		panic(malformed("%s has no helpers", f.by))
	}
	return f.helpers
}
