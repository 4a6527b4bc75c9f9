package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/store"
)

var _ store.Journal = (*Store)(nil)

// journal reads a journal; nil if there is none. statement is "findJournal", or "lockJournal" so that no other
// transaction writes it.
func (t *tx) journal(statement, turn string) (*journalRow, error) {
	rows, err := t.rows(statement, []byte(turn))
	found, err := list(rows, err, (*journalRow).scan)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return &found[0], found[0].check()
	}
	if _, there, err := t.number("anyEntry", []byte(turn)); err != nil || there {
		return nil, errors.Join(err, invalidJournal(turn, "it has entries, but no journal"))
	}
	return nil, nil
}

// lockedJournal reads a journal to be written, and what it says of its entries; nil if there is none.
func (t *tx) lockedJournal(turn string) (*journalRow, ledger.Head, error) {
	j, err := t.journal("lockJournal", turn)
	if err != nil || j == nil {
		return nil, ledger.Head{}, err
	}
	return j, ledger.Head{Epoch: j.epoch, First: j.first, Next: j.next}, nil
}

// checkEpoch returns the error of a transaction with an epoch that the journal of its turn does not have; 0 checks
// nothing.
func (t *tx) checkEpoch(turn string, epoch int64) error {
	if epoch == 0 {
		return nil
	}
	_, head, err := t.lockedJournal(turn)
	if err != nil {
		return err
	}
	return fenced(turn, head, head.Refuse(epoch))
}

// fenced is the error of a journal that refuses something; nil if it gives no reason.
func fenced(turn string, head ledger.Head, why string) error {
	if why == "" {
		return nil
	}
	return store.Fenced(turn, head.Epoch, why)
}

// AppendJournal implements store.Journal.
func (s *Store) AppendJournal(ctx context.Context, turn string, a store.JournalAppend) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if err := s.checkTurn(turn); err != nil {
		return err
	}
	return s.updateSurely(ctx, "", true, func(t *tx) error {
		for {
			done, err := t.appendJournal(turn, &a)
			if done || err != nil {
				return err
			}
			// Another process was faster.
		}
	})
}

func (t *tx) appendJournal(turn string, a *store.JournalAppend) (done bool, err error) {
	j, head, err := t.lockedJournal(turn)
	if err != nil {
		return false, err
	}
	why, there := head.RefuseAppend(a.Epoch, a.At, int64(len(a.Entries)))
	if there {
		have, err := t.entries(j, a.At)
		if err != nil {
			return false, err
		}
		if slices.EqualFunc(have, a.Entries, bytes.Equal) {
			return true, nil
		}
		why = head.Ends(a.At)
	}
	if why != "" {
		return false, fenced(turn, head, why)
	}
	if j == nil {
		r := journalRow{turn: []byte(turn), epoch: a.Epoch, next: int64(len(a.Entries))}
		_, added, err := t.number("addJournal", r.turn, r.epoch, r.first, r.next, nil, r.sumUp())
		if err != nil || !added {
			return false, err
		}
	} else {
		j.epoch, j.next = a.Epoch, a.At+int64(len(a.Entries))
		if err := t.setJournal(j); err != nil {
			return false, err
		}
	}
	for i, body := range a.Entries {
		e := entryRow{turn: []byte(turn), number: a.At + int64(i), body: blob(body)}
		if err := t.exec("addEntry", e.turn, e.number, e.body, e.sumUp()); err != nil {
			return false, err
		}
	}
	return true, nil
}

// setJournal stores what has changed of a journal.
func (t *tx) setJournal(j *journalRow) error {
	var checkpoint any
	if j.first > 0 {
		checkpoint = j.checkpoint
	}
	return t.exec("setJournal", j.epoch, j.first, j.next, checkpoint, j.sumUp(), j.turn)
}

// entries returns those of a journal from one on that is left.
func (t *tx) entries(j *journalRow, from int64) (bodies [][]byte, err error) {
	rows, err := t.rows("entriesFrom", j.turn, from)
	all, err := list(rows, err, (*entryRow).scan)
	if err != nil {
		return nil, err
	}
	for number := from; number < j.next; number++ {
		i := int(number - from)
		if i >= len(all) || all[i].number != number {
			return nil, invalidEntry(string(j.turn), number, "it is missing")
		}
		if all[i].sum != all[i].sumUp() {
			return nil, invalidEntry(string(j.turn), number, "its checksum is wrong")
		}
		bodies = append(bodies, all[i].body)
	}
	return bodies, nil
}

// ReadJournal implements store.Journal.
func (s *Store) ReadJournal(ctx context.Context, turn string, from int64) (part *store.JournalPart, err error) {
	err = s.view(ctx, "", func(t *tx) error {
		part = nil
		j, err := t.journal("findJournal", turn)
		if err != nil || j == nil {
			return err
		}
		first := max(from, j.first)
		entries, err := t.entries(j, first)
		part = &store.JournalPart{Epoch: j.epoch, Checkpoint: j.checkpoint, First: first, Entries: entries}
		return err
	})
	if err != nil {
		return nil, err
	}
	return part, nil
}

// CompactJournal implements store.Journal.
func (s *Store) CompactJournal(ctx context.Context, turn string, epoch, before int64, checkpoint []byte) error {
	return s.updateSurely(ctx, "", true, func(t *tx) error {
		j, head, err := t.lockedJournal(turn)
		if err != nil {
			return err
		}
		if why := head.RefuseCompact(epoch, before); why != "" {
			return fenced(turn, head, why)
		}
		if before <= j.first {
			return nil
		}
		j.first, j.checkpoint = before, blob(checkpoint)
		if err := t.exec("dropEntriesBefore", j.turn, before); err != nil {
			return err
		}
		return t.setJournal(j)
	})
}

// DeleteJournal implements store.Journal.
func (s *Store) DeleteJournal(ctx context.Context, turn string, epoch int64) error {
	return s.updateSurely(ctx, "", true, func(t *tx) error {
		j, head, err := t.lockedJournal(turn)
		if err != nil || j == nil {
			return err
		}
		if why := head.RefuseDelete(epoch); why != "" {
			return fenced(turn, head, why)
		}
		if err := t.exec("dropEntries", j.turn); err != nil {
			return err
		}
		return t.exec("dropJournal", j.turn)
	})
}
