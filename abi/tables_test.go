package abi

import (
	"bytes"
	"strings"
	"testing"
)

func TestLookupCode(t *testing.T) {
	for _, c := range codes {
		if got, ok := LookupCode(c.Code); !ok || got != c {
			t.Errorf("%s is not found", c.Code)
		}
	}
	if _, ok := LookupCode("E_NOPE"); ok {
		t.Error("E_NOPE is found")
	}
	if c, _ := LookupCode(CodeStorageCommitError); c.Status != 500 || c.Fatal || !strings.HasSuffix(c.Help, ".") {
		t.Errorf("%+v", c)
	}
}

func TestRules(t *testing.T) {
	if f := TurnRunnerConfigRules.Field("llmInputMiddleware"); f == nil || f.Name != "dispatchInputPipeline" || f.Item.Kind != KindMiddleware {
		t.Errorf("alias gives %+v", f)
	}
	if f := MessageRules.Field("role"); f == nil || !f.Required || len(f.Enum) != 2 {
		t.Errorf("role is %+v", f)
	}
	if MessageRules.Field("nope") != nil {
		t.Error("an unknown field is found")
	}
	required := 0
	for _, f := range TurnRunnerConfigRules.Fields {
		if f.Required {
			required++
		}
	}
	if required != 28 {
		t.Errorf("%d callbacks are required, want 28", required)
	}
}

// TestPhrases uses every phrase: none is missing, and none has an unknown placeholder.
func TestPhrases(t *testing.T) {
	fill := []string{"field", "a", "other", "b", "alias", "c", "min", "0", "max", "1", "values", "x, y", "class", "C", "type", "t", "why", "w", "name", "n", "pipelines", "p", "known", "k"}
	for key := range phrases {
		if text := Violation(key, fill...); text == "" || strings.Contains(text, "{") {
			t.Errorf("%s says %q", key, text)
		}
	}
	if got, want := Violation(RuleNonEmpty, "field", "tools[2].name"), "`tools[2].name` must be a non-empty string"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Violation(string(KindInstance), "field", "tools[0]", "class", "Tool"), "`tools[0]` must be an instance of Tool"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBytes(t *testing.T) {
	for _, size := range []int{0, 1, 255, 256, 65535, 65536} {
		b, err := BytesOf(Bytes(make([]byte, size)))
		if err != nil || b == nil || len(b) != size {
			t.Errorf("%d bytes come back as %d, %v", size, len(b), err)
		}
	}
	for _, size := range []int{0, 1, 255, 256, 65535, 65536} {
		body := bytes.Repeat([]byte{'x'}, size)
		room := append(make([]byte, BytesRoom), body...)
		if raw := BytesIn(room); !bytes.Equal(raw, Bytes(body)) || &raw[len(raw)-1] != &room[len(room)-1] {
			t.Errorf("%d bytes behind room for a header become %d, or are copied", size, len(raw))
		}
	}
	if b, err := BytesOf(Bytes(nil)); b != nil || err != nil {
		t.Errorf("nil comes back as %v, %v", b, err)
	}
	if b, err := BytesOf(Raw{0xc0}); b != nil || err != nil {
		t.Errorf("an encoded nil comes back as %v, %v", b, err)
	}
	for _, bad := range []Raw{{0x01}, {0xc4}, {0xc4, 2, 0}, {0xc4, 0, 0}, {0xa1, 'x'}} {
		if b, err := BytesOf(bad); err == nil {
			t.Errorf("%x gives %x", bad, b)
		}
	}
}
