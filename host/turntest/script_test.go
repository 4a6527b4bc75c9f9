package turntest_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// A script answers as a model and as an executor; the events are those of the golden files.
func TestScript(t *testing.T) {
	for _, seam := range seams {
		t.Run(seam.name, func(t *testing.T) {
			script := turntest.NewScript(t,
				turntest.Thought("Hm, ", "Oslo.").And(turntest.Call("weather", map[string]any{"city": "Oslo"})),
				turntest.Text("It is ", "cold.").Usage(30, 5),
			)
			events, result := play(t, seam.config(script), "How is the weather?")
			if result.Err != nil || result.Text != "It is cold." || result.Usage.TotalTokens != 35 ||
				len(result.ToolCalls) != 1 || result.ToolCalls[0].Results != "4 degrees in Oslo" {
				t.Errorf("%+v", result)
			}
			turntest.Golden(t, events, "testdata/script-"+seam.name+".golden")

			asked := script.Asked()
			if len(asked) != 2 || len(asked[0].Tools) != 1 || asked[0].Tools[0].Function.Name != "weather" ||
				!strings.Contains(string(asked[0].Tools[0].Function.Parameters), `"city"`) {
				t.Fatalf("%+v", asked)
			}
			var roles []string
			for _, m := range asked[1].Messages {
				roles = append(roles, m.Role)
			}
			if want := []string{"system", "user", "assistant", "tool"}; !slices.Equal(roles, want) {
				t.Errorf("roles %v, want %v", roles, want)
			}
			last := asked[1].Messages[2:]
			if c := last[0].ToolCalls[0]; c.ID != "call-1" || c.Function.Arguments != `{"city":"Oslo"}` || last[1].ToolCallID != "call-1" {
				t.Errorf("%+v", last)
			}
			if !strings.Contains(last[1].Content, "4 degrees in Oslo") {
				t.Errorf("the result was told as %q", last[1].Content)
			}
		})
	}
}

func TestScriptReportsAnswersThatAreLeft(t *testing.T) {
	for _, seam := range seams {
		says(t, reported(func(f *fakeT) {
			script := turntest.NewScript(f, turntest.Text("One."), turntest.Text("Two."), turntest.Call("weather", nil))
			_, result := play(f, seam.config(script), "Count!")
			if result.Text != "One." {
				f.Errorf("%+v", result)
			}
		}), "the script has 3 answers, the model was asked once", `answer 2: text "Two."`, "answer 3: call of weather {}",
			"The model was asked:", "request 1:", `user: "Count!"`)
	}
	says(t, reported(func(f *fakeT) { turntest.NewScript(f, turntest.Text("One.")) }), "the script has 1 answer, the model was asked nothing")
	says(t, reported(func(f *fakeT) {
		turntest.NewScript(f, turntest.Text("One.").Maybe(), turntest.Call("weather", nil).Maybe())
	}))
	report := reported(func(f *fakeT) { turntest.NewScript(f, turntest.Text("One.").Maybe(), turntest.Text("Two.")) })
	says(t, report, `answer 2: text "Two."`)
	if strings.Contains(report, "One.") {
		t.Errorf("nobody has to ask for it: %s", report)
	}
}

func TestScriptReportsOneMoreRequest(t *testing.T) {
	for _, seam := range seams {
		says(t, reported(func(f *fakeT) {
			script := turntest.NewScript(f, turntest.Call("weather", map[string]any{"city": "Oslo"}))
			_, result := play(f, seam.config(script), "How is the weather?")
			var missing *turntest.ScriptError
			if !errors.As(result.Err, &missing) || missing.Answer != 2 {
				f.Errorf("the turn ended with %v", result.Err)
			}
		}), "answer 2 of the script: it is not there: the script has 1 answer", "request 1:", `user: "How is the weather?"`,
			"request 2:", `calls weather {"city":"Oslo"}`, "4 degrees in Oslo")
	}
}

// After the end of its test a script reports nothing: testing.T would panic.
func TestScriptAfterItsTest(t *testing.T) {
	var engine *model.Engine
	f := &fakeT{}
	engine = turntest.NewScript(f).Engine()
	for _, fn := range f.cleanups {
		fn()
	}
	var missing *turntest.ScriptError
	err := engine.Generate(t.Context(), &model.Request{}, func(model.Part) error { return nil })
	if !errors.As(err, &missing) || len(f.reports) != 0 {
		t.Errorf("%v, reported %v", err, f.reports)
	}
}

