package sessions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
)

// TestEmptySummaries hides nothing behind a summary without a text.
func TestEmptySummaries(t *testing.T) {
	call := sessions.ModelCall(sessions.FunctionCall{Name: "f"})
	var reasons []string
	p := stage(t, sessions.Config{Agent: gives("a", said("x")), Compaction: &sessions.Compaction{
		Invocations: 1,
		Summarize: func(*sessions.CallbackContext, *sessions.Content) (*sessions.Content, error) {
			return [...]*sessions.Content{nil, sessions.ModelText(""), call}[len(reasons)], nil
		},
		OnError: func(_ *sessions.CallbackContext, err error) { reasons = append(reasons, err.Error()) },
	}})
	for range 3 {
		p.say("hello")
	}
	p.is("why", strings.Join(reasons, "; "), "the summary is empty; the summary is empty; the summary is empty")
	p.is("the session", p.log(), "user:hello a:x user:hello a:x user:hello a:x")
}

func TestInvalidCompactions(t *testing.T) {
	for field, c := range map[string]sessions.Compaction{
		"compaction: must have invocations or tokens":  {Keep: 1},
		"compaction.overlap: must not be negative":     {Invocations: 1, Overlap: -1},
		"compaction.invocations: must not be negative": {Invocations: -1},
	} {
		_, err := sessions.New(t.Context(), sessions.Config{
			App: "app", Agent: &sessions.SequentialAgent{Name: "root"}, Engine: native.New(), Compaction: &c,
		})
		if !errors.Is(err, host.CodeInvalidAgent) || !strings.Contains(err.Error(), field) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
