package ledger

import (
	"bytes"
	"fmt"
	"slices"
)

// Head says which entries a journal has: those from First up to Next, and a checkpoint for those before if First is not
// 0. The zero value is that of a journal that is not there.
type Head struct {
	Epoch       int64
	First, Next int64
}

// Refuse says why a transaction with an epoch is refused; "" if it is not.
func (h Head) Refuse(epoch int64) (why string) {
	switch {
	case h.Epoch == 0:
		return "it has no journal"
	case h.Epoch != epoch:
		return fmt.Sprintf("its journal has epoch %d, not %d", h.Epoch, epoch)
	}
	return ""
}

// RefuseAppend says why entries are not added from one on; "" if they are, or if done tells that they are there
// already, should those that are there from that one on be equal.
func (h Head) RefuseAppend(epoch, at, count int64) (why string, done bool) {
	switch {
	case epoch < h.Epoch:
		return h.Refuse(epoch), false
	case at == h.Next:
		return "", false
	case epoch == h.Epoch && at >= h.First && at+count == h.Next:
		return "", true
	}
	return h.Ends(at), false
}

// RefuseCompact says why the entries before one cannot be compacted; "" if they can.
func (h Head) RefuseCompact(epoch, before int64) (why string) {
	why = h.Refuse(epoch)
	if why == "" && before > h.Next {
		why = h.Ends(before)
	}
	return why
}

// RefuseDelete says why a writer with an epoch cannot delete the journal; "" if it can.
func (h Head) RefuseDelete(epoch int64) (why string) {
	if h.Epoch > epoch {
		return h.Refuse(epoch)
	}
	return ""
}

// Ends says that the journal ends elsewhere than a writer thinks.
func (h Head) Ends(at int64) (why string) {
	return fmt.Sprintf("its journal ends at %d, not at %d", h.Next, at)
}

// Journal is the journal of a turn.
type Journal struct {
	Head
	Checkpoint []byte
	Entries    [][]byte
}

// Append adds entries from one on, and says why it does not. added tells that they were not there.
func (j *Journal) Append(epoch, at int64, entries [][]byte) (added bool, why string) {
	why, done := j.RefuseAppend(epoch, at, int64(len(entries)))
	switch {
	case why != "":
		return false, why
	case done && slices.EqualFunc(j.Entries[at-j.First:], entries, bytes.Equal):
		return false, ""
	case done:
		return false, j.Ends(at)
	}
	j.Epoch, j.Next = epoch, at+int64(len(entries))
	j.Entries = append(j.Entries, entries...)
	return true, ""
}

// Compact puts a checkpoint in the place of the entries before one, and says why it does not. compacted tells that they
// were there.
func (j *Journal) Compact(epoch, before int64, checkpoint []byte) (compacted bool, why string) {
	if why = j.RefuseCompact(epoch, before); why != "" || before <= j.First {
		return false, why
	}
	j.Entries = slices.Clone(j.Entries[before-j.First:]) // what is gone takes no memory
	j.First, j.Checkpoint = before, checkpoint
	return true, ""
}

// From returns the number of the first entry from one on that is left, and these entries.
func (j *Journal) From(from int64) (first int64, entries [][]byte) {
	first = max(from, j.First)
	return first, j.Entries[min(first-j.First, int64(len(j.Entries))):]
}
