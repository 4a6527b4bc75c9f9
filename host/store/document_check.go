package store

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/check"
)

// form says what members of a map must be: a kind, another form for a map, or a listOf. What it does not name may be
// anything.
type form map[string]any

// listOf is the form of a list.
type listOf struct{ element any }

// kind is the form of a value without parts: "string", "boolean" or "integer".
type kind string

// has tells whether a value is of the kind.
func (k kind) has(v []byte) bool {
	switch value.KindOf(v) {
	case value.KindString:
		return k == "string"
	case value.KindBool:
		return k == "boolean"
	case value.KindInt:
		return k == "integer"
	}
	return false
}

// String says what a value must be.
func (k kind) String() string {
	if k == "integer" {
		return "must be an integer"
	}
	return "must be a " + string(k)
}

// encoded tells whether bytes are a value that a frame can hold.
func encoded(v []byte) bool { return value.Fits(v, abi.MaxDepth, abi.MaxArray) }

// wrongEvent says why a body is not that of the event of an id; "" for none.
func wrongEvent(id string, body []byte) string {
	if !encoded(body) || value.KindOf(body) != value.KindMap {
		return "it is not the encoding of an event"
	}
	if why := wrongIn("", eventForm, body); why != "" {
		return why
	}
	if own, _ := value.GetString(body, "id"); string(own) != id {
		return "id: it is not " + string(quoted(id))
	}
	return ""
}

// ownEvent is the body of an event without the artifacts of the user, which a session's document does not have: in
// another store they have other versions, or none. What is no event is as it was.
func ownEvent(body []byte) []byte {
	if !encoded(body) {
		return body
	}
	own := func(name string, v []byte) []byte {
		if strings.HasPrefix(name, "user:") {
			return nil
		}
		return v
	}
	for _, member := range []string{"artifactDelta", "actions"} {
		within := own
		own = func(name string, v []byte) []byte {
			if name == member {
				return keptIn(v, within)
			}
			return v
		}
	}
	if kept := keptIn(body, own); kept != nil {
		return kept
	}
	return body
}

// keptIn is a value that is well-formed; a map with what keep gives for each member in place of its value, and without
// the members for which it gives nil. It is nil if no member is left of some.
func keptIn(v []byte, keep func(name string, v []byte) []byte) []byte {
	if value.KindOf(v) != value.KindMap {
		return v
	}
	n, same := 0, true
	var members []byte
	_ = value.Each(v, func(name, v []byte) bool { // it was checked
		kept := keep(string(name), v)
		same = same && bytes.Equal(kept, v)
		if kept != nil {
			n, members = n+1, append(value.AppendText(members, name), kept...)
		}
		return true
	})
	switch {
	case same:
		return v
	case n == 0:
		return nil
	}
	return append(value.AppendMapHeader(nil, n), members...)
}

// wrongArtifact says why a body is not that of an artifact's version; "" for none.
func wrongArtifact(body []byte) string {
	if !encoded(body) || value.KindOf(body) != value.KindMap {
		return "it is not the encoding of a map"
	}
	return wrongIn("", artifactForm, body)
}

// wrongIn says what is not of its form in a value that is well-formed; "" for nothing. nil is of every form.
func wrongIn(at string, want any, v []byte) (why string) {
	have := value.KindOf(v)
	if have == value.KindNil {
		return ""
	}
	switch want := want.(type) {
	case form:
		if have != value.KindMap {
			return at + ": must be a map"
		}
		_ = value.Each(v, func(key, v []byte) bool { // it was checked
			if of, known := want[string(key)]; known {
				why = wrongIn(strings.TrimPrefix(at+"."+string(key), "."), of, v)
			}
			return why == ""
		})
	case listOf:
		if have != value.KindList {
			return at + ": must be a list"
		}
		_ = value.EachItem(v, func(i int, v []byte) bool {
			why = wrongIn(fmt.Sprintf("%s[%d]", at, i), want.element, v)
			return why == ""
		})
	case kind:
		if !want.has(v) {
			return at + ": " + want.String()
		}
	}
	return why
}

// wrongName says why a value of a session's own state cannot have a name; "" for nothing.
func wrongName(name string) string {
	why := check.StateName(name)
	if why == "" && check.ScopeOf(name) != "" {
		why = "a session's own state has no scopes"
	}
	return why
}

// wrongValue says why a state cannot have a value that makes it so large; "" for nothing.
func wrongValue(v []byte, size int) string {
	switch {
	case !encoded(v):
		return "it is not the encoding of a value"
	case len(v) > abi.MaxStateValue:
		return fmt.Sprintf("a value has at most %d bytes", abi.MaxStateValue)
	case size > abi.MaxState:
		return fmt.Sprintf("the state has at most %d bytes", abi.MaxState)
	}
	return ""
}
