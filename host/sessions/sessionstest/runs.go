package sessionstest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

func input(message string) sessions.Input {
	return sessions.Input{User: user, Session: session, Message: sessions.Text(message)}
}

// run runs the place's agent to its end.
func (p *place) run(message string) []*sessions.Event {
	p.Helper()
	list, err := p.runner.Collect(p.Context(), input(message))
	if err != nil {
		p.Fatalf("after %d events: %v", len(list), err)
	}
	return list
}

// steps lets the agent yield n events.
func (p *place) steps(n int) { p.agent = stepsOf(n) }

// stepsOf is an agent that yields n events, each with a change of each scope, an artifact, and a partial one before it.
func stepsOf(n int) func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
	return func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
		for i := range n {
			if err := yield(&sessions.Event{Partial: true, Content: sessions.ModelText("…")}); err != nil {
				return err
			}
			version, err := ctx.SaveArtifact("f", "text/plain", fmt.Append(nil, i))
			if err != nil {
				return err
			}
			e := &sessions.Event{Content: sessions.ModelText(fmt.Sprint(i))}
			e.Actions.StateDelta = map[string]any{"n": i, "user:n": i, "app:n": i, "temp:n": i}
			e.Actions.ArtifactDelta = map[string]int{"f": version}
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}
}

// after is a session after n events of steps.
func after(n int) string {
	said, state, artifacts := "user:hello", "{}", "{}"
	for i := range n {
		said += fmt.Sprint(" agent:", i)
		state = fmt.Sprintf(`{"app:n":%d,"n":%d,"user:n":%d}`, i, i, i)
		artifacts = fmt.Sprintf(`{"f":%d}`, i)
	}
	return said + " " + state + " " + artifacts
}

// left is the session as another process finds it.
func (p *place) left() string {
	p.Helper()
	s := p.get(session)
	return p.words(s) + " " + text(s.State()) + " " + p.artifacts(user, session)
}

func runCases() []testCase {
	return []testCase{
		{"an event is stored before it is delivered", func(p *place) {
			p.create(session, nil)
			p.steps(4)
			n := 0
			for e, err := range p.runner.Run(p.Context(), input("hello")) {
				if err != nil {
					p.Fatal(err)
				}
				if !e.Partial {
					n++
				}
				p.is("the store", p.left(), after(n))
			}
			if n != 4 {
				p.Errorf("%d events", n)
			}
		}},
		{"a caller that leaves at any event", func(p *place) {
			const steps = 3
			p.steps(steps)
			for stop := 1; stop <= 2*steps; stop++ {
				p.create(session, nil)
				n, seen := 0, 0
				for e, err := range p.runner.Run(p.Context(), input("hello")) {
					if err != nil {
						p.Fatal(err)
					}
					if !e.Partial {
						n++
					}
					if seen++; seen == stop {
						break
					}
				}
				p.is("the events", p.words(p.get(session)), stepsStored(1+n))
				if err := p.all.Delete(p.Context(), user, session); err != nil {
					p.Fatal(err)
				}
			}
		}},
		{"a session goes on in another process", func(p *place) {
			p.create(session, nil)
			p.steps(2)
			p.run("hello")
			p.another() // it opens the store before the next run
			other := p.runnerOf(sessions.Config{App: app, Agent: &sessions.CustomAgent{
				Name: "agent", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
					return yield(&sessions.Event{Content: sessions.ModelText("more")})
				},
			}})
			list, err := other.Collect(p.Context(), input("again"))
			if err != nil || words(list) != "agent:more" {
				p.Errorf("%s, %v", words(list), err)
			}
			p.run("last")
			p.is("the events", p.words(p.get(session)), "user:hello agent:0 agent:1 user:again agent:more user:last agent:0 agent:1")
		}},
		{"invocations of a session queue", func(p *place) {
			p.create(session, nil)
			p.steps(2)
			other := p.runnerOf(sessions.Config{App: app, Agent: &sessions.CustomAgent{Name: "agent", Run: stepsOf(2)}})
			var wait sync.WaitGroup
			for i := range 6 {
				r := p.runner
				if i%2 == 1 {
					r = other
				}
				wait.Go(func() {
					if list, err := r.Collect(p.Context(), input("hello")); err != nil {
						p.Errorf("after %d events: %v", len(list), err)
					}
				})
			}
			wait.Wait()
			want := strings.TrimSpace(strings.Repeat("user:hello agent:0 agent:1 ", 6))
			p.is("the events", p.words(p.get(session)), want)
		}},
		{"an invocation of a busy session is refused, if it is to be", func(p *place) {
			p.create(session, nil)
			refusing := p.runnerOf(sessions.Config{
				App: app, Agent: &sessions.CustomAgent{Name: "agent", Run: stepsOf(1)}, WhenBusy: turns.Refuse,
			})
			p.steps(1)
			for e, err := range p.runner.Run(p.Context(), input("hello")) {
				if err != nil {
					p.Fatal(err)
				}
				list, err := refusing.Collect(p.Context(), input("more"))
				p.code("a run while there is "+e.Text(), err, host.CodeSessionBusy)
				var typed *host.Error
				if len(list) > 0 || !errors.As(err, &typed) {
					p.Fatalf("%d events, %v", len(list), err)
				}
				p.details(typed, "session", session)
			}
			if _, err := refusing.Collect(p.Context(), input("hello")); err != nil {
				p.Error(err)
			}
			p.is("the events", p.words(p.get(session)), "user:hello agent:0 user:hello agent:0")
		}},
		{"an invocation inside another one of its session is refused", func(p *place) {
			p.create(session, nil)
			p.agent = func(ctx *sessions.Context, _ func(*sessions.Event) error) error {
				_, err := p.runner.Collect(ctx, input("inside"))
				return err
			}
			_, err := p.runner.Collect(p.Context(), input("hello"))
			p.code("the run", err, host.CodeSessionBusy)
			p.is("the events", p.words(p.get(session)), "user:hello")
		}},
		{"an unknown session runs nothing", func(p *place) {
			p.steps(1)
			list, err := p.runner.Collect(p.Context(), input("hello"))
			p.code("the run", err, host.CodeSessionNotFound)
			if len(list) > 0 {
				p.Errorf("%d events", len(list))
			}
			_, err = p.all.Get(p.Context(), user, session)
			p.code("the session", err, host.CodeSessionNotFound)
		}},
	}
}

// codeOf is the code of an error, or the error.
func codeOf(err error) any {
	var e *host.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return err
}

// whole are the events that are not partial.
func whole(list []*sessions.Event) []*sessions.Event {
	return slices.DeleteFunc(slices.Clone(list), func(e *sessions.Event) bool { return e.Partial })
}
