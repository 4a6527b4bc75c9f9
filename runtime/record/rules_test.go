package record_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// ruleVectors is the file with the violations that all hosts and the module report.
const ruleVectors = "../../abi/testdata/rules.json"

type ruleVector struct {
	Type, Name string
	Input      json.RawMessage
	Violations []string
	Skip       map[string]string
}

// bodyFields are the fields of a body in order.
var bodyFields = map[string]struct {
	kind   record.Kind
	code   fault.Code
	fields []string
}{
	"Message":     {record.Messages, fault.InvalidInitialMessageValue, strings.Fields("id role content identity createdAt updatedAt attachments")},
	"Memory":      {record.Memories, fault.InvalidInitialMemoryValue, strings.Fields("id content confidence importance createdAt updatedAt")},
	"Thought":     {record.Thoughts, fault.InvalidInitialThoughtValue, strings.Fields("id content identity payload replayCompatibility createdAt updatedAt")},
	"ToolCall":    {record.ToolCalls, fault.InvalidInitialToolCallValue, strings.Fields("id tool args checksum executionId providerCallId isComplete isError results payload replayCompatibility fromArtifactTool inline createdAt updatedAt completedAt")},
	"Retrievable": {record.Retrievables, fault.InvalidInitialRetrievableValue, strings.Fields("id content trustTier source kind score inline createdAt updatedAt")},
}

// bodyOf encodes the value of a vector as a host would, without checking it.
func bodyOf(t *testing.T, kind record.Kind, fields []string, input json.RawMessage) []byte {
	t.Helper()
	var given map[string]json.RawMessage
	if err := json.Unmarshal(input, &given); err != nil {
		t.Fatal(err)
	}
	body := value.AppendListHeader(nil, len(fields))
	for _, name := range fields {
		switch text, ok := given[name]; {
		case ok && name == "identity":
			body = append(body, speakerOf(t, text)...)
		case ok:
			body = append(body, describedValue(t, text)...)
		case name == "inline" || name == "fromArtifactTool":
			body = value.AppendBool(body, false)
		case name == "content" && kind == record.Thoughts:
			body = value.AppendString(body, "")
		default:
			body = value.AppendNil(body)
		}
	}
	return body
}

func speakerOf(t *testing.T, text json.RawMessage) []byte {
	var id struct{ Identifier, Representation string }
	if json.Unmarshal(text, &id) != nil {
		return describedValue(t, text)
	}
	return tuple(id.Identifier, id.Representation)
}

// describedValue encodes a value, or the part that a vector describes.
func describedValue(t *testing.T, text json.RawMessage) []byte {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && list != nil {
		b := value.AppendListHeader(nil, len(list))
		for _, item := range list {
			b = append(b, describedValue(t, item)...)
		}
		return b
	}
	var special struct {
		Is   string `json:"$"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(text, &special)
	switch special.Is {
	case "media":
		return tuple(int(record.MediaPart), "x", "image", "image/png", "a.png", "first-party", "inert", nil, -1, nil)
	case "artifact":
		return record.AppendArtifact(nil, "SpooledArtifact", 1, 1, "")
	case "text":
		return value.AppendString(nil, special.Text)
	}
	return fromJSON(t, string(text))
}

func TestCheckSaysWhatTheRulesSay(t *testing.T) {
	text, err := os.ReadFile(ruleVectors)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Skipped map[string]int
		Vectors []ruleVector
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	ran, skipped := 0, 0
	for _, v := range file.Vectors {
		if v.Skip["guest"] != "" {
			skipped++
			continue
		}
		ran++
		t.Run(v.Type+"/"+v.Name, func(t *testing.T) {
			is, ok := bodyFields[v.Type]
			if !ok {
				t.Fatal("the module has no such record")
			}
			err := record.Check(is.kind, bodyOf(t, is.kind, is.fields, v.Input))
			if len(v.Violations) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !fault.Is(err, is.code) {
				t.Fatalf("code of %v", err)
			}
			_, words, _ := strings.Cut(err.Error(), "invalid: ")
			if got := strings.Split(words, "; "); !slices.Equal(got, v.Violations) {
				t.Errorf("got %q\nwant %q", got, v.Violations)
			}
		})
	}
	if skipped != file.Skipped["guest"] || ran != len(file.Vectors)-skipped || ran < 70 {
		t.Errorf("%d ran and %d were skipped, of which the file names %d", ran, skipped, file.Skipped["guest"])
	}
}
