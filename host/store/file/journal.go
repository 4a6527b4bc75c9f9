package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/ledger"
	"github.com/turncore/turncore/host/store"
)

var _ store.Journal = (*Store)(nil)

// journal is the journal of a turn. Its mutex is locked while no session's is.
type journal struct {
	turn, file string

	mu    sync.Mutex
	read  bool // it is in memory
	gone  bool // it was deleted, or never came to be
	state ledger.Journal
	size  int64 // of the file, in bytes
}

// enterJournal returns the journal of a turn, locked and in memory; one that is not there has no epoch. The caller
// calls leaveJournal.
func (s *Store) enterJournal(turn string) (j *journal, err error) {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, failure("", errClosed)
		}
		if j = s.journals[turn]; j == nil {
			if s.journals == nil {
				s.journals = make(map[string]*journal)
			}
			j = &journal{turn: turn, file: filepath.Join(s.folder, journalsName, nameOf(turn))}
			s.journals[turn] = j
		}
		s.mu.Unlock()
		j.mu.Lock()
		if j.gone {
			j.mu.Unlock()
			continue
		}
		if err := j.load(); err != nil {
			s.leaveJournal(j)
			return nil, err
		}
		return j, nil
	}
}

// leaveJournal unlocks a journal, and forgets one that is not there.
func (s *Store) leaveJournal(j *journal) {
	if j.state.Epoch == 0 {
		j.gone = true
		s.mu.Lock()
		if s.journals[j.turn] == j {
			delete(s.journals, j.turn)
		}
		s.mu.Unlock()
	}
	j.mu.Unlock()
}

// checkEpoch returns the error of a transaction with an epoch that the journal of its turn does not have. The journal
// stays as it is until done is called.
func (s *Store) checkEpoch(turn string, epoch int64) (done func(), err error) {
	if epoch == 0 {
		return func() {}, nil
	}
	j, err := s.enterJournal(turn)
	if err != nil {
		return nil, err
	}
	if why := j.state.Refuse(epoch); why != "" {
		err := store.Fenced(turn, j.state.Epoch, why)
		s.leaveJournal(j)
		return nil, err
	}
	return func() { s.leaveJournal(j) }, nil
}

// mayResume tells whether a turn may be gone on with: its journal is there.
func (s *Store) mayResume(turn string) bool {
	_, err := os.Stat(filepath.Join(s.folder, journalsName, nameOf(turn)))
	return !errors.Is(err, fs.ErrNotExist)
}

// load reads the file into memory, unless it is there. What was not written whole at its end is cut off.
func (j *journal) load() error {
	if j.read {
		return nil
	}
	data, err := os.ReadFile(j.file)
	if errors.Is(err, fs.ErrNotExist) {
		j.read = true
		return nil
	}
	if err != nil {
		return j.failure(err)
	}
	j.state, j.size = ledger.Journal{}, 0
	for j.size < int64(len(data)) {
		kind, body, size, err := readFrame(data[j.size:], j.size)
		if errors.Is(err, errTorn) {
			break
		}
		if err == nil {
			err = j.take(kind, body)
		}
		if err != nil {
			next := j.state.Next
			j.state = ledger.Journal{}
			if coded := (*host.Error)(nil); errors.As(err, &coded) {
				return err
			}
			return j.damaged(fmt.Sprintf("entry %d, %s at %d: %v", next, j.file, j.size, err), next, err)
		}
		j.size += int64(size)
	}
	if j.size < int64(len(data)) {
		if err := os.Truncate(j.file, j.size); err != nil {
			j.state = ledger.Journal{}
			return j.failure(err)
		}
	}
	j.read = true
	return nil
}

// take takes in a frame.
func (j *journal) take(kind byte, body []byte) error {
	switch kind {
	case frameTurn:
		var t turn
		_, err := t.UnmarshalMsg(body)
		switch {
		case err == nil && t.Version > formVersion:
			why := fmt.Sprintf("the journal of turn %q has version %d, this is version %d", j.turn, t.Version, formVersion)
			return host.NewError(host.CodeStoreVersion, why, nil)
		case err == nil && t.ID != j.turn:
			return fmt.Errorf("it is the journal of %q", t.ID)
		}
		return err
	case frameEntries:
		var e entries
		if _, err := e.UnmarshalMsg(body); err != nil {
			return err
		}
		if added, why := j.state.Append(e.Epoch, e.At, e.Entries); !added {
			return fmt.Errorf("entries from %d on do not follow: %s", e.At, why)
		}
		return nil
	case frameCheckpoint:
		var c checkpoint
		if _, err := c.UnmarshalMsg(body); err != nil {
			return err
		}
		if c.Checkpoint == nil {
			c.Checkpoint = []byte{}
		}
		head := ledger.Head{Epoch: c.Epoch, First: c.First, Next: c.First + int64(len(c.Entries))}
		j.state = ledger.Journal{Head: head, Checkpoint: c.Checkpoint, Entries: c.Entries}
		return nil
	}
	return fmt.Errorf("a frame of kind %q is unknown", kind)
}

