package sessions

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"github.com/turncore/turncore/host"
)

// inSession is an error of the store which names a session as its users know it. key is the session's id in the store.
func inSession(err error, key string) error {
	var e *host.Error
	if !errors.As(err, &e) {
		return err
	}
	details, ok := e.Details.(map[string]any)
	k, stored := ParseStoredID(key)
	if !ok || !stored || details["session"] != key {
		return err
	}
	named := *e
	details = maps.Clone(details)
	details["session"], details["user"] = k.Session, k.User
	named.Details, named.Message = details, strings.Replace(e.Message, strconv.Quote(key), strconv.Quote(k.Session), 1)
	return &named
}
