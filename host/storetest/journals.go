package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

const fenced = host.Code("E_TURN_FENCED")

// journal is the store of a test of partJournal.
func (p *place) journal() store.Journal {
	p.Helper()
	return p.asJournal(p.store())
}

func (p *place) asJournal(s store.Store) store.Journal {
	p.Helper()
	j, ok := s.(store.Journal)
	if !ok {
		p.Fatal("the store was a Journal and is none")
	}
	return j
}

// entries are those of texts.
func entries(texts ...string) (list [][]byte) {
	for _, text := range texts {
		list = append(list, []byte(text))
	}
	return list
}

// journaled adds entries to a journal, which must succeed.
func (p *place) journaled(s store.Journal, turn string, epoch, at int64, texts ...string) {
	p.Helper()
	if err := s.AppendJournal(p.Context(), turn, store.JournalAppend{Epoch: epoch, At: at, Entries: entries(texts...)}); err != nil {
		p.Fatalf("turn %q, epoch %d, from entry %d: %v", turn, epoch, at, err)
	}
}

// fencedOff fails the test unless something fails with E_TURN_FENCED that names the turn, and leaves its journal as it
// is.
func (p *place) fencedOff(s store.Journal, turn string, do func() error) {
	p.Helper()
	before := p.journalOf(s, turn, 0)
	if err := do(); !errors.Is(err, fenced) || !strings.Contains(err.Error(), fmt.Sprintf("%q", turn)) {
		p.Errorf("the error is %v, want %s", err, fenced)
	}
	if after := p.journalOf(s, turn, 0); after != before {
		p.Errorf("the journal was %s and became %s", before, after)
	}
}

// fencedAppend is an append to a journal that is to be refused.
func (p *place) fencedAppend(s store.Journal, turn string, epoch, at int64, texts ...string) {
	p.Helper()
	p.fencedOff(s, turn, func() error {
		return s.AppendJournal(p.Context(), turn, store.JournalAppend{Epoch: epoch, At: at, Entries: entries(texts...)})
	})
}

// journalOf is a journal from an entry on, in words.
func (p *place) journalOf(s store.Journal, turn string, from int64) string {
	p.Helper()
	part, err := s.ReadJournal(p.Context(), turn, from)
	if err != nil {
		p.Fatalf("the journal of %q: %v", turn, err)
	}
	if part == nil {
		return "none"
	}
	words := fmt.Sprintf("%d:", part.Epoch)
	if part.Checkpoint != nil {
		words += fmt.Sprintf(" [%s]", part.Checkpoint)
	}
	words += fmt.Sprintf(" %d", part.First)
	for _, e := range part.Entries {
		words += fmt.Sprintf(" %.40s", e)
	}
	return words
}

// expectJournal compares a journal.
func (p *place) expectJournal(s store.Journal, turn string, from int64, want string) {
	p.Helper()
	if got := p.journalOf(s, turn, from); got != want {
		p.Errorf("the journal of %q from %d on is %s, want %s", turn, from, got, want)
	}
}

func journalCases() []testCase {
	return slices.Concat(inParts(partJournal, entryCases()...), inParts(partJournal, fenceCases()...))
}

