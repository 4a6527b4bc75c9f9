package invocations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/sessions"
)

// Who writes lines besides agents, plugins and tools.
const (
	byMain  = "main"
	byStore = "store"
)

// entry is a line with who has written it.
type entry struct {
	by   string
	line conformance.Line
}

// write adds a line, as JSON would read it.
func (g *game) write(by string, line conformance.Line) {
	line["by"] = by
	read, _ := short(plainOf(line.String())).(map[string]any)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, entry{by, read})
}

// short is a value as JSON reads it, whose long texts tell how long they are.
func short(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 4096 {
			return fmt.Sprintf("%.10s… %d", v, len(v))
		}
	case []any:
		for i := range v {
			v[i] = short(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = short(v[name])
		}
	}
	return v
}

// did writes that a step of the caller has ended.
func (g *game) did(what string, err error) {
	line := conformance.Line{"did": what}
	if err != nil {
		line["threw"] = described(err)
	}
	g.write(byMain, line)
}

func (g *game) event(e *sessions.Event) {
	g.write(byMain, conformance.Line{"event": plain(e), "final": e.IsFinalResponse()})
}

func (g *game) malformed(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.broken = errors.Join(g.broken, fmt.Errorf(format, args...))
}

// log is the log. Of code that runs at once it has what the caller and the store have written, and then the others', by
// their names; of such a scenario with a fault the former alone, as nobody can tell how far the others came.
func (g *game) log() conformance.Log {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := slices.Clone(g.lines)
	if faulty := g.Fault != (Fault{}); faulty || g.together() {
		place := func(e entry) string {
			if e.by == byMain || e.by == byStore {
				return ""
			}
			return e.by
		}
		slices.SortStableFunc(list, func(a, b entry) int { return strings.Compare(place(a), place(b)) })
		if faulty && g.together() {
			list = slices.DeleteFunc(list, func(e entry) bool { return place(e) != "" })
		}
	}
	var log conformance.Log
	for _, e := range list {
		log = append(log, e.line)
	}
	return log
}

// plain is a value as JSON would read it.
func plain(v any) any { return plainOf(plainText(v)) }

func plainText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // what Turncore gives can be encoded
	}
	return string(text)
}

func plainOf(text string) (v any) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

// brief is an event in words.
func brief(e *sessions.Event) string { return briefOf(plain(e)) }

// briefOf is an event in words, as JSON has read it.
func briefOf(v any) string {
	e, _ := v.(map[string]any)
	words := member[string](e, "author") + ":"
	if member[bool](e, "partial") {
		words = "…" + words
	}
	for _, v := range member[[]any](member[map[string]any](e, "content"), "parts") {
		part, _ := v.(map[string]any)
		call, response := member[map[string]any](part, "functionCall"), member[map[string]any](part, "functionResponse")
		switch {
		case call != nil:
			words += " call " + member[string](call, "name")
		case response != nil:
			words += " " + member[string](response, "name") + "="
			words += conformance.Line(member[map[string]any](response, "response")).String()
		case member[bool](part, "thought"):
			words += " ~" + member[string](part, "text")
		default:
			words += " " + member[string](part, "text")
		}
	}
	return words
}

// member is a member of a value that JSON has read, if it is of the type.
func member[T any](of map[string]any, name string) T {
	v, _ := of[name].(T)
	return v
}

// described is an error as lines have it.
func described(err error) map[string]any {
	if errors.Is(err, context.Canceled) {
		return map[string]any{"code": "aborted"}
	}
	var coded *host.Error
	if !errors.As(err, &coded) || coded.Code == "" || coded.Code == host.CodeToolDownstreamError {
		for errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		return map[string]any{"message": err.Error()}
	}
	v := map[string]any{"code": string(coded.Code), "message": coded.Message, "status": coded.Status}
	if coded.Fatal {
		v["fatal"] = true
	}
	if coded.Details != nil {
		v["details"] = plain(coded.Details)
	}
	return v
}
