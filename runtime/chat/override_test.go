package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// The stash changes options from one iteration to the next; removing the key restores them.
func TestOverrides(t *testing.T) {
	d := newDispatch(t)
	withTools(t, d)
	d.addMessage("user", "hi")
	call := sse(calls(`{"index":0,"function":{"name":"get","arguments":"{}"}}`))
	d.replies(call, call, call, call)
	var heads []*runtime.HTTPRequest
	answer := d.answer
	d.answer = func(r *runtime.HTTPRequest) (runtime.Stream, error) {
		heads = append(heads, r)
		return answer(r)
	}
	e := newExecutor(t, `{"model":"m","temperature":0,"headers":{"x-a":"1","x-b":"1"},"retry":{"maxAttempts":2},"tool_choice":"required"}`)
	stashes := []string{
		``,
		`{"model":"other","temperature":1.5,"tool_choice":"none","headers":{"X-B":"2","x-c":"2"},"trust":"off","retry":null}`,
		`{"stop":["."],"baseURL":"https://h/v2","credential":"k","max_tokens":null}`,
		`null`,
	}
	wants := []struct{ in, not []string }{
		{[]string{`"model":"m"`, `"temperature":0`, `"tool_choice":"required"`}, []string{`"stop"`}},
		{[]string{`"model":"other"`, `"temperature":1.5`, `"tool_choice":"none"`, `"content":"{}"`}, []string{`untrusted_content`, `"temperature":0`}},
		{[]string{`"model":"m"`, `"temperature":0`, `"stop":["."]`, `untrusted_content`}, []string{`"content":"{}"`, `max_tokens`}},
		{[]string{`"model":"m"`, `"temperature":0`, `"tool_choice":"required"`, `untrusted_content`}, []string{`"stop"`}},
	}
	for i, stash := range stashes {
		d.stash = nil
		if stash != "" {
			d.stash = fromJSON(t, stash)
		}
		d.iteration = i
		if err := e.Execute(d); err != nil || d.Signalled() {
			t.Fatalf("%d: %v, %v", i, err, d.nacked)
		}
		request := string(d.requests[i])
		for _, want := range wants[i].in {
			if !strings.Contains(request, want) {
				t.Errorf("request %d has no %s:\n%s", i, want, request)
			}
		}
		for _, unwanted := range wants[i].not {
			if strings.Contains(request, unwanted) {
				t.Errorf("request %d has %s:\n%s", i, unwanted, request)
			}
		}
	}
	header := func(r *runtime.HTTPRequest) (list string) {
		for _, h := range r.Headers {
			if strings.HasPrefix(h[0], "x-") {
				list += h[0] + h[1] + " "
			}
		}
		return list
	}
	if a, b := header(heads[0]), header(heads[1]); a != "x-a1 x-b1 " || b != "x-a1 x-b2 x-c2 " {
		t.Errorf("headers %q, then %q", a, b)
	}
	if heads[2].URL != "https://h/v2/chat/completions" || heads[2].Credential != "k" || heads[3].Credential != "" {
		t.Errorf("requests go to %s with %q, then with %q", heads[2].URL, heads[2].Credential, heads[3].Credential)
	}
}

// An invalid override fails the dispatch before any request; the error names every invalid field.
func TestInvalidOverrides(t *testing.T) {
	tests := []struct {
		stash string
		want  []string
	}{
		{`{"temperature":"warm","parallel":0,"nonsense":1}`, []string{"`stash.chatExecutor.temperature` must", "`stash.chatExecutor.parallel` must", "`stash.chatExecutor.nonsense` is"}},
		{`{"retry":{"maxAttempts":0}}`, []string{"`stash.chatExecutor.retry.maxAttempts` must"}},
		{`{"provider":"openai"}`, []string{"`stash.chatExecutor.provider` stays that of the executor"}},
		{
			`{"provider":"openai","temperature":9,"foo":1}`,
			[]string{"`stash.chatExecutor.provider` stays", "`stash.chatExecutor.temperature` must", "`stash.chatExecutor.foo` is"},
		},
		{`{"capabilities":{"tools":"native"}}`, []string{"`stash.chatExecutor.capabilities` stays"}},
		{`"gpt"`, []string{"`stash.chatExecutor` must be an object"}},
		{`[]`, []string{"`stash.chatExecutor` must be an object"}},
	}
	for _, tt := range tests {
		d := newDispatch(t)
		d.addMessage("user", "hi")
		d.stash = fromJSON(t, tt.stash)
		e := newExecutor(t, `{"model":"m"}`)
		if err := e.Execute(d); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(d.nacked, fault.ChatInvalidOptions) || len(d.requests) != 0 {
			t.Errorf("%s: nacked with %v after %d requests", tt.stash, d.nacked, len(d.requests))
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(d.nacked.Error(), want) {
				t.Errorf("%s: %v does not say %q", tt.stash, d.nacked, want)
			}
		}
	}
}
