package sessions

import "strings"

// Key names a session of a store.
type Key struct {
	App     string // name of the application
	User    string // id of the user
	Session string // id of the session
}

// StoredID is the session's id in a store, by which [store.Export] takes it: application, user and session, joined by
// slashes. In names a slash is "%2F" and a percent sign "%25".
func (k Key) StoredID() string { return keyOf(k.App, k.User, k.Session) }

// ParseStoredID reads a session's id in a store. It reports false for an id that no service makes, such as that of a
// conversation of turns.
func ParseStoredID(id string) (Key, bool) {
	names := strings.Split(id, "/")
	if len(names) != 3 {
		return Key{}, false
	}
	k := Key{unescaped(names[0]), unescaped(names[1]), unescaped(names[2])}
	return k, k.App != "" && k.User != "" && k.Session != "" && k.StoredID() == id
}
