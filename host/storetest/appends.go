package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

// appender is the store of a test of partAppender.
func (p *place) appender() store.Appender {
	p.Helper()
	return p.asAppender(p.store())
}

func (p *place) asAppender(s store.Store) store.Appender {
	p.Helper()
	a, ok := s.(store.Appender)
	if !ok {
		p.Fatal("the store was an Appender and is none")
	}
	return a
}

// append stores what must succeed, and returns the revision.
func (p *place) append(s store.Appender, session string, a store.Append) string {
	p.Helper()
	revision, err := s.Append(p.Context(), session, a)
	if err != nil {
		p.Fatalf("an append to session %q: %v", session, err)
	}
	return revision
}

// event appends an event without a key and without a revision.
func (p *place) event(s store.Appender, session, id string) string {
	p.Helper()
	return p.append(s, session, happened(id))
}

// refusedAppend appends what must fail with a code, and store nothing. The error names words.
func (p *place) refusedAppend(s store.Appender, session string, a store.Append, code host.Code, words ...string) {
	p.Helper()
	before, was := p.told(s, session), p.load(s, session, "").Revision
	revision, err := s.Append(p.Context(), session, a)
	if !errors.Is(err, code) {
		p.Errorf("an append gave revision %q and %v, want %s", revision, err, code)
	}
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			p.Errorf("%v does not name %s", err, word)
		}
	}
	p.same("after a refused append", p.told(s, session), before)
	if is := p.load(s, session, "").Revision; is != was {
		p.Errorf("a refused append left revision %q, before it was %q", is, was)
	}
}

// told is what an appender says of a session and of the scope "shared", in words.
func (p *place) told(s store.Appender, session string) (words []string) {
	p.Helper()
	list, err := toldOf(p.Context(), s, session, "shared")
	if err != nil {
		p.Fatalf("session %q: %v", session, err)
	}
	return list
}

// toldOf is what an appender says of a session and of a scope that is shared.
func toldOf(ctx context.Context, s store.Appender, session, shared string) (words []string, err error) {
	events, err := s.Events(ctx, session, store.EventQuery{})
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		words = append(words, fmt.Sprintf("event %q: %q", e.ID, e.Body))
	}
	for _, scope := range []string{"", shared} {
		state, err := s.State(ctx, session, scope)
		if err != nil {
			return nil, err
		}
		for _, v := range state {
			if v.Scope != scope || v.Value == nil {
				return nil, fmt.Errorf("scope %q has the value %+v", scope, v)
			}
			words = append(words, fmt.Sprintf("state %q: %q", scope+" "+v.Name, v.Value))
		}
		artifacts, err := s.Artifacts(ctx, session, scope)
		if err != nil {
			return nil, err
		}
		for _, a := range artifacts {
			content, err := readArtifact(ctx, s, session, scope, a.Name, a.Version)
			if err != nil {
				return nil, err
			}
			if a.Scope != scope || a.Bytes != "" || a.Size != int64(len(content)) {
				return nil, fmt.Errorf("scope %q has an artifact %+v of %d bytes", scope, a, len(content))
			}
			words = append(words, fmt.Sprintf("artifact %q %d: %q, %.100q", scope+" "+a.Name, a.Version, a.Body, content))
		}
	}
	return words, nil
}

func readArtifact(ctx context.Context, s store.Appender, session, scope, name string, version int) ([]byte, error) {
	content, size, err := s.OpenArtifact(ctx, session, scope, name, version)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(content, 0, size))
}

// happened appends an event.
func happened(id string) store.Append {
	return store.Append{Event: &store.SessionEvent{ID: id, Body: []byte("body of " + id)}}
}

// set is the change of a value; "" for one that is shared.
func set(scope, name, value string) store.StateValue {
	return store.StateValue{Scope: scope, Name: name, Value: []byte(value)}
}

func unset(scope, name string) store.StateValue { return store.StateValue{Scope: scope, Name: name} }

// version is a version of an artifact.
func version(scope, name string, n int, id string) store.Artifact {
	return store.Artifact{Scope: scope, Name: name, Version: n, Bytes: id, Body: []byte(fmt.Sprintf("%s %d", name, n))}
}

