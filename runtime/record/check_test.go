package record_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// tuple encodes a body from its fields.
func tuple(fields ...any) []byte {
	b := value.AppendListHeader(nil, len(fields))
	for _, f := range fields {
		switch f := f.(type) {
		case nil:
			b = value.AppendNil(b)
		case string:
			b = value.AppendString(b, f)
		case bool:
			b = value.AppendBool(b, f)
		case int:
			b = value.AppendInt(b, int64(f))
		case float64:
			b = value.AppendNumber(b, f)
		case []byte:
			b = append(b, f...)
		}
	}
	return b
}

func TestCheck(t *testing.T) {
	object := value.AppendMapHeader(nil, 0)
	tests := []struct {
		name string
		kind record.Kind
		body []byte
		code fault.Code
		want []string // parts of the message, in order; none for a valid body
	}{
		{name: "message", kind: record.Messages, body: tuple("m", "user", "hi", nil, 1, 2, nil)},
		{name: "message with identity", kind: record.Messages, body: tuple("m", "assistant", "hi", tuple("a", "b"), 1, 2, nil)},
		{
			name: "everything wrong with a message", kind: record.Messages, body: tuple("", "system", nil, tuple("", "x"), nil, 1.5, nil),
			code: fault.InvalidInitialMessageValue,
			want: []string{"`id` must be", "`role` must be one of", "`identity.identifier` must", "`createdAt` is required", "`updatedAt` must", "`content` or `attachments` is required"},
		},
		{name: "time that no date holds", kind: record.Messages, body: tuple("m", "user", "hi", nil, 8_640_000_000_000_001, 2, nil), code: fault.InvalidInitialMessageValue, want: []string{"`createdAt`"}},
		{name: "message with a field too few", kind: record.Messages, body: tuple("m", "user", "hi", nil, 1, 2), code: fault.InvalidInitialMessageValue, want: []string{"malformed"}},
		{name: "message cut short", kind: record.Messages, body: tuple("m", "user", "hi", nil, 1, 2, nil)[:6], code: fault.InvalidInitialMessageValue, want: []string{"malformed"}},
		{name: "no bytes", kind: record.Messages, body: nil, code: fault.InvalidInitialMessageValue, want: []string{"malformed"}},
		{name: "memory", kind: record.Memories, body: tuple("x", "c", 0, 1.0, 1, 2)},
		{name: "memory out of range", kind: record.Memories, body: tuple("x", "c", 1.2, -0.1, 1, 2), code: fault.InvalidInitialMemoryValue, want: []string{"`confidence` must be between 0 and 1", "`importance` must be between 0 and 1"}},
		{name: "thought", kind: record.Thoughts, body: tuple("t", "hm", nil, nil, nil, 1, 2)},
		{name: "thought that is a payload", kind: record.Thoughts, body: tuple("t", "", nil, "sig", "v1", 1, 2)},
		{name: "payload without tag", kind: record.Thoughts, body: tuple("t", "", nil, "sig", nil, 1, 2), code: fault.InvalidInitialThoughtValue, want: []string{"`replayCompatibility` is required when `payload` is given"}},
		{name: "empty thought with a tag", kind: record.Thoughts, body: tuple("t", "", nil, nil, "v1", 1, 2), code: fault.InvalidInitialThoughtValue, want: []string{"`content` must be a non-empty string when"}},
		{name: "empty tag", kind: record.Thoughts, body: tuple("t", "hm", nil, nil, "", 1, 2), code: fault.InvalidInitialThoughtValue, want: []string{"`replayCompatibility` must be a non-empty string"}},
		{name: "tool call", kind: record.ToolCalls, body: tuple("c", "t", object, "ab", "x1", nil, true, false, "", nil, nil, false, false, 1, 2, 3)},
		{
			name: "everything wrong with a tool call", kind: record.ToolCalls,
			body: tuple("", nil, "x", "", 1, "", 1, nil, nil, object, nil, "no", nil, "now", nil, false), code: fault.InvalidInitialToolCallValue,
			want: []string{
				"`id`", "`tool` is required", "`args` must be an object", "`checksum`", "`executionId`", "`providerCallId`", "`isComplete` must be a boolean", "`isError` is required", "`results` is required",
				"`fromArtifactTool`", "`inline`", "`createdAt`", "`updatedAt` is required", "`completedAt`", "`replayCompatibility`",
			},
		},
		{name: "retrievable", kind: record.Retrievables, body: tuple("r", "doc", "first-party", nil, "page", 0.5, false, 1, 2)},
		{name: "retrievable without tier", kind: record.Retrievables, body: tuple("r", "doc", nil, nil, nil, 1.5, false, 1, 2), code: fault.InvalidInitialRetrievableValue, want: []string{"`trustTier` is required", "`score` must be between 0 and 1"}},
		{name: "retrievable of another tier", kind: record.Retrievables, body: tuple("r", 42, "user-supplied", nil, nil, nil, false, 1, 2), code: fault.InvalidInitialRetrievableValue, want: []string{"`content`", "`trustTier` must be one of"}},
		{name: "instruction", kind: record.Instructions, body: text("be brief")},
		{name: "empty instruction", kind: record.Instructions, body: text(""), code: fault.InvalidValue, want: []string{"instruction"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := record.Check(tt.kind, tt.body)
			if tt.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			if !fault.Is(err, tt.code) {
				t.Errorf("code of %v", err)
			}
			rest := err.Error()
			for _, part := range tt.want {
				i := strings.Index(rest, part)
				if i < 0 {
					t.Fatalf("%q is not in %q", part, err)
				}
				rest = rest[i+len(part):]
			}
		})
	}
}

// Checking a valid record allocates nothing.
func TestCheckAllocations(t *testing.T) {
	body := tuple("c", "t", value.AppendMapHeader(nil, 0), "ab", "x1", "call_1", true, false, "done", nil, nil, false, false, 1, 2, 3)
	if n := testing.AllocsPerRun(100, func() {
		if record.Check(record.ToolCalls, body) != nil {
			t.Error("refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCheckMessage(b *testing.B) {
	body := tuple("m", "user", strings.Repeat("text ", 40), nil, 1, 2, nil)
	b.ReportAllocs()
	for b.Loop() {
		if record.Check(record.Messages, body) != nil {
			b.Fatal("refused")
		}
	}
}
