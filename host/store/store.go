package store

import (
	"context"
	"time"

	"github.com/turncore/turncore/host/record"
)

// Store keeps the records of conversations, by session. Its methods may be called from many goroutines.
type Store interface {
	// Load returns what a session holds; an unknown session is an empty one, for which nil stands too. after is "" or the Revision of what an
	// earlier call returned. If a session has only been added to since then, a store that has revisions returns just
	// what came later, and sets After. A store may ignore after and return everything.
	Load(ctx context.Context, session, after string) (*Conversation, error)
	// Commit does all of the writes in order, or none.
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

// Conversation is what a session holds, or what was added to it after a revision: each kind in the order of storing.
// Who loads one must not change it.
type Conversation struct {
	// Revision names the state of the session that this is. A write changes it, and no state has the revision of another,
	// also after the session was deleted and begun again. "" if the store has no revisions.
	Revision string
	// After is the revision that Load was asked for, if the records are those that were added after it and none from before
	// it has been changed, deleted or moved since. "" if the records are all that there are.
	After string

	Instructions []string // always all
	Memories     []*record.Memory
	Retrievables []*record.Retrievable
	Messages     []*record.Message
	Thoughts     []*record.Thought
	ToolCalls    []*record.ToolCall
}
