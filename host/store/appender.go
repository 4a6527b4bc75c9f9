package store

import (
	"context"
	"io"
)

// Appender is a Store that keeps the events of invocations, the state that they change, and the versions of artifacts
// that they name. Each is stored with its event in one transaction.
//
// # Scopes
//
// State and artifacts belong to a scope. The empty scope is the session's own: it is forked and deleted with the
// session. Any other scope, such as that of a user or of an application, is shared by all sessions of the store under
// its name, and stays when they are deleted.
type Appender interface {
	Store
	// Append stores all of an Append, or nothing, and returns the session's revision after it. It costs the same however
	// many events the session has. See [Append] for the rules.
	Append(ctx context.Context, session string, a Append) (revision string, err error)
	// ForkAt makes a session that begins with the first events of another one, in one transaction. It has the state and
	// the artifacts that at says, and neither records nor bytes nor a title. It fails with E_SESSION_NOT_FOUND if the
	// other one is not there or has no event of the revision, and with E_SESSION_EXISTS if the new one is there.
	ForkAt(ctx context.Context, from, to string, at ForkPoint) error
	// Events returns events of a session in the order in which they were appended. An unknown session has none.
	Events(ctx context.Context, session string, q EventQuery) ([]SessionEvent, error)
	// State returns the values of a scope, by name in the order of its UTF-8 bytes. session says whose the empty scope is.
	State(ctx context.Context, session, scope string) ([]StateValue, error)
	// Artifacts returns all versions of all artifacts of a scope, by name in the order of its UTF-8 bytes and version.
	// session says whose the empty scope is.
	Artifacts(ctx context.Context, session, scope string) ([]Artifact, error)
	// OpenArtifact returns the bytes of a version of an artifact, and how many they are. It fails with E_BYTES_NOT_FOUND
	// if there is no such version. session says whose the empty scope is.
	OpenArtifact(ctx context.Context, session, scope, name string, version int) (content io.ReaderAt, size int64, err error)
}

// NoRevision is the revision of a session that is not there, in every store.
const NoRevision = "0"

// Append is what one transaction of an [Appender] stores.
//
// Key, Turn, Ended and Epoch are as in [Commit]: an append and a commit of one turn never have the same key.
//
// If Revision is set, the append fails with E_SESSION_CONFLICT, and nothing is stored, when another turn has appended
// to the session after Revision, or when the session that had Revision has been deleted. Commits of records, and what
// Turn itself has appended, are no conflict. It fails with E_SESSION_CONFLICT also if the session has an event of the
// same id, or if an artifact's version is not the next one.
type Append struct {
	// Event is stored behind the session's others; nil for none, as for the initial state of a session.
	Event *SessionEvent
	// State are changes of values, applied in order.
	State []StateValue
	// Artifacts are versions that are added. Their bytes have been put into the session before.
	Artifacts []Artifact

	Key      string
	Turn     string
	Ended    []string
	Revision string
	Epoch    int64
}

// ForkPoint says what a fork begins with that takes some of a session's events.
type ForkPoint struct {
	// Revision is that of the last event which the fork has.
	Revision string
	// State are the values of the fork's own scope. Their Scope is not read.
	State []StateValue
	// Artifacts are how many versions of each artifact of the session's own scope the fork has, by name: the first ones.
	Artifacts map[string]int
}

// SessionEvent is an event of an invocation, as a store keeps it.
type SessionEvent struct {
	ID string
	// Body is the event in a form that the store does not look into.
	Body []byte
	// Revision is the one that came of appending it. Append does not read it.
	Revision string
}

// EventQuery says which events are asked for.
type EventQuery struct {
	// After is a revision: only events that were appended after it; "" for all. One that the session does not know is
	// earlier than all.
	After string
	// Limit is how many events are returned at most; 0 for all.
	Limit int
	// Newest returns the last Limit events instead of the first.
	Newest bool
}

// StateValue is a value of a scope.
type StateValue struct {
	Scope, Name string
	// Value is in a form that the store does not look into. nil deletes in an Append; the empty value is a value.
	Value []byte
}

// Artifact is a version of an artifact.
type Artifact struct {
	Scope, Name string
	// Version is the number of versions that are there already: the first is 0.
	Version int
	// Bytes is the id of the bytes in the session that appends. The version keeps them, whatever becomes of the id.
	// Artifacts leaves it empty.
	Bytes string
	// Size is how many bytes there are. Append does not read it.
	Size int64
	// Body is what the writer says of the version, in a form that the store does not look into.
	Body []byte
}
