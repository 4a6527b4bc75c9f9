package store

import (
	"context"
	"io"

	"github.com/turncore/turncore/host/record"
)

// Store keeps the records of conversations, by session. Its methods may be called from many goroutines.
//
// A store is told apart from others by its value: pass a pointer, and what is held of its sessions serves all runners
// of the process.
type Store interface {
	// Load returns the records of a session; an unknown session is empty, or nil. after is "" or the Revision from an
	// earlier call. If records have only been added since then, a store with revisions returns only the later ones and
	// sets After. A store may ignore after and return everything.
	Load(ctx context.Context, session, after string) (*Conversation, error)
	// Commit applies the writes of a commit in order, or none of them, and returns the session's revision after it: ""
	// from a store without revisions. See [Commit] for what it is made of.
	Commit(ctx context.Context, session string, c Commit) (revision string, err error)
	// PutBytes keeps the bytes of a medium or of a text under an id of the session, in place of those that were there.
	PutBytes(ctx context.Context, session, id string, content io.Reader) error
	// OpenBytes returns the bytes of an id and how many they are. It fails with E_BYTES_NOT_FOUND if there are none. The
	// store sees to what has to be closed. Of bytes that are replaced while they are read the rest may be an
	// io.ErrUnexpectedEOF, but not where the id says what they are, as those of [Rows] do: then they are the same.
	OpenBytes(ctx context.Context, session, id string) (content io.ReaderAt, size int64, err error)
}

// Commit is what one transaction of a store writes.
//
// # Keys
//
// A store that has a commit under Key stores nothing and returns the revision that the first one returned. It forgets
// the keys of the turns in Ended before it looks for Key. It may forget those of a turn that has committed nothing for
// a week, by its own clock, unless the turn has a journal: the turn's process has ended without a word.
//
// # Revisions
//
// Writes that only add records go in behind the newest, whatever the revision. If Revision is set, the commit fails
// with E_SESSION_CONFLICT, and nothing is stored, when it stores over, mutates, deletes or replaces
//
//   - a record that was added or changed after Revision, by a revision that is not the writer's own;
//   - a record that is not there, and the session's last change or deletion is later than Revision and not the writer's
//     own.
//
// A revision that the session does not know, as that of a session that was deleted since, is earlier than all. The
// writer's own revisions are those that the commits of Turn with a Key have returned, and no others: not even those
// between two of them.
//
// # Writes
//
// A store or a mutate of a record puts it in the place of the one with its id, or behind the others. A delete of what
// is not there does nothing. A replaced group goes where the first of the calls that it replaces was, or behind the
// others. Instructions are a set of texts: storing one that is there changes nothing, and a text that a mutate makes
// equal to another takes the changed one's place.
type Commit struct {
	Deltas []Delta
	// Key names the commit in the session; "" for none.
	Key string
	// Turn is the turn that writes: Key is remembered until a commit has the turn in Ended. It names one run of a turn,
	// and is not the turn's id. "" for none.
	Turn string
	// Ended are turns that write no more.
	Ended []string
	// Revision is the one that the writer has seen; "" checks nothing.
	Revision string
	// Epoch is that of the [Journal] of Turn: the commit fails with E_TURN_FENCED, and nothing is stored, if the journal
	// has another one or is not there. That is checked before Key. 0 checks nothing. A store without a Journal ignores it.
	Epoch int64
}

// Conversation has the records of a session, or those added after a revision: each kind in the order of storing. Do
// not change a loaded Conversation.
type Conversation struct {
	// Revision identifies this state of the session. A write changes it, and no two states share a revision, even if the
	// session was deleted and started again. "" if the store has no revisions.
	Revision string
	// After is the after argument of Load, if the records are those added after that revision and no earlier record was
	// changed, deleted or moved since. "" if these are all records.
	After string

	Instructions []string // always all
	Memories     []*record.Memory
	Retrievables []*record.Retrievable
	Messages     []*record.Message
	Thoughts     []*record.Thought
	ToolCalls    []*record.ToolCall
}

// Add puts a record behind those of its kind.
func (c *Conversation) Add(r record.Record) {
	switch r := r.(type) {
	case *record.Instruction:
		c.Instructions = append(c.Instructions, r.Text)
	case *record.Memory:
		c.Memories = append(c.Memories, r)
	case *record.Retrievable:
		c.Retrievables = append(c.Retrievables, r)
	case *record.Message:
		c.Messages = append(c.Messages, r)
	case *record.Thought:
		c.Thoughts = append(c.Thoughts, r)
	case *record.ToolCall:
		c.ToolCalls = append(c.ToolCalls, r)
	}
}
