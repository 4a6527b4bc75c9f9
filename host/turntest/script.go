package turntest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// Script is a model that gives the answers on a list, in order, whatever it is asked. It needs no network. The test
// fails when the model is asked once more, and when answers are left at its end; the report shows what the model was
// asked.
//
// A script serves one conversation. Turns that run at once get its answers in the order in which they ask.
type Script struct {
	t       T
	answers []Answer

	mu    sync.Mutex
	asked []model.Request
	calls int // of tools, so far
	over  bool
}

// ScriptError says what is wrong with an answer of a script.
type ScriptError struct {
	Answer  int // its number, from 1
	Problem string
}

// Error is the number of the answer and what is wrong with it.
func (e *ScriptError) Error() string {
	return fmt.Sprintf("turntest: answer %d of the script: %s", e.Answer, e.Problem)
}

// NewScript returns a script for a test.
func NewScript(t T, answers ...Answer) *Script {
	t.Helper()
	for i, a := range answers {
		if a.bad != nil {
			t.Fatalf("%v", &ScriptError{i + 1, a.bad.Error()})
		}
	}
	s := &Script{t: t, answers: slices.Clone(answers)}
	t.Cleanup(s.end)
	return s
}

// end reports the answers that are left.
func (s *Script) end() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	var left []string
	for i := len(s.asked); i < len(s.answers); i++ {
		if a := s.answers[i]; !a.maybe {
			left = append(left, fmt.Sprintf("answer %d: %s", i+1, a))
		}
	}
	if len(left) > 0 {
		s.t.Errorf("turntest: the script has %s, the model was asked %s. Left are:%s%s",
			count(len(s.answers), "answer"), times(len(s.asked)), listed(left), conversation(s.asked))
	}
}

// next takes a request and returns the answer to it, with ids for the calls that have none.
func (s *Script) next(r *model.Request) (a Answer, n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, *r)
	n = len(s.asked)
	if n > len(s.answers) {
		err := &ScriptError{n, "it is not there: the script has " + count(len(s.answers), "answer")}
		if !s.over { // a test that has ended cannot fail any more
			s.t.Errorf("%v%s", err, conversation(s.asked))
		}
		return Answer{}, n, err
	}
	a = s.answers[n-1]
	a.steps = slices.Clone(a.steps)
	for i, step := range a.steps {
		if c := step.part.ToolCall; c != nil && c.Name != "" && c.ID == "" {
			s.calls++
			named := *c
			named.ID = fmt.Sprint("call-", s.calls)
			a.steps[i].part.ToolCall = &named
		}
	}
	return a, n, nil
}

// Asked returns the requests so far. Those of [Script.Executor] have the system prompt, the standing instructions, the
// messages and the tool calls of the turn, in order of time, and its tools.
func (s *Script) Asked() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Model returns the script as the model of a runner, which the executor inside the core asks: its calls of tools, its
// schemas and its records are those of a model behind an API. No time limit bounds it, and what fails is not asked
// again, as with any engine.
func (s *Script) Model() turns.Model { return turns.Model{Engine: s.Engine()} }

// Engine returns the script as an engine.
func (s *Script) Engine() *model.Engine {
	return &model.Engine{
		Name: "script",
		Capabilities: model.Capabilities{
			Tools: "native", Grammar: "schema",
			Media: []record.MediaKind{record.Image, record.Audio, record.Video, record.Document},
		},
		Generate: func(ctx context.Context, r *model.Request, send func(model.Part) error) error {
			a, _, err := s.next(r)
			if err != nil {
				return err
			}
			for _, step := range a.steps {
				if err := step.wait(ctx); err != nil {
					return err
				}
				if step.part == (model.Part{}) {
					continue
				}
				if err := send(step.part); err != nil {
					return err
				}
			}
			if finish := a.finish(); finish != "" {
				return send(model.Part{Finish: finish})
			}
			return nil
		},
	}
}

// wait is the pause of a step, or its failure.
func (s *step) wait(ctx context.Context) error {
	if s.fail != nil {
		return s.fail
	}
	if s.pause <= 0 {
		return nil
	}
	timer := time.NewTimer(s.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// finish is what tells the end of the answer, "" if its parts do that.
func (a Answer) finish() string {
	finish := "stop"
	for _, s := range a.steps {
		switch {
		case s.part.Finish != "" || s.part.Error != nil:
			return ""
		case s.part.ToolCall != nil:
			finish = "tool_calls"
		}
	}
	return finish
}

// conversation shows requests: of each the messages that the one before had not.
func conversation(asked []model.Request) string {
	if len(asked) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThe model was asked:")
	var before []model.Message
	for i, r := range asked {
		fmt.Fprintf(&b, "\n  request %d:", i+1)
		same := 0
		for same < min(len(before), len(r.Messages)) && line(&before[same]) == line(&r.Messages[same]) {
			same++
		}
		for k := same; k < len(r.Messages); k++ {
			b.WriteString("\n    " + line(&r.Messages[k]))
		}
		if same == len(r.Messages) {
			b.WriteString(" nothing else")
		}
		before = r.Messages
	}
	return b.String()
}

// line is a message as a line.
func line(m *model.Message) string {
	text := m.Role + ": " + fmt.Sprintf("%q", shorten(m.Content))
	if m.Parts != nil {
		text = m.Role + ": " + shorten(string(m.Parts))
	}
	for _, c := range m.ToolCalls {
		text += " calls " + c.Function.Name + " " + shorten(c.Function.Arguments)
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

func times(n int) string {
	switch n {
	case 0:
		return "nothing"
	case 1:
		return "once"
	}
	return fmt.Sprint(n, " times")
}
