package store

import (
	"fmt"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/check"
)

// What members of events must be. JavaScript has the same table and says the same.
const (
	wantString  = "must be a string"
	wantBoolean = "must be a boolean"
	wantInteger = "must be an integer"
	wantMap     = "must be a map"
	wantList    = "must be a list"
)

// wantedKinds are the kinds that members of no parts must have.
var wantedKinds = map[any]value.Kind{
	wantString: value.KindString, wantBoolean: value.KindBool, wantInteger: value.KindInt,
}

// form says what members of a map must be: one of the constants, another form for a map, or a listOf.
type form map[string]any

// listOf is the form of a list.
type listOf struct{ element any }

// eventForm is the form of an event. What it does not name may be anything.
var eventForm = form{
	"id":           wantString,
	"invocationId": wantString,
	"author":       wantString,
	"timestamp":    wantInteger,
	"branch":       wantString,
	"content":      form{"role": wantString, "parts": listOf{form{"text": wantString, "thought": wantBoolean}}},
	"partial":      wantBoolean, "turnComplete": wantBoolean, "interrupted": wantBoolean,
	"finishReason": wantString, "errorCode": wantString, "errorMessage": wantString,
	"usage":              form{},
	"longRunningToolIds": listOf{wantString},
	"customMetadata":     form{},
	"actions": form{
		"stateDelta": form{}, "artifactDelta": form{}, "requestedConfirmations": form{}, "compaction": form{},
		"skipSummarization": wantBoolean, "escalate": wantBoolean,
		"transferToAgent": wantString, "rewindBeforeInvocationId": wantString,
	},
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

// wrongArtifact says why a body is not that of an artifact's version; "" for none.
func wrongArtifact(body []byte) string {
	if !encoded(body) || value.KindOf(body) != value.KindMap {
		return "it is not the encoding of a map"
	}
	return wrongIn("", form{"mimeType": wantString}, body)
}

// wrongIn says what is not of its form in a value that is well-formed; "" for nothing. nil is of every form.
func wrongIn(at string, want any, v []byte) (why string) {
	kind := value.KindOf(v)
	if kind == value.KindNil {
		return ""
	}
	switch want := want.(type) {
	case form:
		if kind != value.KindMap {
			return at + ": " + wantMap
		}
		_ = value.Each(v, func(key, v []byte) bool { // it was checked
			if of, known := want[string(key)]; known {
				why = wrongIn(strings.TrimPrefix(at+"."+string(key), "."), of, v)
			}
			return why == ""
		})
	case listOf:
		if kind != value.KindList {
			return at + ": " + wantList
		}
		_ = value.EachItem(v, func(i int, v []byte) bool {
			why = wrongIn(fmt.Sprintf("%s[%d]", at, i), want.element, v)
			return why == ""
		})
	default:
		if kind != wantedKinds[want] {
			return at + ": " + want.(string)
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