// putAll puts bytes, of which each is its id.
func (p *place) putAll(s store.Store, session string, ids ...string) {
	p.Helper()
	for _, id := range ids {
		if err := s.PutBytes(p.Context(), session, id, strings.NewReader("bytes "+id)); err != nil {
			p.Fatal(err)
		}
	}
}

// ids are those of the events that are asked for, in one text.
func (p *place) ids(s store.Appender, session string, q store.EventQuery) string {
	p.Helper()
	events, err := s.Events(p.Context(), session, q)
	if err != nil {
		p.Fatalf("events of session %q: %v", session, err)
	}
	var ids []string
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

// inParts are tests of optional parts of a store.
func inParts(needs part, cases ...testCase) []testCase {
	for i := range cases {
		cases[i].needs |= needs
	}
	return cases
}

func appendCases() []testCase {
	return slices.Concat(
		inParts(partAppender, eventCases()...), inParts(partAppender, stateCases()...), inParts(partAppender, artifactCases()...),
		inParts(partAppender, appendRuleCases()...), inParts(partAppender, forkCases()...),
	)
}

func eventCases() []testCase {
	return []testCase{
		{name: "events", run: func(p *place) {
			s := p.appender()
			if got := p.told(s, session); len(got) > 0 {
				p.Errorf("an unknown session has %q", got)
			}
			bodies := [][]byte{[]byte("{}"), {}, nil, []byte("\x00\xff\r\n\x1a"), []byte(unicodeText), bytes.Repeat([]byte("long "), 1<<19)}
			var revisions []string
			for n, body := range bodies {
				e := &store.SessionEvent{ID: fmt.Sprintf("%c%d", 'z'-n, n), Body: body, Revision: "is not read"}
				revisions = append(revisions, p.append(s, session, store.Append{Event: e}))
			}
			p.event(s, "another", "z0")
			for range 2 {
				events, err := s.Events(p.Context(), session, store.EventQuery{})
				if err != nil || len(events) != len(bodies) {
					p.Fatalf("%d events, %v", len(events), err)
				}
				for n, e := range events {
					if e.ID != fmt.Sprintf("%c%d", 'z'-n, n) || !bytes.Equal(e.Body, bodies[n]) || e.Revision != revisions[n] {
						p.Errorf("event %d is %q of %d bytes at %q, want %d bytes at %q", n, e.ID, len(e.Body), e.Revision, len(bodies[n]), revisions[n])
					}
				}
				if got := p.ids(s, "another", store.EventQuery{}); got != "z0" {
					p.Errorf("another session has %s", got)
				}
				s = p.asAppender(p.again(s))
			}
			if len(revisions) != len(slices.Compact(slices.Sorted(slices.Values(revisions)))) {
				p.Errorf("revisions %q are not all different", revisions)
			}
		}},
		{name: "events that are asked for", run: func(p *place) {
			s := p.appender()
			at := []string{p.load(s, session, "").Revision}
			for n := range 10 {
				at = append(at, p.event(s, session, fmt.Sprint(n)))
			}
			at = append(at, p.write(s, session, put(message("m", "x"))))
			for range 2 {
				for _, c := range []struct {
					q    store.EventQuery
					want string
				}{
					{store.EventQuery{}, "0 1 2 3 4 5 6 7 8 9"},
					{store.EventQuery{Limit: 3}, "0 1 2"},
					{store.EventQuery{Limit: 3, Newest: true}, "7 8 9"},
					{store.EventQuery{Limit: 100}, "0 1 2 3 4 5 6 7 8 9"},
					{store.EventQuery{Limit: 100, Newest: true}, "0 1 2 3 4 5 6 7 8 9"},
					{store.EventQuery{Newest: true}, "0 1 2 3 4 5 6 7 8 9"},
					{store.EventQuery{After: at[0]}, "0 1 2 3 4 5 6 7 8 9"},
					{store.EventQuery{After: at[1]}, "1 2 3 4 5 6 7 8 9"},
					{store.EventQuery{After: at[7]}, "7 8 9"},
					{store.EventQuery{After: at[7], Limit: 2}, "7 8"},
					{store.EventQuery{After: at[7], Limit: 2, Newest: true}, "8 9"},
					{store.EventQuery{After: at[7], Limit: 5, Newest: true}, "7 8 9"},
					{store.EventQuery{After: at[10]}, ""},
					{store.EventQuery{After: at[11]}, ""},
					{store.EventQuery{After: "nobody's", Limit: 2}, "0 1"},
				} {
					if got := p.ids(s, session, c.q); got != c.want {
						p.Errorf("%+v: %s, want %s", c.q, got, c.want)
					}
				}
				s = p.asAppender(p.again(s))
			}
		}},
		{name: "an event of an id that is there", run: func(p *place) {
			s := p.appender()
			p.event(s, session, "a")
			for range 2 {
				again := happened("a")
				again.State = []store.StateValue{set("", "n", "1")}
				p.refusedAppend(s, session, again, conflict, `"session"`, "event", `"a"`)
				s = p.asAppender(p.again(s))
			}
			p.event(s, session, "b")
			p.event(s, "another", "a")
		}},
		{name: "odd ids of events, scopes, names and turns", run: func(p *place) {
			s := p.appender()
			ids := slices.Compact(slices.Sorted(slices.Values(oddIDs())))
			p.putAll(s, session, "b")
			for n, id := range ids {
				a := happened(id)
				a.Key, a.Turn = id, id
				a.State = []store.StateValue{set("", id, fmt.Sprint(n)), set(id+"s", id, fmt.Sprint(n))}
				a.Artifacts = []store.Artifact{version("", id, 0, "b"), version(id+"s", id, 0, "b")}
				p.append(s, session, a)
			}
			s = p.asAppender(p.again(s))
			events, err := s.Events(p.Context(), session, store.EventQuery{})
			if err != nil || len(events) != len(ids) {
				p.Fatalf("%d events of %d, %v", len(events), len(ids), err)
			}
			own, err := s.State(p.Context(), session, "")
			if err != nil || len(own) != len(ids) {
				p.Fatalf("%d values of %d, %v", len(own), len(ids), err)
			}
			artifacts, err := s.Artifacts(p.Context(), session, "")
			if err != nil || len(artifacts) != len(ids) {
				p.Fatalf("%d artifacts of %d, %v", len(artifacts), len(ids), err)
			}
			for n, id := range ids {
				if events[n].ID != id || string(events[n].Body) != "body of "+id {
					p.Errorf("event %q is %q", id, events[n].ID)
				}
				if own[n].Name != id || string(own[n].Value) != fmt.Sprint(n) || artifacts[n].Name != id {
					p.Errorf("%q is %+v and %+v", id, own[n], artifacts[n])
				}
				shared, err := s.State(p.Context(), "another", id+"s")
				if err != nil || len(shared) != 1 || shared[0].Name != id || shared[0].Scope != id+"s" || string(shared[0].Value) != fmt.Sprint(n) {
					p.Errorf("scope %q has %+v, %v", id+"s", shared, err)
				}
				if got, err := readArtifact(p.Context(), s, "another", id+"s", id, 0); err != nil || string(got) != "bytes b" {
					p.Errorf("an artifact of scope %q has %q, %v", id+"s", got, err)
				}
				a := happened("again " + id)
				a.Key, a.Turn = id, id
				if at := p.append(s, session, a); at != events[n].Revision {
					p.Errorf("key %q again gave %q, and %q first", id, at, events[n].Revision)
				}
			}
		}},
		{name: "10,000 events", run: func(p *place) {
			const all, writers, racing = 10_000, 32, 2000
			one := p.appender()
			stores := []store.Appender{one, p.asAppender(p.another())}
			add := func(n int) {
				a := happened(fmt.Sprint(n))
				a.Key, a.Turn = fmt.Sprint("k", n), fmt.Sprint("w", n%writers)
				if _, err := stores[n%2].Append(p.Context(), session, a); err != nil {
					p.Errorf("event %d: %v", n, err)
				}
			}
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					for n := w; n < racing && !p.Failed(); n += writers {
						add(n)
					}
				})
			}
			group.Wait()
			// The rest have an order: writers that wait for each other are most of the work.
			for n := racing; n < all && !p.Failed(); n++ {
				add(n)
			}
			s := p.asAppender(p.again(one))
			events, err := s.Events(p.Context(), session, store.EventQuery{})
			if err != nil || len(events) != all {
				p.Fatalf("%d events, %v", len(events), err)
			}
			last := make(map[int]int)
			for _, e := range events {
				n := 0
				if _, err := fmt.Sscan(e.ID, &n); err != nil || last[n%writers] > n {
					p.Fatalf("event %q stands behind %d (%v)", e.ID, last[n%writers], err)
				}
				last[n%writers] = n
			}
			newest, err := s.Events(p.Context(), session, store.EventQuery{Limit: 10, Newest: true})
			if err != nil || len(newest) != 10 || newest[9].ID != events[all-1].ID || newest[0].ID != events[all-10].ID {
				p.Errorf("the newest are %+v, %v", newest, err)
			}
			if got := p.ids(s, session, store.EventQuery{After: events[all-2].Revision}); got != events[all-1].ID {
				p.Errorf("the last is %s, want %s", got, events[all-1].ID)
			}
		}},
	}
}

