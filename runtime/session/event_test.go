package session_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// from is the value of JSON5 text.
func from(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON5(nil, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// show is the JSON text of a value.
func show(t testing.TB, v []byte) string {
	t.Helper()
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parse(t testing.TB, text string) *session.Event {
	t.Helper()
	e, err := session.Parse(from(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// wantError checks the code of an error, and the field that it names.
func wantError(t *testing.T, err error, code fault.Code, field string) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Fatalf("error %v, want %s", err, string(code))
	}
	got, _ := value.GetString(fault.DetailsOf(err), "field")
	if string(got) != field || !strings.Contains(err.Error(), field) {
		t.Errorf("error %q names the field %q, want %q", err, got, field)
	}
}

func TestFinal(t *testing.T) {
	for _, c := range []struct {
		name, event string
		want        bool
	}{
		{"text", `{content: {role: "model", parts: [{text: "hi"}]}}`, true},
		{"call", `{content: {parts: [{functionCall: {id: "1", name: "t", args: {}}}]}}`, false},
		{"response", `{content: {parts: [{functionResponse: {id: "1", name: "t", response: {}}}]}}`, false},
		{"response without a summary", `{content: {parts: [{functionResponse: {id: "1", name: "t", response: {}}}]}, actions: {skipSummarization: true}}`, true},
		{"partial", `{partial: true, content: {parts: [{text: "h"}]}}`, false},
		{"long-running call", `{content: {parts: [{functionCall: {id: "1", name: "t"}}]}, longRunningToolIds: ["1"]}`, true},
		{"call with an empty set", `{content: {parts: [{functionCall: {id: "1", name: "t"}}]}, longRunningToolIds: []}`, false},
		{"code result at the end", `{content: {parts: [{text: "a"}, {codeExecutionResult: {output: "1"}}]}}`, false},
		{"code result before text", `{content: {parts: [{codeExecutionResult: {output: "1"}}, {text: "a"}]}}`, true},
		{"code to run", `{content: {parts: [{executableCode: {code: "1"}}]}}`, true},
		{"call after text", `{content: {parts: [{text: "a"}, {functionCall: {name: "t"}}]}}`, false},
		{"partial with a long-running call", `{partial: true, longRunningToolIds: ["1"]}`, true},
		{"only a change of the state", `{actions: {stateDelta: {a: 1}}}`, true},
		{"nothing", `{}`, true},
	} {
		if got := parse(t, c.event).Final(); got != c.want {
			t.Errorf("%s: final is %v", c.name, got)
		}
	}
}

const wholeEvent = `{
	id: "e1", invocationId: "i1", author: "agent", timestamp: 1767225600000, branch: "p.a",
	content: {role: "model", parts: [
		{text: "hello"}, {text: "hm", thought: true, thoughtSignature: "sig"}, {text: "signed", thoughtSignature: {a: 1}},
		{functionCall: {id: "c1", name: "t", args: {"7": 1, x: [1, {y: null}]}, more: 1}, further: true},
		{functionResponse: {id: "c1", name: "t", response: {ok: true}}},
		{fileData: {fileUri: "gs://x/y", mimeType: "text/plain"}}, {executableCode: {language: "PYTHON", code: "1"}},
		{codeExecutionResult: {outcome: "OK", output: "1"}}, {videoMetadata: {fps: 1}},
	]},
	partial: true, turnComplete: true, interrupted: true, finishReason: "STOP", errorCode: "E", errorMessage: "m",
	usage: {promptTokens: 1, completionTokens: 2, totalTokens: 3, cachedTokens: 4, reasoningTokens: 5, audio: 6.5},
	longRunningToolIds: ["c1", "c2"], customMetadata: {a: {b: 1}},
	actions: {
		stateDelta: {"3": 1, a: null, "user:b": {c: [1]}, "app:d": "x", "temp:e": 1.5},
		artifactDelta: {"user:f.txt": 0, "g.png": 4294967295},
		skipSummarization: true, transferToAgent: "other", escalate: true,
		requestedConfirmations: {c1: {name: "t", args: {a: 1}, hint: "really?", payload: [1]}},
		compaction: {first: "e0", last: "e9", tokens: 5}, rewindBeforeInvocationId: "i0", requestedAuthConfigs: {x: 1},
	},
}`

// Members of a canonical event come back as the same bytes.
func TestRoundTrip(t *testing.T) {
	for _, text := range []string{
		wholeEvent, `{}`, `{content: {parts: []}}`, `{author: "user", content: {role: "user", parts: [{text: ""}]}}`,
		`{actions: {stateDelta: {a: null}}}`, `{timestamp: -5}`, `{actions: {zzz: 1}}`,
	} {
		v := from(t, text)
		e, err := session.Parse(v)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := e.Append(nil); !bytes.Equal(got, v) {
			t.Errorf("%s\ncame back as %s", show(t, v), show(t, got))
		}
	}
}

func TestAppendLeavesOutWhatIsEmpty(t *testing.T) {
	for text, want := range map[string]string{
		`{id: "", author: "a", timestamp: 0, partial: false, content: null, actions: {}}`: `{"author":"a"}`,
		`{actions: {stateDelta: {}, escalate: false, transferToAgent: ""}}`:               `{}`,
		`{usage: {}, customMetadata: {}, longRunningToolIds: []}`:                         `{}`,
		`{actions: {escalate: true}, id: "x", content: {parts: [], role: "user"}}`:        `{"id":"x","content":{"role":"user","parts":[]},"actions":{"escalate":true}}`,
		`{content: {}}`: `{"content":{"parts":[]}}`,
	} {
		if got := show(t, parse(t, text).Append(nil)); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestParsedEvent(t *testing.T) {
	e := parse(t, wholeEvent)
	if e.ID != "e1" || e.InvocationID != "i1" || e.Author != "agent" || e.Timestamp != 1767225600000 || e.Branch != "p.a" ||
		e.Role != "model" || !e.HasContent || !e.Partial || !e.TurnComplete || !e.Interrupted || e.FinishReason != "STOP" ||
		e.ErrorCode != "E" || e.ErrorMessage != "m" || show(t, e.Metadata) != `{"a":{"b":1}}` || strings.Join(e.LongRunning, " ") != "c1 c2" {
		t.Errorf("read %+v", e)
	}
	kinds := []session.PartKind{
		session.PartText, session.PartThought, session.PartText, session.PartCall, session.PartResponse, session.PartOther,
		session.PartOther, session.PartCodeResult, session.PartOther,
	}
	if len(e.Parts) != len(kinds) {
		t.Fatalf("%d parts", len(e.Parts))
	}
	for i, p := range e.Parts {
		if p.Kind != kinds[i] {
			t.Errorf("part %d is of the kind %d", i, p.Kind)
		}
	}
	if p := e.Parts[3]; p.ID != "c1" || p.Name != "t" || show(t, p.Value) != `{"7":1,"x":[1,{"y":null}]}` {
		t.Errorf("call %+v", p)
	}
	if p := e.Parts[4]; p.ID != "c1" || p.Name != "t" || show(t, p.Value) != `{"ok":true}` {
		t.Errorf("response %+v", p)
	}
	a := e.Actions
	if len(a.StateDelta) != 5 || a.StateDelta[1].Name != "a" || show(t, a.StateDelta[1].Value) != "null" ||
		len(a.ArtifactDelta) != 2 || a.ArtifactDelta[1] != (session.ArtifactVersion{Name: "g.png", Version: 4294967295}) ||
		!a.SkipSummarization || !a.Escalate || a.TransferToAgent != "other" || a.RewindBefore != "i0" ||
		len(a.Confirmations) != 1 || a.Confirmations[0].Name != "c1" || len(a.Others) != 1 || a.Others[0].Name != "requestedAuthConfigs" {
		t.Errorf("actions %+v", a)
	}
}

func TestParseNamesTheMember(t *testing.T) {
	for _, c := range []struct{ event, field string }{
		{`1`, ""},
		{`[]`, ""},
		{`{id: 1}`, "id"},
		{`{invocationId: []}`, "invocationId"},
		{`{author: {}}`, "author"},
		{`{timestamp: "x"}`, "timestamp"},
		{`{timestamp: 1.5}`, "timestamp"},
		{`{branch: 1}`, "branch"},
		{`{content: "x"}`, "content"},
		{`{content: {role: "assistant"}}`, "content.role"},
		{`{content: {role: 1}}`, "content.role"},
		{`{content: {part: []}}`, "content.part"},
		{`{content: {parts: {}}}`, "content.parts"},
		{`{content: {parts: [{text: "a"}, 5]}}`, "content.parts[1]"},
		{`{content: {parts: [{}]}}`, "content.parts[0]"},
		{`{content: {parts: [{text: 5}]}}`, "content.parts[0].text"},
		{`{content: {parts: [{text: "a", thought: 1}]}}`, "content.parts[0].thought"},
		{`{content: {parts: [{text: "a", functionCall: {name: "t"}}]}}`, "content.parts[0].functionCall"},
		{`{content: {parts: [{functionCall: []}]}}`, "content.parts[0].functionCall"},
		{`{content: {parts: [{text: "a"}, {text: "b"}, {functionCall: {id: "1"}}]}}`, "content.parts[2].functionCall.name"},
		{`{content: {parts: [{functionCall: {name: ""}}]}}`, "content.parts[0].functionCall.name"},
		{`{content: {parts: [{functionCall: {name: 1}}]}}`, "content.parts[0].functionCall.name"},
		{`{content: {parts: [{functionCall: {name: "t", id: 1}}]}}`, "content.parts[0].functionCall.id"},
		{`{content: {parts: [{functionCall: {name: "t", args: []}}]}}`, "content.parts[0].functionCall.args"},
		{`{content: {parts: [{functionResponse: {name: "t", response: "x"}}]}}`, "content.parts[0].functionResponse.response"},
		{`{content: {parts: [{functionResponse: {}}]}}`, "content.parts[0].functionResponse.name"},
		{`{content: {parts: [{inlineData: {data: "x"}}]}}`, "content.parts[0].inlineData.data"},
		{`{content: {parts: [{inlineData: {mimeType: 1}}]}}`, "content.parts[0].inlineData.mimeType"},
		{`{content: {parts: [{fileData: {fileUri: 1}}]}}`, "content.parts[0].fileData.fileUri"},
		{`{content: {parts: [{executableCode: 1}]}}`, "content.parts[0].executableCode"},
		{`{content: {parts: [{codeExecutionResult: 1}]}}`, "content.parts[0].codeExecutionResult"},
		{`{partial: 1}`, "partial"},
		{`{turnComplete: "x"}`, "turnComplete"},
		{`{interrupted: 0}`, "interrupted"},
		{`{finishReason: 1}`, "finishReason"},
		{`{errorCode: 1}`, "errorCode"},
		{`{errorMessage: 1}`, "errorMessage"},
		{`{usage: []}`, "usage"},
		{`{usage: {promptTokens: -1}}`, "usage.promptTokens"},
		{`{usage: {totalTokens: 1.5}}`, "usage.totalTokens"},
		{`{longRunningToolIds: "x"}`, "longRunningToolIds"},
		{`{longRunningToolIds: ["a", 1]}`, "longRunningToolIds[1]"},
		{`{longRunningToolIds: [""]}`, "longRunningToolIds[0]"},
		{`{customMetadata: []}`, "customMetadata"},
		{`{actions: 1}`, "actions"},
		{`{actions: {stateDelta: 1}}`, "actions.stateDelta"},
		{`{actions: {stateDeltas: {}}}`, "actions.stateDeltas"},
		{`{actions: {artifactDelta: {a: -1}}}`, "actions.artifactDelta.a"},
		{`{actions: {artifactDelta: {a: 4294967296}}}`, "actions.artifactDelta.a"},
		{`{actions: {artifactDelta: {a: "1"}}}`, "actions.artifactDelta.a"},
		{`{actions: {skipSummarization: 1}}`, "actions.skipSummarization"},
		{`{actions: {transferToAgent: 1}}`, "actions.transferToAgent"},
		{`{actions: {escalate: 1}}`, "actions.escalate"},
		{`{actions: {requestedConfirmations: []}}`, "actions.requestedConfirmations"},
		{`{actions: {requestedConfirmations: {c: 1}}}`, "actions.requestedConfirmations.c"},
		{`{actions: {requestedConfirmations: {c: {args: 1}}}}`, "actions.requestedConfirmations.c.args"},
		{`{actions: {requestedConfirmations: {c: {hint: 1}}}}`, "actions.requestedConfirmations.c.hint"},
		{`{actions: {compaction: 1}}`, "actions.compaction"},
		{`{actions: {compaction: {last: "x"}}}`, "actions.compaction.first"},
		{`{actions: {compaction: {first: "x"}}}`, "actions.compaction.last"},
		{`{actions: {compaction: {first: "x", last: 1}}}`, "actions.compaction.last"},
		{`{actions: {rewindBeforeInvocationId: 1}}`, "actions.rewindBeforeInvocationId"},
		{`{invocationID: "x"}`, "invocationID"},
		{`{stateDelta: {}}`, "stateDelta"},
	} {
		_, err := session.Parse(from(t, c.event))
		if err == nil {
			t.Errorf("%s is accepted", c.event)
			continue
		}
		wantError(t, err, session.InvalidEvent, c.field)
	}
}

func TestParseSuggestsTheMember(t *testing.T) {
	_, err := session.Parse(from(t, `{invocationID: "x"}`))
	if err == nil || !strings.Contains(err.Error(), "did you mean invocationId?") {
		t.Errorf("error %v", err)
	}
}

func TestParseNamesTheState(t *testing.T) {
	_, err := session.Parse(from(t, `{actions: {stateDelta: {a: 1, "usr:b": 2}}}`))
	wantError(t, err, session.InvalidState, "actions.stateDelta.usr:b")
	big := value.AppendString(nil, strings.Repeat("x", session.MaxValue))
	v := value.AppendString(value.AppendMapHeader(nil, 1), "actions")
	v = value.AppendString(value.AppendMapHeader(v, 1), "stateDelta")
	v = append(value.AppendString(value.AppendMapHeader(v, 1), "a"), big...)
	_, err = session.Parse(v)
	wantError(t, err, session.InvalidState, "actions.stateDelta.a")
}

// Keys that occur twice, keys that are no strings, bytes that are no value: whatever is sent, the error says where.
func TestParseHostileBytes(t *testing.T) {
	twice := func(n int) []byte {
		v := value.AppendMapHeader(nil, n+1)
		for i := range n {
			v = value.AppendInt(value.AppendString(v, string(rune('a'+i))), 1)
		}
		return value.AppendInt(value.AppendString(v, "a"), 2)
	}
	inMetadata := func(v []byte) []byte {
		return append(value.AppendString(value.AppendMapHeader(nil, 1), "customMetadata"), v...)
	}
	deep := func(n int) []byte {
		return append(bytes.Repeat([]byte{0x91}, n), 1)
	}
	for _, c := range []struct {
		name, field string
		v           []byte
	}{
		{"nothing", "", nil},
		{"cut", "", []byte{0x81}},
		{"more behind", "", []byte{0x80, 0x80}},
		{"extension type", "", []byte{0xd4, 1, 1}},
		{"number as key", "", []byte{0x81, 1, 1}},
		{"huge count", "", []byte{0xdf, 0xff, 0xff, 0xff, 0xff}},
		{"huge list", "customMetadata[0]", inMetadata([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})},
		{"key cut", "", []byte{0x81, 0xdb, 0xff, 0xff, 0xff, 0xff}},
		{"member twice", "id", []byte{0x82, 0xa2, 'i', 'd', 0xa0, 0xa2, 'i', 'd', 0xa0}},
		{"key twice inside", "customMetadata.a", inMetadata(twice(2))},
		{"key twice in a large map", "customMetadata.a", inMetadata(twice(20))},
		{"number as key inside", "customMetadata", inMetadata([]byte{0x81, 1, 1})},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := session.Parse(c.v)
			wantError(t, err, session.InvalidEvent, c.field)
		})
	}
	if _, err := session.Parse(inMetadata(append([]byte{0x81, 0xa1, 'a'}, deep(value.MaxDepth-2)...))); err != nil {
		t.Errorf("%d levels: %v", value.MaxDepth, err)
	}
	if _, err := session.Parse(inMetadata(append([]byte{0x81, 0xa1, 'a'}, deep(value.MaxDepth-1)...))); !errors.Is(err, session.InvalidEvent) {
		t.Errorf("%d levels: %v", value.MaxDepth+1, err)
	}
	if _, err := session.Parse(bytes.Repeat([]byte{0x91}, 1<<20)); !errors.Is(err, session.InvalidEvent) {
		t.Errorf("a million levels: %v", err)
	}
}

// Two names that invalid UTF-8 makes the same are one name too many.
func FuzzParse(f *testing.F) {
	f.Add(from(f, wholeEvent))
	f.Add(from(f, `{content: {parts: [{text: "a"}]}, actions: {stateDelta: {"1": 2, a: null}, x: [1]}}`))
	f.Add([]byte{0x81, 0xa2, 'i', 'd', 0xa1, 0xff})
	f.Fuzz(func(t *testing.T, v []byte) {
		e, err := session.Parse(v)
		if err != nil {
			if !errors.Is(err, session.InvalidEvent) && !errors.Is(err, session.InvalidState) {
				t.Fatalf("error %v", err)
			}
			return
		}
		e.Final()
		first := e.Append(nil)
		again, err := session.Parse(first)
		if err != nil {
			t.Fatalf("%q became %q: %v", v, first, err)
		}
		if second := again.Append(nil); !bytes.Equal(first, second) {
			t.Fatalf("%q, then %q", first, second)
		}
		if !e.Partial {
			l := &session.Log{}
			if err := l.Add(first); err != nil {
				t.Fatalf("a log refuses %q: %v", first, err)
			}
			l.Contents(session.View{Agent: "a"})
			if got := l.At(0).Append(nil); !bytes.Equal(got, first) {
				t.Fatalf("the log has %q, was given %q", got, first)
			}
		}
	})
}
