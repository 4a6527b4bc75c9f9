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
	records, there := a.take("records")
	if !there {
		records = []any{}
	}
	return nil, named(kind).addHistory(f.game, f.inTurn(), name, records)
}

func grow[R record.Type](g *game, name string, c *turns.Collection[R], specs any) error {
	records := recordsOf[R](g, specs)
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
