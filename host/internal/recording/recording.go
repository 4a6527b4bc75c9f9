// Package recording plays recorded conversations with chat completions providers: it reads the file, finds the requests
// of the first conversation in it, says what that conversation was (system prompt, history, user message, tools),
// serves the recorded responses over loopback HTTP, and tells how the requests it gets differ in meaning from the
// recorded ones.
package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Recording is a recorded conversation.
type Recording struct {
	Name         string        `json:"name"`
	Origin       string        `json:"origin"`
	Interactions []Interaction `json:"interactions"`
}

// Interaction is a request and its response.
type Interaction struct {
	Request struct {
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body"` // null for a request without one
	} `json:"request"`
	Response struct {
		Status      int    `json:"status"`
		ContentType string `json:"contentType"`
		Body        string `json:"body"`
	} `json:"response"`
}

// InvalidError says which field of a recording is not what it must be.
type InvalidError struct {
	Field   string // such as interactions[0].response.status
	Problem string
}

// Error is the field and what is wrong with it.
func (e *InvalidError) Error() string { return e.Field + " " + e.Problem }

// Load reads a recording from a file. What the file holds is an [InvalidError] if it is no recording.
func Load(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := parse(bytes.TrimPrefix(text, []byte("\ufeff")))
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	return r, nil
}

func parse(text []byte) (*Recording, error) {
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		return nil, &InvalidError{"the file", "is no JSON: " + err.Error()}
	}
	top, ok := members(text)
	if !ok {
		return nil, &InvalidError{"the file", "must hold an object"}
	}
	r := &Recording{Name: str(top["name"]), Origin: str(top["origin"])}
	list := items(top["interactions"])
	if len(list) == 0 {
		return nil, &InvalidError{"interactions", "must be a list that is not empty"}
	}
	for i, raw := range list {
		it, err := readInteraction(raw, fmt.Sprintf("interactions[%d]", i))
		if err != nil {
			return nil, err
		}
		r.Interactions = append(r.Interactions, it)
	}
	return r, nil
}

func readInteraction(raw json.RawMessage, field string) (it Interaction, err error) {
	both, ok := members(raw)
	if !ok {
		return it, &InvalidError{field, "must be an object"}
	}
	request, ok := members(both["request"])
	if !ok {
		return it, &InvalidError{field + ".request", "must be an object"}
	}
	response, ok := members(both["response"])
	if !ok {
		return it, &InvalidError{field + ".response", "must be an object"}
	}
	for _, f := range []struct {
		from map[string]json.RawMessage
		name string
		to   *string
	}{
		{request, "request.method", &it.Request.Method},
		{request, "request.url", &it.Request.URL},
		{response, "response.contentType", &it.Response.ContentType},
	} {
		_, key, _ := strings.Cut(f.name, ".")
		if v := f.from[key]; len(v) > 0 && json.Unmarshal(v, f.to) != nil {
			return it, &InvalidError{field + "." + f.name, "must be a string"}
		}
	}
	if it.Response.Body, ok = bodyText(response["body"]); !ok {
		return it, &InvalidError{field + ".response.body", "must be a string, or JSON of an object or a list"}
	}
	if strings.ContainsFunc(it.Response.ContentType, func(c rune) bool { return c < ' ' || c > '~' }) {
		return it, &InvalidError{field + ".response.contentType", "must be what a header can hold"}
	}
	var status float64
	err = json.Unmarshal(response["status"], &status)
	if it.Response.Status = int(status); err != nil || status < 200 || status > 599 || float64(it.Response.Status) != status {
		return it, &InvalidError{field + ".response.status", "must be a whole number from 200 to 599"}
	}
	it.Request.Body = request["body"]
	if inner := json.RawMessage(str(it.Request.Body)); json.Valid(inner) {
		it.Request.Body = inner // JSON in a string
	}
	if len(it.Request.Body) == 0 {
		it.Request.Body = json.RawMessage("null")
	}
	return it, nil
}

// bodyText is the text of a response's body, which some recorders have taken apart.
func bodyText(raw json.RawMessage) (body string, ok bool) {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil || v == nil {
		return "", true
	}
	switch v := v.(type) {
	case string:
		return v, true
	case map[string]any, []any:
		return string(text(v)), true
	}
	return "", false
}

// members reads an object; ok is false when it is none.
func members(raw json.RawMessage) (m map[string]json.RawMessage, ok bool) {
	return m, json.Unmarshal(raw, &m) == nil && m != nil
}

// items reads a list, nil for anything else.
func items(raw json.RawMessage) (list []json.RawMessage) {
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// str reads a string, "" for anything else.
func str(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
