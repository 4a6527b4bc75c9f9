package conformance

import (
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// addHistory adds the history of a name to a collection. The first time it makes the history of its records; later it
// appends them to it.
func addHistory(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	name, kind := a.str("name", ""), a.str("kind", "messages")
	var records []any
	if v, there := a.take("records"); there {
		records = list(v)
	}
	ctx := f.inTurn()
	switch kind {
	case "memories":
		return nil, grow(f.game, name, ctx.TurnMemories(), records)
	case "messages":
		return nil, grow(f.game, name, ctx.TurnMessages(), records)
	case "thoughts":
		return nil, grow(f.game, name, ctx.TurnThoughts(), records)
	case "retrievables":
		return nil, grow(f.game, name, ctx.TurnRetrievables(), records)
	case "toolCalls":
		return nil, grow(f.game, name, ctx.TurnToolCalls(), records)
	}
	panic(malformed("there is no history of %s", kind))
}

func grow[R record.Type](g *game, name string, c *turns.Collection[R], specs []any) error {
	records := make([]R, len(specs))
	for i, spec := range specs {
		records[i] = g.record(spec).(R)
	}
	g.mu.Lock()
	history, known := g.values["history "+name].(*turns.History[R])
	g.mu.Unlock()
	if known {
		if err := history.Append(records...); err != nil {
			return err
		}
	} else {
		var err error
		if history, err = turns.NewHistory(records...); err != nil {
			return err
		}
		g.keepValue("history "+name, history)
	}
	return c.AddAll(history)
}
