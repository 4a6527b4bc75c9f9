package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/record"
)

// The layouts are the ABI's: its generated decoders read the builders' output, and vice versa.

func ptr[T any](v T) *T { return &v }

func text(s string) []byte { return value.AppendString(nil, s) }

func TestMessage(t *testing.T) {
	long := strings.Repeat("long text ", 50)
	body := record.AppendMessage(nil, record.MessageFields{
		ID: "m1", Role: "user", Content: []byte(long), Identity: &record.IdentityFields{Identifier: "u7", Representation: "Ann"},
		CreatedAt: 1767225600000, UpdatedAt: -5,
	})
	m, err := abi.Decode[abi.Message](body)
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != "m1" || m.Role != "user" || *m.Content != long || *m.Identity != (abi.Identity{Identifier: "u7", Representation: "Ann"}) ||
		m.CreatedAt != 1767225600000 || m.UpdatedAt != -5 {
		t.Errorf("decoded %+v", m)
	}
	encoded := m.Append(nil)
	for _, body := range [][]byte{body, encoded} {
		v := record.Message(body)
		content, ok := v.Content()
		id, hasID := v.Identity()
		if string(v.ID()) != "m1" || string(v.Role()) != "user" || string(content) != long || !ok || !hasID ||
			string(id.Identifier) != "u7" || string(id.Representation) != "Ann" || v.CreatedAt() != 1767225600000 ||
			v.UpdatedAt() != -5 || v.Attachments() != nil {
			t.Errorf("read back %q", body)
		}
		if record.CreatedAt(record.Messages, body) != 1767225600000 ||
			string(record.ID(record.Messages, body)) != "m1" {
			t.Errorf("by kind: %q", body)
		}
	}

	bare := record.Message(record.AppendMessage(nil, record.MessageFields{ID: "m2", Role: "assistant"}))
	if _, ok := bare.Content(); ok {
		t.Error("a message without content has some")
	}
	if _, ok := bare.Identity(); ok {
		t.Error("a message without identity has one")
	}
}

func TestMemory(t *testing.T) {
	body := record.AppendMemory(nil, record.MemoryFields{ID: "x", Content: []byte("likes tea"), Confidence: 1, Importance: 0.25, CreatedAt: 1, UpdatedAt: 2})
	m, err := abi.Decode[abi.Memory](body)
	if err != nil {
		t.Fatal(err)
	}
	if m != (abi.Memory{ID: "x", Content: "likes tea", Confidence: 1, Importance: 0.25, CreatedAt: 1, UpdatedAt: 2}) {
		t.Errorf("decoded %+v", m)
	}
	v := record.Memory(body)
	if string(v.ID()) != "x" || string(v.Content()) != "likes tea" || v.Confidence() != 1 || v.Importance() != 0.25 ||
		v.CreatedAt() != 1 || v.UpdatedAt() != 2 {
		t.Errorf("read back %q", body)
	}
}

func TestThought(t *testing.T) {
	body := record.AppendThought(nil, record.ThoughtFields{ID: "t", Content: []byte("hm"), Payload: text("sig"), ReplayCompatibility: "p-v1", CreatedAt: 1, UpdatedAt: 2})
	m, err := abi.Decode[abi.Thought](body)
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != "t" || m.Content != "hm" || !bytes.Equal(m.Payload, text("sig")) || *m.ReplayCompatibility != "p-v1" || m.CreatedAt != 1 || m.UpdatedAt != 2 || m.Identity != nil {
		t.Errorf("decoded %+v", m)
	}
	v := record.Thought(body)
	if string(v.ID()) != "t" || string(v.Content()) != "hm" || !bytes.Equal(v.Payload(), text("sig")) ||
		string(v.ReplayCompatibility()) != "p-v1" || v.CreatedAt() != 1 || v.UpdatedAt() != 2 {
		t.Errorf("read back %q", body)
	}
	if _, ok := v.Identity(); ok {
		t.Error("identity out of nothing")
	}
}

