package conformance

import (
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// collection is what functions do with the records of a kind.
type collection struct {
	kind, name string
	holds      func(r any) bool
	contents   func(ctx writer, content bool) []any // ids, or contents
	add        func(ctx writer, r any) error
	remove     func(ctx writer, r any) bool
	clear      func(ctx writer)
	store      func(ctx writer, r any) error
	mutate     func(ctx writer, r any) error
	delete     func(ctx writer, id string) error
	fetch      func(ctx writer, load bool) (any, error) // ids from storage; on request it adds the records
	addHistory func(g *game, ctx writer, name string, records any) error
}

var collections = []collection{
	collectionOf(
		"instruction", "instructions", writer.StandingInstructions, refreshInstructions, storeInstruction, nil,
		writer.DeleteStandingInstruction,
	),
	collectionOf(
		"memory", "memories", writer.TurnMemories, writer.FetchMemories, writer.StoreMemory, writer.MutateMemory, writer.DeleteMemory,
	),
	collectionOf(
		"retrievable", "retrievables", writer.TurnRetrievables, writer.FetchRetrievables, onlyError(writer.StoreRetrievable),
		onlyError(writer.MutateRetrievable), writer.DeleteRetrievable,
	),
	collectionOf(
		"message", "messages", writer.TurnMessages, writer.FetchMessages, writer.StoreMessage, writer.MutateMessage, writer.DeleteMessage,
	),
	collectionOf(
		"thought", "thoughts", writer.TurnThoughts, writer.FetchThoughts, writer.StoreThought, writer.MutateThought, writer.DeleteThought,
	),
	collectionOf(
		"toolCall", "toolCalls", writer.TurnToolCalls, writer.FetchToolCalls, writer.StoreToolCall, writer.MutateToolCall,
		writer.DeleteToolCall,
	),
}

func collectionOf[R record.Type](
	kind, name string, of func(writer) *turns.Collection[R], fetch func(writer) ([]R, error), store, mutate func(writer, R) error,
	remove func(writer, string) error,
) collection {
	return collection{
		kind: kind, name: name,
		holds: func(r any) bool { _, is := r.(R); return is },
		contents: func(ctx writer, content bool) []any {
			if content {
				return contentsOf(of(ctx).Slice())
			}
			return idsOf(of(ctx).Slice())
		},
		add:    func(ctx writer, r any) error { return of(ctx).Add(r.(R)) },
		remove: func(ctx writer, r any) bool { return of(ctx).Remove(r.(R)) },
		clear:  func(ctx writer) { of(ctx).Clear() },
		store:  func(ctx writer, r any) error { return store(ctx, r.(R)) },
		mutate: func(ctx writer, r any) error { return mutate(ctx, r.(R)) },
		delete: remove,
		fetch: func(ctx writer, load bool) (any, error) {
			records, err := fetch(ctx)
			if err == nil && load {
				err = of(ctx).Add(records...)
			}
			return idsOf(records), err
		},
		addHistory: func(g *game, ctx writer, name string, records any) error { return grow(g, name, of(ctx), records) },
	}
}

func refreshInstructions(ctx writer) (list []*record.Instruction, err error) {
	texts, err := ctx.RefreshStandingInstructions()
	for _, text := range texts {
		list = append(list, record.NewInstruction(text))
	}
	return list, err
}

func storeInstruction(ctx writer, i *record.Instruction) error {
	return ctx.StoreStandingInstruction(i.Text)
}

// onlyError drops the record that a method returns beside its error.
func onlyError[R any](method func(writer, R) (R, error)) func(writer, R) error {
	return func(ctx writer, r R) error {
		_, err := method(ctx, r)
		return err
	}
}

// collectionWhere finds a collection; what names it if there is none.
func collectionWhere(is func(c *collection) bool, what any) *collection {
	for i := range collections {
		if is(&collections[i]) {
			return &collections[i]
		}
	}
	panic(malformed("%v is no record, and no kind of records", what))
}

// holding returns the collection for a record.
func holding(r any) *collection {
	return collectionWhere(func(c *collection) bool { return c.holds(r) }, r)
}

// named returns the collection of a name such as "messages".
func named(name string) *collection {
	return collectionWhere(func(c *collection) bool { return c.name == name }, name)
}

// ofKind returns the collection for a kind of record such as "message".
func ofKind(kind string) *collection {
	return collectionWhere(func(c *collection) bool { return c.kind == kind }, kind)
}
