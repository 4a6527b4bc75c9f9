package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/session"
)

func changed(invocation, state string) string {
	return fmt.Sprintf(`{author: "a", invocationId: "%s", actions: {stateDelta: %s}}`, invocation, state)
}

func shown(t *testing.T, delta []session.Member) string {
	t.Helper()
	var parts []string
	for _, m := range delta {
		parts = append(parts, m.Name+"="+show(t, m.Value))
	}
	return strings.Join(parts, " ")
}

// Scenario 28: the state is as after the invocation before, what the session was created with included.
func TestRewindBefore(t *testing.T) {
	l := logOf(t, `{author: "system", actions: {stateDelta: {init: 1, kept: "x"}}}`,
		changed("i1", `{a: 1, b: 1, "user:u": 1}`), changed("i2", `{a: 2, c: 2, init: 2, "app:x": 2, "user:u": 2}`),
		"i2 a: nothing", changed("i3", `{b: null, c: null, d: {e: 1}, init: null}`))
	for invocation, want := range map[string]string{
		"i1": `a=null d=null init=1`, // b and c have no value as it is
		"i2": `a=1 b=1 d=null init=1`,
		"i3": `b=1 c=2 d=null init=2`,
	} {
		delta, err := l.RewindBefore(invocation)
		if err != nil || shown(t, delta) != want {
			t.Errorf("before %s: %s, want %s: %v", invocation, shown(t, delta), want, err)
		}
	}
	for _, invocation := range []string{"i4", ""} {
		_, err := l.RewindBefore(invocation)
		wantError(t, err, session.InvocationNotFound, "rewindBeforeInvocationId")
	}
}

// After a rewind the undone invocations are gone, and one can go back further.
func TestRewindAfterRewind(t *testing.T) {
	l := logOf(t, changed("i1", `{a: 1}`), changed("i2", `{a: 2, b: 2}`), changed("i3", `{a: 3}`))
	rewind := func(invocation, id string) {
		t.Helper()
		delta, err := l.RewindBefore(invocation)
		if err != nil {
			t.Fatal(err)
		}
		e := &session.Event{Author: "user", InvocationID: id}
		e.Actions.StateDelta, e.Actions.RewindBefore = delta, invocation
		if err := l.Add(e.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	rewind("i2", "r1")
	for _, gone := range []string{"i2", "i3", "r1"} {
		_, err := l.RewindBefore(gone)
		wantError(t, err, session.InvocationNotFound, "rewindBeforeInvocationId")
	}
	add(t, l, changed("i4", `{a: 4, c: 4}`))
	if delta, err := l.RewindBefore("i4"); err != nil || shown(t, delta) != "a=1 c=null" {
		t.Errorf("before i4: %s: %v", shown(t, delta), err)
	}
	if delta, err := l.RewindBefore("i1"); err != nil || shown(t, delta) != "a=null c=null" {
		t.Errorf("before i1: %s: %v", shown(t, delta), err)
	}
	rewind("i1", "r2")
	if n := len(l.Contents(session.View{Agent: "a"})); n != 0 {
		t.Errorf("%d contents", n)
	}
	_, err := l.RewindBefore("i1")
	wantError(t, err, session.InvocationNotFound, "rewindBeforeInvocationId")
}

// The state after a rewind is that before the invocation, in random sessions that go back now and then.
func TestRewindOnRandomLogs(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		l := &session.Log{}
		state, err := session.NewState(nil)
		if err != nil {
			t.Fatal(err)
		}
		store := func(e *session.Event) {
			t.Helper()
			if err := l.Add(e.Append(nil)); err != nil {
				t.Fatal(err)
			}
			if err := state.Apply(e.Actions.StateDelta); err != nil {
				t.Fatal(err)
			}
		}
		random := func() []session.Member {
			var list []string
			for _, name := range r.Perm(4)[:r.IntN(4)] {
				v := fmt.Sprint(r.IntN(3))
				if v == "2" {
					v = "null"
				}
				list = append(list, fmt.Sprintf("k%d: %s", name, v))
			}
			return parse(t, `{actions: {stateDelta: {`+strings.Join(list, ", ")+`}}}`).Actions.StateDelta
		}
		store(&session.Event{Author: "system", Actions: session.Actions{StateDelta: random()}})
		var ids, states []string // of the invocations that were not undone, and before each
		for i := range 25 {
			if len(ids) > 0 && r.IntN(4) == 0 {
				k := r.IntN(len(ids))
				delta, err := l.RewindBefore(ids[k])
				if err != nil {
					t.Fatal(err)
				}
				store(&session.Event{Author: "user", InvocationID: fmt.Sprint("r", i), Actions: session.Actions{StateDelta: delta, RewindBefore: ids[k]}})
				if got := show(t, state.Append(nil)); got != states[k] {
					t.Fatalf("seed %d: the state is %s, was %s before %s", seed, got, states[k], ids[k])
				}
				ids, states = ids[:k], states[:k]
				continue
			}
			ids, states = append(ids, fmt.Sprint("i", i)), append(states, show(t, state.Append(nil)))
			for range 1 + r.IntN(3) {
				store(&session.Event{Author: "a", InvocationID: ids[len(ids)-1], Actions: session.Actions{StateDelta: random()}})
			}
		}
	}
}

// An event that undoes the invocation which it is itself the first of undoes nothing: there is no earlier one.
func TestRewindOfItself(t *testing.T) {
	for _, before := range [][]string{nil, {`{author: "user", actions: {rewindBeforeInvocationId: "i0"}}`}} {
		l := logOf(t, append([]string{changed("i0", `{a: 1}`)}, before...)...)
		add(t, l, `{author: "user", invocationId: "i1", actions: {rewindBeforeInvocationId: "i1", stateDelta: {a: 2}}}`)
		delta, err := l.RewindBefore("i1")
		if want := "a=1"; err != nil || shown(t, delta) != want {
			t.Errorf("%s, want %s: %v", shown(t, delta), want, err)
		}
	}
}
