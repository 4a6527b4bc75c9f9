package sessionstest

import (
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

func stateCases() []testCase {
	return []testCase{
		{"values are shared as their scopes say", func(p *place) {
			first := map[string]any{"app:a": 1, "user:b": 2, "c": 3}
			for _, how := range []string{"created", "appended"} {
				if how == "created" {
					p.create(how, first)
				} else {
					p.append(p.create(how, nil), changed(map[string]any{"app:a": 4, "user:b": 5, "c": 6}))
				}
				own := p.get(how).State()
				for _, same := range []string{"app:a", "user:b"} {
					if got := p.get("created").State()[same]; text(got) != text(own[same]) {
						p.Errorf("%s: %s is %v and %v", how, same, own[same], got)
					}
				}
			}
			p.is("the first", text(p.get("created").State()), `{"app:a":4,"c":3,"user:b":5}`)
			p.is("the second", text(p.get("appended").State()), `{"app:a":4,"c":6,"user:b":5}`)
			p.is("a later one", text(p.create("later", nil).State()), `{"app:a":4,"user:b":5}`)
			other, err := p.all.Create(p.Context(), "bob", session, nil)
			if err != nil {
				p.Fatal(err)
			}
			p.is("another user's", text(other.State()), `{"app:a":4}`)
			foreign, err := p.service("other").Create(p.Context(), user, session, nil)
			if err != nil {
				p.Fatal(err)
			}
			p.is("another application's", text(foreign.State()), `{}`)
		}},
		{"null deletes in every scope", func(p *place) {
			s := p.create(session, map[string]any{"a": 1, "app:a": 1, "user:a": 1, "b": nil})
			p.is("created", text(s.State()), `{"a":1,"app:a":1,"user:a":1}`)
			p.append(s, changed(map[string]any{"a": nil, "app:a": nil, "user:a": nil, "nothing": nil}))
			p.is("the handle", text(s.State()), "{}")
			p.is("the store", text(p.get(session).State()), "{}")
			p.is("another session", text(p.create("t", nil).State()), "{}")
			p.append(s, changed(map[string]any{"a": 2}))
			p.is("set again", text(p.get(session).State()), `{"a":2}`)
		}},
		{"temporary values are not stored", func(p *place) {
			s := p.create(session, map[string]any{"temp:x": 1, "k": 1})
			p.append(s, changed(map[string]any{"temp:y": 1, "k": 2}))
			for _, of := range []*sessions.Session{s, p.get(session)} {
				list, err := of.Events()
				if err != nil {
					p.Fatal(err)
				}
				p.is("the state", text(of.State())+text(list[0].Actions.StateDelta), `{"k":2}{"k":2}`)
			}
		}},
		{"misspelled scopes are refused", func(p *place) {
			s := p.create(session, nil)
			for _, name := range []string{"temp_x", "usr:x", "App:x", "users:x", "tmp:x"} {
				p.details(p.refused(s, changed(map[string]any{"k": 1, name: 1}), host.CodeInvalidState), "field", "actions.stateDelta."+name)
				_, err := p.all.Create(p.Context(), user, "t", map[string]any{name: 1})
				p.code("creating one with "+name, err, host.CodeInvalidState)
			}
			_, err := p.all.Get(p.Context(), user, "t")
			p.code("the session that was refused", err, host.CodeSessionNotFound)
		}},
		{"a value that is too large is refused", func(p *place) {
			s := p.create(session, nil)
			large := changed(map[string]any{"large": strings.Repeat("x", 1<<20)})
			p.details(p.refused(s, large, host.CodeInvalidState), "field", "actions.stateDelta.large")
		}},
		{"a state that is too large is refused", func(p *place) {
			s := p.create(session, nil)
			value := strings.Repeat("x", 1<<20-64)
			for _, name := range []string{"a", "b", "app:a", "app:b", "user:a", "user:b", "c", "d"} {
				p.append(s, changed(map[string]any{name: value}))
			}
			p.details(p.refused(s, changed(map[string]any{"e": value}), host.CodeInvalidState), "field", "actions.stateDelta.e")
			p.details(p.refused(s, changed(map[string]any{"user:e": value}), host.CodeInvalidState), "field", "actions.stateDelta.user:e")
			_, err := p.all.Create(p.Context(), user, "t", map[string]any{"1": value, "2": value, "3": value, "4": value, "5": value})
			p.code("a session with the values that it shares", err, host.CodeInvalidState)
			p.append(s, changed(map[string]any{"a": nil, "e": value})) // one goes, one comes
			p.agent = func(_ *sessions.Context, yield func(*sessions.Event) error) error { return yield(said("done")) }
			p.run("hello")
		}},
	}
}
