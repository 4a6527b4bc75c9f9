package sessions_test

import (
	_ "embed"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

func TestIsFinalResponse(t *testing.T) {
	call := &sessions.Content{Parts: []sessions.Part{{FunctionCall: &sessions.FunctionCall{ID: "c", Name: "t"}}}}
	result := sessions.Answer("c", "t", nil)
	code := &sessions.Content{Parts: []sessions.Part{{Text: "x"}, {CodeExecutionResult: map[string]any{"outcome": "ok"}}}}
	for name, c := range map[string]struct {
		event sessions.Event
		want  bool
	}{
		"text":         {sessions.Event{Content: sessions.ModelText("x")}, true},
		"call":         {sessions.Event{Content: call}, false},
		"result":       {sessions.Event{Content: result}, false},
		"skip":         {sessions.Event{Content: result, Actions: sessions.Actions{SkipSummarization: true}}, true},
		"partial":      {sessions.Event{Content: sessions.ModelText("x"), Partial: true}, false},
		"long-running": {sessions.Event{Content: call, LongRunningToolIDs: []string{"c"}}, true},
		"empty set":    {sessions.Event{Content: call, LongRunningToolIDs: []string{}}, false},
		"code result":  {sessions.Event{Content: code}, false},
		"no content":   {sessions.Event{}, true},
	} {
		if got := c.event.IsFinalResponse(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// all has every member.
func all() *sessions.Event {
	return &sessions.Event{
		ID: "e", InvocationID: "i", Author: "a", Timestamp: time.UnixMilli(1700000000123).UTC(), Branch: "b",
		Content: &sessions.Content{Role: "model", Parts: []sessions.Part{
			{Text: "x", Thought: true, ThoughtSignature: "sig"},
			{InlineData: &sessions.Blob{MIMEType: "image/png", Data: []byte{0, 255}}},
			{FileData: &sessions.File{URI: "gs://x", MIMEType: "text/plain"}},
			{FunctionCall: &sessions.FunctionCall{ID: "c", Name: "t", Args: map[string]any{"x": int64(1)}}},
			{FunctionResponse: &sessions.FunctionResponse{ID: "c", Name: "t", Response: map[string]any{"y": "z"}}},
			{ExecutableCode: map[string]any{"code": "1"}},
			{CodeExecutionResult: map[string]any{"output": "1"}},
			{More: map[string]any{"other": true}},
		}},
		Partial: true, TurnComplete: true, Interrupted: true, FinishReason: "stop", ErrorCode: "E", ErrorMessage: "no",
		Usage: &sessions.Usage{
			PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3, CachedTokens: 4, ReasoningTokens: 5, More: map[string]any{"x": int64(6)},
		},
		LongRunningToolIDs: []string{"c"}, CustomMetadata: map[string]any{"m": "n"},
		Actions: sessions.Actions{
			StateDelta: map[string]any{"k": nil, "user:l": int64(1)}, ArtifactDelta: map[string]int{"f": 0}, SkipSummarization: true,
			TransferToAgent: "t", Escalate: true,
			RequestedConfirmations: map[string]sessions.Confirmation{
				"c": {Hint: "h", Payload: "p", Name: "t", Args: map[string]any{"x": int64(1)}},
			},
			Compaction: map[string]any{"of": "x"}, RewindBeforeInvocationID: "r", More: map[string]any{"z": int64(1)},
		},
	}
}

// allJSON is the JSON of all, which the package in JavaScript writes, too.
//
//go:embed testdata/event.json
var allJSON string

func TestEventJSON(t *testing.T) {
	out, err := json.Marshal(all())
	if err != nil || string(out)+"\n" != allJSON {
		t.Errorf("%v\n got %s\nwant %s", err, out, allJSON)
	}
	var e sessions.Event
	if err := json.Unmarshal([]byte(allJSON), &e); err != nil || !reflect.DeepEqual(&e, all()) {
		t.Errorf("%v\n got %+v\nwant %+v", err, &e, all())
	}
	if out, err = json.Marshal(&sessions.Event{}); err != nil || string(out) != "{}" {
		t.Errorf("an empty event: %s, %v", out, err)
	}
}

func TestInvalidJSON(t *testing.T) {
	for in, field := range map[string]string{
		`{"id":1}`: "id",
		`{"content":{"parts":[{"text":"x"},{"functionCall":{"name":1}}]}}`: "content.parts[1].functionCall.name",
		`{"content":{"parts":[{"inlineData":{"data":"?"}}]}}`:              "content.parts[0].inlineData.data",
		`{"other":1}`: "other",
		`{"actions":{"artifactDelta":{"f":"x"}}}`:                 "actions.artifactDelta.f",
		`{"actions":{"requestedConfirmations":{"c":{"hint":1}}}}`: "actions.requestedConfirmations.c.hint",
		`{"longRunningToolIds":["a",1]}`:                          "longRunningToolIds[1]",
		`{"usage":{"totalTokens":"x"}}`:                           "usage.totalTokens",
		`{"content":[]}`:                                          "content",
		`[]`:                                                      "",
	} {
		var e *host.Error
		if err := new(sessions.Event).UnmarshalJSON([]byte(in)); !errors.As(err, &e) || e.Code != host.CodeInvalidEvent {
			t.Errorf("%s: %v", in, err)
		} else if got := e.Details.(map[string]any)["field"]; got != field {
			t.Errorf("%s: the field is %v", in, got)
		}
	}
	e := &sessions.Event{Actions: sessions.Actions{StateDelta: map[string]any{"f": func() {}}}}
	if _, err := e.MarshalJSON(); !errors.Is(err, host.CodeInvalidState) {
		t.Errorf("a function: %v", err)
	}
	e = &sessions.Event{CustomMetadata: map[string]any{"f": func() {}}}
	if _, err := e.MarshalJSON(); !errors.Is(err, host.CodeInvalidEvent) {
		t.Errorf("a function: %v", err)
	}
}
