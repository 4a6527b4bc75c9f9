package conformance

import (
	"context"
	"io"
	"reflect"
	"strings"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// storage returns callbacks that write to the log and run their scripts.
func (g *game) storage(spec *RunnerSpec) turns.Callbacks {
	s := storage{g, spec}
	c := turns.Callbacks{
		FetchMemories:               fetcher(s, "fetchMemories", recordsOf[*record.Memory]),
		FetchMessages:               fetcher(s, "fetchMessages", recordsOf[*record.Message]),
		FetchThoughts:               fetcher(s, "fetchThoughts", recordsOf[*record.Thought]),
		FetchToolCalls:              fetcher(s, "fetchToolCalls", recordsOf[*record.ToolCall]),
		FetchRetrievables:           fetcher(s, "fetchRetrievables", recordsOf[*record.Retrievable]),
		FetchTools:                  fetcher(s, "fetchTools", func(g *game, got any) []*turns.Tool { return g.toolList(strs(got)) }),
		RefreshStandingInstructions: fetcher(s, "refreshStandingInstructions", func(_ *game, got any) []string { return strs(got) }),
		StoreStandingInstruction: func(ctx turns.Context, text string) error {
			return s.keep(s.done("storeStandingInstruction", ctx, text), ctx, instruction(store.OpStore, text, text))
		},
		MutateStandingInstruction: func(ctx turns.Context, old, text string) error {
			return s.keep(s.done("mutateStandingInstruction", ctx, old, text), ctx, instruction(store.OpMutate, old, text))
		},
		DeleteStandingInstruction: s.remover("deleteStandingInstruction", record.KindInstruction),

		StoreMemory:       recordWriter[*record.Memory](s, "storeMemory", store.OpStore),
		MutateMemory:      recordWriter[*record.Memory](s, "mutateMemory", store.OpMutate),
		DeleteMemory:      s.remover("deleteMemory", record.KindMemory),
		StoreRetrievable:  recordWriter[*record.Retrievable](s, "storeRetrievable", store.OpStore),
		MutateRetrievable: recordWriter[*record.Retrievable](s, "mutateRetrievable", store.OpMutate),
		DeleteRetrievable: s.remover("deleteRetrievable", record.KindRetrievable),
		StoreMessage:      recordWriter[*record.Message](s, "storeMessage", store.OpStore),
		MutateMessage:     recordWriter[*record.Message](s, "mutateMessage", store.OpMutate),
		DeleteMessage:     s.remover("deleteMessage", record.KindMessage),
		StoreThought:      recordWriter[*record.Thought](s, "storeThought", store.OpStore),
		MutateThought:     recordWriter[*record.Thought](s, "mutateThought", store.OpMutate),
		DeleteThought:     s.remover("deleteThought", record.KindThought),
		StoreToolCall:     recordWriter[*record.ToolCall](s, "storeToolCall", store.OpStore),
		MutateToolCall:    recordWriter[*record.ToolCall](s, "mutateToolCall", store.OpMutate),
		DeleteToolCall:    s.remover("deleteToolCall", record.KindToolCall),

		StoreMediaBytes:       bytesWriter[record.MediaReader](s, "storeMediaBytes"),
		StoreRetrievableBytes: bytesWriter[record.SpoolReader](s, "storeRetrievableBytes"),
	}
	if _, there := spec.Storage["replaceToolCallGroup"]; there {
		c.ReplaceToolCallGroup = func(ctx turns.Context, ids []string, replacements []*record.ToolCall) error {
			return s.keep(s.done("replaceToolCallGroup", ctx, ids, idsOf(replacements)), ctx,
				store.Delta{Op: store.OpReplaceToolCallGroup, Kind: record.KindToolCall.String(), IDs: ids, Records: replacements})
		}
	}
	if _, there := spec.Storage["commit"]; there {
		c.Commit = func(ctx turns.Context, deltas []store.Delta) error {
			return s.keep(s.done("commit", ctx, deltaWords(deltas)), ctx, deltas...)
		}
	}
	if _, there := spec.Storage["discard"]; there {
		c.Discard = func(ctx turns.Context, deltas []store.Delta, status event.Status) error {
			return s.done("discard", ctx, deltaWords(deltas), status.String())
		}
	}
	if spec.Store {
		return s.besideStore(c)
	}
	for _, name := range spec.Omit {
		if f := callback(&c, name); f.IsValid() {
			f.SetZero()
		}
	}
	return c
}

// callback is the field of a callback's name; the zero Value if there is none.
func callback(c *turns.Callbacks, name string) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByName(strings.ToUpper(name[:1]) + name[1:])
}