func TestScriptFails(t *testing.T) {
	for _, c := range []struct {
		name            string
		answer          turntest.Answer
		cause           error
		model, executor host.Code
		text            string
	}{
		{"fails", turntest.Fail(io.ErrUnexpectedEOF), io.ErrUnexpectedEOF, host.CodeModelFailed, host.CodeLLMExecutionExecutorError, ""},
		{
			"breaks off", turntest.Text("It is ").And(turntest.Fail(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF,
			host.CodeModelFailed, host.CodeLLMExecutionExecutorError, "It is ",
		},
		{"refuses", turntest.Refuse("not that"), host.CodeChatProviderError, host.CodeChatProviderError, host.CodeLLMExecutionExecutorError, ""},
	} {
		for _, seam := range seams {
			t.Run(c.name+" "+seam.name, func(t *testing.T) {
				code := c.model
				if seam.name == "executor" {
					code = c.executor
				}
				_, result := play(t, seam.config(turntest.NewScript(t, c.answer)), "Hi!")
				if result.Status != event.Nack || !errors.Is(result.Err, code) || !errors.Is(result.Err, c.cause) || result.Text != c.text {
					t.Errorf("%v %v, text %q", result.Status, result.Err, result.Text)
				}
				if c.name == "refuses" && !strings.Contains(result.Err.Error(), "not that") {
					if cause := errors.Unwrap(result.Err); cause == nil || !strings.Contains(cause.Error(), "not that") {
						t.Errorf("the reason is not in %v", result.Err)
					}
				}
			})
		}
	}
}

// What is wrong with an answer shows when the script is made.
func TestScriptOfBadAnswers(t *testing.T) {
	says(t, reported(func(f *fakeT) {
		turntest.NewScript(f, turntest.Text("a"), turntest.Text("b").And(turntest.Call("weather", make(chan int))))
	}), "fatal:", "answer 2 of the script", "the arguments of weather")
	says(t, reported(func(f *fakeT) { turntest.NewScript(f, turntest.Fail(nil)) }), "fatal:", "Fail needs an error")
}

func TestExecutorOfUnknownTool(t *testing.T) {
	for name, c := range map[string]struct {
		answer turntest.Answer
		want   string
	}{
		"tool":      {turntest.Call("wether", nil), `answer 1 of the script: it calls the tool "wether", the registry has weather`},
		"arguments": {turntest.Parts(model.Part{ToolCall: &model.ToolCall{Name: "weather", Arguments: "{"}}), "the arguments of weather are no JSON: {"},
	} {
		t.Run(name, func(t *testing.T) {
			says(t, reported(func(f *fakeT) {
				_, result := play(f, turns.Config{Executor: turntest.NewScript(f, c.answer).Executor()}, "Hi!")
				var bad *turntest.ScriptError
				if !errors.As(result.Err, &bad) {
					f.Errorf("the turn ended with %v", result.Err)
				}
			}), c.want)
		})
	}
}

// Calls may come in pieces, with text before them, and several in one answer; a tool that fails is a result.
func TestScriptOfPieces(t *testing.T) {
	first, second := 0, 1
	for _, seam := range seams {
		t.Run(seam.name, func(t *testing.T) {
			script := turntest.NewScript(t,
				turntest.Text("I look.").And(turntest.Parts(
					model.Part{ToolCall: &model.ToolCall{Index: &first, ID: "a", Name: "weather", Arguments: `{"city":`}},
					model.Part{ToolCall: &model.ToolCall{Index: &second, ID: "b", Name: "weather", Arguments: `{"city":"Atlantis"}`}},
					model.Part{ToolCall: &model.ToolCall{Index: &first, Arguments: `"Bergen"}`}},
				)),
				turntest.Text("Done."),
			)
			_, result := play(t, seam.config(script), "Hi!")
			if result.Err != nil || len(result.ToolCalls) != 2 || result.ToolCalls[0].Results != "4 degrees in Bergen" || !result.ToolCalls[1].IsError {
				t.Fatalf("%+v", result)
			}
			if m := script.Asked()[1].Messages; !strings.Contains(m[len(m)-1].Content, "there is no Atlantis") {
				t.Errorf("the failure was told as %+v", m)
			}
		})
	}
}

// A conversation goes on with the executor's own records, in the order of time.
func TestExecutorInConversation(t *testing.T) {
	kept := store.NewInMemory()
	script := turntest.NewScript(t,
		turntest.Call("weather", map[string]any{"city": "Oslo"}), turntest.Thought("Cold.").And(turntest.Text("4.")), turntest.Text("I said 4."),
	)
	h := turntest.Host(t, turns.HostOptions{})
	for _, message := range []string{"Weather?", "What did you say?"} {
		if _, result := play(t, turns.Config{Executor: script.Executor(), Store: kept, Host: h}, message); result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	var said []string
	for _, m := range script.Asked()[2].Messages {
		said = append(said, m.Role+" "+m.Content)
	}
	want := []string{
		"system You are a helpful assistant.", "user Weather?", "assistant ", "tool 4 degrees in Oslo", "assistant 4.",
		"user What did you say?",
	}
	if !slices.Equal(said, want) {
		t.Errorf("asked\n%q, want\n%q", said, want)
	}
	c, err := kept.Load(t.Context(), turns.DefaultSession, "")
	if err != nil || len(c.Messages) != 4 || len(c.Thoughts) != 1 || len(c.ToolCalls) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Attachments and schemas are in what the model is asked.
func TestScriptIsAskedEverything(t *testing.T) {
	script := turntest.NewScript(t, turntest.Text(`{"n": 1}`))
	h := turntest.Host(t, turns.HostOptions{})
	runner, err := turns.New(t.Context(), turns.Config{
		Model: script.Model(), Host: h, Schema: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	picture := record.UserAttachment(record.Image, "image/png", "a.png", record.NewBlob([]byte("\x89PNG")))
	if _, err := runner.Run(t.Context(), turns.Input{Message: "Count!", Attachments: []*record.Media{picture}}); err != nil {
		t.Fatal(err)
	}
	r := script.Asked()[0]
	if m := r.Messages[len(r.Messages)-1]; !strings.Contains(string(m.Parts), "image_url") || !strings.Contains(string(r.Schema), `"integer"`) {
		t.Errorf("%+v", r)
	}
}

// A pause takes time, which passes at once in a bubble: who waits for an hour is not served by a model that takes
// longer.
func TestScriptPauses(t *testing.T) {
	turntest.Engine(t)
	for _, seam := range seams {
		for _, c := range []struct {
			pause time.Duration
			want  event.Status
		}{{59 * time.Minute, event.Ack}, {61 * time.Minute, event.Aborted}} {
			synctest.Test(t, func(t *testing.T) {
				script := turntest.NewScript(t, turntest.Text("It is ").And(turntest.Pause(c.pause), turntest.Text("cold.")))
				config := seam.config(script)
				config.Host = turntest.Host(t, turns.HostOptions{})
				runner, err := turns.New(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				begun := time.Now()
				result, _ := runner.Run(ctx, turns.Input{Message: "Hi!"})
				if took := time.Since(begun); result == nil || result.Status != c.want || took != min(c.pause, time.Hour) {
					t.Errorf("%s, with a pause of %v: %+v after %v", seam.name, c.pause, result, took)
				}
			})
		}
	}
}

// Answers do not change: one may be used in several scripts, and be the beginning of several answers.
func TestAnswersDoNotChange(t *testing.T) {
	a := turntest.Text("a")
	b, c := a.And(turntest.Text("b")), a.And(turntest.Text("c"))
	call := turntest.Call("weather", map[string]any{"city": "Oslo"})
	for range 2 {
		for _, want := range []struct {
			answer turntest.Answer
			text   string
		}{{a, "a"}, {b, "ab"}, {c, "ac"}} {
			script := turntest.NewScript(t, call, want.answer)
			_, result := play(t, turns.Config{Model: script.Model()}, "Hi!")
			if result.Text != want.text {
				t.Errorf("text %q, want %q", result.Text, want.text)
			}
			if m := script.Asked()[1].Messages; m[2].ToolCalls[0].ID != "call-1" {
				t.Errorf("%+v", m)
			}
		}
	}
}
