package storetest

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/turncore/turncore/host/store"
)

func scaleCases() []testCase {
	return []testCase{
		{name: "5,000 messages", run: func(p *place) {
			const all, each = 5000, 50
			s := p.store()
			revision := ""
			for n := 0; n < all; n += each {
				var deltas []store.Delta
				for i := range each {
					deltas = append(deltas, put(message(strconv.Itoa(n+i), "What a message says, in some words.")))
				}
				before := revision
				revision = p.write(s, session, deltas...)
				if added := p.load(s, session, before); before != "" && (added.After != before || len(added.Messages) != each) {
					p.Fatalf("after %q: %d messages", before, len(added.Messages))
				}
			}
			p.write(s, session, change(message("2500", "changed")))
			list := p.load(p.again(s), session, "").Messages
			if len(list) != all {
				p.Fatalf("%d messages", len(list))
			}
			for n, m := range list {
				if m.ID != strconv.Itoa(n) || (m.Content == "changed") != (n == 2500) {
					p.Fatalf("message %d is %q: %q", n, m.ID, m.Content)
				}
			}
		}},
		{name: "10,000 sessions", run: func(p *place) {
			const all, writers = 10_000, 32
			s := p.store()
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					for n := w; n < all; n += writers {
						id := fmt.Sprint("session ", n)
						if _, err := s.Commit(p.Context(), id, store.Commit{Deltas: []store.Delta{put(message("m", id))}, Key: "k", Turn: "t"}); err != nil {
							p.Errorf("session %d: %v", n, err)
							return
						}
					}
				})
			}
			group.Wait()
			s = p.again(s)
			for _, n := range []int{0, 1, 77, all / 2, all - 1} {
				id := fmt.Sprint("session ", n)
				p.expect(s, id, "m="+id)
			}
			sessions, ok := s.(store.Sessions)
			if !ok {
				p.Log("the store has no Sessions")
				return
			}
			ids := listed(p, sessions, 1000)
			seen := make(map[string]bool, len(ids))
			for _, id := range ids {
				seen[id] = true
			}
			if len(ids) != all || len(seen) != all {
				p.Errorf("%d listed, %d of them different", len(ids), len(seen))
			}
		}},
	}
}
