package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// listed are the ids of all sessions, in pages of a size.
func listed(p *place, s store.Sessions, size int) (ids []string) {
	p.Helper()
	for cursor := ""; ; {
		page, next, err := s.List(p.Context(), cursor, size)
		if err != nil || len(page) > size || next != "" && len(page) < size {
			p.Fatalf("the page behind %q has %d sessions, %v, and %q is next", cursor, len(page), err, next)
		}
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		if cursor = next; cursor == "" {
			return ids
		}
	}
}

// ofSessions is a test of a store that has the methods of store.Sessions.
func ofSessions(name string, run func(p *place, s store.Sessions)) testCase {
	return testCase{name: name, run: func(p *place) {
		s, ok := p.store().(store.Sessions)
		if !ok {
			p.Log("the store has no Sessions")
			return
		}
		run(p, s)
	}}
}

func sessionCases() []testCase {
	return []testCase{
		{name: "the newest time", run: func(p *place) {
			s, ok := p.store().(store.Newest)
			if !ok {
				p.Log("the store has no Newest")
				return
			}
			newest := func(want time.Time) {
				p.Helper()
				if got, err := s.Newest(p.Context(), session); err != nil || !got.Equal(want) {
					p.Errorf("%v, %v, want %v", got, err, want)
				}
			}
			newest(time.Time{})
			p.write(s, session, put(record.NewMemory("m", "x", 0, 0, at(90))), put(record.NewRetrievable("r", "x", record.FirstParty, at(91))))
			newest(time.Time{})
			p.write(s, session, put(record.NewMessage("a", record.User, "x", at(10))))
			newest(at(10))
			p.write(s, session, put(record.NewThought("b", "x", at(30))), put(record.NewMessage("c", record.User, "x", at(20))))
			newest(at(30))
			call := toolCall("d", "x")
			call.CreatedAt = at(40)
			p.write(s, session, replace(nil, call))
			newest(at(40))
			p.write(s, session, remove(record.KindToolCall, "d"))
			newest(at(40))
			again, ok := p.again(s).(store.Newest)
			if !ok {
				p.Fatal("the store that was opened again has no Newest")
			}
			s = again
			newest(at(40))
		}},
		ofSessions("a list of sessions", func(p *place, s store.Sessions) {
			if got := listed(p, s, 3); len(got) != 0 {
				p.Errorf("an empty store lists %q", got)
			}
			for n := range 10 {
				p.write(s, fmt.Sprint(n), put(message("a", "x")), put(message("b", "x")))
			}
			p.write(s, "3", put(message("c", "x")))
			p.write(s, "7", remove(record.KindMessage, "a"))
			want := []string{"7", "3", "9", "8", "6", "5", "4", "2", "1", "0"}
			for _, size := range []int{1, 3, 9, 10, 11} {
				if got := listed(p, s, size); !slices.Equal(got, want) {
					p.Errorf("in pages of %d: %q, want %q", size, got, want)
				}
			}
			for _, id := range []string{"9", "1"} {
				if err := s.Delete(p.Context(), id); err != nil {
					p.Fatal(err)
				}
			}
			if page, next, err := s.List(p.Context(), "", 0); err != nil || len(page) != 8 || next != "" {
				p.Errorf("without a limit: %d sessions, %q is next, %v", len(page), next, err)
			}
			page, _, err := s.List(p.Context(), "", 2)
			if err != nil || len(page) != 2 {
				p.Fatal(page, err)
			}
			for n, want := range []int{1, 3} {
				got := page[n]
				if got.Messages != want || got.Revision != p.load(s, got.ID, "").Revision || got.Title != "" || got.CreatedAt.IsZero() || got.UpdatedAt.Before(got.CreatedAt) {
					p.Errorf("%+v, want %d messages", got, want)
				}
			}
			// A page goes on where the one before ended, whatever was updated in between.
			first, next, err := s.List(p.Context(), "", 3)
			if err != nil {
				p.Fatal(err)
			}
			p.write(s, "0", put(message("z", "x")))
			p.write(s, first[0].ID, put(message("z", "x")))
			rest, next, err := s.List(p.Context(), next, 10)
			var ids []string
			for _, s := range rest {
				ids = append(ids, s.ID)
			}
			if err != nil || !slices.Equal(ids, []string{"6", "5", "4", "2"}) || next != "" {
				p.Errorf("the second page is %q, %q is next, %v", ids, next, err)
			}
			for _, cursor := range []string{"nonsense", "-1", "\x00", "{}"} {
				if _, _, err := s.List(p.Context(), cursor, 3); err != nil && !errors.Is(err, host.CodeInvalidValue) {
					p.Errorf("cursor %q: %v, want a page or E_INVALID_VALUE", cursor, err)
				}
			}
		}),
		ofSessions("a session that is found", func(p *place, s store.Sessions) {
			find := func(id string) *store.Session {
				p.Helper()
				found, err := s.Find(p.Context(), id)
				if err != nil {
					p.Fatalf("finding %q: %v", id, err)
				}
				return found
			}
			if found := find(session); found != nil {
				p.Errorf("one that is not there: %+v", found)
			}
			for n := range 30 {
				p.write(s, fmt.Sprint(n), put(message("a", "x")))
			}
			p.write(s, session, put(message("a", "x")), put(message("b", "x")))
			if err := errors.Join(s.SetTitle(p.Context(), session, unicodeText), s.PutBytes(p.Context(), "bytes", "b", strings.NewReader("x"))); err != nil {
				p.Fatal(err)
			}
			for _, id := range []string{session, "0", "17", "bytes"} {
				page, _, err := s.List(p.Context(), "", 0)
				i := slices.IndexFunc(page, func(s store.Session) bool { return s.ID == id })
				if err != nil || i < 0 {
					p.Fatalf("%q is not in the list: %v", id, err)
				}
				if found := find(id); found == nil || *found != page[i] {
					p.Errorf("%+v is found, and %+v listed", found, page[i])
				}
			}
			if found := find(session); found.Title != unicodeText || found.Messages != 2 || found.Revision != p.load(s, session, "").Revision {
				p.Errorf("%+v", found)
			}
			if err := s.Delete(p.Context(), session); err != nil {
				p.Fatal(err)
			}
			if found := find(session); found != nil {
				p.Errorf("one that was deleted: %+v", found)
			}
			again, _ := p.again(s).(store.Sessions)
			if s = again; find("17") == nil || find(session) != nil {
				p.Error("after it was opened again, others are found")
			}
		}),
		ofSessions("a title", func(p *place, s store.Sessions) {
			if err := s.SetTitle(p.Context(), session, "x"); !errors.Is(err, host.Code("E_SESSION_NOT_FOUND")) || !strings.Contains(err.Error(), session) {
				p.Errorf("the title of nobody: %v", err)
			}
			p.write(s, session, put(message("a", "x")))
			p.write(s, "later", put(message("a", "x")))
			before := p.load(s, session, "").Revision
			for _, title := range []string{"A title", unicodeText, ""} {
				if err := s.SetTitle(p.Context(), session, title); err != nil {
					p.Fatal(err)
				}
				again, _ := p.again(s).(store.Sessions)
				s = again
				page, _, err := s.List(p.Context(), "", 10)
				if err != nil || len(page) != 2 || page[1].ID != session || page[1].Title != title || page[0].Title != "" {
					p.Errorf("with title %q: %+v, %v", title, page, err)
				}
			}
			if after := p.load(s, session, ""); after.Revision != before || brief(after) != "a=x" {
				p.Errorf("a title has changed the session: %+v", after)
			}
		}),
		ofSessions("a fork", func(p *place, s store.Sessions) {
			var deltas []store.Delta
			for _, r := range samples() {
				deltas = append(deltas, put(r))
			}
			p.commit(s, session, store.Commit{Deltas: deltas, Key: "k", Turn: "t"})
			if err := errors.Join(s.SetTitle(p.Context(), session, "Mine"), s.PutBytes(p.Context(), session, "own", strings.NewReader("bytes"))); err != nil {
				p.Fatal(err)
			}
			want := showAll(p.Context(), p.load(s, session, ""))
			if err := s.Fork(p.Context(), session, "fork"); err != nil {
				p.Fatal(err)
			}
			if err := s.Fork(p.Context(), session, "fork"); !errors.Is(err, host.Code("E_SESSION_EXISTS")) || !strings.Contains(err.Error(), `"fork"`) {
				p.Errorf("a fork that is there: %v", err)
			}
			if err := s.Fork(p.Context(), "nobody's", "x"); !errors.Is(err, host.Code("E_SESSION_NOT_FOUND")) || !strings.Contains(err.Error(), "nobody's") {
				p.Errorf("a fork of nothing: %v", err)
			}
			if err := s.Fork(p.Context(), session, session); !errors.Is(err, host.Code("E_SESSION_EXISTS")) {
				p.Errorf("a fork of itself: %v", err)
			}
			p.expect(s, "x", "")
			p.same("the fork", showAll(p.Context(), p.load(s, "fork", "")), want)
			base := p.load(s, "fork", "").Revision
			p.commit(s, "fork", store.Commit{Deltas: []store.Delta{put(message("f", "fork"))}, Key: "k", Turn: "t"})
			if added := p.load(s, "fork", base); base != "" && (added.After != base || len(added.Messages) != 1) {
				p.Errorf("added to the fork: %s, want \"f=fork\" after %q", told(added), base)
			}
			p.write(s, session, change(message("answer", "changed")), remove(record.KindToolCall, "artifact"), put(message("o", "original")))
			forked := append(slices.Clone(want), show(p.Context(), message("f", "fork")))
			slices.Sort(forked)
			for range 2 {
				got := showAll(p.Context(), p.load(s, "fork", ""))
				slices.Sort(got)
				p.same("the fork, after both went on", got, forked)
				if bytes, err := readBytes(p.Context(), s, "fork", "own"); err != nil || string(bytes) != "bytes" {
					p.Errorf("the fork's bytes: %q, %v", bytes, err)
				}
				page, _, err := s.List(p.Context(), "", 10)
				if err != nil || len(page) == 0 || page[len(page)-1].Title != "Mine" && page[0].Title != "Mine" {
					p.Errorf("%+v, %v", page, err)
				}
				// What the two shared outlives the original.
				if err := s.Delete(p.Context(), session); err != nil {
					p.Fatal(err)
				}
				again, _ := p.again(s).(store.Sessions)
				s = again
			}
		}),
		ofSessions("a fork's fork", func(p *place, s store.Sessions) {
			p.write(s, "0", put(message("m0", "x")))
			want := "m0=x"
			for n := range 20 {
				from, to := fmt.Sprint(n), fmt.Sprint(n+1)
				if err := s.Fork(p.Context(), from, to); err != nil {
					p.Fatal(err)
				}
				p.write(s, to, put(message("m"+to, "x")))
				p.write(s, from, put(message("not in the fork", "x")))
				want += " m" + to + "=x"
				if n%2 == 0 {
					if err := s.Delete(p.Context(), from); err != nil {
						p.Fatal(err)
					}
				}
			}
			p.expect(s, "20", want)
		}),
		ofSessions("a session that is deleted", func(p *place, s store.Sessions) {
			var deltas []store.Delta
			for _, r := range samples() {
				deltas = append(deltas, put(r))
			}
			p.commit(s, session, store.Commit{Deltas: deltas, Key: "k", Turn: "t"})
			if err := s.PutBytes(p.Context(), session, "b", strings.NewReader("x")); err != nil {
				p.Fatal(err)
			}
			p.write(s, "another", put(message("a", "x")))
			before := p.load(s, session, "").Revision
			for range 2 { // the second time it is not there
				if err := s.Delete(p.Context(), session); err != nil {
					p.Fatal(err)
				}
				p.expect(s, session, "")
				if _, _, err := s.OpenBytes(p.Context(), session, "b"); !errors.Is(err, host.Code("E_BYTES_NOT_FOUND")) {
					p.Errorf("its bytes: %v", err)
				}
				if got := listed(p, s, 10); !slices.Equal(got, []string{"another"}) {
					p.Errorf("listed %q", got)
				}
				if at, err := s.Newest(p.Context(), session); err != nil || !at.IsZero() {
					p.Errorf("its newest time is %v, %v", at, err)
				}
			}
			p.commit(s, session, store.Commit{Deltas: []store.Delta{put(message("again", "x"))}, Key: "k", Turn: "t"})
			if c := p.load(s, session, before); c.After != "" || brief(c) != "again=x" {
				p.Errorf("begun again, it is %s, want \"again=x\" after \"\"", told(c))
			}
			p.expect(p.again(s), session, "again=x")
		}),
	}
}
