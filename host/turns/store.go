package turns

import (
	"io"
	"slices"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// StoreCallbacks returns callbacks that read and write a store. The session is the value under SessionKey in the
// turn's stash.
//
// You may replace single functions afterwards. Your function is called for every write of its kind, in the program's
// middleware and in dispatches. Writes keep their order, and adjacent other writes still go to the store in one
// Commit. Your function that stores or deletes tool calls also gets those of ReplaceToolCallGroup, unless you replace
// that too. Replace Commit instead to see all writes of an iteration together; a replaced Commit together with a
// replaced function for single writes fails with E_INVALID_TURN_RUNNER_CONFIG.
func StoreCallbacks(s store.Store) Callbacks {
	return storeCallbacks(keeperOf(s))
}

func storeCallbacks(k *keeper) Callbacks {
	commit := func(ctx Context, deltas []store.Delta) error {
		session, err := sessionOf(ctx)
		if err != nil {
			return err
		}
		return ctx.shared().program.commit(ctx, k, session, deltas)
	}
	apply := func(ctx Context, d store.Delta) error { return commit(ctx, []store.Delta{d}) }
	bytes := k.putBytes
	load := k.fetch
	c := Callbacks{
		FetchMemories:               fetch(load, func(c *store.Conversation) []*record.Memory { return c.Memories }),
		FetchMessages:               fetch(load, func(c *store.Conversation) []*record.Message { return c.Messages }),
		FetchThoughts:               fetch(load, func(c *store.Conversation) []*record.Thought { return c.Thoughts }),
		FetchToolCalls:              fetch(load, func(c *store.Conversation) []*record.ToolCall { return c.ToolCalls }),
		FetchTools:                  func(Context) ([]*Tool, error) { return nil, nil },
		FetchRetrievables:           fetch(load, func(c *store.Conversation) []*record.Retrievable { return c.Retrievables }),
		RefreshStandingInstructions: fetch(load, func(c *store.Conversation) []string { return c.Instructions }),

		StoreStandingInstruction: func(ctx Context, text string) error {
			return apply(ctx, store.Delta{Op: store.OpStore, Kind: "standingInstruction", Record: record.NewInstruction(text), ID: text})
		},
		MutateStandingInstruction: func(ctx Context, old, text string) error {
			return apply(ctx, store.Delta{Op: store.OpMutate, Kind: "standingInstruction", Record: record.NewInstruction(text), ID: old})
		},
		DeleteStandingInstruction: remover(apply, "standingInstruction"),
		DeleteMemory:              remover(apply, "memory"),
		DeleteRetrievable:         remover(apply, "retrievable"),
		DeleteMessage:             remover(apply, "message"),
		DeleteThought:             remover(apply, "thought"),
		DeleteToolCall:            remover(apply, "toolCall"),

		StoreMediaBytes:       func(ctx Context, id string, r io.Reader) (record.MediaReader, error) { return bytes(ctx, id, r) },
		StoreRetrievableBytes: func(ctx Context, id string, r io.Reader) (record.SpoolReader, error) { return bytes(ctx, id, r) },

		ReplaceToolCallGroup: func(ctx Context, ids []string, replacements []*record.ToolCall) error {
			return apply(ctx, store.Delta{Op: store.OpReplaceToolCallGroup, Kind: "toolCall", IDs: ids, Records: replacements})
		},
		Commit: commit,
	}
	c.StoreMemory, c.MutateMemory = writers[*record.Memory](apply)
	c.StoreRetrievable, c.MutateRetrievable = writers[*record.Retrievable](apply)
	c.StoreMessage, c.MutateMessage = writers[*record.Message](apply)
	c.StoreThought, c.MutateThought = writers[*record.Thought](apply)
	c.StoreToolCall, c.MutateToolCall = writers[*record.ToolCall](apply)
	c.made = c.functions()
	return c
}

// putBytes puts bytes into the session of a context and returns a reference to them. A text that takes the place of a
// document's goes by its content: another text of the document, which may not be committed in the end, leaves it as it
// is.
func (k *keeper) putBytes(ctx Context, id string, r io.Reader) (*record.Stored, error) {
	session, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	if t, is := r.(*documentText); is {
		id = t.contentID()
	}
	content := &counting{Reader: r}
	if err := k.store.PutBytes(ctx, session, id, content); err != nil {
		return nil, err
	}
	return store.Opened(k.store, session)(id, content.n), nil
}

// counting is a reader that counts what was read.
type counting struct {
	io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// fetch loads the session of a context.
func (k *keeper) fetch(ctx Context) (*store.Conversation, error) {
	session, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	c, err := k.store.Load(ctx, session, "")
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &store.Conversation{}
	}
	ctx.shared().program.writing.sawPart(k, session, c.Revision)
	return c, nil
}

func fetch[T any](load func(Context) (*store.Conversation, error), pick func(*store.Conversation) []T) func(Context) ([]T, error) {
	return func(ctx Context) ([]T, error) {
		c, err := load(ctx)
		if err != nil {
			return nil, err
		}
		return slices.Clone(pick(c)), nil
	}
}

func writers[R record.Type](apply func(Context, store.Delta) error) (put, mutate func(Context, R) error) {
	write := func(op store.Op) func(Context, R) error {
		return func(ctx Context, r R) error {
			return apply(ctx, store.Delta{Op: op, Kind: record.KindOf(r).String(), Record: r, ID: record.Key(r)})
		}
	}
	return write(store.OpStore), write(store.OpMutate)
}

func remover(apply func(Context, store.Delta) error, kind string) func(Context, string) error {
	return func(ctx Context, id string) error {
		return apply(ctx, store.Delta{Op: store.OpDelete, Kind: kind, ID: id})
	}
}
