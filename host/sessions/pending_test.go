package sessions_test

import (
	"reflect"
	"testing"

	"github.com/turncore/turncore/host/sessions"
)

func ids(list []sessions.PendingCall) (ids []string) {
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestPendingCalls(t *testing.T) {
	calls := func(invocation, author string, ids ...string) *sessions.Event {
		e := &sessions.Event{ID: "of " + ids[0], InvocationID: invocation, Author: author, LongRunningToolIDs: ids, Content: &sessions.Content{}}
		for _, id := range ids {
			call := sessions.FunctionCall{ID: id, Name: "send", Args: map[string]any{"to": "Ada"}}
			e.Content.Parts = append(e.Content.Parts, sessions.Part{FunctionCall: &call})
		}
		return e
	}
	answer := func(author, id string) *sessions.Event {
		return &sessions.Event{Author: author, Content: sessions.Answer(id, "send", map[string]any{"sent": true})}
	}
	rewind := func(invocation string) *sessions.Event {
		return &sessions.Event{Author: "system", Actions: sessions.Actions{RewindBeforeInvocationID: invocation}}
	}
	quick := calls("1", "clerk", "quick")
	quick.LongRunningToolIDs = nil
	for _, c := range []struct {
		name   string
		events []*sessions.Event
		want   []string
	}{
		{"none", nil, nil},
		{"a call that does not wait", []*sessions.Event{quick}, nil},
		{"calls wait in order", []*sessions.Event{calls("1", "clerk", "b", "a"), calls("2", "clerk", "c")}, []string{"b", "a", "c"}},
		{"an interim result", []*sessions.Event{calls("1", "clerk", "a"), answer("clerk", "a")}, []string{"a"}},
		{"an answer", []*sessions.Event{calls("1", "clerk", "a", "b"), answer("user", "a")}, []string{"b"}},
		{"an answer to nothing", []*sessions.Event{answer("user", "a"), calls("1", "clerk", "a")}, []string{"a"}},
		{"rewound", []*sessions.Event{calls("1", "clerk", "a"), calls("2", "clerk", "b"), calls("3", "clerk", "c"), rewind("2")}, []string{"a"}},
		{"rewound to nowhere", []*sessions.Event{calls("1", "clerk", "a"), rewind("2")}, []string{"a"}},
	} {
		if got := ids(sessions.PendingCalls(c.events)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}

	asked := calls("1", "clerk", "a")
	asked.Actions.RequestedConfirmations = map[string]sessions.Confirmation{"a": {Hint: "Sure?", Name: "send", Args: map[string]any{"to": "Bob"}}}
	got := sessions.PendingCalls([]*sessions.Event{asked})
	want := []sessions.PendingCall{{
		ID: "a", Name: "send", Args: map[string]any{"to": "Bob"}, Author: "clerk", InvocationID: "1", EventID: "of a",
		Confirmation: &sessions.Confirmation{Hint: "Sure?", Name: "send", Args: map[string]any{"to": "Bob"}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestKeys(t *testing.T) {
	k := sessions.Key{App: "a/b", User: "50%", Session: "x%2Fy"}
	if id := k.StoredID(); id != "a%2Fb/50%25/x%252Fy" {
		t.Errorf("the id is %s", id)
	}
	if got, ok := sessions.ParseStoredID(k.StoredID()); !ok || got != k {
		t.Errorf("%+v %v", got, ok)
	}
	for _, id := range []string{"", "default", "a/b", "a/b/c/d", "a//c", "a/b%/c"} {
		if got, ok := sessions.ParseStoredID(id); ok {
			t.Errorf("%q is %+v", id, got)
		}
	}
}
