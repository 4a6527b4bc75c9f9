package store

import (
	"context"
	"time"
)

// Newest is a Store that knows how far the times of its sessions have come. A Runner gives a user's message a time
// after all of the session's earlier records then, whatever the clock says: a conversation is ordered by time. With
// another store such a message gets the time of the clock.
type Newest interface {
	Store
	// Newest returns the latest time at which a message, thought or tool call of the session was created; zero if it has
	// none. Its error keeps the turn from starting: Run returns it.
	Newest(ctx context.Context, session string) (time.Time, error)
}

// Sessions is a Store that can list its sessions and treat one as a whole. A session is there from its first commit or
// bytes on.
type Sessions interface {
	Newest
	// List returns a page of at most limit sessions, 100 if limit is not positive, those updated last in front. cursor is
	// "" for the first page and then what the call before returned as next, which is "" behind the last page. A page
	// costs the same however many sessions there are. A session that is updated between two calls may be on neither page.
	// What is no cursor is an E_INVALID_VALUE, or begins at the front.
	List(ctx context.Context, cursor string, limit int) (page []Session, next string, err error)
	// ListOf lists as List does, but only the sessions whose ids begin with a prefix. A page does not cost more where
	// there are more other sessions.
	ListOf(ctx context.Context, prefix, cursor string, limit int) (page []Session, next string, err error)
	// Find returns what List says of a session; nil if it is not there.
	Find(ctx context.Context, session string) (*Session, error)
	// Fork makes a session that begins with all that another one has, its bytes and its title too. It fails with
	// E_SESSION_NOT_FOUND if that is not there, and with E_SESSION_EXISTS if the new one is.
	Fork(ctx context.Context, from, to string) error
	// Delete deletes a session with its records, keys and bytes. One that is not there is no error.
	Delete(ctx context.Context, session string) error
	// SetTitle gives a session a title; "" for none. It neither changes the revision nor the time of the last update. It
	// fails with E_SESSION_NOT_FOUND.
	SetTitle(ctx context.Context, session, title string) error
}

// Session tells of a session.
type Session struct {
	ID       string
	Title    string // "" for none
	Revision string // as in Conversation
	// CreatedAt and UpdatedAt are the store's own clock at the first and at the last commit, to the millisecond. UpdatedAt
	// does not go back.
	CreatedAt time.Time
	UpdatedAt time.Time
	Messages  int // how many messages it has
}
