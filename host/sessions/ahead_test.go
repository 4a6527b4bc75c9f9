package sessions_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
)

// slow is a store that calls before ahead of an append, the n-th.
type slow struct {
	*store.InMemory
	n      int
	before func() error
}

func (s *slow) Append(ctx context.Context, session string, a store.Append) (string, error) {
	if s.n--; s.n == 0 {
		if err := s.before(); err != nil {
			return "", err
		}
	}
	return s.InMemory.Append(ctx, session, a)
}

// The core asks for a tool before the event of its call is stored. The tool does not run if that fails, or if the
// invocation is aborted meanwhile.
func TestToolsWaitForTheirEvent(t *testing.T) {
	cause := errors.New("enough")
	for name, c := range map[string]struct {
		before func(cancel context.CancelCauseFunc) error
		want   error
		stored string
	}{
		"a store that fails": {func(context.CancelCauseFunc) error { return errBrittle }, errBrittle, "user:hello"},
		"an abort": {func(cancel context.CancelCauseFunc) error {
			cancel(cause)
			return nil
		}, cause, "user:hello a:t()"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ran := 0
			agent := script(calls("t"), says("done")).agent("a", tool("t", func(*sessions.ToolContext) (any, error) {
				ran++
				return "ok", nil
			}))
			s := &slow{InMemory: store.NewInMemory()}
			p := stage(t, sessions.Config{Agent: agent, Store: s})
			s.n, s.before = 2, func() error { return c.before(cancel) }
			if _, err := p.r.Collect(ctx, input(sessions.Text("hello"))); !errors.Is(err, c.want) {
				t.Errorf("the error is %v, want %v", err, c.want)
			}
			if ran > 0 {
				t.Error("the tool has run")
			}
			p.is("stored", p.log(), c.stored)

			// The next invocation is not shown what was not stored.
			other := script(says("again"))
			q := bare(t, sessions.Config{Agent: other.agent("a"), Store: s})
			q.say("more")
			if request := other.requests[0]; len(request.Contents) != map[bool]int{true: 3, false: 2}[c.want == cause] {
				t.Errorf("the model is shown %d contents", len(request.Contents))
			}
		})
	}
}

// Tools and callbacks of an invocation that does one thing after another run on the caller's goroutine, and one that
// ends the goroutine has the invocation end.
func TestToolEndsItsGoroutine(t *testing.T) {
	after := 0
	plugin := &sessions.Plugin{Name: "p", AfterRun: func(*sessions.CallbackContext) error { after++; return nil }}
	agent := script(calls("t"), says("sorry")).agent("a", tool("t", func(*sessions.ToolContext) (any, error) {
		runtime.Goexit() // as FailNow of a test does
		return nil, nil
	}))
	p := stage(t, sessions.Config{Agent: agent, Plugins: []*sessions.Plugin{plugin}})
	p.runs()
	if after != 1 {
		t.Errorf("the hook after the run ran %d times", after)
	}
	p.is("the next invocation", shown(p.next()...), "a:again")
}
