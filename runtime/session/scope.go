package session

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/suggestion"
)

// ScopeKind says who shares a value of the state.
type ScopeKind uint8

// Scopes of the state.
const (
	ScopeSession ScopeKind = iota // the session's own
	ScopeApp                      // all sessions of the application
	ScopeUser                     // all sessions of the user
	ScopeTemp                     // the invocation; never stored
)

// scopes are the prefixes of names, by kind.
var scopes = [...]string{ScopeApp: "app:", ScopeUser: "user:", ScopeTemp: "temp:"}

// Bounds of the state.
const (
	MaxName  = 512     // bytes of a name, with its scope
	MaxValue = 1 << 20 // bytes of a value, encoded
	MaxState = 8 << 20 // bytes of all values and names that an invocation sees
)

// Scope splits a name of the state into its scope and the name without it.
func Scope(name string) (scope ScopeKind, rest string) {
	for kind := ScopeApp; kind <= ScopeTemp; kind++ {
		if n := len(scopes[kind]); len(name) >= n && name[0] == scopes[kind][0] && name[:n] == scopes[kind] {
			return kind, name[n:]
		}
	}
	return ScopeSession, name
}

// CheckName fails with E_INVALID_STATE if name cannot be that of a value: if it is empty or too long, or if its scope
// looks like a misspelled one.
func CheckName(name string) error { return checkName(name).error() }

func checkName(name string) *flaw {
	wrong := ""
	scope, rest := Scope(name)
	if meant := meantScope(name); meant != "" {
		wrong = "a scope is app:, user: or temp:; did you mean " + strconv.Quote(meant) + "?"
	}
	switch {
	case rest == "":
		wrong = "a name must not be empty"
	case len(name) > MaxName:
		wrong = "a name has at most " + strconv.Itoa(MaxName) + " bytes"
	case scope != ScopeSession:
		return nil
	}
	if wrong == "" {
		return nil
	}
	return (&flaw{code: InvalidState, what: wrong}).in(name)
}

// meantScope returns the name that was probably meant by one whose scope is not known, or an empty string.
func meantScope(name string) string {
	if rest, ok := strings.CutPrefix(name, "temp_"); ok {
		return scopes[ScopeTemp] + rest
	}
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || len(prefix) > 8 {
		return ""
	}
	for _, scope := range scopes[ScopeApp:] {
		if prefix += ":"; suggestion.Typos(prefix, scope) <= 1 {
			return scope + rest
		}
		prefix = prefix[:len(prefix)-1]
	}
	return ""
}

// check checks a change of the state.
func (m *Member) check() *flaw {
	if f := checkName(m.Name); f != nil {
		return f
	}
	if len(m.Value) > MaxValue {
		f := &flaw{code: InvalidState, what: "a value has at most " + strconv.Itoa(MaxValue) + " bytes"}
		return f.in(m.Name)
	}
	return nil
}

// scope is that of the name.
func (m *Member) scope() ScopeKind {
	scope, _ := Scope(m.Name)
	return scope
}

// escaped makes a name part of a path.
func escaped(name string) string {
	return strings.Replace(strings.Replace(name, "%", "%25", -1), "/", "%2F", -1)
}

// AppScope is the store's scope of the state that all sessions of an application share.
func AppScope(app string) string { return "app/" + escaped(app) }

// UserScope is the store's scope of the state that all sessions of an application's user share.
func UserScope(app, user string) string { return "user/" + escaped(app) + "/" + escaped(user) }

// Change is a change of a value in a store.
type Change struct {
	Scope string // the store's; empty for the session's own
	Name  string // without the scope
	Value []byte // nil deletes
}

// Changes returns what changes of the state are to a store. Those of the scope temp are left out.
func Changes(app, user string, delta []Member) []Change {
	var list []Change
	for i := range delta {
		m := &delta[i]
		c := Change{Value: m.Value}
		if value.KindOf(c.Value) <= value.KindNil {
			c.Value = nil
		}
		scope, name := Scope(m.Name)
		c.Name = name
		switch scope {
		case ScopeApp:
			c.Scope = AppScope(app)
		case ScopeUser:
			c.Scope = UserScope(app, user)
		case ScopeTemp:
			continue
		}
		list = append(list, c)
	}
	return list
}

// Persistent returns the changes that a store keeps: all but those of the scope temp.
func Persistent(delta []Member) []Member {
	var list []Member
	for i := range delta {
		if m := &delta[i]; m.scope() != ScopeTemp {
			list = addMember(list, m.Name, m.Value)
		}
	}
	return list
}

// ArtifactChange is a version of an artifact in a store.
type ArtifactChange struct {
	Scope   string // the store's; empty for the session's own
	Name    string // without the scope
	Version uint32
}

// Artifacts returns what versions of artifacts are to a store. Names that begin with user: are shared by the user's
// sessions.
func Artifacts(app, user string, delta []ArtifactVersion) []ArtifactChange {
	var list []ArtifactChange
	for i := range delta {
		v := &delta[i]
		c := ArtifactChange{Name: v.Name, Version: v.Version}
		if rest, ok := strings.CutPrefix(v.Name, scopes[ScopeUser]); ok {
			c.Scope, c.Name = UserScope(app, user), rest
		}
		list = append(list, c)
	}
	return list
}