func TestToolCall(t *testing.T) {
	args := value.AppendMapHeader(nil, 0)
	body := record.AppendToolCall(nil, record.ToolCallFields{
		ID: "c", Tool: "search", Args: args, Checksum: "ab", ExecutionID: "T.x1", ProviderCallID: "call_1", IsComplete: true, IsError: true, Results: text("boom"),
		Inline: true, CreatedAt: 1, UpdatedAt: 2, CompletedAt: 3,
	})
	m, err := abi.Decode[abi.ToolCall](body)
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != "c" || m.Tool != "search" || !bytes.Equal(m.Args, args) || m.Checksum != "ab" || *m.ExecutionID != "T.x1" || *m.ProviderCallID != "call_1" || !m.IsComplete || !m.IsError ||
		!bytes.Equal(m.Results, text("boom")) || m.FromArtifactTool || !m.Inline || m.CreatedAt != 1 || m.UpdatedAt != 2 || m.CompletedAt != 3 || m.ReplayCompatibility != nil {
		t.Errorf("decoded %+v", m)
	}
	v := record.ToolCall(body)
	if string(v.ID()) != "c" || string(v.Tool()) != "search" || !bytes.Equal(v.Args(), args) || string(v.Checksum()) != "ab" || string(v.ExecutionID()) != "T.x1" || string(v.ProviderCallID()) != "call_1" ||
		!v.IsComplete() || !v.IsError() || !bytes.Equal(v.Results(), text("boom")) || v.Payload() != nil || v.ReplayCompatibility() != nil ||
		v.FromArtifactTool() || !v.Inline() || v.CreatedAt() != 1 || v.UpdatedAt() != 2 || v.CompletedAt() != 3 {
		t.Errorf("read back %q", body)
	}
	if record.CreatedAt(record.ToolCalls, body) != 1 {
		t.Error("time by kind")
	}
}

func TestRetrievable(t *testing.T) {
	body := record.AppendRetrievable(nil, record.RetrievableFields{
		ID: "r", Content: []byte("doc"), TrustTier: "first-party", Source: "wiki", Score: ptr(1.0), CreatedAt: 1, UpdatedAt: 2,
	})
	m, err := abi.Decode[abi.Retrievable](body)
	if err != nil {
		t.Fatal(err)
	}
	if m.ID != "r" || string(m.Content) != "\xa3doc" || m.TrustTier != "first-party" || *m.Source != "wiki" || m.Kind != nil || *m.Score != 1 || m.Inline || m.CreatedAt != 1 || m.UpdatedAt != 2 {
		t.Errorf("decoded %+v", m)
	}
	v := record.Retrievable(body)
	score, ok := v.Score()
	if string(v.ID()) != "r" || string(v.Content()) != "doc" || string(v.TrustTier()) != "first-party" || string(v.Source()) != "wiki" ||
		v.Kind() != nil || score != 1 || !ok || v.Inline() || v.CreatedAt() != 1 || v.UpdatedAt() != 2 {
		t.Errorf("read back %q", body)
	}
	if record.CreatedAt(record.Retrievables, body) != 1 {
		t.Error("time by kind")
	}
}

func TestInstruction(t *testing.T) {
	body := value.AppendString(nil, "be brief")
	if got := string(record.ID(record.Instructions, body)); got != "be brief" {
		t.Errorf("id %q", got)
	}
	if record.CreatedAt(record.Instructions, body) != 0 || record.CreatedAt(record.Kind(9), body) != 0 {
		t.Error("times out of nothing")
	}
}

// Readers return zero values for invalid bodies.
func FuzzReaders(f *testing.F) {
	f.Add(record.AppendMessage(nil, record.MessageFields{ID: "m", Role: "user", Content: []byte("hi")}))
	f.Add(record.AppendToolCall(nil, record.ToolCallFields{ID: "c", Tool: "t"}))
	f.Add([]byte{0xdc, 0xff, 0xff, 0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, body []byte) {
		for k := record.Kind(0); k < record.Kinds+1; k++ {
			record.ID(k, body)
			record.CreatedAt(k, body)
			if record.Check(k, body) == nil && k != record.Instructions && len(record.ID(k, body)) == 0 {
				t.Errorf("%v without id passed the check: %x", k, body)
			}
		}
		record.Message(body).Identity()
		record.Thought(body).Payload()
		record.ToolCall(body).Results()
		record.Retrievable(body).Score()
	})
}