func entryCases() []testCase {
	return []testCase{
		{name: "entries of journals", run: func(p *place) {
			s := p.journal()
			p.expectJournal(s, "t", 0, "none")
			p.journaled(s, "t", 1, 0, "a", "b")
			p.journaled(s, "t", 1, 2, "c")
			p.journaled(s, "other", 7, 0, "x")
			for range 2 {
				p.expectJournal(s, "t", 0, "1: 0 a b c")
				p.expectJournal(s, "t", 1, "1: 1 b c")
				p.expectJournal(s, "t", 2, "1: 2 c")
				p.expectJournal(s, "t", 3, "1: 3")
				p.expectJournal(s, "other", 0, "7: 0 x")
				p.expectJournal(s, "T", 0, "none")
				s = p.asJournal(p.again(s))
			}
			bodies := [][]byte{{}, []byte("\x00\xff\r\n\x1a"), []byte(unicodeText), bytes.Repeat([]byte("long "), 1<<19), []byte("end")}
			for n, body := range bodies {
				if err := s.AppendJournal(p.Context(), "bodies", store.JournalAppend{Epoch: 1, At: int64(n), Entries: [][]byte{body}}); err != nil {
					p.Fatal(err)
				}
			}
			s = p.asJournal(p.again(s))
			part, err := s.ReadJournal(p.Context(), "bodies", 0)
			if err != nil || !slices.EqualFunc(part.Entries, bodies, bytes.Equal) {
				p.Errorf("%d entries are read, not those that were added (%v)", len(part.Entries), err)
			}
		}},
		{name: "odd names of turns", run: func(p *place) {
			s := p.journal()
			ids := slices.Compact(slices.Sorted(slices.Values(oddIDs())))
			for n, id := range ids {
				p.journaled(s, id, int64(n+1), 0, fmt.Sprint(n))
			}
			s = p.asJournal(p.again(s))
			for n, id := range ids {
				p.expectJournal(s, id, 0, fmt.Sprintf("%d: 0 %d", n+1, n))
			}
		}},
		{name: "checkpoints of journals", run: func(p *place) {
			s := p.journal()
			compact := func(epoch, before int64, checkpoint string) error {
				return s.CompactJournal(p.Context(), "t", epoch, before, []byte(checkpoint))
			}
			p.fencedOff(s, "t", func() error { return compact(1, 0, "x") })
			p.journaled(s, "t", 2, 0, "a", "b", "c", "d", "e")
			for _, epoch := range []int64{1, 3} {
				p.fencedOff(s, "t", func() error { return compact(epoch, 2, "x") })
			}
			p.fencedOff(s, "t", func() error { return compact(2, 6, "x") })
			do := func(before int64, checkpoint, want string) {
				p.Helper()
				if err := compact(2, before, checkpoint); err != nil {
					p.Errorf("before %d: %v", before, err)
				}
				p.expectJournal(s, "t", 0, want)
			}
			do(0, "x", "2: 0 a b c d e")
			do(2, "ab", "2: [ab] 2 c d e")
			do(2, "again", "2: [ab] 2 c d e")
			do(1, "gone", "2: [ab] 2 c d e")
			s = p.asJournal(p.again(s))
			p.expectJournal(s, "t", 3, "2: [ab] 3 d e")
			do(4, "abcd", "2: [abcd] 4 e")
			p.journaled(s, "t", 2, 5, "f")
			p.journaled(s, "t", 2, 4, "e", "f") // which are there
			p.fencedAppend(s, "t", 2, 3, "d", "e", "f")
			do(6, strings.Repeat("long ", 1<<19), "2: ["+strings.Repeat("long ", 1<<19)+"] 6")
			p.journaled(s, "t", 3, 6, "g")
			s = p.asJournal(p.again(s))
			p.expectJournal(s, "t", 0, "3: ["+strings.Repeat("long ", 1<<19)+"] 6 g")
			if err := s.CompactJournal(p.Context(), "t", 3, 7, nil); err != nil {
				p.Error(err)
			}
			p.expectJournal(s, "t", 0, "3: [] 7")
		}},
		{name: "journals that are deleted", run: func(p *place) {
			s := p.journal()
			remove := func(turn string, epoch int64) error { return s.DeleteJournal(p.Context(), turn, epoch) }
			if err := remove("t", 1); err != nil {
				p.Errorf("one that is not there: %v", err)
			}
			p.journaled(s, "t", 2, 0, "a", "b")
			p.journaled(s, "other", 2, 0, "x")
			p.fencedOff(s, "t", func() error { return remove("t", 1) })
			for _, epoch := range []int64{2, 3} {
				if err := remove("t", epoch); err != nil {
					p.Error(err)
				}
				s = p.asJournal(p.again(s))
				p.expectJournal(s, "t", 0, "none")
				p.expectJournal(s, "other", 0, "2: 0 x")
				p.fencedAppend(s, "t", 9, 2, "c")
				p.journaled(s, "t", 1, 0, "new", "journal")
				p.expectJournal(s, "t", 0, "1: 0 new journal")
			}
		}},
		{name: "10,000 entries", run: func(p *place) {
			const all, each = 10_000, 20
			s := p.journal()
			for n := 0; n < all; n += each {
				var texts []string
				for i := range each {
					texts = append(texts, fmt.Sprint(n+i))
				}
				p.journaled(s, "t", 1, int64(n), texts...)
			}
			s = p.asJournal(p.again(s))
			part, err := s.ReadJournal(p.Context(), "t", 0)
			if err != nil || len(part.Entries) != all {
				p.Fatalf("%d entries, %v", len(part.Entries), err)
			}
			for n, e := range part.Entries {
				if string(e) != fmt.Sprint(n) {
					p.Fatalf("entry %d is %q", n, e)
				}
			}
			p.expectJournal(s, "t", all-2, fmt.Sprintf("1: %d %d %d", all-2, all-2, all-1))
			if err := s.CompactJournal(p.Context(), "t", 1, all-1, []byte("x")); err != nil {
				p.Fatal(err)
			}
			p.expectJournal(s, "t", 0, fmt.Sprintf("1: [x] %d %d", all-1, all-1))
		}},
		{name: "what was journaled stays as it is", run: func(p *place) {
			s := p.journal()
			list, checkpoint := entries("a", "b"), []byte("x")
			if err := s.AppendJournal(p.Context(), "t", store.JournalAppend{Epoch: 1, Entries: list}); err != nil {
				p.Fatal(err)
			}
			if err := s.CompactJournal(p.Context(), "t", 1, 1, checkpoint); err != nil {
				p.Fatal(err)
			}
			list[1][0], checkpoint[0] = '!', '!'
			part, err := s.ReadJournal(p.Context(), "t", 0)
			if err != nil {
				p.Fatal(err)
			}
			part.Entries[0][0], part.Checkpoint[0] = '!', '!'
			p.expectJournal(s, "t", 0, "1: [x] 1 b")
		}},
		{name: "entries that no store takes", run: func(p *place) {
			s := p.journal()
			for _, a := range []store.JournalAppend{
				{Epoch: 0, Entries: entries("a")}, {Epoch: -1, Entries: entries("a")}, {Epoch: 1, At: -1, Entries: entries("a")}, {Epoch: 1},
			} {
				if err := s.AppendJournal(p.Context(), "t", a); !errors.Is(err, host.CodeInvalidValue) {
					p.Errorf("%+v: %v", a, err)
				}
			}
			p.expectJournal(s, "t", 0, "none")
		}},
	}
}

