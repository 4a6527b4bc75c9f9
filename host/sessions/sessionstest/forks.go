package sessionstest

import (
	"fmt"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
)

// history makes a session whose i-th event, from 0, sets n to i, deletes what the one before it has set besides, and
// has the i-th version of an artifact. It returns the events.
func (p *place) history(n int) []*sessions.Event {
	p.Helper()
	s := p.create(session, map[string]any{"init": "kept", "n": "none", "app:a": 1})
	var list []*sessions.Event
	for i := range n {
		e := said(fmt.Sprint(i))
		e.Actions.StateDelta = map[string]any{"n": i, fmt.Sprint("k", i): true, "app:a": i}
		if i > 0 {
			e.Actions.StateDelta[fmt.Sprint("k", i-1)] = nil
		}
		e.Actions.ArtifactDelta = map[string]int{"f": p.put(s, "f", fmt.Sprint("f", i))}
		list = append(list, p.append(s, e))
	}
	return list
}

func forkCases() []testCase {
	return []testCase{
		{"a fork begins as the session was after any event", func(p *place) {
			list := p.history(5)
			before := p.shown(p.get(session))
			for i, e := range list {
				id := fmt.Sprint("fork ", i)
				p.watched.failAt(0, false)
				p.watched.changes = 0
				made, err := p.all.Fork(p.Context(), user, session, id, e.ID)
				if err != nil {
					p.Fatal(err)
				}
				if p.watched.changes != 1 || p.watched.appends != 0 {
					p.Errorf("it took %d transactions and %d appends", p.watched.changes, p.watched.appends)
				}
				for _, fork := range []*sessions.Session{made, p.get(id)} {
					p.is("the events", p.words(fork), words(list[:i+1]))
					p.is("the state", text(fork.State()), fmt.Sprintf(`{"app:a":4,"init":"kept","k%d":true,"n":%d}`, i, i))
				}
				p.is("the artifacts", p.artifacts(user, id), fmt.Sprintf(`{"f":%d}`, i))
				p.is("a version", p.content(user, id, "f", -1), fmt.Sprintf("f %d text/plain f%d", i, i))
				p.is("its first", p.content(user, id, "f", 0), "f 0 text/plain f0")
			}
			p.is("the session", p.shown(p.get(session)), before)
		}},
		{"a fork of all events begins as the session is", func(p *place) {
			list := p.history(3)
			fork, err := p.all.Fork(p.Context(), user, session, "", "")
			if err != nil {
				p.Fatal(err)
			}
			p.is("the fork", p.words(p.get(fork.ID))+text(fork.State()), words(list)+text(p.get(session).State()))
			p.is("its artifacts", p.artifacts(user, fork.ID), p.artifacts(user, session))
		}},
		{"a fork goes its own way", func(p *place) {
			list := p.history(3)
			for i, after := range []string{list[1].ID, ""} {
				id := fmt.Sprint("fork", i)
				fork, err := p.all.Fork(p.Context(), user, session, id, after)
				if err != nil {
					p.Fatal(err)
				}
				before := p.shown(p.get(session))
				p.append(fork, changed(map[string]any{"n": "fork", "init": nil}))
				p.save(fork, "f", "fork")
				p.is("the session", p.shown(p.get(session)), before)
				s, forked := p.get(session), p.shown(p.get(id))
				p.append(s, changed(map[string]any{"n": "own", "more": 1}))
				p.save(s, "f", "own")
				p.is("the fork", p.shown(p.get(id)), forked)
				p.is("the fork's artifact", p.content(user, id, "f", -1)[1:], fmt.Sprintf(" %d text/plain fork", 2+2*i))
				again, err := p.all.Fork(p.Context(), user, id, id+" again", list[0].ID)
				if err != nil {
					p.Fatal(err)
				}
				p.is("a fork of the fork", p.words(again), "host:0")
				p.refused(p.get(id), &sessions.Event{ID: list[0].ID, Author: "host"}, host.CodeSessionConflict)
			}
			if err := p.all.Delete(p.Context(), user, session); err != nil {
				p.Fatal(err)
			}
			p.is("a fork of a session that was deleted", p.words(p.get("fork0"))+p.content(user, "fork0", "f", 0), "host:0 host:1 host: host:f 0 text/plain f0")
		}},
		{"a fork is refused", func(p *place) {
			list := p.history(2)
			p.create("t", nil)
			for _, after := range []string{"", list[0].ID} {
				_, err := p.all.Fork(p.Context(), user, session, "t", after)
				p.there("over a session that is there", err, "t")
				_, err = p.all.Fork(p.Context(), user, session, session, after)
				p.there("over itself", err, session)
				_, err = p.all.Fork(p.Context(), user, "nothing", "u", after)
				p.code("of an unknown session", err, host.CodeSessionNotFound)
			}
			_, err := p.all.Fork(p.Context(), user, session, "u", "nothing")
			p.code("at an unknown event", err, host.CodeInvalidEvent)
			_, err = p.all.Get(p.Context(), user, "u")
			p.code("the session that was refused", err, host.CodeSessionNotFound)
			p.is("the session that is there", p.words(p.get("t")), "")
		}},
		{"a rewind restores the session's own state", func(p *place) {
			p.create(session, map[string]any{"init": 1, "n": 0, "app:a": 0})
			var ids []string
			for n := 1; n <= 3; n++ {
				p.agent = func(_ *sessions.Context, yield func(*sessions.Event) error) error {
					return yield(changed(map[string]any{"init": nil, "n": n, "app:a": n, fmt.Sprint("k", n): true}))
				}
				ids = append(ids, p.run("hello")[0].InvocationID)
			}
			for i := 2; i >= 0; i-- {
				if _, err := p.runner.Rewind(p.Context(), user, session, ids[i]); err != nil {
					p.Fatal(err)
				}
				want := `{"app:a":3,"init":1,"n":0}`
				switch i {
				case 1:
					want = `{"app:a":3,"k1":true,"n":1}`
				case 2:
					want = `{"app:a":3,"k1":true,"k2":true,"n":2}`
				}
				p.is("the state", text(p.get(session).State()), want)
			}
			if s := p.get(session); s.Len() != 9 {
				p.Errorf("it has %d events", s.Len())
			}
			_, err := p.runner.Rewind(p.Context(), user, session, "nothing")
			p.code("before an unknown invocation", err, host.CodeInvocationNotFound)
		}},
	}
}
