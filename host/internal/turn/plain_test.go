package turn

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
)

// The results of a call inside the core are plain data too; the event's JSON has their members in their order.
func TestReportedResultsArePlainData(t *testing.T) {
	var turn Turn
	const (
		nested = `{"z":[1,2.5,{"b":null}],"a":{"y":true,"x":"text"}}`
		sorted = `{"a":{"x":"text","y":true},"z":[1,2.5,{"b":null}]}`
	)
	plain := map[string]any{"z": []any{int64(1), 2.5, map[string]any{"b": nil}}, "a": map[string]any{"y": true, "x": "text"}}
	for text, want := range map[string]any{nested: plain, sorted: plain, `[{"a":1}]`: []any{map[string]any{"a": int64(1)}}, `"text"`: "text"} {
		value, err := wire.FromJSON(nil, json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		p := abi.ToolCallEvent{ID: "c", Tool: "t", Results: abi.ResultsValue, Value: value}
		ev, err := turn.toolCallEvent(event.Head{}, &abi.Event{Payload: p.Append(nil)})
		if err != nil {
			t.Fatal(err)
		}
		if got := ev.(*event.ToolCall).Results; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: results %#v", text, got)
		}
		if line, err := ev.MarshalJSON(); err != nil || !bytes.Contains(line, []byte(`"results":`+text+`,`)) {
			t.Errorf("%s: %s %v", text, line, err)
		}
	}
}
