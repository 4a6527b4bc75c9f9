package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/sse"
	"github.com/turncore/turncore/host/turns"
)

// maxID is how many UTF-16 code units a turn's id has at most, as in JavaScript.
const maxID = 256

// invalidRequest is the error for a request that breaks the rules.
func invalidRequest(why string, status int) error {
	err := host.NewError(host.CodeTurnRequestInvalid, why, nil)
	err.Status = status
	return err
}

// readBody reads the JSON object in a request.
func readBody(w http.ResponseWriter, r *http.Request, most int64) (map[string]json.RawMessage, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, invalidRequest(fmt.Sprintf("the body is over the limit of %d bytes", most), http.StatusRequestEntityTooLarge)
	case err != nil:
		return nil, invalidRequest("the body ends too early", http.StatusBadRequest)
	case !json.Valid(text):
		return nil, invalidRequest("the body must be JSON", http.StatusBadRequest)
	}
	var body map[string]json.RawMessage
	if json.Unmarshal(text, &body) != nil || body == nil {
		return nil, invalidRequest("the body must be a JSON object", http.StatusBadRequest)
	}
	return body, nil
}

// turnIDIn is the turn's id in a body; a fresh one if there is none.
func turnIDIn(body map[string]json.RawMessage) (string, error) {
	given, there := body["turnId"]
	if !there {
		return newTurnID(), nil
	}
	if id, ok := text(given); ok && id != "" && len(utf16.Encode([]rune(id))) <= maxID {
		return id, nil
	}
	return "", invalidRequest(fmt.Sprintf("`turnId` must be a string of 1 to %d characters", maxID), http.StatusBadRequest)
}

func newTurnID() string { return host.NewTurnID(host.SystemClock(), host.SystemEntropy()) }

// messageInput is the input of a turn unless the server's options say otherwise.
func messageInput(_ *http.Request, body map[string]json.RawMessage) (turns.Input, error) {
	message, ok := text(body["message"])
	if !ok || message == "" {
		return turns.Input{}, invalidRequest("`message` must be a string that is not empty", http.StatusBadRequest)
	}
	in := turns.Input{Message: message}
	if given, there := body["sessionId"]; there {
		if in.Session, ok = text(given); !ok {
			return turns.Input{}, invalidRequest("`sessionId` must be a string", http.StatusBadRequest)
		}
	}
	if name, found := unknownIn(body, "message", "sessionId", "turnId"); found {
		why := "`" + name + "` is not known: a turn has `message`, `sessionId` and `turnId`"
		return turns.Input{}, invalidRequest(why, http.StatusBadRequest)
	}
	return in, nil
}

// unknownIn is the first member of a body that is not among known, by name.
func unknownIn(body map[string]json.RawMessage, known ...string) (name string, found bool) {
	for each := range body {
		if !slices.Contains(known, each) && (!found || each < name) {
			name, found = each, true
		}
	}
	return name, found
}

// text is a JSON string; ok is false for other JSON.
func text(given json.RawMessage) (s string, ok bool) {
	var p *string
	if json.Unmarshal(given, &p) != nil || p == nil {
		return "", false
	}
	return *p, true
}

// settlementOf is how a request wants a gate to be settled.
func settlementOf(answer map[string]json.RawMessage) (func(event.OpenGate) error, error) {
	value, hasValue := answer["value"]
	reason, hasError := answer["error"]
	abort, hasAbort := answer["abort"]
	shown, hasDigest := answer["digest"]
	digest, isText := text(shown)
	given := 0
	for _, has := range []bool{hasValue, hasError, hasAbort} {
		if has {
			given++
		}
	}
	bad := func(why string) (func(event.OpenGate) error, error) {
		return nil, invalidRequest(why, http.StatusBadRequest)
	}
	unknown, hasUnknown := unknownIn(answer, "value", "digest", "error", "abort")
	switch {
	case hasUnknown:
		return bad("`" + unknown + "` is not known: an answer has `value` and `digest`, `error`, or `abort`")
	case given != 1:
		return bad("an answer has exactly one of `value`, `error` and `abort`")
	case hasDigest && !isText:
		return bad("`digest` must be a string")
	case hasDigest && !hasValue:
		return bad("`digest` binds a `value`: it has no meaning without one")
	case hasValue && hasDigest:
		return func(g event.OpenGate) error { return g.ResolveShown(value, digest) }, nil
	case hasValue:
		return func(g event.OpenGate) error { return g.Resolve(value) }, nil
	case hasAbort && string(abort) != "true":
		return bad("`abort` must be true")
	case hasAbort:
		return event.OpenGate.Abort, nil
	}
	err, ok := sse.ErrorFromJSON(reason)
	if !ok {
		return bad("`error` must have a `code` and a `message`")
	}
	return func(g event.OpenGate) error { return g.Reject(err) }, nil
}

// eventIDIn is the number of the last event that the client has; 0 for none.
func eventIDIn(header http.Header) (uint32, error) {
	given := strings.TrimSpace(header.Get("Last-Event-ID"))
	if given == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(given, 10, 32)
	if err != nil {
		return 0, invalidRequest("the header Last-Event-ID must be the number of an event", http.StatusBadRequest)
	}
	return uint32(id), nil
}

// gateSettled is the error for a gate that is settled.
func gateSettled(result string) error {
	err := host.NewError(host.CodeTurnGateSettled, result, nil)
	err.Details = map[string]any{"result": result}
	return err
}

// headerCharacters are those of headers' names, by RFC 9110.
const headerCharacters = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checkHeader fails with E_INVALID_VALUE for a name or a value that no header has: net/http would drop them.
func checkHeader(field string, header http.Header) error {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name == "" || strings.Trim(name, headerCharacters) != "" {
			return invalidValue(field, "has the name "+strconv.Quote(name)+", which no header has")
		}
		for _, value := range header[name] {
			if strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
				return invalidValue(field+"["+strconv.Quote(name)+"]", "has a value that no header has")
			}
		}
	}
	return nil
}

func invalidValue(field, why string) error {
	err := host.NewError(host.CodeInvalidValue, field+": "+why, nil)
	err.Details = map[string]any{"field": field}
	return err
}
