package conformance

import (
	"context"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// storage returns callbacks that write to the log and run their scripts.
func (g *game) storage(spec *RunnerSpec, prefix string) turns.Callbacks {
	s := storage{g, spec, prefix}
	c := turns.Callbacks{
		FetchMemories: func(ctx turns.Context) ([]*record.Memory, error) {
			return fetched[*record.Memory](s, "fetchMemories", ctx)
		},
		FetchMessages: func(ctx turns.Context) ([]*record.Message, error) {
			return fetched[*record.Message](s, "fetchMessages", ctx)
		},
		FetchThoughts: func(ctx turns.Context) ([]*record.Thought, error) {
			return fetched[*record.Thought](s, "fetchThoughts", ctx)
		},
		FetchToolCalls: func(ctx turns.Context) ([]*record.ToolCall, error) {
			return fetched[*record.ToolCall](s, "fetchToolCalls", ctx)
		},
		FetchRetrievables: func(ctx turns.Context) ([]*record.Retrievable, error) {
			return fetched[*record.Retrievable](s, "fetchRetrievables", ctx)
		},
		FetchTools: func(ctx turns.Context) ([]*turns.Tool, error) {
			got, err := s.call("fetchTools", ctx, nil)
			if got == nil {
				return nil, err
			}
			return g.toolList(strs(got)), err
		},
		RefreshStandingInstructions: func(ctx turns.Context) ([]string, error) {
			got, err := s.call("refreshStandingInstructions", ctx, nil)
			if got == nil {
				return nil, err
			}
			return strs(got), err
		},
		StoreStandingInstruction: func(ctx turns.Context, text string) error { return s.done("storeStandingInstruction", ctx, text) },
		MutateStandingInstruction: func(ctx turns.Context, old, text string) error {
			return s.done("mutateStandingInstruction", ctx, old, text)
		},
		DeleteStandingInstruction: func(ctx turns.Context, text string) error { return s.done("deleteStandingInstruction", ctx, text) },

		StoreMemory:       func(ctx turns.Context, r *record.Memory) error { return s.write("storeMemory", ctx, r) },
		MutateMemory:      func(ctx turns.Context, r *record.Memory) error { return s.write("mutateMemory", ctx, r) },
		DeleteMemory:      func(ctx turns.Context, id string) error { return s.done("deleteMemory", ctx, id) },
		StoreRetrievable:  func(ctx turns.Context, r *record.Retrievable) error { return s.write("storeRetrievable", ctx, r) },
		MutateRetrievable: func(ctx turns.Context, r *record.Retrievable) error { return s.write("mutateRetrievable", ctx, r) },
		DeleteRetrievable: func(ctx turns.Context, id string) error { return s.done("deleteRetrievable", ctx, id) },
		StoreMessage:      func(ctx turns.Context, r *record.Message) error { return s.write("storeMessage", ctx, r) },
		MutateMessage:     func(ctx turns.Context, r *record.Message) error { return s.write("mutateMessage", ctx, r) },
		DeleteMessage:     func(ctx turns.Context, id string) error { return s.done("deleteMessage", ctx, id) },
		StoreThought:      func(ctx turns.Context, r *record.Thought) error { return s.write("storeThought", ctx, r) },
		MutateThought:     func(ctx turns.Context, r *record.Thought) error { return s.write("mutateThought", ctx, r) },
		DeleteThought:     func(ctx turns.Context, id string) error { return s.done("deleteThought", ctx, id) },
		StoreToolCall:     func(ctx turns.Context, r *record.ToolCall) error { return s.write("storeToolCall", ctx, r) },
		MutateToolCall:    func(ctx turns.Context, r *record.ToolCall) error { return s.write("mutateToolCall", ctx, r) },
		DeleteToolCall:    func(ctx turns.Context, id string) error { return s.done("deleteToolCall", ctx, id) },

		StoreMediaBytes: func(ctx turns.Context, id string, bytes io.Reader) (record.MediaReader, error) {
			blob, err := s.bytes("storeMediaBytes", ctx, id, bytes)
			if blob == nil {
				return nil, err
			}
			return blob, err
		},
		StoreRetrievableBytes: func(ctx turns.Context, id string, bytes io.Reader) (record.SpoolReader, error) {
			blob, err := s.bytes("storeRetrievableBytes", ctx, id, bytes)
			if blob == nil {
				return nil, err
			}
			return blob, err
		},
	}
	if _, there := spec.Storage["replaceToolCallGroup"]; there {
		c.ReplaceToolCallGroup = func(ctx turns.Context, ids []string, replacements []*record.ToolCall) error {
			return s.done("replaceToolCallGroup", ctx, ids, idsOf(replacements))
		}
	}
	if _, there := spec.Storage["commit"]; there {
		c.Commit = func(ctx turns.Context, deltas []store.Delta) error { return s.done("commit", ctx, deltaWords(deltas)) }
	}
	if _, there := spec.Storage["discard"]; there {
		c.Discard = func(ctx turns.Context, deltas []store.Delta, status event.Status) error {
			return s.done("discard", ctx, deltaWords(deltas), status.String())
		}
	}
	if spec.Store {
		return s.besideStore(c)
	}
	s.omit(&c)
	return c
}

// besideStore returns the callbacks of a store; callbacks with a script replace the store's.
func (s storage) besideStore(scripted turns.Callbacks) turns.Callbacks {
	c := turns.StoreCallbacks(book{s.game})
	to, from := reflect.ValueOf(&c).Elem(), reflect.ValueOf(scripted)
	for name := range s.spec.Storage {
		field := strings.ToUpper(name[:1]) + name[1:]
		to.FieldByName(field).Set(from.FieldByName(field))
	}
	return c
}

// book is a store that logs its writes and keeps nothing.
type book struct{ game *game }

func (b book) Load(context.Context, string, string) (*store.Conversation, error) { return nil, nil }

func (b book) Commit(_ context.Context, _ string, writes []store.Delta) error {
	b.game.write(Line{"store": deltaWords(writes)})
	return nil
}

func (b book) WriteBytes(context.Context, string, string, []byte) error { return nil }

// storage holds the callbacks of a runner or dispatch.
type storage struct {
	game   *game
	spec   *RunnerSpec
	prefix string
}

// call writes the line of a callback and runs its script.
func (s storage) call(name string, ctx turns.Context, line Line, args ...any) (any, error) {
	of := "turn"
	if _, in := ctx.(*turns.DispatchContext); in {
		of = "dispatch"
	}
	if line == nil {
		line = Line{}
	}
	line["storage"], line["of"] = name, of
	if len(args) > 0 {
		line["args"] = args
	}
	if s.prefix != "" {
		line["by"] = s.prefix
	}
	s.game.write(line)
	s.game.mu.Lock()
	called := s.game.storageCalled
	s.game.storageCalled = nil
	s.game.mu.Unlock()
	if called != nil {
		called()
	}
	f := s.game.frame(join(s.prefix, "storage", name), ctx)
	script := s.spec.Storage[name]
	if s.game.count("any storage call")+1 == s.game.scenario.Fails {
		script = Script{{Op: "throw", Arg: "X", At: -1, From: -1, Call: -1}}
	}
	err := f.run(script)
	return f.result, err
}

func (s storage) done(name string, ctx turns.Context, args ...any) error {
	_, err := s.call(name, ctx, nil, args...)
	return err
}

// write is the callback of a record; it shows the content only if it is not the id, and what else is special.
func (s storage) write(name string, ctx turns.Context, r any) error {
	id, content := idOf(r)
	line := Line{}
	if content != id {
		line["content"] = content
	}
	if fields := special(r); len(fields) > 0 {
		line["fields"] = fields
	}
	_, err := s.call(name, ctx, line, id)
	return err
}

func (s storage) bytes(name string, ctx turns.Context, id string, bytes io.Reader) (*record.Blob, error) {
	text, err := io.ReadAll(bytes)
	if err != nil {
		return nil, err
	}
	got, err := s.call(name, ctx, nil, id, string(text))
	if got == "nothing" {
		return nil, err
	}
	return record.NewBlob(text), err
}

func fetched[R any](s storage, name string, ctx turns.Context) ([]R, error) {
	got, err := s.call(name, ctx, nil)
	if got == nil || err != nil {
		return nil, err
	}
	var records []R
	for _, item := range list(got) {
		r, ok := s.game.record(item).(R)
		if !ok {
			panic(malformed("%s returns a record of another kind", name))
		}
		records = append(records, r)
	}
	return records, nil
}

func deltaWords(deltas []store.Delta) []string {
	var all []string
	for _, d := range deltas {
		id := d.ID
		switch {
		case d.Records != nil || d.IDs != nil:
			all = append(all, words(string(d.Op), d.Kind, anyList(d.IDs), "by", idsOf(d.Records)))
			continue
		case d.Record != nil && d.Kind != "standingInstruction":
			id, _ = idOf(d.Record)
		case d.Record != nil:
			text, _ := idOf(d.Record)
			id = words(d.ID, text)
			if d.Op == "store" {
				id = text
			}
		}
		all = append(all, words(string(d.Op), d.Kind, id))
	}
	return all
}

func anyList(list []string) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}

// omit removes the callbacks that the scenario omits.
func (s storage) omit(c *turns.Callbacks) {
	for name, drop := range map[string]func(){
		"fetchMessages": func() { c.FetchMessages = nil }, "storeMessage": func() { c.StoreMessage = nil },
		"deleteThought": func() { c.DeleteThought = nil }, "storeMediaBytes": func() { c.StoreMediaBytes = nil },
	} {
		if slices.Contains(s.spec.Omit, name) {
			drop()
		}
	}
}
