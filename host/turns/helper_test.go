package turns_test

import (
	"io"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

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

func newRunner(t testing.TB, config turns.TurnRunnerConfig) *turns.TurnRunner {
	t.Helper()
	if config.FetchMemories == nil {
		config.Callbacks = noStorage()
	}
	r, err := turns.NewTurnRunner(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// finished takes what Run returned, without the error of a turn that did not ack: its result has that too.
func finished(result *turns.Result, err error) (*turns.Result, error) {
	if result != nil && result.Status != event.Ack && err == result.Err {
		return result, nil
	}
	return result, err
}
