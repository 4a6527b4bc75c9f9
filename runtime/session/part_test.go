package session_test

import (
	"bytes"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/session"
)

// What the constructors make is what a reader of their bytes gets.
func TestNewParts(t *testing.T) {
	args := from(t, `{a: [1]}`)
	for want, p := range map[string]session.Part{
		`{"text":"héllo"}`:                                                 session.NewText("héllo"),
		`{"text":"hm","thought":true}`:                                     session.NewThought("hm", nil),
		`{"text":"","thought":true,"thoughtSignature":{"a":1}}`:            session.NewThought("", from(t, `{a: 1}`)),
		`{"functionCall":{"id":"c1","name":"t","args":{"a":[1]}}}`:         session.NewCall("c1", "t", args),
		`{"functionCall":{"name":"t","args":{"a":[1]}}}`:                   session.NewCall("", "t", args),
		`{"functionResponse":{"id":"c1","name":"t","response":{"a":[1]}}}`: session.NewResponse("c1", "t", args),
	} {
		if got := show(t, p.Raw); got != want {
			t.Errorf("made %s, want %s", got, want)
		}
		role, parts, err := session.ParseContent(session.AppendContent(nil, "model", []session.Part{p}))
		if err != nil || role != "model" || len(parts) != 1 {
			t.Fatalf("%s: %v", want, err)
		}
		q := parts[0]
		if q.Kind != p.Kind || !bytes.Equal(q.Raw, p.Raw) || !bytes.Equal(q.Text, p.Text) || q.ID != p.ID || q.Name != p.Name ||
			!bytes.Equal(q.Value, p.Value) {
			t.Errorf("made %+v, read %+v", p, q)
		}
	}
	p, q := session.NewThought("x", from(t, `[1]`)), session.NewText("x")
	if show(t, p.Signature()) != "[1]" || q.Signature() != nil {
		t.Error("signatures")
	}
}

func part(t *testing.T, text string) session.Part {
	t.Helper()
	_, parts, err := session.ParseContent(from(t, `{parts: [`+text+`]}`))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return parts[0]
}

func TestSetID(t *testing.T) {
	for _, c := range [][2]string{
		{`{functionCall: {name: "t", args: {a: 1}}}`, `{"functionCall":{"id":"new","name":"t","args":{"a":1}}}`},
		{`{functionCall: {id: "old", name: "t"}, thoughtSignature: "s"}`, `{"functionCall":{"id":"new","name":"t"},"thoughtSignature":"s"}`},
		{`{functionCall: {name: "t", id: "old", more: [1]}}`, `{"functionCall":{"id":"new","name":"t","more":[1]}}`},
		{`{functionCall: {"5": 1, name: "t", id: null}}`, `{"functionCall":{"5":1,"id":"new","name":"t"}}`},
		{`{x: 1, functionResponse: {name: "t", id: "old", response: {}}}`, `{"x":1,"functionResponse":{"id":"new","name":"t","response":{}}}`},
	} {
		old := part(t, c[0])
		before := show(t, old.Raw)
		p := old
		p.SetID("new")
		if got := show(t, p.Raw); got != c[1] {
			t.Errorf("%s became %s", c[0], got)
		}
		if err := value.Check(p.Raw); err != nil || p.ID != "new" || p.Name != "t" || show(t, old.Raw) != before || old.ID == "new" {
			t.Errorf("%+v: %v; was %+v", p, err, old)
		}
	}
}

func TestNote(t *testing.T) {
	for text, want := range map[string]string{
		`{text: "a"}`: "a",
		`{fileData: {fileUri: "gs://b/f.pdf", mimeType: "application/pdf"}}`: "[fileData: gs://b/f.pdf]",
		`{fileData: {mimeType: "application/pdf"}}`:                          "[fileData: application/pdf]",
		`{executableCode: {language: "PYTHON", code: "print(1)"}}`:           "print(1)",
		`{codeExecutionResult: {outcome: "OUTCOME_OK", output: "1\n"}}`:      "1\n",
		`{functionCall: {id: "1", name: "t", args: {}}}`:                     "[functionCall: t]",
		`{odd: 1, fileData: {fileUri: "f"}}`:                                 "[fileData: f]",
		`{odd: [1, 2]}`:                                                      `{"odd":[1,2]}`,
	} {
		p := part(t, text)
		if got := string(p.Note()); got != want {
			t.Errorf("%s is %q", text, got)
		}
	}
	raw := value.AppendString(value.AppendMapHeader(nil, 1), "inlineData")
	raw = value.AppendString(value.AppendString(value.AppendMapHeader(raw, 2), "mimeType"), "image/png")
	raw = value.AppendBytes(value.AppendString(raw, "data"), make([]byte, 2048))
	_, parts, err := session.ParseContent(append(value.AppendListHeader(value.AppendString(value.AppendMapHeader(nil, 1), "parts"), 1), raw...))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(parts[0].Note()); got != "[inlineData: image/png, 2048 bytes]" {
		t.Errorf("data is %q", got)
	}
}

func TestParseContent(t *testing.T) {
	role, parts, err := session.ParseContent(from(t, `{parts: [{text: "a"}, {text: "b"}], role: "user"}`))
	if err != nil || role != "user" || len(parts) != 2 || string(parts[1].Text) != "b" {
		t.Errorf("%s %+v: %v", role, parts, err)
	}
	if got := show(t, session.AppendContent(nil, "", nil)); got != `{"parts":[]}` {
		t.Errorf("an empty content is %s", got)
	}
	_, _, err = session.ParseContent(from(t, `{parts: [{text: "a"}, {text: 1}]}`))
	wantError(t, err, session.InvalidEvent, "parts[1].text")
	_, _, err = session.ParseContent([]byte{0x82, 0xa4, 'r', 'o', 'l', 'e', 0xa0, 0xa4, 'r', 'o', 'l', 'e', 0xa0})
	wantError(t, err, session.InvalidEvent, "role")
}
