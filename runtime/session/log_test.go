package session_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/session"
)

// logOf is a log of events: JSON5 texts, or the shorthands of [event].
func logOf(t testing.TB, events ...string) *session.Log {
	t.Helper()
	l := &session.Log{}
	for _, text := range events {
		add(t, l, text)
	}
	return l
}

func add(t testing.TB, l *session.Log, text string) {
	t.Helper()
	if err := l.Add(event(t, text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// event is the value of an event. The shorthand "i1 author: text", with an optional branch in brackets behind the
// author, stands for one that says a text; "call c1", "answer c1", "long c1" and "asks c1" in place of the text for a
// function call, for a response, and for a call that waits for an answer from outside, or for a confirmation, and words
// that a plus joins for several parts.
func event(t testing.TB, text string) []byte {
	t.Helper()
	if strings.HasPrefix(text, "{") {
		return from(t, text)
	}
	head, said, _ := strings.Cut(text, ": ")
	e := &session.Event{HasContent: true}
	e.InvocationID, e.Author, _ = strings.Cut(head, " ")
	if author, branch, ok := strings.Cut(e.Author, "["); ok {
		e.Author, e.Branch = author, strings.TrimSuffix(branch, "]")
	}
	for _, s := range strings.Split(said, " + ") {
		word, id, _ := strings.Cut(s, " ")
		switch word {
		case "call", "long", "asks":
			if word != "call" {
				e.LongRunning = append(e.LongRunning, id)
			}
			if word == "asks" {
				e.Actions.Confirmations = append(e.Actions.Confirmations, session.Member{Name: id, Value: from(t, "{}")})
			}
			e.Parts = append(e.Parts, session.NewCall(id, "t"+id, from(t, `{of: "`+id+`"}`)))
		case "answer":
			id, result, _ := strings.Cut(id, " ")
			e.Parts = append(e.Parts, session.NewResponse(id, "t"+id, from(t, `{to: "`+id+result+`"}`)))
		default:
			e.Parts = append(e.Parts, session.NewText(s))
		}
	}
	return e.Append(nil)
}

func callState(l *session.Log, id string) string {
	c, state := l.Call(id)
	name := [...]string{session.CallUnknown: "unknown", session.CallPending: "pending", session.CallConfirmed: "confirmed", session.CallDone: "done"}[state]
	if (state == session.CallUnknown) != (c == nil) {
		name += " with a call of another state"
	}
	return name
}

func wantStates(t *testing.T, l *session.Log, want string) {
	t.Helper()
	var got []string
	for _, pair := range strings.Fields(want) {
		id, _, _ := strings.Cut(pair, "=")
		got = append(got, id+"="+callState(l, id))
	}
	if strings.Join(got, " ") != want {
		t.Errorf("after %d events: %s, want %s", l.Len(), strings.Join(got, " "), want)
	}
}

func TestCalls(t *testing.T) {
	l := logOf(t)
	wantStates(t, l, "c1=unknown =unknown")
	add(t, l, "i1 user: hi")
	add(t, l, "i1 a[p.a]: long c1 + call c2 + long c3")
	wantStates(t, l, "c1=pending c2=unknown c3=pending c4=unknown")
	if !l.Waiting(1) || l.Waiting(0) || !l.HasCall("c2") || l.HasCall("c4") {
		t.Error("waiting")
	}
	add(t, l, "i1 a[p.a]: answer c2 + answer c1 (interim)")
	wantStates(t, l, "c1=pending c2=done c3=pending")
	add(t, l, "i2 user[p.a]: answer c1")
	wantStates(t, l, "c1=done c3=pending")
	if !l.Waiting(1) {
		t.Error("nobody waits")
	}
	add(t, l, "i2 user[p.a]: answer c3")
	wantStates(t, l, "c1=done c2=done c3=done")
	if l.Waiting(1) {
		t.Error("an answered call waits")
	}
	c, _ := l.Call("c1")
	if c.ID != "c1" || c.Name != "tc1" || c.Author != "a" || c.InvocationID != "i1" || c.Branch != "p.a" || c.Event != 1 ||
		show(t, c.Args) != `{"of":"c1"}` || c.Confirmation != nil || c.Answer != nil {
		t.Errorf("call %+v", c)
	}
}

// What was shown to the user is what counts, even if the call says otherwise.
func TestCallWithConfirmation(t *testing.T) {
	l := logOf(t, `{author: "a", invocationId: "i1", longRunningToolIds: ["c1", "c2"],
		content: {role: "model", parts: [{functionCall: {id: "c1", name: "t", args: {n: 1}}}, {functionCall: {id: "c2", name: "u"}}]},
		actions: {requestedConfirmations: {c1: {name: "t", args: {n: 2}, hint: "pay?"}, c2: {hint: "x"}}}}`)
	c, state := l.Call("c1")
	if state != session.CallPending || show(t, c.Args) != `{"n":2}` || show(t, c.Confirmation) != `{"name":"t","args":{"n":2},"hint":"pay?"}` {
		t.Errorf("call %+v", c)
	}
	if c, _ = l.Call("c2"); show(t, c.Args) != `{}` || show(t, c.Confirmation) != `{"hint":"x"}` || c.Name != "u" {
		t.Errorf("call %+v", c)
	}
}

// The user's first answer to a call that asks is no result. The next one is, as an agent's is.
func TestConfirmedCalls(t *testing.T) {
	l := logOf(t, "i1 user: hi", "i1 a[p]: asks c1 + asks c2 + long c3", "i1 b: asks c4", "i1 user[p]: answer c2 (yes)", "i1 user: answer c4")
	confirmed := func(all bool) (found string) {
		for _, c := range l.Confirmed(nil, func(c *session.Call) bool { return all || c.Author == "b" }) {
			found += c.ID + show(t, c.Answer)
		}
		return found
	}
	waits := func(branch string) bool {
		return l.Waits("i1", branch, func(author string) bool { return author == "a" })
	}
	wantStates(t, l, "c1=pending c2=confirmed c3=pending c4=confirmed")
	if got := confirmed(true) + confirmed(false); got != `c2{"to":"c2(yes)"}c4{"to":"c4"}` {
		t.Errorf("confirmed are %s", got)
	}
	add(t, l, "i1 user[p]: answer c1 + answer c3")
	if got := confirmed(true); got != `c1{"to":"c1"}c2{"to":"c2(yes)"}` || !l.Waiting(1) || !waits("") || !waits("p") || waits("p.q") || waits("q") {
		t.Errorf("confirmed are %s", got)
	}
	add(t, l, "i1 a[p]: answer c1")
	add(t, l, "i2 user[p]: answer c2")
	wantStates(t, l, "c1=done c2=done c3=done c4=confirmed")
	if l.Waiting(1) || waits("") || !l.Waiting(2) || confirmed(true) != `c4{"to":"c4"}` {
		t.Errorf("confirmed are %s", confirmed(true))
	}
	add(t, l, `{author: "user", invocationId: "i3", actions: {rewindBeforeInvocationId: "i2"}}`)
	if wantStates(t, l, "c1=done c2=confirmed"); confirmed(true) != `c2{"to":"c2(yes)"}` {
		t.Errorf("confirmed are %s", confirmed(true))
	}
	add(t, l, `{author: "user", invocationId: "i3", actions: {rewindBeforeInvocationId: "i1"}}`)
	if wantStates(t, l, "c2=unknown"); confirmed(true) != "" || waits("") {
		t.Errorf("confirmed are %s", confirmed(true))
	}
}

func TestEventsWithin(t *testing.T) {
	l := logOf(t, "i1 user: hi", "i1 a[p.l]: 1", "i2 a[p.l]: other", "i1 a[p.l.q]: 2", "i1 a[p]: 3", "i1 a[p.lo]: 4", "i1 a[p.l]: 5", "i1 a[p.l]: 6")
	before, behind := "", ""
	l.Within(6, "p.l", func(e *session.Event, later bool) {
		if later {
			behind += string(e.Parts[0].Text)
		} else {
			before += string(e.Parts[0].Text)
		}
	})
	if before != "125" || behind != "6" {
		t.Errorf("before are %s, behind it are %s", before, behind)
	}
}

func TestCallsAfterRewind(t *testing.T) {
	l := logOf(t, "i1 user: hi", "i1 a: long c1", "i2 user: answer c1", "i2 a: long c2", "i3 user: more")
	wantStates(t, l, "c1=done c2=pending")
	add(t, l, `{author: "user", invocationId: "i4", actions: {rewindBeforeInvocationId: "i2"}}`)
	wantStates(t, l, "c1=pending c2=unknown")
	if !l.HasCall("c2") || !l.Waiting(1) {
		t.Error("calls")
	}
	add(t, l, "i5 user: answer c2")
	wantStates(t, l, "c1=pending c2=unknown")
	add(t, l, "i6 user: answer c1")
	wantStates(t, l, "c1=done")
}

func TestLastAuthor(t *testing.T) {
	if got := logOf(t, "i1 a: x", "i2 user: y").LastAuthor(); got != "a" {
		t.Errorf("the last is %q", got)
	}
	l := logOf(t)
	for _, c := range [][2]string{
		{`{author: "system"}`, ""},
		{"i1 user: x", ""},
		{"i1 a: x", "a"},
		{"i2 user: x", "a"},
		{"i2 b: x", "b"},
		{"i3 c: x", "c"},
		{`{author: "user", actions: {rewindBeforeInvocationId: "i2"}}`, "a"},
		{"i4 user: x", "a"},
		{`{author: "user", actions: {rewindBeforeInvocationId: "i1"}}`, ""},
	} {
		add(t, l, c[0])
		if got := l.LastAuthor(); got != c[1] {
			t.Errorf("after %s the last is %q", c[0], got)
		}
	}
}

// An event that is refused leaves nothing behind.
func TestAddRefuses(t *testing.T) {
	l := logOf(t, "i1 user: hi")
	for text, field := range map[string]string{
		`{partial: true, content: {parts: [{functionCall: {id: "x", name: "t"}}]}}`: "partial",
		`[]`:                        "",
		`{author: 1}`:               "author",
		`{invocationId: 1}`:         "invocationId",
		`{branch: 1}`:               "branch",
		`{timestamp: "x"}`:          "timestamp",
		`{longRunningToolIds: [1]}`: "longRunningToolIds[0]",
		`{content: {parts: [{functionCall: {}}]}}`: "content.parts[0].functionCall.name",
		`{actions: []}`:                            "actions",
		`{actions: {stateDelta: 1}}`:               "actions.stateDelta",
		`{actions: {rewindBeforeInvocationId: 1}}`: "actions.rewindBeforeInvocationId",
		`{actions: {compaction: {}}}`:              "actions.compaction.first",
	} {
		wantError(t, l.Add(from(t, text)), session.InvalidEvent, field)
	}
	for _, v := range [][]byte{nil, {0x81}, {0x80, 0x80}, {0x81, 1, 1}} {
		wantError(t, l.Add(v), session.InvalidEvent, "")
	}
	if l.Len() != 1 || l.HasCall("x") || len(l.Contents(session.View{Agent: "a"})) != 1 {
		t.Errorf("%d events", l.Len())
	}
}

// Events that a later version has stored are taken, with what is unknown.
func TestAddTakesUnknownMembers(t *testing.T) {
	l := logOf(t, `{author: "user", grounding: {a: 1}, content: {parts: [{text: "hi"}, {hologram: {}}], mood: 1}, actions: {stateDelta: {"App:x": 1}}}`)
	if e := l.At(0); e.Author != "user" || len(e.Parts) != 2 || len(e.Actions.StateDelta) != 1 {
		t.Errorf("event %+v", e)
	}
	if got := contents(t, l, session.View{Agent: "a"}); got != `user: hi, {"hologram":{}}` {
		t.Errorf("contents %s", got)
	}
}

// A log holds the bytes that it was given.
func TestLogHoldsTheBytes(t *testing.T) {
	body := event(t, "i1 user: hi")
	l := &session.Log{}
	if err := l.Add(body); err != nil {
		t.Fatal(err)
	}
	if got := l.Body(0); &got[0] != &body[0] || len(got) != len(body) {
		t.Error("the log has a copy")
	}
	shown := l.Contents(session.View{Agent: "a"})[0].Parts[0].Raw
	text, _ := value.GetString(shown, "text")
	copy(text, "yo")
	if got := string(l.At(0).Parts[0].Text); got != "yo" {
		t.Errorf("the contents have a copy: %q", got)
	}
}

// Many calls are found by an index, few by looking through them: the last one of an id counts either way.
func TestManyCalls(t *testing.T) {
	l := &session.Log{}
	for i := range 40 {
		id := "c" + strconv.Itoa(i)
		add(t, l, "i a: long "+id)
		if i%2 == 0 {
			add(t, l, "i user: answer "+id)
		}
		for k := range 40 {
			id, want := "c"+strconv.Itoa(k), session.CallUnknown
			if k <= i {
				if want = session.CallPending; k%2 == 0 {
					want = session.CallDone
				}
			}
			if _, state := l.Call(id); state != want || l.HasCall(id) != (k <= i) {
				t.Fatalf("of %d calls, %s is %v, %v", i+1, id, state, l.HasCall(id))
			}
		}
	}
	add(t, l, "i a: long c0")
	if call, state := l.Call("c0"); state != session.CallPending || call.Event != l.Len()-1 {
		t.Errorf("a call of an id that was there: %v, event %d", state, call.Event)
	}
}