// besideStore returns the callbacks of a store; callbacks with a script replace the store's.
func (s storage) besideStore(scripted turns.Callbacks) turns.Callbacks {
	c := turns.StoreCallbacks(book{s.game})
	for name := range s.spec.Storage {
		callback(&c, name).Set(callback(&scripted, name))
	}
	return c
}

// book is a store that logs its writes and keeps nothing.
type book struct{ game *game }

func (b book) Load(context.Context, string, string) (*store.Conversation, error) { return nil, nil }

func (b book) Commit(_ context.Context, _ string, c store.Commit) (string, error) {
	b.game.write(Line{"store": deltaWords(c.Deltas)})
	return "", nil
}

func (b book) PutBytes(context.Context, string, string, io.Reader) error { return nil }

func (b book) OpenBytes(_ context.Context, session, id string) (io.ReaderAt, int64, error) {
	return nil, 0, store.NoBytes(session, id)
}

// storage holds the callbacks of a runner or dispatch.
type storage struct {
	game *game
	spec *RunnerSpec
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
	s.game.write(line)
	s.game.mu.Lock()
	called := s.game.storageCalled
	s.game.storageCalled = nil
	s.game.mu.Unlock()
	if called != nil {
		called()
	}
	f := s.game.frame("storage "+name, ctx)
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

// textWriter returns the callback of a text, or of an id.
// remover returns the callback that deletes a record of a kind.
func (s storage) remover(name string, kind record.Kind) func(turns.Context, string) error {
	return func(ctx turns.Context, id string) error {
		return s.keep(s.done(name, ctx, id), ctx, store.Delta{Op: store.OpDelete, Kind: kind.String(), ID: id})
	}
}

// instruction is a write of a standing instruction; old is the text that it writes over.
func instruction(op store.Op, old, text string) store.Delta {
	return store.Delta{Op: op, Kind: record.KindInstruction.String(), ID: old, Record: record.NewInstruction(text)}
}

// keep has the player's store keep writes, unless their callback failed, and returns the callback's error.
func (s storage) keep(failed error, ctx turns.Context, deltas ...store.Delta) error {
	if failed == nil {
		s.game.stored.commit(ctx, deltas)
	}
	return failed
}

// recordWriter returns the callback of a record. It shows the content only if it is not the id, and what else is
// special.
func recordWriter[R record.Type](s storage, name string, op store.Op) func(turns.Context, R) error {
	return func(ctx turns.Context, r R) error {
		id, content := idOf(r)
		line := Line{}
		if content != id {
			line["content"] = content
		}
		if fields := special(r); len(fields) > 0 {
			line["fields"] = fields
		}
		_, err := s.call(name, ctx, line, id)
		return s.keep(err, ctx, store.Delta{Op: op, Kind: record.KindOf(r).String(), ID: id, Record: r})
	}
}

// bytesWriter returns the callback of bytes. R is an interface of readers.
func bytesWriter[R any](s storage, name string) func(turns.Context, string, io.Reader) (R, error) {
	return func(ctx turns.Context, id string, bytes io.Reader) (reader R, err error) {
		text, err := io.ReadAll(bytes)
		if err != nil {
			return reader, err
		}
		got, err := s.call(name, ctx, nil, id, string(text))
		if got != "nothing" {
			reader = any(record.NewBlob(text)).(R)
		}
		return reader, err
	}
}

// fetcher returns the callback that gives what its script returns.
func fetcher[T any](s storage, name string, listOf func(g *game, got any) []T) func(turns.Context) ([]T, error) {
	return func(ctx turns.Context) ([]T, error) {
		got, err := s.call(name, ctx, nil)
		if got == nil || err != nil {
			return nil, err
		}
		return listOf(s.game, got), nil
	}
}

// recordsOf returns the records that a list of arguments describes.
func recordsOf[R record.Type](g *game, specs any) []R {
	var records []R
	for _, spec := range list(specs) {
		r, ok := g.record(spec).(R)
		if !ok {
			panic(malformed("%s is of another kind", appendValue(nil, spec)))
		}
		records = append(records, r)
	}
	return records
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

func anyList[E any](list []E) []any {
	all := make([]any, len(list))
	for i, s := range list {
		all[i] = s
	}
	return all
}
