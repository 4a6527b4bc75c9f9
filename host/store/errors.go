package store

import (
	"fmt"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// Conflict is the E_SESSION_CONFLICT of a commit that would change a record which another writer has changed. Its
// details are a map of session, kind and id.
func Conflict(session, kind, id string) error {
	detail := "session " + strconv.Quote(session) + ", " + kind + " " + strconv.Quote(id)
	e := host.NewError(host.Code(abi.CodeSessionConflict), detail, nil)
	e.Details = map[string]any{"session": session, "kind": kind, "id": id}
	return e
}

// AppendConflict is the E_SESSION_CONFLICT of an append. kind and id name what it would add: an "event" whose id the
// session has, or an "artifact" whose next version is another. Both are "" if another turn has appended before. Its
// details are a map of session, kind and id.
func AppendConflict(session, kind, id string) error {
	if kind != "" {
		return Conflict(session, kind, id)
	}
	e := host.NewError(host.Code(abi.CodeSessionConflict), "session "+strconv.Quote(session), nil)
	e.Details = map[string]any{"session": session}
	return e
}

// NoArtifact is the E_BYTES_NOT_FOUND of a version that an artifact does not have. Its details are a map of session,
// kind "artifact", id, version, and the scope if it is not the session's own.
func NoArtifact(session, scope, name string, version int) error {
	place := ""
	if scope != "" {
		place = ", scope " + strconv.Quote(scope)
	}
	what := fmt.Sprintf("session %q%s, artifact %q, version %d", session, place, name, version)
	e := host.NewError(host.Code(abi.CodeBytesNotFound), what, nil)
	details := map[string]any{"session": session, "kind": "artifact", "id": name, "version": int64(version)}
	if scope != "" {
		details["scope"] = scope
	}
	e.Details = details
	return e
}

// Fenced is the E_TURN_FENCED of a transaction with the epoch of a turn whose journal has another. Its details are a
// map of turn and epoch, the one that the journal has: 0 if it is not there.
func Fenced(turn string, epoch int64, why string) error {
	e := host.NewError(host.Code(abi.CodeTurnFenced), "turn "+strconv.Quote(turn)+": "+why, nil)
	e.Details = map[string]any{"turn": turn, "epoch": epoch}
	return e
}

// NoBytes is the E_BYTES_NOT_FOUND of an id under which a session has no bytes. Its details are a map of session and
// id.
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
