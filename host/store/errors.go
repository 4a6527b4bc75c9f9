package store

import (
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// Conflict is the E_SESSION_CONFLICT of a commit that would change a record which another writer has changed. Its details
// are a map of session, kind and id.
func Conflict(session, kind, id string) error {
	detail := "session " + strconv.Quote(session) + ", " + kind + " " + strconv.Quote(id)
	e := host.NewError(host.Code(abi.CodeSessionConflict), detail, nil)
	e.Details = map[string]any{"session": session, "kind": kind, "id": id}
	return e
}

// Fenced is the E_TURN_FENCED of a transaction with the epoch of a turn whose journal has another. Its details are a map of
// turn and epoch, the one that the journal has: 0 if it is not there.
func Fenced(turn string, epoch int64, why string) error {
	e := host.NewError(host.Code(abi.CodeTurnFenced), "turn "+strconv.Quote(turn)+": "+why, nil)
	e.Details = map[string]any{"turn": turn, "epoch": epoch}
	return e
}

// NoBytes is the E_BYTES_NOT_FOUND of an id under which a session has no bytes. Its details are a map of session and id.
func NoBytes(session, id string) error {
	e := host.NewError(host.Code(abi.CodeBytesNotFound), "session "+strconv.Quote(session)+", id "+strconv.Quote(id), nil)
	e.Details = map[string]any{"session": session, "id": id}
	return e
}

// NoSession is the E_SESSION_NOT_FOUND of a session that is not there. Its details are a map of session.
func NoSession(session string) error { return ofSession(abi.CodeSessionNotFound, session) }

// SessionExists is the E_SESSION_EXISTS of a session that is there already. Its details are a map of session.
func SessionExists(session string) error { return ofSession(abi.CodeSessionExists, session) }

func ofSession(code, session string) error {
	e := host.NewError(host.Code(code), strconv.Quote(session), nil)
	e.Details = map[string]any{"session": session}
	return e
}
