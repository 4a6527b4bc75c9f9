package sessionstest

import (
	"errors"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

// stepsStored are the first n events of a run of steps.
func stepsStored(n int) string {
	return strings.Join(strings.Fields("user:hello agent:0 agent:1 agent:2")[:n], " ")
}

func faultCases() []testCase {
	const steps = 3
	return []testCase{
		{"a store that fails at any append", func(p *place) {
			for _, late := range []bool{false, true} {
				for n := 1; n <= steps+1; n++ {
					p.create(session, nil)
					p.steps(steps)
					p.watched.failAt(n, late)
					list, err := p.runner.Collect(p.Context(), input("hello"))
					if !errors.Is(err, errFails) {
						p.Errorf("append %d: %v", n, err)
					}
					if p.watched.appends != n {
						p.Errorf("append %d failed, and there were %d", n, p.watched.appends)
					}
					p.watched.failAt(0, false)
					delivered := len(whole(list))
					if delivered != max(n-2, 0) {
						p.Errorf("append %d failed, and %d events were delivered", n, delivered)
					}
					stored := n - 1 // with the message
					if late {
						stored = n // one more than was delivered
					}
					left := p.get(session)
					p.is("the events", p.words(left), stepsStored(stored))
					p.agent = func(_ *sessions.Context, yield func(*sessions.Event) error) error {
						return yield(&sessions.Event{Content: sessions.ModelText("on")})
					}
					p.is("the next run", words(p.run("go on")), "agent:on")
					if err := p.all.Delete(p.Context(), user, session); err != nil {
						p.Fatal(err)
					}
				}
			}
		}},
		{"a second writer between any two events", func(p *place) {
			for n := 1; n <= steps; n++ {
				p.create(session, nil)
				p.steps(steps)
				var failure error
				delivered := 0
				for e, err := range p.runner.Run(p.Context(), input("hello")) {
					if failure = err; err != nil {
						break
					}
					if e.Partial {
						continue
					}
					if delivered++; delivered == n {
						other := p.another()
						if _, err := other.Append(p.Context(), p.load(other, user, session), said("other")); err != nil {
							p.Fatal(err)
						}
					}
				}
				want := stepsStored(1+n) + " host:other"
				if n < steps {
					p.code("the run", failure, host.CodeSessionConflict)
					var typed *host.Error
					if errors.As(failure, &typed) {
						p.details(typed, "session", session)
					}
				} else if failure != nil { // nothing comes behind the last event
					p.Error(failure)
				}
				p.is("the events", p.words(p.get(session)), want)
				if err := p.all.Delete(p.Context(), user, session); err != nil {
					p.Fatal(err)
				}
			}
		}},
		{"a failed append of the host changes nothing", func(p *place) {
			s := p.create(session, map[string]any{"k": 1})
			before := p.shown(s)
			p.watched.failAt(1, false)
			if _, err := p.all.Append(p.Context(), s, changed(map[string]any{"k": 2})); !errors.Is(err, errFails) {
				p.Errorf("the append: %v", err)
			}
			p.is("the handle", p.shown(s), before)
			p.is("the store", p.shown(p.get(session)), before)
			p.append(s, changed(map[string]any{"k": 3}))
			p.is("the state", text(p.get(session).State()), `{"k":3}`)
		}},
	}
}