func stateCases() []testCase {
	return []testCase{
		{name: "state", run: func(p *place) {
			s := p.appender()
			do := func(values ...store.StateValue) {
				p.Helper()
				p.append(s, session, store.Append{State: values})
			}
			do(set("", "b", "1"), set("", "a", "1"), set("", "empty", ""), set("shared", "a", "1"))
			do(set("", "a", "2"), unset("", "b"), unset("", "never there"))
			do(set("", "c", "1"), set("", "c", "2"), set("", "d", "1"), unset("", "d"), unset("", "e"), set("", "e", "1"))
			do(set("shared", "b", unicodeText))
			long := strings.Repeat("long ", 1<<19)
			do(set("", "long", long))
			want := []string{
				`state " a": "2"`, `state " c": "2"`, `state " e": "1"`, `state " empty": ""`, fmt.Sprintf("state %q: %q", " long", long),
				`state "shared a": "1"`, fmt.Sprintf("state %q: %q", "shared b", unicodeText),
			}
			for range 2 {
				p.same("state", p.told(s, session), want)
				p.same("state of another session", p.told(s, "another"), want[5:])
				s = p.asAppender(p.again(s))
			}
		}},
		{name: "the order of names", run: func(p *place) {
			s := p.appender()
			// Text of UTF-16 has the last two the other way round.
			names := []string{"", "A", "B", "a", "aa", "b", "é", "\uffff", "\U00010000"}
			a := store.Append{}
			p.putAll(s, session, "b")
			for _, n := range []int{8, 3, 0, 5, 1, 7, 2, 6, 4} {
				a.State = append(a.State, set("", names[n], "x"), set("shared", names[n], "x"))
				a.Artifacts = append(a.Artifacts, version("", names[n], 0, "b"), version("shared", names[n], 0, "b"))
			}
			p.append(s, session, a)
			for _, scope := range []string{"", "shared"} {
				state, err := s.State(p.Context(), session, scope)
				artifacts, err2 := s.Artifacts(p.Context(), session, scope)
				if err := errors.Join(err, err2); err != nil || len(state) != len(names) || len(artifacts) != len(names) {
					p.Fatalf("%d values, %d artifacts, %v", len(state), len(artifacts), err)
				}
				for n, name := range names {
					if state[n].Name != name || artifacts[n].Name != name {
						p.Errorf("%d in order are %q and %q, want %q", n, state[n].Name, artifacts[n].Name, name)
					}
				}
			}
		}},
		{name: "scopes are apart", run: func(p *place) {
			s := p.appender()
			// A session's own scope is not that of a name that looks like it.
			for _, id := range []string{"a", "b", "0", "1", "shared"} {
				p.append(s, id, store.Append{State: []store.StateValue{set("", "n", "of "+id), set(id, "n", "scope "+id), set("shared", id, "x")}})
			}
			for _, id := range []string{"a", "b", "0", "1"} {
				own, err := s.State(p.Context(), id, "")
				if err != nil || len(own) != 1 || string(own[0].Value) != "of "+id {
					p.Errorf("session %q has %+v, %v", id, own, err)
				}
				shared, err := s.State(p.Context(), "nobody", id)
				if err != nil || len(shared) != 1 || string(shared[0].Value) != "scope "+id {
					p.Errorf("scope %q has %+v, %v", id, shared, err)
				}
			}
			shared, err := s.State(p.Context(), "b", "shared")
			if err != nil || len(shared) != 6 {
				p.Errorf("the shared scope has %+v, %v", shared, err)
			}
		}},
		{name: "sessions that change a shared scope at once", run: func(p *place) {
			one := p.appender()
			stores := []store.Appender{one, p.asAppender(p.another())}
			p.putAll(one, "s0", "b")
			p.putAll(one, "s1", "b")
			var group sync.WaitGroup
			added := make([]int, 2)
			for w, s := range stores {
				group.Go(func() {
					id := fmt.Sprint("s", w)
					for n := range 40 {
						// The two change the values in opposite orders.
						values := []store.StateValue{set("shared", "a", id), set("shared", "b", id)}
						if w == 1 {
							slices.Reverse(values)
						}
						a := store.Append{State: values}
						have, err := s.Artifacts(p.Context(), id, "shared")
						if err == nil {
							a.Artifacts = []store.Artifact{version("shared", "x", len(have), "b")}
							_, err = s.Append(p.Context(), id, a)
						}
						switch {
						case err == nil:
							added[w]++
						case !errors.Is(err, conflict):
							p.Errorf("session %d, append %d: %v", w, n, err)
							return
						}
					}
				})
			}
			group.Wait()
			versions, err := one.Artifacts(p.Context(), "s0", "shared")
			if err != nil || len(versions) != added[0]+added[1] || len(versions) < 40 {
				p.Errorf("%d versions of %d and %d that were added, %v", len(versions), added[0], added[1], err)
			}
			state, err := one.State(p.Context(), "s0", "shared")
			if err != nil || len(state) != 2 || !bytes.Equal(state[0].Value, state[1].Value) {
				p.Errorf("the state is that of two appends: %+v, %v", state, err)
			}
		}},
	}
}

