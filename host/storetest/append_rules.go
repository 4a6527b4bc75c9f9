package storetest

import (
	"errors"
	"slices"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// appendRuleCases are the rules that appends of all kinds share: keys, revisions, ids, and what no store takes.
func appendRuleCases() []testCase {
	return []testCase{
		{name: "a second append under a key is the first", run: func(p *place) {
			s := p.appender()
			keyed := func(id, key string) store.Append {
				a := happened(id)
				a.Key, a.Turn = key, "t"
				return a
			}
			first := p.append(s, session, keyed("a", "k1"))
			p.append(s, session, keyed("b", "k2"))
			for range 2 {
				if again := p.append(s, session, keyed("c", "k1")); again != first {
					p.Errorf("the second append returned %q, the first %q", again, first)
				}
				s = p.asAppender(p.again(s))
			}
			if got := p.ids(s, session, store.EventQuery{}); got != "a b" {
				p.Errorf("events %s", got)
			}
			// Keys are forgotten with their turn, by commits and by appends.
			p.commit(s, session, store.Commit{Ended: []string{"t"}, Deltas: []store.Delta{put(message("m", "x"))}, Key: "k3", Turn: "t2"})
			p.append(s, session, keyed("c", "k1"))
			ends := happened("d")
			ends.Ended = []string{"t", "t2"}
			p.append(s, session, ends)
			p.append(s, session, keyed("e", "k1"))
			p.commit(s, session, store.Commit{Deltas: []store.Delta{put(message("n", "x"))}, Key: "k3", Turn: "t2"})
			if got := p.ids(s, session, store.EventQuery{}); got != "a b c d e" {
				p.Errorf("events %s", got)
			}
			p.expect(s, session, "m=x n=x")
		}},
		{name: "an append that failed has no key", run: func(p *place) {
			s := p.appender()
			p.event(s, session, "a")
			a := happened("a")
			a.Key, a.Turn = "k", "t"
			p.refusedAppend(s, session, a, conflict)
			a.Event.ID = "b"
			p.append(s, session, a)
			if got := p.ids(s, session, store.EventQuery{}); got != "a b" {
				p.Errorf("events %s", got)
			}
		}},
		{name: "an append of nothing", run: func(p *place) {
			s := p.appender()
			p.append(s, session, store.Append{})
			if sessions, ok := s.(store.Sessions); ok {
				if got := listed(p, sessions, 10); len(got) > 0 {
					p.Errorf("it began %q", got)
				}
			}
			at := p.event(s, session, "a")
			if again := p.append(s, session, store.Append{Revision: at}); again != at {
				p.Errorf("an append of nothing returned %q at %q", again, at)
			}
		}},
		{name: "appends that another turn does not know of", run: func(p *place) {
			s := p.appender()
			a := store.Append{Turn: "t1", Revision: p.load(s, session, "").Revision}
			next := func(turn, id, seen string) store.Append {
				of := happened(id)
				of.Key, of.Turn, of.Revision = turn+id, turn, seen
				return of
			}
			start := a.Revision
			p.append(s, session, next("t1", "1", start))
			p.append(s, session, next("t1", "2", start)) // its own are none that it does not know of
			p.write(s, session, put(message("m", "1")), put(memory("n", "1")))
			p.append(s, session, next("t1", "3", start))
			p.refusedAppend(s, session, next("t2", "4", start), conflict, `"session"`)
			p.refusedAppend(s, session, next("t2", "4", "nobody's"), conflict)
			p.refusedAppend(s, session, next("", "4", start), conflict)
			seen := p.load(s, session, "").Revision
			p.append(s, session, next("t2", "4", seen))
			s = p.asAppender(p.again(s))
			p.refusedAppend(s, session, next("t1", "5", start), conflict)
			p.refusedAppend(s, session, next("t1", "5", seen), conflict)
			p.append(s, session, next("t2", "5", seen))
			p.append(s, session, next("t1", "6", p.load(s, session, "").Revision))
			p.append(s, session, next("t3", "7", "")) // which checks nothing
			p.refusedAppend(s, "another", next("t1", "8", "nobody's"), conflict, `"another"`)
			if got := p.ids(s, session, store.EventQuery{}); got != "1 2 3 4 5 6 7" {
				p.Errorf("events %s", got)
			}
		}},
		{name: "an append to a session that has been deleted", run: func(p *place) {
			s := p.appender()
			sessions, ok := s.(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			a := happened("2")
			a.Key, a.Turn, a.Revision = "k", "t", p.event(s, session, "1")
			p.event(s, "another", "1")
			if err := sessions.Delete(p.Context(), session); err != nil {
				p.Fatal(err)
			}
			p.refusedAppend(s, session, a, conflict, `"session"`)
			if got := listed(p, sessions, 10); !slices.Equal(got, []string{"another"}) {
				p.Errorf("the sessions are %q", got)
			}
			p.write(s, session, put(message("m", "1"))) // makes another one of that id
			s = p.asAppender(p.again(s))
			p.refusedAppend(s, session, a, conflict, `"session"`)
			a.Revision = p.load(s, session, "").Revision
			p.append(s, session, a)
			if got := p.ids(s, session, store.EventQuery{}); got != "2" {
				p.Errorf("events %s", got)
			}
		}},
		{name: "commits and appends do not conflict", run: func(p *place) {
			s := p.appender()
			p.write(s, session, put(message("a", "1")), put(record.NewInstruction("i")))
			seen := p.load(s, session, "").Revision
			p.event(s, session, "e")
			if c := p.load(s, session, seen); c.After != seen || len(c.Messages) != 0 || len(c.Instructions) != 1 {
				p.Errorf("after an append %d messages are loaded behind %q", len(c.Messages), c.After)
			}
			p.commit(s, session, store.Commit{Revision: seen, Deltas: []store.Delta{
				change(message("a", "2")), remove(record.KindMessage, "b"), rewrite("i", "j"), put(message("c", "1")),
			}})
			p.expect(s, session, "j a=2 c=1")
			// What a turn has appended is its own, as what it has committed.
			c := store.Commit{Key: "k1", Turn: "t", Revision: seen, Deltas: []store.Delta{put(message("d", "1"))}}
			p.commit(s, session, c)
			a := happened("f")
			a.Key, a.Turn = "k2", "t"
			p.append(s, session, a)
			c.Key, c.Deltas = "k3", []store.Delta{change(message("d", "2"))}
			p.commit(s, session, c)
		}},
		{name: "a session with events only", run: func(p *place) {
			s := p.appender()
			p.event(s, "older", "e")
			at := p.event(s, session, "e")
			if c := p.load(s, session, ""); c.Revision != at || brief(c) != "" {
				p.Errorf("%s is loaded, want revision %q", told(c), at)
			}
			sessions, ok := s.(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			if got := listed(p, sessions, 10); !slices.Equal(got, []string{session, "older"}) {
				p.Errorf("listed %q", got)
			}
			before, err := sessions.Find(p.Context(), "older")
			if err != nil || before == nil || before.Messages != 0 {
				p.Fatalf("%+v, %v", before, err)
			}
			at = p.event(s, "older", "f")
			after, err := sessions.Find(p.Context(), "older")
			if err != nil || after.Revision != at || after.UpdatedAt.Before(before.UpdatedAt) {
				p.Errorf("%+v became %+v, %v", before, after, err)
			}
			if got := listed(p, sessions, 10); !slices.Equal(got, []string{"older", session}) {
				p.Errorf("listed %q", got)
			}
		}},
		{name: "forks and deletes of what was appended", run: func(p *place) {
			s := p.appender()
			sessions, ok := s.(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			p.putAll(s, session, "x", "y")
			a := happened("e1")
			a.State = []store.StateValue{set("", "n", "1"), set("shared", "n", "1")}
			a.Artifacts = []store.Artifact{version("", "a", 0, "x"), version("shared", "a", 0, "x")}
			p.append(s, session, a)
			p.event(s, session, "e2")
			was := p.told(s, session)
			if err := sessions.Fork(p.Context(), session, "fork"); err != nil {
				p.Fatal(err)
			}
			p.same("the fork", p.told(s, "fork"), was)
			// What a fork began with, it knows the revisions of.
			events, err := s.Events(p.Context(), "fork", store.EventQuery{})
			if err != nil || len(events) != 2 {
				p.Fatal(events, err)
			}
			forked := p.load(s, "fork", "").Revision
			for _, c := range []struct{ after, want string }{{events[0].Revision, "e2"}, {events[1].Revision, ""}, {forked, ""}} {
				if got := p.ids(s, "fork", store.EventQuery{After: c.after}); got != c.want {
					p.Errorf("after %q the fork has %q, want %q", c.after, got, c.want)
				}
			}
			p.event(s, session, "e3")
			mine := happened("e3")
			mine.Revision = forked // what the original has appended since is no conflict
			mine.State = []store.StateValue{set("", "n", "2")}
			mine.Artifacts = []store.Artifact{version("", "a", 1, "y")}
			p.append(s, "fork", mine)
			if got := p.ids(s, "fork", store.EventQuery{After: forked}); got != "e3" {
				p.Errorf("the fork has appended %q", got)
			}
			original, fork := p.told(s, session), p.told(s, "fork")
			if slices.Equal(original, fork) {
				p.Errorf("the two share %q", fork)
			}
			if err := sessions.Delete(p.Context(), session); err != nil {
				p.Fatal(err)
			}
			for range 2 {
				p.same("the fork alone", p.told(s, "fork"), fork)
				p.same("the deleted session", p.told(s, session), []string{`state "shared n": "1"`, `artifact "shared a" 0: "a 0", "bytes x"`})
				s = p.asAppender(p.again(s))
			}
			p.event(s, session, "e1")
			if got := p.ids(s, session, store.EventQuery{After: forked}); got != "e1" {
				p.Errorf("begun again, it has %q", got)
			}
			p.append(s, session, store.Append{State: []store.StateValue{set("", "m", "1")}})
			p.same("the fork", p.told(s, "fork"), fork)
		}},
		{name: "what was appended stays as it is", run: func(p *place) {
			s := p.appender()
			p.putAll(s, session, "x")
			a := happened("e")
			a.State = []store.StateValue{set("", "n", "value")}
			a.Artifacts = []store.Artifact{version("", "a", 0, "x")}
			p.append(s, session, a)
			want := p.told(s, session)
			for _, body := range [][]byte{a.Event.Body, a.State[0].Value, a.Artifacts[0].Body} {
				body[0] = '!'
			}
			events, err := s.Events(p.Context(), session, store.EventQuery{})
			state, err2 := s.State(p.Context(), session, "")
			if err := errors.Join(err, err2); err != nil {
				p.Fatal(err)
			}
			events[0].Body[0], state[0].Value[0] = '!', '!'
			p.same("afterwards", p.told(s, session), want)
		}},
		{name: "appends that no store takes", run: func(p *place) {
			s := p.appender()
			bad := "\xff"
			for _, a := range []store.Append{
				happened(bad),
				{State: []store.StateValue{set("", bad, "x")}},
				{State: []store.StateValue{set(bad, "x", "x")}},
				{Artifacts: []store.Artifact{version("", bad, 0, "x")}},
				{Artifacts: []store.Artifact{version(bad, "x", 0, "x")}},
				{Artifacts: []store.Artifact{version("", "x", -1, "x")}},
			} {
				p.refusedAppend(s, session, a, host.CodeInvalidValue)
			}
		}},
	}
}
