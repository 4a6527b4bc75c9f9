package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// A journal of an invocation says so, and its requests and tool calls are counted.
func TestInspectInvocation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "invocation.journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	weather := sessions.NewTool("weather", "a tool", func(*sessions.ToolContext, struct{}) (map[string]any, error) {
		return map[string]any{"sky": "clear"}, nil
	})
	model := func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		request, err := ctx.Request()
		if err != nil {
			return err
		}
		answer := &sessions.Response{Content: sessions.ModelText("It is clear.")}
		if len(request.Contents) == 1 {
			answer = &sessions.Response{Content: sessions.ModelCall(sessions.FunctionCall{ID: "c", Name: "weather"})}
		}
		answer.Usage = &sessions.Usage{PromptTokens: 3, CompletionTokens: 2, TotalTokens: 5}
		return yield(answer)
	}
	runner, err := sessions.New(t.Context(), sessions.Config{
		App: "app", Engine: native.New(), Agent: &sessions.LLMAgent{Name: "guide", Executor: model, Tools: []*turns.Tool{weather}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Sessions().Create(t.Context(), "u", "s", nil); err != nil {
		t.Fatal(err)
	}
	in := sessions.Input{User: "u", Session: "s", Message: sessions.Text("How is the weather?"), Journal: file}
	for _, err := range runner.Run(t.Context(), in) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := runner.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../../runtime/testdata/inspect/invocation.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := turncore(t, "inspect", path)
	if plain := withoutTimes(got.stdout); got.status != 0 || plain != string(want) {
		t.Errorf("%d, %s\n%s\nwant\n%s", got.status, got.stderr, plain, want)
	}
	got = turncore(t, "inspect", "--json", path)
	for _, want := range []string{`"kind":"sessionModel"`, `"kind":"sessionAppend"`, `"args":{"event":{`} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("as JSON it lacks %s:\n%s", want, got.stdout)
		}
	}
}

// withoutTimes leaves out what differs from run to run, such as whether the host answers what the module does not wait
// for.
func withoutTimes(text string) string {
	text = regexp.MustCompile(`(?m)^(invocation|began|engine) .*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^(.* event .*), \d+ ms$`).ReplaceAllString(text, "$1")
	return regexp.MustCompile(`\d+ ms|\d+\.\d{3}`).ReplaceAllString(text, "0")
}
