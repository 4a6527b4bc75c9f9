package store

import (
	"context"
	"time"

	"github.com/turncore/turncore/host/record"
)

// Store keeps the records of conversations, by session. Its methods may be called from many goroutines.
type Store interface {
	// Load returns the records of a session; an unknown session is empty, or nil. after is "" or the Revision from an
	// earlier call. If records have only been added since then, a store with revisions returns only the later ones and
	// sets After. A store may ignore after and return everything.
	Load(ctx context.Context, session, after string) (*Conversation, error)
	// Commit applies all writes in order, or none.
	Commit(ctx context.Context, session string, writes []Delta) error
	// WriteBytes keeps bytes that belong to a record.
	WriteBytes(ctx context.Context, session, id string, data []byte) error
}

// Newest is a Store that knows how far the times of its sessions have come. A Runner gives a user's message a time
// after all of the session's earlier records then, whatever the clock says: a conversation is ordered by time. With
// another store such a message gets the time of the clock.
type Newest interface {
	Store
	// Newest returns the latest time at which a message, thought or tool call of the session was created; zero if it has
	// none. Its error keeps the turn from starting: Run returns it.
	Newest(ctx context.Context, session string) (time.Time, error)
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
