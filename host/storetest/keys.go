package storetest

import (
	"strconv"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

func keyCases() []testCase {
	keyed := func(key, turn, id string) store.Commit {
		return store.Commit{Deltas: []store.Delta{put(message(id, key))}, Key: key, Turn: turn}
	}
	return []testCase{
		{name: "a second commit under a key is the first", run: func(p *place) {
			s := p.store()
			first := p.commit(s, session, keyed("k1", "t", "a"))
			p.commit(s, session, keyed("k2", "t", "b"))
			p.write(s, session, remove(record.KindMessage, "a"))
			for range 2 {
				if again := p.commit(s, session, keyed("k1", "t", "c")); again != first {
					p.Errorf("the second commit returned %q, the first %q", again, first)
				}
				p.expect(s, session, "b=k2")
				s = p.again(s)
			}
			p.commit(s, "another", keyed("k1", "t", "a"))
			p.expect(s, "another", "a=k1")
		}},
		{name: "a second commit under a key does not conflict", run: func(p *place) {
			s := p.store()
			p.write(s, session, put(memory("m", "0")))
			c := store.Commit{Deltas: []store.Delta{change(memory("m", "1"))}, Key: "k", Turn: "t", Revision: p.load(s, session, "").Revision}
			first := p.commit(s, session, c)
			p.write(s, session, change(memory("m", "2")))
			if again := p.commit(s, session, c); again != first {
				p.Errorf("the second commit returned %q, the first %q", again, first)
			}
			p.expect(s, session, "m=2")
		}},
		{name: "keys are forgotten with their turn", run: func(p *place) {
			s := p.store()
			p.commit(s, session, keyed("k1", "t1", "a"))
			p.commit(s, session, keyed("k2", "t2", "b"))
			next := keyed("k3", "t3", "c")
			next.Ended = []string{"t1", "unknown"}
			p.commit(s, session, next)
			s = p.again(s)
			p.commit(s, session, keyed("k2", "t2", "d"))
			p.expect(s, session, "a=k1 b=k2 c=k3")
			p.commit(s, session, keyed("k1", "t1", "e"))
			p.expect(s, session, "a=k1 b=k2 c=k3 e=k1")
			again := keyed("k1", "t1", "f")
			again.Ended = []string{"t1"}
			p.commit(s, session, again)
			p.expect(s, session, "a=k1 b=k2 c=k3 e=k1 f=k1")
		}},
		{name: "turns that end where nothing is written", run: func(p *place) {
			s := p.store()
			p.commit(s, session, keyed("k1", "t1", "a"))
			p.commit(s, session, store.Commit{Ended: []string{"t1"}})
			p.commit(s, session, keyed("k1", "t1", "b"))
			p.expect(s, session, "a=k1 b=k1")
		}},
		{name: "a commit that failed has no key", run: func(p *place) {
			s := p.store()
			seen := p.write(s, session, put(message("a", "1")))
			if seen == "" {
				p.Log("the store has no revisions")
				return
			}
			p.write(s, session, change(message("a", "2")))
			c := store.Commit{Deltas: []store.Delta{put(message("b", "1")), change(message("a", "3"))}, Key: "k", Turn: "t", Revision: seen}
			p.refused(s, session, c, host.Code("E_SESSION_CONFLICT"))
			c.Revision = ""
			p.commit(s, session, c)
			p.expect(s, session, "a=3 b=1")
		}},
		{name: "the same key at once", run: func(p *place) {
			stores := []store.Store{p.store()}
			stores = append(stores, p.another())
			p.write(stores[0], session, put(message("a", "1")))
			var all sync.WaitGroup
			revisions := make([]string, 16)
			for n := range revisions {
				all.Go(func() {
					c := keyed("k", "t", strconv.Itoa(n))
					revision, err := stores[n%2].Commit(p.Context(), session, c)
					if err != nil {
						p.Errorf("commit %d: %v", n, err)
					}
					revisions[n] = revision
				})
			}
			all.Wait()
			for n, revision := range revisions {
				if revision != revisions[0] {
					p.Errorf("commit %d returned revision %q, another one %q", n, revision, revisions[0])
				}
			}
			if got := p.load(stores[0], session, "").Messages; len(got) != 2 {
				p.Errorf("%d messages, want 2", len(got))
			}
		}},
	}
}
