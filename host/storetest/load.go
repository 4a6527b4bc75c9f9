package storetest

import (
	"strconv"

	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

func loadCases() []testCase {
	return []testCase{
		{name: "an unknown session is empty", run: func(p *place) {
			s := p.store()
			p.expect(s, "nobody's", "")
			p.write(s, session, put(message("a", "1")))
			p.expect(s, "nobody's", "")
			if sessions, ok := s.(store.Sessions); ok {
				list, _, err := sessions.List(p.Context(), "", 10)
				if err != nil || len(list) != 1 {
					p.Errorf("loading made a session: %+v, %v", list, err)
				}
			}
		}},
		{name: "every record survives", run: func(p *place) {
			s := p.store()
			var want []string
			deltas := make([]store.Delta, 0, len(samples()))
			for _, r := range samples() {
				want = append(want, show(p.Context(), r))
				deltas = append(deltas, put(r))
			}
			p.write(s, session, deltas...)
			for range 2 {
				p.same("in one commit", showAll(p.Context(), p.load(s, session, "")), want)
				s = p.again(s)
			}
			for _, r := range samples() {
				p.write(s, "one by one", put(r))
			}
			s = p.again(s)
			p.same("one by one", showAll(p.Context(), p.load(s, "one by one", "")), want)
		}},
		{name: "what was loaded can be stored again", run: func(p *place) {
			s := p.store()
			var deltas []store.Delta
			for _, r := range samples() {
				deltas = append(deltas, put(r))
			}
			p.write(s, session, deltas...)
			c := p.load(s, session, "")
			want := showAll(p.Context(), c)
			var copies []store.Delta
			for _, text := range c.Instructions {
				copies = append(copies, put(record.NewInstruction(text)))
			}
			copies = appendPuts(copies, c.Memories)
			copies = appendPuts(copies, c.Retrievables)
			copies = appendPuts(copies, c.Messages)
			copies = appendPuts(copies, c.Thoughts)
			copies = appendPuts(copies, c.ToolCalls)
			p.write(s, session, copies...)
			p.write(s, "another", copies...)
			if sessions, ok := s.(store.Sessions); ok {
				if err := sessions.Delete(p.Context(), session); err != nil {
					p.Fatal(err)
				}
			}
			s = p.again(s)
			p.same("in another session", showAll(p.Context(), p.load(s, "another", "")), want)
		}},
		{name: "records added since a revision", run: func(p *place) {
			s := p.store()
			if p.load(s, session, "").Revision == "" && p.write(s, session, put(message("a", "1"))) == "" {
				p.Log("the store has no revisions: it always returns everything")
				return
			}
			p.write(s, session, put(message("a", "1")), put(record.NewThought("t", "x", at(0))))
			first := p.load(s, session, "")
			if again := p.load(s, session, first.Revision); again.After != first.Revision || again.Revision != first.Revision || brief(again) != "" {
				p.Errorf("nothing was added, and it returned %s", told(again))
			}
			second := p.write(s, session, put(message("b", "2")), put(toolCall("c", "x")))
			added := p.load(s, session, first.Revision)
			if added.After != first.Revision || added.Revision != second || brief(added) != "b=2 c" {
				p.Errorf("after %q: %s, want \"b=2 c\" at %q", first.Revision, told(added), second)
			}
			s = p.again(s)
			p.write(s, session, put(record.NewInstruction("brief")), put(message("d", "3")))
			if added = p.load(s, session, first.Revision); brief(added) != "brief b=2 d=3 c" || added.After != first.Revision {
				p.Errorf("after %q and two commits: %s, want \"brief b=2 d=3 c\"", first.Revision, told(added))
			}
			p.write(s, session, put(message("e", "4")))
			if added = p.load(s, session, second); brief(added) != "brief d=3 e=4" {
				p.Errorf("after %q: %s, want \"brief d=3 e=4\"", second, told(added))
			}
		}},
		{name: "everything after a change", run: func(p *place) {
			s := p.store()
			for name, step := range map[string]struct {
				write store.Delta
				want  string
			}{
				"a mutate":     {change(message("a", "9")), "a=9 b=2 x y"},
				"a store over": {put(message("a", "9")), "a=9 b=2 x y"},
				"a delete":     {remove(record.KindMessage, "a"), "b=2 x y"},
				"a group":      {replace([]string{"x"}, toolCall("z", "1")), "a=1 b=2 z y"},
			} {
				id := "after " + name
				p.write(s, id, put(message("a", "1")), put(message("b", "2")), put(toolCall("x", "1")), put(toolCall("y", "1")))
				before := p.load(s, id, "")
				p.write(s, id, step.write)
				all := p.load(s, id, before.Revision)
				if all.After != "" || brief(all) != step.want || all.Revision == before.Revision {
					p.Errorf("%s: %s, want %q after \"\" at another revision", name, told(all), step.want)
				}
				p.write(s, id, put(message("c", "3")))
				if added := p.load(s, id, all.Revision); added.After != all.Revision || brief(added) != "c=3" {
					if all.Revision != "" {
						p.Errorf("%s: what was added behind is %s, want \"c=3\"", name, told(added))
					}
				}
				if all := p.load(s, id, before.Revision); all.After != "" {
					p.Errorf("%s: what was added behind hides it: %s, want all after \"\"", name, told(all))
				}
				s = p.again(s)
			}
		}},
		{name: "a delete of nothing changes nothing", run: func(p *place) {
			s := p.store()
			p.write(s, session, put(message("a", "1")))
			before := p.load(s, session, "")
			p.write(s, session, remove(record.KindMessage, "x"), remove(record.KindInstruction, "x"), put(message("b", "2")))
			if added := p.load(s, session, before.Revision); before.Revision != "" && (added.After != before.Revision || brief(added) != "b=2") {
				p.Errorf("after %q: %s, want \"b=2\"", before.Revision, told(added))
			}
			p.expect(s, session, "a=1 b=2")
		}},
		{name: "revisions of others", run: func(p *place) {
			s := p.store()
			p.write(s, "other", put(message("a", "1")))
			other := p.load(s, "other", "").Revision
			p.write(s, session, put(message("b", "2")))
			for _, after := range []string{other, "nonsense", "-1", "1e3", "99999999999999999999999", "0.5", "\x00", "9007199254740993"} {
				if c := p.load(s, session, after); c.After != "" || brief(c) != "b=2" {
					p.Errorf("after %q, which the session never had: %s, want \"b=2\" after \"\"", after, told(c))
				}
			}
		}},
		{name: "revisions do not repeat", run: func(p *place) {
			s := p.store()
			seen := map[string]bool{}
			for n := range 40 {
				revision := p.write(s, session, put(message(strconv.Itoa(n), "x")))
				if revision == "" {
					p.Log("the store has no revisions")
					return
				}
				if loaded := p.load(s, session, "").Revision; seen[revision] || loaded != revision {
					p.Fatalf("revision %q of commit %d was there before, or another one is loaded: %q", revision, n, loaded)
				}
				seen[revision] = true
				if n%10 == 9 {
					s = p.again(s)
				}
				sessions, ok := s.(store.Sessions)
				if !ok || n%8 != 7 {
					continue
				}
				if err := sessions.Delete(p.Context(), session); err != nil {
					p.Fatal(err)
				}
				for old := range seen {
					if c := p.load(s, session, old); c.After != "" && brief(c) != "" {
						p.Fatalf("revision %q of a deleted session: %s", old, told(c))
					}
				}
			}
		}},
	}
}

func appendPuts[R record.Type](list []store.Delta, records []R) []store.Delta {
	for _, r := range records {
		list = append(list, put(r))
	}
	return list
}
