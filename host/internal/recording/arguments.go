package recording

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// badArguments is what the executor tells the model about arguments that it could not read.
const badArguments = "The model's tool call has arguments that are no JSON object"

// alignArguments reports arguments that are no JSON where the executor could not read those that the provider gave
// either, and those of the conversation before the turn.
func (r *Recording) alignArguments(got, want []any, report func(path string, got, want any)) {
	var given []any
	for _, v := range r.messagesBefore(1) {
		for _, call := range callsIn(v) {
			given = append(given, argumentsOf(call))
		}
	}
	for i := range min(len(got), len(want)) {
		sent, recorded := callsIn(got[i]), callsIn(want[i])
		for k := range min(len(sent), len(recorded)) {
			g, w := argumentsOf(sent[k]), argumentsOf(recorded[k])
			if _, isText := w.(string); !isText || !reflect.DeepEqual(g, map[string]any{}) {
				continue
			}
			refused := slices.Contains(given, w)
			for _, v := range got[i+1:] {
				m, _ := v.(map[string]any)
				words, _ := m["content"].(string)
				refused = refused || m["tool_call_id"] == sent[k]["id"] && strings.HasPrefix(words, badArguments)
			}
			if refused {
				report("/messages/"+strconv.Itoa(i)+"/tool_calls/"+strconv.Itoa(k)+"/function/arguments", g, w)
				sent[k]["function"].(map[string]any)["arguments"] = w
			}
		}
	}
}

// argumentsOf are the arguments of a call.
func argumentsOf(call map[string]any) any {
	function, _ := call["function"].(map[string]any)
	return function["arguments"]
}