// damaged is the E_STORED_RECORD_INVALID of a journal.
func (j *journal) damaged(why string, entry int64, cause error) error {
	e := host.NewError(host.CodeStoredRecordInvalid, "the journal of turn "+strconv.Quote(j.turn)+": "+why, cause)
	e.Details = map[string]any{"turn": j.turn, "entry": entry}
	return e
}

// failure is the error of a call that the disk has failed.
func (j *journal) failure(err error) error {
	var coded *host.Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	e := host.NewError(host.CodeStoreFailed, "the journal of turn "+strconv.Quote(j.turn)+": "+reason(err), err)
	e.Details = map[string]any{"turn": j.turn, "reason": reason(err)}
	return e
}

// fenced is the error of a journal that refuses something; nil if it gives no reason.
func (j *journal) fenced(why string) error {
	if why == "" {
		return nil
	}
	return store.Fenced(j.turn, j.state.Epoch, why)
}

// AppendJournal implements store.Journal.
func (s *Store) AppendJournal(ctx context.Context, turn string, a store.JournalAppend) error {
	if err := errors.Join(s.begin(ctx), a.Validate()); err != nil {
		return err
	}
	j, err := s.enterJournal(turn)
	if err != nil {
		return err
	}
	defer s.leaveJournal(j)
	list := make([][]byte, len(a.Entries))
	for i, entry := range a.Entries {
		list[i] = bytes.Clone(entry)
	}
	after := j.state
	added, why := after.Append(a.Epoch, a.At, list)
	if !added {
		return j.fenced(why)
	}
	if err := j.write(&entries{a.Epoch, a.At, list}); err != nil {
		return j.failure(err)
	}
	j.state = after
	return nil
}

// write writes entries behind the others. The caller holds j.mu.
func (j *journal) write(e *entries) error {
	if j.state.Epoch > 0 {
		data, err := appendFrame(nil, j.size, frameEntries, e)
		if err == nil {
			err = writeAt(j.file, j.size, data, (*os.File).Sync)
		}
		if err == nil {
			j.size += int64(len(data))
		}
		return err
	}
	data, err := j.head()
	if err == nil {
		data, err = appendFrame(data, int64(len(data)), frameEntries, e)
	}
	if err == nil {
		err = replaceFile(j.file, data)
	}
	if err == nil {
		j.size = int64(len(data))
	}
	return err
}

func (j *journal) head() ([]byte, error) {
	return appendFrame(nil, 0, frameTurn, &turn{formVersion, j.turn})
}

// ReadJournal implements store.Journal.
func (s *Store) ReadJournal(ctx context.Context, turn string, from int64) (*store.JournalPart, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	j, err := s.enterJournal(turn)
	if err != nil {
		return nil, err
	}
	defer s.leaveJournal(j)
	if j.state.Epoch == 0 {
		return nil, nil
	}
	part := &store.JournalPart{Epoch: j.state.Epoch, Checkpoint: bytes.Clone(j.state.Checkpoint)}
	first, list := j.state.From(from)
	part.First = first
	for _, entry := range list {
		part.Entries = append(part.Entries, bytes.Clone(entry))
	}
	return part, nil
}

// CompactJournal implements store.Journal.
func (s *Store) CompactJournal(ctx context.Context, turn string, epoch, before int64, point []byte) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	j, err := s.enterJournal(turn)
	if err != nil {
		return err
	}
	defer s.leaveJournal(j)
	after := j.state
	compacted, why := after.Compact(epoch, before, append([]byte{}, point...))
	if !compacted {
		return j.fenced(why)
	}
	data, err := j.head()
	if err == nil {
		data, err = appendFrame(data, int64(len(data)), frameCheckpoint, &checkpoint{epoch, after.First, after.Checkpoint, after.Entries})
	}
	if err == nil {
		err = replaceFile(j.file, data)
	}
	if err != nil {
		return j.failure(err)
	}
	j.state, j.size = after, int64(len(data))
	return nil
}

// DeleteJournal implements store.Journal.
func (s *Store) DeleteJournal(ctx context.Context, turn string, epoch int64) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	j, err := s.enterJournal(turn)
	if err != nil {
		return err
	}
	defer s.leaveJournal(j)
	if why := j.state.RefuseDelete(epoch); why != "" || j.state.Epoch == 0 {
		return j.fenced(why)
	}
	if err := os.Remove(j.file); err != nil {
		return j.failure(err)
	}
	j.state, j.size = ledger.Journal{}, 0
	return j.failure(syncFolder(filepath.Dir(j.file)))
}
