package conformance

import (
	"strings"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// see returns what user code sees of a property.
func (f *frame) see(what string) any {
	if member, ok := strings.CutPrefix(what, "call:"); ok {
		return f.wrapped[member]
	}
	if path, ok := strings.CutPrefix(what, "stash:"); ok {
		v, _ := f.inTurn().Stash().Get(path)
		return plain(v)
	}
	if path, ok := strings.CutPrefix(what, "stash?"); ok {
		return f.inTurn().Stash().Has(path)
	}
	if id, ok := strings.CutPrefix(what, "gate?"); ok {
		_, open := f.game.runner.Gate(id)
		return open
	}
	if id, ok := strings.CutPrefix(what, "settled:"); ok {
		return f.game.value("gate " + id).(event.OpenGate).IsSettled()
	}
	if checksum, ok := strings.CutPrefix(what, "toolCallCount:"); ok {
		n, err := f.inDispatch().ToolCallCount(checksum)
		if err != nil {
			return f.game.describe(err, 0)
		}
		return n
	}
	switch what {
	case "aborted":
		return f.inTurn().Aborted()
	case "abortSignal":
		return f.inTurn().Err() != nil
	case "turnId":
		return f.inTurn().TurnID()
	case "systemPrompt":
		return f.inTurn().SystemPrompt()
	case "stash":
		return plain(f.inTurn().Stash().All())
	case "tools":
		return toolNames(f.inTurn().Tools().All())
	case "tools/visible":
		return toolNames(f.inTurn().Tools().Visible())
	case "tools/hidden":
		return toolNames(f.inTurn().Tools().Hidden())
	case "isSignalled":
		return f.inDispatch().IsSignalled()
	case "isAcked":
		return f.inDispatch().IsAcked()
	case "nackError":
		if err := f.inDispatch().NackError(); err != nil {
			return f.game.describe(err, 0)
		}
		return nil
	case "iteration":
		return f.inDispatch().Iteration()
	case "dispatchId":
		return f.inDispatch().DispatchID()
	case "idempotencyKey":
		if key := f.inTurn().IdempotencyKey(); key != "" {
			return key
		}
		return nil
	case "args":
		return plain(f.args)
	}
	name, content := strings.CutSuffix(what, "/content")
	return named(name).contents(f.inTurn(), content)
}

func toolNames(tools []*turns.Tool) []any {
	all := make([]any, len(tools))
	for i, t := range tools {
		all[i] = t.Name
	}
	return all
}

// plain returns a value as JSON would read it.
func plain(v any) (out any) {
	decode(v, &out)
	return out
}
