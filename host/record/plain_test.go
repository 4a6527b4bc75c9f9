package record_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/record"
)

// encoded is JSON text as the core has it.
func encoded(t *testing.T, text string) abi.Raw {
	t.Helper()
	raw, err := wire.FromJSON(nil, json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const (
	nested = `{"z":[1,2.5,{"b":null}],"a":{"y":true,"x":"text"}}`
)

var nestedPlain = map[string]any{"z": []any{int64(1), 2.5, map[string]any{"b": nil}}, "a": map[string]any{"y": true, "x": "text"}}

// What comes out of the core is plain data, and a payload goes back as it came unless it was changed.
func TestPayloadsArePlainData(t *testing.T) {
	bodies := map[uint8][]byte{}
	for kind, r := range map[uint8]record.Record{
		abi.CollectionThoughts:  &record.Thought{ID: "t", Payload: json.RawMessage(nested), ReplayCompatibility: "m"},
		abi.CollectionToolCalls: &record.ToolCall{ID: "c", Tool: "t", Args: json.RawMessage(`{}`), Payload: json.RawMessage(nested), Results: "r"},
	} {
		body, err := record.Append(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		bodies[kind] = body
	}
	for kind, body := range bodies {
		r, err := record.Decode(record.Kind(kind), body)
		if err != nil {
			t.Fatal(err)
		}
		payload := func() *any {
			if thought, ok := r.(*record.Thought); ok {
				return &thought.Payload
			}
			return &r.(*record.ToolCall).Payload
		}()
		if !reflect.DeepEqual(*payload, any(nestedPlain)) {
			t.Errorf("%T: payload %#v", r, *payload)
		}
		if again, err := record.Append(nil, r); err != nil || !bytes.Equal(again, body) {
			t.Errorf("%T: it goes back as %x, came as %x: %v", r, again, body, err)
		}
		(*payload).(map[string]any)["z"] = "changed"
		changed, err := record.Append(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if want := encoded(t, `{"a":{"x":"text","y":true},"z":"changed"}`); !bytes.Contains(changed, want) {
			t.Errorf("%T: a change of the payload is lost", r)
		}
	}
}
