package recording

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Thread returns the interactions of the first conversation's turn: the first request for chat completions, those that
// go on from it with the answers of tools, and those that repeat one which failed. Other requests, other conversations
// and what the user said later are left out.
func (r *Recording) Thread() (*Recording, error) {
	var chats []Interaction
	var lists [][]any // of their messages
	for _, it := range r.Interactions {
		if it.isChat() {
			var body any
			_ = json.Unmarshal(it.Request.Body, &body) // was read already
			list, _ := normalBody(body).(map[string]any)["messages"].([]any)
			chats, lists = append(chats, it), append(lists, list)
		}
	}
	if len(chats) == 0 {
		return nil, &InvalidError{"interactions", "must hold a POST of messages to an address that ends in " + suffix}
	}
	thread := &Recording{Name: r.Name, Origin: r.Origin, Interactions: chats[:1:1]}
	for at := 0; at >= 0; {
		if at = follower(chats, lists, at); at >= 0 {
			thread.Interactions = append(thread.Interactions, chats[at])
		}
	}
	return thread, nil
}

// follower returns the number of the request that goes on from another one, -1 for none: the first that goes on
// exactly, or else the first that has more of what tools answered.
func follower(chats []Interaction, lists [][]any, at int) int {
	from, failed := lists[at], chats[at].failed()
	for i := at + 1; i < len(lists); i++ {
		if n := len(from); len(lists[i]) >= n && reflect.DeepEqual(lists[i][:n], from) && goesOn(lists[i][n:], failed) {
			return i
		}
	}
	for i := at + 1; i < len(lists); i++ {
		if n := len(from); len(lists[i]) > n && reflect.DeepEqual(lists[i][:n], from) && isTurn(lists[i][n]) {
			continue
		}
		if toolMessages(lists[i]) > toolMessages(from) || failed && len(lists[i]) == len(from) {
			return i
		}
	}
	return -1
}

// goesOn tells whether messages behind those of a request belong to the same turn.
func goesOn(more []any, failed bool) bool {
	if len(more) == 0 {
		return failed
	}
	m, _ := more[0].(map[string]any)
	return m["role"] == "assistant" && m["tool_calls"] != nil || m["role"] == "tool"
}

// isTurn tells whether another turn goes on with a message: behind an answer in words, or with what the user says.
func isTurn(message any) bool {
	m, _ := message.(map[string]any)
	return m["role"] == "assistant" && m["tool_calls"] == nil || m["role"] == "user"
}

func toolMessages(list []any) (n int) {
	for _, v := range list {
		if m, _ := v.(map[string]any); m["role"] == "tool" {
			n++
		}
	}
	return n
}

// failed tells whether a response is one that a client may ask for again.
func (it *Interaction) failed() bool {
	s := it.Response
	return s.Status > 299 || !strings.Contains(s.Body, `"choices"`) || strings.Contains(s.Body, `"error"`)
}

// Retries returns how often the recorded client sent a request at most, and after which statuses it sent one again.
func (r *Recording) Retries() (attempts int, statuses []int) {
	attempts = 1
	run := 1
	for i := 1; i < len(r.Interactions); i++ {
		before := &r.Interactions[i-1]
		if run++; !before.failed() || len(items(requestOf(*before)["messages"])) != len(items(requestOf(r.Interactions[i])["messages"])) {
			run = 1
			continue
		}
		attempts = max(attempts, run)
		if s := before.Response.Status; s > 399 && !slices.Contains(statuses, s) {
			statuses = append(statuses, s)
		}
	}
	return attempts, statuses
}
