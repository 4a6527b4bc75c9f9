package recording

import (
	"encoding/json"
	"regexp"
	"slices"
)

// Answers gives each tool call the result that the recording holds for it, and says what the recorded client said
// behind the results.
type Answers struct {
	requests [][]Call // by the number of the request that holds them
	used     [][]bool
	said     [][]Entry
}

// Answers returns the tool calls that each request holds beside those of the request before it, with their results, and
// what stands behind those.
func (r *Recording) Answers() *Answers {
	a := &Answers{}
	before := 0
	for n, it := range r.Interactions {
		messages := messagesOf(it.Request.Body)
		from := before
		if n == 0 {
			from = len(messages)
		} else if len(messages) < before { // it was shortened: the last answer with calls is the one
			for from = len(messages); from > 0 && len(messages[max(from, 1)-1].calls) == 0; from-- {
			}
			from = max(from-1, 0)
		}
		var calls []Call
		for _, group := range answered(messages[from:]) {
			for _, call := range group {
				if call.Answered {
					calls = append(calls, call)
				}
			}
		}
		a.requests, a.used = append(a.requests, calls), append(a.used, make([]bool, len(calls)))
		a.said = append(a.said, saidBehind(messages, from))
		before = len(messages)
	}
	return a
}

// saidBehind are the messages of the user that stand at the end, behind results of tools that are not before from.
func saidBehind(messages []message, from int) (list []Entry) {
	at := len(messages)
	for at > from && messages[at-1].role == "user" {
		at--
	}
	if at == from || messages[at-1].role != "tool" {
		return nil
	}
	for i, m := range messages[at:] {
		if m.text != "" || len(m.media) > 0 {
			list = append(list, Entry{Message: at + i, Role: m.role, Name: m.name, Content: m.text, Media: m.media})
		}
	}
	return list
}

// Said returns what the recorded client has the user say before request n, from 0, behind the results of tools: media
// that tools returned, say, or what to do better. It is told once.
func (a *Answers) Said(n int) (list []Entry) {
	if n >= 0 && n < len(a.said) {
		list, a.said[n] = a.said[n], nil
	}
	return list
}

// Take returns the result that request n, from 0, holds for a call of the answer before it: of the first call of the
// tool with equal arguments that was not taken yet, or else of the tool's first one, since clients may write arguments
// anew. ok is false when there is none.
func (a *Answers) Take(n int, tool string, args json.RawMessage) (result string, ok bool) {
	if n < 0 || n >= len(a.requests) {
		return "", false
	}
	for _, equal := range []bool{true, false} {
		for i, c := range a.requests[n] {
			if !a.used[n][i] && c.Tool == tool && (!equal || sameJSON(c.Args, args)) {
				a.used[n][i] = true
				return c.Result, true
			}
		}
	}
	return "", false
}

// named finds what may be the names of called tools in a response.
var named = regexp.MustCompile(`"name" ?: ?"([^"\\]{1,128})"`)

// Called returns the names of the tools that the conversation's answers call, in order, each once. Among them may be
// names of something else.
func (r *Recording) Called() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) && len(names) < maxCalled {
			names = append(names, name)
		}
	}
	for _, it := range r.Interactions {
		for _, m := range messagesOf(it.Request.Body) {
			for _, c := range m.calls {
				add(c.Tool)
			}
		}
	}
	for _, it := range r.Interactions {
		for _, found := range named.FindAllStringSubmatch(it.Response.Body, -1) {
			add(found[1])
		}
	}
	return names
}

// maxCalled bounds the names of tools.
const maxCalled = 128