func fenceCases() []testCase {
	return []testCase{
		{name: "epochs of journals", run: func(p *place) {
			s := p.journal()
			p.fencedAppend(s, "t", 1, 1, "a")
			p.journaled(s, "t", 3, 0, "a", "b")
			for range 2 {
				for _, c := range []struct{ epoch, at int64 }{{1, 2}, {2, 2}, {2, 0}, {3, 3}, {3, 1}, {3, 0}, {4, 1}, {4, 3}, {4, 0}} {
					p.fencedAppend(s, "t", c.epoch, c.at, "c")
				}
				s = p.asJournal(p.again(s))
			}
			p.journaled(s, "t", 3, 2, "c")
			p.journaled(s, "t", 5, 3, "d")
			p.fencedAppend(s, "t", 3, 3, "d")
			p.fencedAppend(s, "t", 4, 4, "e")
			p.journaled(s, "t", 5, 4, "e")
			p.expectJournal(s, "t", 0, "5: 0 a b c d e")
			err := s.AppendJournal(p.Context(), "t", store.JournalAppend{Epoch: 4, At: 5, Entries: entries("f")})
			var e *host.Error
			if !errors.As(err, &e) || fmt.Sprint(e.Details) != "map[epoch:5 turn:t]" {
				p.Errorf("the details of %v", err)
			}
		}},
		{name: "an append to a journal that is repeated", run: func(p *place) {
			s := p.journal()
			p.journaled(s, "t", 1, 0, "a")
			p.journaled(s, "t", 1, 1, "b", "c")
			for range 2 {
				p.journaled(s, "t", 1, 1, "b", "c")
				p.journaled(s, "t", 1, 2, "c")
				p.journaled(s, "t", 1, 0, "a", "b", "c")
				p.fencedAppend(s, "t", 1, 1, "b", "x")
				p.fencedAppend(s, "t", 1, 1, "x", "c")
				p.fencedAppend(s, "t", 1, 1, "b")
				p.fencedAppend(s, "t", 1, 1, "b", "c", "d")
				p.fencedAppend(s, "t", 1, 1, "b", "")
				p.fencedAppend(s, "t", 2, 1, "b", "c")
				s = p.asJournal(p.again(s))
			}
			p.journaled(s, "t", 2, 3, "d")
			p.fencedAppend(s, "t", 1, 2, "c", "d")
			p.fencedAppend(s, "t", 1, 3, "d")
			p.journaled(s, "t", 2, 3, "d")
			p.journaled(s, "t", 2, 2, "c", "d")
			p.expectJournal(s, "t", 0, "2: 0 a b c d")
		}},
		{name: "epochs of commits", run: func(p *place) {
			s := p.journal()
			commit := func(epoch int64) store.Commit {
				return store.Commit{Deltas: []store.Delta{put(message(fmt.Sprint("m", epoch), "x"))}, Key: "k", Turn: "t", Epoch: epoch}
			}
			refused := func(epoch int64) {
				p.Helper()
				p.fencedOff(s, "t", func() error {
					p.refused(s, session, commit(epoch), fenced)
					_, err := s.Commit(p.Context(), session, commit(epoch))
					return err
				})
			}
			refused(1)
			if sessions, ok := s.(store.Sessions); ok {
				if got := listed(p, sessions, 10); len(got) > 0 {
					p.Errorf("a refused commit began %q", got)
				}
			}
			p.journaled(s, "t", 2, 0, "a")
			p.journaled(s, "other", 1, 0, "a")
			refused(1)
			refused(3)
			p.commit(s, session, commit(2))
			refused(1) // also where the key is there
			p.commit(s, session, commit(2))
			s = p.asJournal(p.again(s))
			p.journaled(s, "t", 3, 1, "b")
			refused(2)
			p.commit(s, session, commit(3))
			p.commit(s, session, commit(0))
			p.expect(s, session, "m2=x")
			if err := s.CompactJournal(p.Context(), "t", 3, 2, []byte("x")); err != nil {
				p.Fatal(err)
			}
			p.commit(s, session, commit(3))
			if err := s.DeleteJournal(p.Context(), "t", 3); err != nil {
				p.Fatal(err)
			}
			refused(3)
			ended := store.Commit{Ended: []string{"t"}, Turn: "t", Epoch: 3}
			p.refused(s, session, ended, fenced)
			p.commit(s, session, commit(0)) // whose key is not forgotten
			p.expect(s, session, "m2=x")
		}},
		{name: "epochs of appends", needs: partAppender, run: func(p *place) {
			s := p.journal()
			of := p.asAppender(s)
			a := func(epoch int64) store.Append {
				a := happened(fmt.Sprint("e", epoch))
				a.Key, a.Turn, a.Epoch = "k", "t", epoch
				return a
			}
			p.refusedAppend(of, session, a(1), fenced, `"t"`)
			p.journaled(s, "t", 2, 0, "a")
			p.refusedAppend(of, session, a(1), fenced)
			p.refusedAppend(of, session, a(3), fenced)
			p.append(of, session, a(2))
			p.refusedAppend(of, session, a(1), fenced)
			p.append(of, session, a(2))
			p.journaled(s, "t", 3, 1, "b")
			p.refusedAppend(of, session, a(2), fenced)
			p.append(of, session, a(3))
			p.append(of, session, a(0))
			if got := p.ids(of, session, store.EventQuery{}); got != "e2" {
				p.Errorf("events %s", got)
			}
		}},
		{name: "two that go on with a turn", run: func(p *place) {
			stores := []store.Journal{p.journal()}
			stores = append(stores, p.asJournal(p.another()))
			for round := range 20 {
				turn := fmt.Sprint("turn ", round)
				p.journaled(stores[0], turn, 1, 0, "begun")
				won := make([]bool, 8)
				var group sync.WaitGroup
				for n := range won {
					group.Go(func() {
						s := stores[n%2]
						part, err := s.ReadJournal(p.Context(), turn, 0)
						if err == nil {
							err = s.AppendJournal(p.Context(), turn, store.JournalAppend{Epoch: 2, At: 1, Entries: entries(fmt.Sprint("writer ", n))})
						}
						switch {
						case err == nil:
							won[n] = true
						case !errors.Is(err, fenced):
							p.Errorf("writer %d after %+v: %v", n, part, err)
						}
					})
				}
				group.Wait()
				winner := slices.Index(won, true)
				if winner < 0 || slices.Contains(won[winner+1:], true) {
					p.Fatalf("round %d: who goes on is %v", round, won)
				}
				p.expectJournal(stores[0], turn, 0, fmt.Sprintf("2: 0 begun writer %d", winner))
				for n := range won {
					c := store.Commit{Deltas: []store.Delta{put(message(fmt.Sprint(round), fmt.Sprint(n)))}, Turn: turn, Epoch: 1}
					p.refused(stores[n%2], session, c, fenced)
				}
			}
		}},
	}
}
