package store

import (
	"bytes"
	"context"

	"github.com/turncore/turncore/host/internal/ledger"
)

var _ Journal = (*InMemory)(nil)

// journal returns the journal of a turn, an empty one if it is not there. The caller holds m.mu.
func (m *InMemory) journal(turn string) *ledger.Journal {
	if j := m.journals[turn]; j != nil {
		return j
	}
	return &ledger.Journal{}
}

// mayResume tells whether a turn may be gone on with. The caller holds m.mu.
func (m *InMemory) mayResume(turn string) bool { return m.journals[turn] != nil }

// fenced is the error of a journal that refuses something; nil if it gives no reason.
func fenced(turn string, j *ledger.Journal, why string) error {
	if why == "" {
		return nil
	}
	return Fenced(turn, j.Epoch, why)
}

// checkEpoch returns the error of a transaction with an epoch that the journal of its turn does not have. The caller
// holds m.mu.
func (m *InMemory) checkEpoch(turn string, epoch int64) error {
	if epoch == 0 {
		return nil
	}
	j := m.journal(turn)
	return fenced(turn, j, j.Refuse(epoch))
}

// AppendJournal implements [Journal].
func (m *InMemory) AppendJournal(_ context.Context, turn string, a JournalAppend) error {
	if err := a.Validate(); err != nil {
		return err
	}
	entries := make([][]byte, len(a.Entries))
	for i, entry := range a.Entries {
		entries[i] = bytes.Clone(entry)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.journal(turn)
	added, why := j.Append(a.Epoch, a.At, entries)
	if added {
		if m.journals == nil {
			m.journals = make(map[string]*ledger.Journal)
		}
		m.journals[turn] = j
	}
	return fenced(turn, j, why)
}

// ReadJournal implements [Journal].
func (m *InMemory) ReadJournal(_ context.Context, turn string, from int64) (*JournalPart, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.journals[turn]
	if j == nil {
		return nil, nil
	}
	part := &JournalPart{Epoch: j.Epoch, Checkpoint: bytes.Clone(j.Checkpoint)}
	first, entries := j.From(from)
	part.First = first
	for _, entry := range entries {
		part.Entries = append(part.Entries, bytes.Clone(entry))
	}
	return part, nil
}

// CompactJournal implements [Journal].
func (m *InMemory) CompactJournal(_ context.Context, turn string, epoch, before int64, checkpoint []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.journal(turn)
	_, why := j.Compact(epoch, before, append([]byte{}, checkpoint...))
	return fenced(turn, j, why)
}

// DeleteJournal implements [Journal].
func (m *InMemory) DeleteJournal(_ context.Context, turn string, epoch int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.journal(turn)
	why := j.RefuseDelete(epoch)
	if why == "" {
		delete(m.journals, turn)
	}
	return fenced(turn, j, why)
}
