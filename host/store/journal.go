package store

import "context"

// Journal is a Store that keeps the journals of turns. A store without it serves, but its turns do not resume.
//
// A journal belongs to a run of a turn, as [Commit] names it in Turn, and has entries, which are counted from 0. Its
// epoch says who writes it: a process that goes on with a turn appends under a higher epoch, and from then on the store
// refuses with E_TURN_FENCED what others do under an older one.
type Journal interface {
	Store
	// AppendJournal adds entries behind those of a turn's journal, all or none. See [JournalAppend].
	AppendJournal(ctx context.Context, turn string, a JournalAppend) error
	// ReadJournal returns the journal of a turn from an entry on; nil if there is none.
	ReadJournal(ctx context.Context, turn string, from int64) (*JournalPart, error)
	// CompactJournal puts a checkpoint in the place of all entries before one, and of the checkpoint before. It fails with
	// E_TURN_FENCED if the journal has another epoch or is not there, and does nothing if the entries are gone already.
	CompactJournal(ctx context.Context, turn string, epoch, before int64, checkpoint []byte) error
	// DeleteJournal deletes the journal of a turn. It fails with E_TURN_FENCED if the journal has a later epoch; one that
	// is not there is no error.
	DeleteJournal(ctx context.Context, turn string, epoch int64) error
}

// JournalAppend is what one transaction adds to a journal.
//
// It fails with E_TURN_FENCED, and nothing is stored, if Epoch is earlier than the journal's, or if At is not where its
// entries end. A journal that is not there ends at 0. There is one exception, for a writer that got no answer: if the
// journal has the same epoch and ends with the same entries from At on, the append is done already.
//
// So two that go on with a turn from the same place under the same epoch are kept apart if their first entries differ:
// the first entry of an epoch names its writer.
type JournalAppend struct {
	// Epoch is positive.
	Epoch int64
	// At is the number of the first entry.
	At int64
	// Entries is at least one, in a form that the store does not look into.
	Entries [][]byte
}

// JournalPart is what a journal has.
type JournalPart struct {
	Epoch int64
	// Checkpoint stands for the entries that were compacted; nil if none were.
	Checkpoint []byte
	// First is the number of the first of Entries: the one that was asked for, or the first that is left.
	First   int64
	Entries [][]byte
}
