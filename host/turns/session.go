package turns

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/store"
)

// SessionKey is the key of the session in a turn's stash.
const SessionKey = "sessionId"

// DefaultSession is the session of turns that name none.
const DefaultSession = "default"

// sessionOf returns the session that a context belongs to. It refuses an invalid id, which must not select another
// session.
func sessionOf(ctx Context) (string, error) {
	v, _ := ctx.Stash().Get(SessionKey)
	if v == nil {
		return DefaultSession, nil
	}
	session, ok := v.(string)
	if !ok {
		return "", newError(abi.CodeInvalidSessionID, "stash."+SessionKey+": must be a string", nil)
	}
	return sessionNamed("stash."+SessionKey, session)
}

// sessionNamed returns the session of an id, which goes by a field's name in the error of a bad one.
func sessionNamed(field, id string) (string, error) {
	if id == "" {
		return DefaultSession, nil
	}
	return id, store.CheckSessionID(field, id)
}