func artifactCases() []testCase {
	return []testCase{
		{name: "artifacts", run: func(p *place) {
			s := p.appender()
			p.putAll(s, session, "x", "y", "z")
			do := func(list ...store.Artifact) { p.append(s, session, store.Append{Artifacts: list}) }
			do(version("", "b", 0, "x"))
			do(version("", "a", 0, "y"), version("", "b", 1, "y"), version("", "b", 2, "z"), version("shared", "b", 0, "x"))
			do(version("", "b", 3, "x"), version("shared", "b", 1, "z"))
			want := []string{
				`artifact " a" 0: "a 0", "bytes y"`, `artifact " b" 0: "b 0", "bytes x"`, `artifact " b" 1: "b 1", "bytes y"`,
				`artifact " b" 2: "b 2", "bytes z"`, `artifact " b" 3: "b 3", "bytes x"`,
				`artifact "shared b" 0: "b 0", "bytes x"`, `artifact "shared b" 1: "b 1", "bytes z"`,
			}
			for range 2 {
				p.same("artifacts", p.told(s, session), want)
				p.same("artifacts of another session", p.told(s, "another"), want[5:])
				s = p.asAppender(p.again(s))
			}
		}},
		{name: "a version that is not the next", run: func(p *place) {
			s := p.appender()
			p.putAll(s, session, "x")
			p.append(s, session, store.Append{Artifacts: []store.Artifact{version("", "a", 0, "x"), version("shared", "a", 0, "x"), version("shared", "a", 1, "x")}})
			for _, list := range [][]store.Artifact{
				{version("", "a", 0, "x")},
				{version("", "a", 2, "x")},
				{version("", "b", 1, "x")},
				{version("shared", "a", 1, "x")},
				{version("shared", "a", 3, "x")},
				{version("other", "a", 1, "x")},
				{version("", "a", 1, "x"), version("", "a", 1, "x")},
				{version("", "a", 1, "x"), version("", "a", 3, "x")},
			} {
				a := happened("e")
				a.State, a.Artifacts = []store.StateValue{set("", "n", "1"), set("shared", "n", "1")}, list
				p.refusedAppend(s, session, a, conflict, `"session"`, "artifact", `"`+list[0].Name+`"`)
			}
			p.append(s, session, store.Append{Artifacts: []store.Artifact{version("", "a", 1, "x"), version("shared", "a", 2, "x")}})
		}},
		{name: "bytes and versions that are not there", run: func(p *place) {
			s := p.appender()
			a := happened("e")
			a.State = []store.StateValue{set("shared", "n", "1")}
			a.Artifacts = []store.Artifact{version("", "a", 0, "x")}
			missing := host.Code("E_BYTES_NOT_FOUND")
			p.refusedAppend(s, session, a, missing, `"session"`, `"x"`)
			if sessions, ok := s.(store.Sessions); ok {
				if got := listed(p, sessions, 10); len(got) > 0 {
					p.Errorf("a refused append began %q", got)
				}
			}
			p.putAll(s, "another", "x")
			p.refusedAppend(s, session, a, missing)
			p.putAll(s, session, "x")
			p.append(s, session, a)
			for _, c := range []struct {
				session, scope, name string
				version              int
			}{{session, "", "a", 1}, {session, "", "a", -1}, {session, "", "b", 0}, {session, "shared", "a", 0}, {"another", "", "a", 0}, {"nobody", "", "a", 0}} {
				_, _, err := s.OpenArtifact(p.Context(), c.session, c.scope, c.name, c.version)
				if !errors.Is(err, missing) || !strings.Contains(err.Error(), `"`+c.name+`"`) {
					p.Errorf("%+v: %v", c, err)
				}
			}
		}},
		{name: "artifacts keep their bytes", run: func(p *place) {
			s := p.appender()
			long := bytes.Repeat([]byte("0123456789abcde"), 3<<20/15)
			if err := s.PutBytes(p.Context(), session, "x", bytes.NewReader(long)); err != nil {
				p.Fatal(err)
			}
			p.append(s, session, store.Append{Artifacts: []store.Artifact{version("", "a", 0, "x"), version("shared", "a", 0, "x")}})
			p.putAll(s, session, "x")
			p.append(s, session, store.Append{Artifacts: []store.Artifact{version("", "a", 1, "x"), version("shared", "a", 1, "x")}})
			if err := s.PutBytes(p.Context(), session, "x", strings.NewReader("other")); err != nil {
				p.Fatal(err)
			}
			expect := func(scope string, version int, want []byte) {
				p.Helper()
				if got, err := readArtifact(p.Context(), s, session, scope, "a", version); err != nil || !bytes.Equal(got, want) {
					p.Errorf("version %d of scope %q has %d bytes, want %d (%v)", version, scope, len(got), len(want), err)
				}
			}
			for range 2 {
				expect("", 0, long)
				expect("", 1, []byte("bytes x"))
				expect("shared", 0, long)
				expect("shared", 1, []byte("bytes x"))
				s = p.asAppender(p.again(s))
			}
			sessions, ok := s.(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			if err := sessions.Delete(p.Context(), session); err != nil {
				p.Fatal(err)
			}
			for range 2 {
				expect("shared", 0, long)
				expect("shared", 1, []byte("bytes x"))
				if _, err := readArtifact(p.Context(), s, session, "", "a", 0); !errors.Is(err, host.Code("E_BYTES_NOT_FOUND")) {
					p.Errorf("an artifact of a session that was deleted: %v", err)
				}
				s = p.asAppender(p.again(s))
			}
		}},
	}
}
