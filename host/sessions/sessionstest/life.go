package sessionstest

import (
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

// oddIDs are ids that a path, a key or a query would take for something else.
var oddIDs = []string{"a/b", "a", "a%2Fb", "%", "/", "//", "__proto__", "../x", "a b", "ä", "😀", "'", "*", "a\x00b"}

func lifeCases() []testCase {
	return []testCase{
		{"a session that was created is there", func(p *place) {
			made := p.create(session, map[string]any{"k": map[string]any{"n": 1, "list": []any{"x", nil, true, 1.5}}})
			const want = `{"k":{"list":["x",null,true,1.5],"n":1}}`
			p.is("the handle", p.words(made)+text(made.State()), want)
			s := p.load(p.again(), user, session)
			p.is("the stored session", p.words(s)+text(s.State()), want)
			if s.Revision() != made.Revision() || s.ID != session || s.User != user || s.App != app {
				p.Errorf("%+v, revision %s, want %s", s, s.Revision(), made.Revision())
			}
			if s.UpdatedAt().IsZero() || time.Since(s.UpdatedAt()) > time.Hour {
				p.Errorf("it was updated at %v", s.UpdatedAt())
			}
		}},
		{"a session without an id gets one", func(p *place) {
			s, other := p.create("", nil), p.create("", nil)
			if s.ID == "" || s.ID == other.ID {
				p.Errorf("the ids are %q and %q", s.ID, other.ID)
			}
			p.is("the session", p.shown(p.get(s.ID)), p.shown(s))
		}},
		{"a session that is there is not created", func(p *place) {
			s := p.create(session, map[string]any{"k": 1})
			for _, all := range []*sessions.Service{p.all, p.another()} {
				_, err := all.Create(p.Context(), user, session, map[string]any{"k": 2, "app:k": 2})
				p.there("creating it again", err, session)
			}
			p.is("the session", p.shown(p.get(session)), p.shown(s))
		}},
		{"unknown sessions and other users' are not there", func(p *place) {
			p.create(session, nil)
			for _, k := range [][2]string{{user, "t"}, {"bob", session}, {"ad", "a/" + session}, {user + "/" + session, session}} {
				for _, all := range []*sessions.Service{p.all, p.another()} {
					_, err := all.Get(p.Context(), k[0], k[1])
					p.code("loading "+text(k), err, host.CodeSessionNotFound)
					_, err = all.GetRecent(p.Context(), k[0], k[1], sessions.Recent{Last: 1})
					p.code("loading a part of "+text(k), err, host.CodeSessionNotFound)
					_, err = all.Fork(p.Context(), k[0], k[1], "", "")
					p.code("forking "+text(k), err, host.CodeSessionNotFound)
					err = all.Retry(p.Context(), k[0], k[1], func(*sessions.Session) error { return nil })
					p.code("retrying "+text(k), err, host.CodeSessionNotFound)
				}
			}
			_, err := p.service("other").Get(p.Context(), user, session)
			p.code("another application's", err, host.CodeSessionNotFound)
		}},
		{"names that are none are refused", func(p *place) {
			for _, k := range [][2]string{{"", session}, {user, ""}} {
				_, err := p.all.Get(p.Context(), k[0], k[1])
				p.code("loading "+text(k), err, host.CodeInvalidInvocation)
			}
			_, err := p.all.Create(p.Context(), "", session, nil)
			p.code("creating one of nobody", err, host.CodeInvalidInvocation)
			p.code("deleting one of nobody", p.all.Delete(p.Context(), "", session), host.CodeInvalidInvocation)
		}},
		{"ids are only names", func(p *place) {
			for i, owner := range oddIDs {
				for j, id := range oddIDs {
					if _, err := p.all.Create(p.Context(), owner, id, map[string]any{"i": i, "j": j, "user:i": i}); err != nil {
						p.Fatalf("%q of %q: %v", id, owner, err)
					}
				}
			}
			other := p.another()
			for i, owner := range oddIDs {
				for j, id := range oddIDs {
					s := p.load(other, owner, id)
					p.is("the state", text(s.State()), text(map[string]any{"i": i, "j": j, "user:i": i}))
				}
			}
		}},
		{"a session that was deleted is not there", func(p *place) {
			s := p.create(session, map[string]any{"k": 1, "app:a": 1, "user:u": 1})
			p.append(s, said("x"))
			p.create("t", nil)
			for range 2 { // once more is no error
				if err := p.all.Delete(p.Context(), user, session); err != nil {
					p.Fatal(err)
				}
			}
			for _, all := range []*sessions.Service{p.all, p.another()} {
				_, err := all.Get(p.Context(), user, session)
				p.code("loading it", err, host.CodeSessionNotFound)
			}
			p.is("another one", text(p.get("t").State()), `{"app:a":1,"user:u":1}`)
			_, err := p.all.Append(p.Context(), s, said("late"))
			p.code("an append to it", err, host.CodeSessionConflict)
			_, err = p.all.Get(p.Context(), user, session)
			p.code("loading it after that", err, host.CodeSessionNotFound)
			again := p.create(session, nil)
			p.is("the one made anew", p.words(again)+text(again.State()), `{"app:a":1,"user:u":1}`)
			_, err = p.all.Append(p.Context(), s, said("late"))
			p.code("an append with the old handle", err, host.CodeSessionConflict)
			p.is("the one made anew, stored", p.words(p.get(session)), "")
		}},
		{"another process sees what is stored", func(p *place) {
			s := p.create(session, nil)
			other := p.another()
			p.load(other, user, session)
			for _, word := range []string{"a", "b", "c"} {
				p.append(s, said(word))
				p.is("the other's", p.shown(p.load(other, user, session)), p.shown(s))
			}
		}},
	}
}
