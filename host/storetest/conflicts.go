package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

const conflict = host.Code("E_SESSION_CONFLICT")

func conflictCases() []testCase {
	start := []store.Delta{
		put(message("a", "1")), put(message("b", "1")), put(memory("m", "1")), put(record.NewInstruction("i")), put(record.NewInstruction("j")),
		put(toolCall("x", "1")), put(toolCall("y", "1")),
	}
	return []testCase{
		{name: "two writers", run: func(p *place) {
			s := p.store()
			for n, c := range []struct {
				theirs, mine store.Delta
				conflicts    string // the record; "" for none
			}{
				{put(message("c", "2")), put(message("d", "3")), ""},
				{put(message("c", "2")), change(message("a", "3")), ""},
				{put(message("c", "2")), remove(record.KindMessage, "a"), ""},
				{put(message("c", "2")), put(message("a", "3")), ""},
				{put(message("c", "2")), put(message("c", "3")), "message c"},
				{put(message("c", "2")), change(message("c", "3")), "message c"},
				{put(message("c", "2")), remove(record.KindMessage, "c"), "message c"},
				{put(memory("c", "2")), put(message("c", "3")), ""},
				{put(message("c", "2")), remove(record.KindMessage, "z"), ""},
				{change(message("a", "2")), put(message("d", "3")), ""},
				{change(message("a", "2")), change(message("b", "3")), ""},
				{change(message("a", "2")), change(message("a", "3")), "message a"},
				{put(message("a", "2")), change(message("a", "3")), "message a"},
				{change(message("a", "2")), put(message("a", "3")), "message a"},
				{change(message("a", "2")), remove(record.KindMessage, "a"), "message a"},
				{remove(record.KindMessage, "a"), change(message("a", "3")), "message a"},
				{remove(record.KindMessage, "a"), remove(record.KindMessage, "a"), "message a"},
				{remove(record.KindMessage, "a"), put(message("d", "3")), ""},
				{remove(record.KindMessage, "a"), change(message("b", "3")), ""},
				{change(memory("m", "2")), change(memory("m", "3")), "memory m"},
				{rewrite("i", "k"), rewrite("i", "l"), "standingInstruction i"},
				{rewrite("i", "k"), rewrite("j", "l"), ""},
				{remove(record.KindInstruction, "i"), rewrite("i", "l"), "standingInstruction i"},
				{put(record.NewInstruction("k")), put(record.NewInstruction("l")), ""},
				{replace([]string{"x"}, toolCall("n", "2")), replace([]string{"y"}, toolCall("o", "3")), ""},
				{replace([]string{"x"}, toolCall("n", "2")), replace([]string{"x"}, toolCall("o", "3")), "toolCall x"},
				{replace([]string{"x"}, toolCall("n", "2")), change(toolCall("x", "3")), "toolCall x"},
				{replace([]string{"x"}, toolCall("x", "2")), replace([]string{"x", "y"}, toolCall("o", "3")), "toolCall x"},
				{put(toolCall("n", "2")), replace([]string{"y"}, toolCall("n", "3")), "toolCall n"},
				{put(toolCall("n", "2")), replace([]string{"y"}, toolCall("o", "3")), ""},
			} {
				id := fmt.Sprint("race ", n)
				p.write(s, id, start...)
				seen := p.load(s, id, "").Revision
				if seen == "" {
					p.Log("the store has no revisions: it cannot tell writers apart")
					return
				}
				p.write(s, id, c.theirs)
				// What comes before the write that conflicts is not stored either.
				mine := store.Commit{Deltas: []store.Delta{put(message("before", "x")), c.mine, put(message("behind", "x"))}, Revision: seen}
				if c.conflicts == "" {
					p.commit(s, id, mine)
					if got := brief(p.load(s, id, "")); !strings.Contains(got, "before=x") || !strings.Contains(got, "behind=x") {
						p.Errorf("case %d: %q", n, got)
					}
					continue
				}
				p.refused(s, id, mine, conflict)
				_, err := s.Commit(p.Context(), id, mine)
				kind, key, _ := strings.Cut(c.conflicts, " ")
				for _, word := range []string{strconv.Quote(id), kind, strconv.Quote(key)} {
					if err == nil || !strings.Contains(err.Error(), word) {
						p.Errorf("case %d: %v does not name %s", n, err, word)
					}
				}
				mine.Revision = p.load(s, id, "").Revision
				p.commit(s, id, mine) // it knows better now
			}
		}},
		{name: "a writer's own commits", run: func(p *place) {
			s := p.store()
			p.write(s, session, put(message("a", "1")))
			c := store.Commit{Turn: "t", Revision: p.load(s, session, "").Revision}
			if c.Revision == "" {
				p.Log("the store has no revisions")
				return
			}
			do := func(deltas ...store.Delta) {
				p.Helper()
				c.Deltas, c.Key = deltas, c.Key+"k"
				p.commit(s, session, c)
			}
			do(change(message("a", "2")), put(message("b", "2")))
			do(change(message("a", "3")), change(message("b", "3")))
			do(remove(record.KindMessage, "a"))
			do(put(message("a", "4")))
			p.write(s, session, put(message("theirs", "1")))
			do(change(message("a", "5")), put(message("c", "5")))
			do(change(message("c", "6")), remove(record.KindMessage, "nobody's"))
			p.expect(s, session, "b=3 a=5 theirs=1 c=6")
			c.Key = "another"
			c.Deltas = []store.Delta{change(message("theirs", "2"))}
			p.refused(s, session, c, conflict)
			s = p.again(s)
			c.Deltas = []store.Delta{change(message("c", "7"))}
			for _, turn := range []string{"", "other"} {
				theirs := c
				theirs.Turn = turn
				p.refused(s, session, theirs, conflict)
			}
			c.Key = ""
			p.commit(s, session, c)
			c.Deltas = []store.Delta{change(message("c", "8"))} // which nobody's commit has changed: it had no key
			p.refused(s, session, c, conflict)
		}},
		{name: "what lies between a writer's own commits is not its own", run: func(p *place) {
			s := p.store()
			p.write(s, session, put(message("a", "1")), put(message("b", "1")))
			c := store.Commit{Turn: "t", Revision: p.load(s, session, "").Revision}
			if c.Revision == "" {
				p.Log("the store has no revisions")
				return
			}
			c.Deltas, c.Key = []store.Delta{put(message("mine", "1"))}, "k1"
			p.commit(s, session, c)
			p.write(s, session, change(message("a", "2")))
			c.Deltas, c.Key = []store.Delta{put(message("mine too", "1"))}, "k2"
			p.commit(s, session, c)
			c.Key = "k3"
			c.Deltas = []store.Delta{change(message("a", "3"))}
			p.refused(s, session, c, conflict)
			c.Deltas = []store.Delta{change(message("b", "3")), change(message("mine", "3"))}
			p.commit(s, session, c)
			p.expect(s, session, "a=2 b=3 mine=3 mine too=1")
		}},
		{name: "a session that was empty", run: func(p *place) {
			s := p.store()
			c := store.Commit{Revision: p.load(s, session, "").Revision}
			if c.Revision == "" {
				p.Log("the store has no revision for a session that is not there")
				return
			}
			p.write(s, session, put(message("a", "1")))
			c.Deltas = []store.Delta{put(message("a", "2"))}
			p.refused(s, session, c, conflict)
			c.Deltas = []store.Delta{put(message("b", "2"))}
			p.commit(s, session, c)
			p.expect(s, session, "a=1 b=2")
		}},
		{name: "a session that was deleted", run: func(p *place) {
			s, ok := p.store().(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			p.write(s, session, put(message("a", "1")))
			c := store.Commit{Revision: p.load(s, session, "").Revision}
			if err := s.Delete(p.Context(), session); err != nil {
				p.Fatal(err)
			}
			for range 2 {
				c.Deltas = []store.Delta{change(message("a", "2"))}
				p.refused(s, session, c, conflict)
				c.Deltas = []store.Delta{remove(record.KindMessage, "a")}
				p.refused(s, session, c, conflict)
				p.write(s, session, put(message("b", "1")))
			}
			c.Deltas = []store.Delta{put(message("c", "1"))}
			p.commit(s, session, c)
			p.expect(s, session, "b=1 c=1")
		}},
		{name: "a counter that two writers count up", run: func(p *place) {
			stores := []store.Store{p.store()}
			stores = append(stores, p.another())
			const rounds = 20
			p.write(stores[0], session, put(memory("count", "0")))
			if p.load(stores[0], session, "").Revision == "" {
				p.Log("the store has no revisions")
				return
			}
			var all sync.WaitGroup
			for n, s := range stores {
				all.Go(func() {
					for done := 0; done < rounds && !p.Failed(); {
						c, err := s.Load(p.Context(), session, "")
						if err != nil {
							p.Errorf("writer %d: %v", n, err)
							return
						}
						count, err := strconv.Atoi(c.Memories[0].Content)
						if err != nil {
							p.Error(err)
							return
						}
						_, err = s.Commit(p.Context(), session, store.Commit{
							Deltas:   []store.Delta{put(message(fmt.Sprint(n, ".", done), "x")), change(memory("count", strconv.Itoa(count+1)))},
							Key:      fmt.Sprintf("w%d.e%d.%d", n, done, count),
							Turn:     fmt.Sprint("w", n),
							Revision: c.Revision,
						})
						switch {
						case err == nil:
							done++
						case !errors.Is(err, conflict):
							p.Errorf("writer %d: %v", n, err)
							return
						}
					}
				})
			}
			all.Wait()
			c := p.load(stores[1], session, "")
			if c.Memories[0].Content != strconv.Itoa(2*rounds) || len(c.Messages) != 2*rounds {
				p.Errorf("counted to %s with %d messages, want %d of both", c.Memories[0].Content, len(c.Messages), 2*rounds)
			}
		}},
		{name: "two writers that only add", run: func(p *place) {
			stores := []store.Store{p.store()}
			stores = append(stores, p.another())
			const rounds = 50
			seen := make([]string, 2)
			for n, s := range stores {
				seen[n] = p.load(s, session, "").Revision
			}
			var all sync.WaitGroup
			for n, s := range stores {
				all.Go(func() {
					for i := range rounds {
						c := store.Commit{Deltas: []store.Delta{put(message(fmt.Sprint(n, ".", i), "x")), put(message(fmt.Sprint(n, ".", i, "b"), "x"))}, Revision: seen[n]}
						if _, err := s.Commit(p.Context(), session, c); err != nil {
							p.Errorf("writer %d: %v", n, err)
						}
					}
				})
			}
			all.Wait()
			var ids []string
			for _, m := range p.load(stores[0], session, "").Messages {
				ids = append(ids, m.ID)
			}
			if len(ids) != 4*rounds {
				p.Fatalf("%d messages, want %d", len(ids), 4*rounds)
			}
			for i := 0; i < len(ids); i += 2 {
				if ids[i]+"b" != ids[i+1] {
					p.Fatalf("a commit was taken apart: %q", ids[i:i+2])
				}
			}
			for n := range stores {
				want := 0
				for _, id := range ids {
					if id == fmt.Sprint(n, ".", want) {
						want++
					}
				}
				if want != rounds {
					p.Errorf("writer %d: its messages are not in order: %q", n, ids)
				}
			}
			var other []string
			for _, m := range p.load(stores[1], session, "").Messages {
				other = append(other, m.ID)
			}
			if !slices.Equal(ids, other) {
				p.Error("the two see another order")
			}
		}},
	}
}
