package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

func forkCases() []testCase {
	return []testCase{
		{name: "forks at an event", run: func(p *place) {
			s := p.appender()
			p.putAll(s, session, "b0", "b1", "b2")
			var revisions []string
			for n := range 3 {
				a := happened(fmt.Sprint("e", n))
				a.State = []store.StateValue{set("", "n", fmt.Sprint(n)), set("shared", "n", fmt.Sprint(n))}
				a.Artifacts = []store.Artifact{version("", "a", n, fmt.Sprint("b", n)), version("shared", "a", n, fmt.Sprint("b", n))}
				revisions = append(revisions, p.append(s, session, a))
			}
			before := p.told(s, session)
			for n, revision := range revisions {
				fork := fmt.Sprint("fork ", n)
				at := store.ForkPoint{Revision: revision, State: []store.StateValue{set("", "n", fmt.Sprint(n))}, Artifacts: map[string]int{"a": n + 1}}
				if err := s.ForkAt(p.Context(), session, fork, at); err != nil {
					p.Fatal(err)
				}
				want := p.told(s, fork)
				if list, err := s.Events(p.Context(), fork, store.EventQuery{}); err != nil || len(list) != n+1 || list[n].ID != fmt.Sprint("e", n) {
					p.Errorf("%d events, %v", len(list), err)
				} else if again := p.told(p.asAppender(p.another()), fork); strings.Join(again, "\n") != strings.Join(want, "\n") {
					p.Errorf("another opening has %q, want %q", again, want)
				} else {
					// Who has seen the fork's last event has seen all of it.
					next := happened("next")
					next.Revision = list[n].Revision
					p.append(s, fork, next)
					late := happened("late")
					late.Revision = list[n].Revision
					if _, err := s.Append(p.Context(), fork, late); !errors.Is(err, host.Code("E_SESSION_CONFLICT")) {
						p.Errorf("a second append after the last event: %v", err)
					}
				}
			}
			p.same("the session", p.told(s, session), before)
		}},
		{name: "forks at an event that are refused", run: func(p *place) {
			s := p.appender()
			last := p.append(s, session, happened("e0"))
			p.append(s, "there", happened("e0"))
			p.append(s, "other", happened("e0"))
			for _, c := range []struct {
				from, to string
				at       store.ForkPoint
				code     host.Code
			}{
				{"nothing", "new", store.ForkPoint{Revision: last}, "E_SESSION_NOT_FOUND"},
				{"other", "new", store.ForkPoint{Revision: last}, "E_SESSION_NOT_FOUND"},
				{session, "new", store.ForkPoint{Revision: "nothing"}, "E_SESSION_NOT_FOUND"},
				{session, "new", store.ForkPoint{}, "E_SESSION_NOT_FOUND"},
				{session, "new", store.ForkPoint{Revision: last, Artifacts: map[string]int{"a": 1}}, "E_SESSION_NOT_FOUND"},
				{session, "there", store.ForkPoint{Revision: last}, "E_SESSION_EXISTS"},
				{session, session, store.ForkPoint{Revision: last}, "E_SESSION_EXISTS"},
				{session, "new", store.ForkPoint{Revision: last, State: []store.StateValue{set("", "\xff", "")}}, "E_INVALID_VALUE"},
			} {
				if err := s.ForkAt(p.Context(), c.from, c.to, c.at); !errors.Is(err, c.code) {
					p.Errorf("%q to %q at %+v: %v, want %s", c.from, c.to, c.at, err, c.code)
				}
			}
			if list, err := s.Events(p.Context(), "new", store.EventQuery{}); err != nil || len(list) > 0 {
				p.Errorf("a fork that was refused has %d events, %v", len(list), err)
			}
		}},
		{name: "lists of a prefix", run: func(p *place) {
			s, ok := p.appender().(store.Sessions)
			if !ok {
				p.Skip("it is no store.Sessions")
			}
			for _, id := range []string{"a/b/1", "a/b/2", "a/bc/1", "a/b", "a/b/c/d", "b", "a/b/ä", "a%2Fb/1"} {
				p.write(s, id, put(message("m", "x")))
			}
			p.write(s, "a/b/1", put(message("n", "x")))
			for prefix, want := range map[string]string{
				"a/b/": "a/b/1 a/b/ä a/b/c/d a/b/2", "a/b/c/": "a/b/c/d", "a/": "a/b/1 a/b/ä a/b/c/d a/b a/bc/1 a/b/2", "a/b/c": "a/b/c/d",
				"c": "", "a/b/d/": "", "": "a/b/1 a%2Fb/1 a/b/ä b a/b/c/d a/b a/bc/1 a/b/2",
			} {
				var got []string
				for cursor := ""; ; {
					page, next, err := s.ListOf(p.Context(), prefix, cursor, 2)
					if err != nil || len(page) > 2 {
						p.Fatalf("%d sessions, %v", len(page), err)
					}
					for _, each := range page {
						got = append(got, each.ID)
					}
					if next == "" {
						break
					}
					cursor = next
				}
				if strings.Join(got, " ") != want {
					p.Errorf("%q has %q, want %q", prefix, got, want)
				}
			}
		}},
	}
}
