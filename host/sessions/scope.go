package sessions

import "strings"

// Scopes of the state in stores: SPEC.md, "State".
func appScope(app string) string        { return "app/" + escaped(app) }
func userScope(app, user string) string { return "user/" + escaped(app) + "/" + escaped(user) }

// keyOf is the id of a session in the store. A session of another user is another one, whatever its id.
func keyOf(app, user, id string) string {
	return escaped(app) + "/" + escaped(user) + "/" + escaped(id)
}

// keysOf is what the ids of a user's sessions in the store begin with.
func keysOf(app, user string) string { return escaped(app) + "/" + escaped(user) + "/" }

var (
	escaper   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescaper = strings.NewReplacer("%25", "%", "%2F", "/")
)

func escaped(name string) string   { return escaper.Replace(name) }
func unescaped(name string) string { return unescaper.Replace(name) }

// Prefixes of names of the state.
const (
	appPrefix  = "app:"
	userPrefix = "user:"
)

// prefixOf is what names of a scope of the store begin with in a session's state.
func prefixOf(scope string) string {
	switch {
	case scope == "":
		return ""
	case strings.HasPrefix(scope, "app/"):
		return appPrefix
	}
	return userPrefix
}
