package turns

import (
	"strconv"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
)

// SessionKey is the key of the session in a turn's stash.
const SessionKey = "sessionId"

// DefaultSession is the session of turns that name none.
const DefaultSession = "default"

// maxSessionID is the most that the id of a session may take, in bytes of UTF-8.
const maxSessionID = 512

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
	switch {
	case id == "":
		return DefaultSession, nil
	case len(id) > maxSessionID:
		return "", newError(abi.CodeInvalidSessionID, field+": has "+strconv.Itoa(len(id))+" bytes, more than "+strconv.Itoa(maxSessionID), nil)
	case !utf8.ValidString(id):
		return "", newError(abi.CodeInvalidSessionID, field+": must be valid UTF-8", nil)
	}
	return id, nil
}
