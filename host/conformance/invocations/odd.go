package invocations

import (
	"math"
	"strings"

	"github.com/turncore/turncore/host/sessions"
)

// odd is a value in which each map with a member "$" alone, or with "bytes", is what it names: what JSON cannot say, or
// not briefly.
func odd(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = odd(v[i])
		}
		return list
	case map[string]any:
		if kind, ok := v["$"].(string); ok {
			return oddOf(kind, v)
		}
		return oddMap(v)
	}
	return v
}

func oddMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	made := make(map[string]any, len(m))
	for name, v := range m {
		made[name] = odd(v)
	}
	return made
}

func oddOf(kind string, v map[string]any) any {
	switch kind {
	case "cycle": // a map that contains itself
		m := map[string]any{}
		m["self"] = m
		return m
	case "ring": // a list that contains itself
		list := make([]any, 1)
		list[0] = list
		return list
	case "deep": // more lists in lists than a value may have
		var list any = []any{}
		for range 60 {
			list = []any{list}
		}
		return list
	case "wide": // a list of more elements than it may have
		return make([]any, 8193)
	case "nan":
		return math.NaN()
	case "infinity":
		return math.Inf(1)
	case "function":
		return func() {}
	case "text":
		bytes, _ := plain(v["bytes"]).(float64) // an event has it as an integer
		return strings.Repeat("x", int(bytes))
	}
	panic("there is no value " + kind)
}

// oddEvent is a copy of an event, with the values that it names.
func oddEvent(e *sessions.Event) *sessions.Event {
	made := *e
	made.Actions.StateDelta, made.CustomMetadata = oddMap(e.Actions.StateDelta), oddMap(e.CustomMetadata)
	if e.Content == nil {
		return &made
	}
	content := *e.Content
	content.Parts = make([]sessions.Part, len(e.Content.Parts))
	for i, part := range e.Content.Parts {
		if part.FunctionCall != nil {
			call := *part.FunctionCall
			call.Args = oddMap(call.Args)
			part.FunctionCall = &call
		}
		if part.FunctionResponse != nil {
			response := *part.FunctionResponse
			response.Response = oddMap(response.Response)
			part.FunctionResponse = &response
		}
		part.More = oddMap(part.More)
		content.Parts[i] = part
	}
	made.Content = &content
	return &made
}
