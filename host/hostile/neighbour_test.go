package hostile_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// neighbour has turns of its own, on the engine that tests have.
type neighbour struct{ runner *turns.TurnRunner }

func newNeighbour(t *testing.T) *neighbour {
	t.Helper()
	engines := hosttest.Engines(t)
	h := turns.NewHost(turns.HostOptions{Engine: engines[len(engines)-1]})
	r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Host: h, Callbacks: noStorage(), Executor: ack})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = h.Close(context.Background()) })
	return &neighbour{r}
}

// run has so many turns and returns how long each took.
func (n *neighbour) run(t *testing.T, count int) []time.Duration {
	times := make([]time.Duration, count)
	for i := range times {
		start := time.Now()
		result, err := n.runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "test"})
		if times[i] = time.Since(start); err != nil || result.Status != event.Ack {
			t.Errorf("the neighbour's turn ends with %v, %v", result, err)
		}
	}
	return times
}

func ack(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }

// noStorage are callbacks that keep nothing and find nothing.
func noStorage() turns.Callbacks {
	return turns.Callbacks{
		FetchMemories:               func(turns.Context) ([]*record.Memory, error) { return nil, nil },
		FetchMessages:               func(turns.Context) ([]*record.Message, error) { return nil, nil },
		FetchThoughts:               func(turns.Context) ([]*record.Thought, error) { return nil, nil },
		FetchToolCalls:              func(turns.Context) ([]*record.ToolCall, error) { return nil, nil },
		FetchTools:                  func(turns.Context) ([]*turns.Tool, error) { return nil, nil },
		FetchRetrievables:           func(turns.Context) ([]*record.Retrievable, error) { return nil, nil },
		RefreshStandingInstructions: func(turns.Context) ([]string, error) { return nil, nil },

		StoreStandingInstruction:  func(turns.Context, string) error { return nil },
		MutateStandingInstruction: func(turns.Context, string, string) error { return nil },
		DeleteStandingInstruction: func(turns.Context, string) error { return nil },

		StoreMemory: func(turns.Context, *record.Memory) error { return nil }, MutateMemory: func(turns.Context, *record.Memory) error { return nil },
		StoreRetrievable: func(turns.Context, *record.Retrievable) error { return nil }, MutateRetrievable: func(turns.Context, *record.Retrievable) error { return nil },
		StoreMessage: func(turns.Context, *record.Message) error { return nil }, MutateMessage: func(turns.Context, *record.Message) error { return nil },
		StoreThought: func(turns.Context, *record.Thought) error { return nil }, MutateThought: func(turns.Context, *record.Thought) error { return nil },
		StoreToolCall: func(turns.Context, *record.ToolCall) error { return nil }, MutateToolCall: func(turns.Context, *record.ToolCall) error { return nil },

		DeleteMemory: noDelete, DeleteRetrievable: noDelete, DeleteMessage: noDelete, DeleteThought: noDelete, DeleteToolCall: noDelete,
		StoreMediaBytes:       func(_ turns.Context, _ string, r io.Reader) (record.MediaReader, error) { return blob(r) },
		StoreRetrievableBytes: func(_ turns.Context, _ string, r io.Reader) (record.SpoolReader, error) { return blob(r) },
	}
}

// blob reads bytes into memory.
func blob(r io.Reader) (*record.Blob, error) {
	data, err := io.ReadAll(r)
	return record.NewBlob(data), err
}
func noDelete(turns.Context, string) error { return nil }
