package session_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/session"
)

// contents is what a view shows, one content a line: its role, and its parts as text.
func contents(t testing.TB, l *session.Log, v session.View) string {
	t.Helper()
	var lines []string
	for _, c := range l.Contents(v) {
		var parts []string
		for _, p := range c.Parts {
			switch p.Kind {
			case session.PartText:
				parts = append(parts, string(p.Text))
			case session.PartThought:
				parts = append(parts, "("+string(p.Text)+")")
			case session.PartCall:
				parts = append(parts, p.ID+"?")
			case session.PartResponse:
				response := show(t, p.Value)
				if to, ok := strings.CutPrefix(response, `{"to":"`); ok {
					response = strings.TrimSuffix(to, `"}`)
				}
				parts = append(parts, p.ID+"="+response)
			default:
				parts = append(parts, show(t, p.Raw))
			}
		}
		lines = append(lines, c.Role+": "+strings.Join(parts, ", "))
	}
	return strings.Join(lines, "\n")
}

// earlier is what stands between what the model said and a call of before.
const earlier = "user: For context: you made the following call earlier."

func wantContents(t *testing.T, l *session.Log, v session.View, want ...string) {
	t.Helper()
	if got := contents(t, l, v); got != strings.Join(want, "\n") {
		t.Errorf("%+v shows\n%s\nwant\n%s", v, got, strings.Join(want, "\n"))
	}
}

func TestContents(t *testing.T) {
	for _, c := range []struct {
		name   string
		view   session.View
		events []string
		want   []string
	}{
		{
			"a conversation",
			session.View{},
			[]string{"i1 user: hi", "i1 a: hello", "i2 user: more"},
			[]string{"user: hi", "model: hello", "user: more"},
		},
		{"events without parts", session.View{}, []string{
			`{author: "system", actions: {stateDelta: {a: 1}}}`, "i1 user: hi",
			`{author: "a", errorCode: "E"}`, `{author: "a", content: {parts: []}}`,
		}, []string{"user: hi"}},
		{
			"text without letters",
			session.View{},
			[]string{
				`{author: "a", content: {parts: [{text: ""}]}}`,
				`{author: "a", content: {parts: [{text: ""}, {text: "x"}, {text: "", thought: true}, {text: "", thought: true, ` +
					`thoughtSignature: "s"}]}}`,
			},
			[]string{"model: x, ()"},
		},
		{"roles", session.View{}, []string{
			`{author: "user", content: {role: "model", parts: [{text: "x"}]}}`,
			`{author: "a", content: {role: "user", parts: [{text: "y"}]}}`,
		}, []string{"model: x", "user: y"}},
		{
			"own thoughts",
			session.View{},
			[]string{`{author: "a", content: {parts: [{text: "hm", thought: true}, {text: "x"}]}}`},
			[]string{"model: (hm), x"},
		},
		{
			"another agent",
			session.View{},
			[]string{"i1 user: hi", "i1 b: hello + call c1", "i1 b: answer c1", "i1 a: x"},
			[]string{
				"user: hi", "user: For context:, [b] said: hello, [b] called tool `tc1` with {\"of\":\"c1\"}",
				"user: For context:, [b] tool `tc1` returned {\"to\":\"c1\"}", "model: x",
			},
		},
		{
			"another agent's thoughts",
			session.View{},
			[]string{
				`{author: "b", content: {parts: [{text: "hm", thought: true}, {text: ""}]}}`,
				`{author: "b", content: {parts: [{text: "hm", thought: true}, {fileData: {fileUri: "f"}}]}}`,
			},
			[]string{`user: For context:, {"fileData":{"fileUri":"f"}}`},
		},
		{
			"branches",
			session.View{Branch: "p.a"},
			[]string{"i1 user: 0", "i1 a[p.a]: 1", "i1 a[p]: 2", "i1 a[p.b]: 3", "i1 a[p.a.x]: 4", "i1 a[p.ab]: 5"},
			[]string{"user: 0", "model: 1", "model: 2", "model: 4"},
		},
		{
			"outside of a branch",
			session.View{},
			[]string{"i1 user: 0", "i1 a[p.a]: 1", "i1 b[p.b]: 2", "i1 a: 3"},
			[]string{"user: 0", "model: 1", "user: For context:, [b] said: 2", "model: 3"},
		},
		{
			"calls of a branch, outside of it",
			session.View{},
			[]string{"i1 b[p.b]: call c1", "i1 b[p.b]: long c2", "i1 b[p.b]: answer c1", "i1 user: 0"},
			[]string{
				"user: For context:, [b] called tool `tc1` with {\"of\":\"c1\"}",
				"user: For context:, [b] called tool `tc2` with {\"of\":\"c2\"}",
				"user: For context:, [b] tool `tc1` returned {\"to\":\"c1\"}", "user: 0",
			},
		},
		{
			"name of a branch that begins like another",
			session.View{Branch: "p.ab"},
			[]string{"i1 a[p.a]: 1", "i1 a[p.ab]: 2"},
			[]string{"model: 2"},
		},
		{
			"a call and its response",
			session.View{},
			[]string{"i1 user: hi", "i1 a: call c1", "i1 a: answer c1", "i1 a: done"},
			[]string{"user: hi", "model: c1?", "user: c1=c1", "model: done"},
		},
		{
			"responses in the order of the calls",
			session.View{},
			[]string{"i1 a: call c1 + call c2 + call c3", "i1 a: answer c3", "i1 a: answer c2 + answer c1"},
			[]string{"model: c1?, c2?, c3?", "user: c1=c1, c2=c2, c3=c3"},
		},
		{
			"a later answer",
			session.View{},
			[]string{
				"i1 a: long c1", "i1 a: answer c1 (wait)", "i1 a: please wait", "i2 user: answer c1 (yes) + thanks",
				"i2 a: ok",
			},
			[]string{"model: please wait", earlier, "model: c1?", "user: c1=c1(yes)", "user: thanks", "model: ok"},
		},
		{
			"a later answer, behind other talk",
			session.View{},
			[]string{
				"i1 user: hi", "i1 a: long c1 + call c2", "i1 a: answer c2", "i2 user: well?", "i2 a: fine", "i1 user: answer c1",
			},
			[]string{"user: hi", "user: well?", "model: fine", earlier, "model: c1?, c2?", "user: c1=c1, c2=c2"},
		},
		{
			"a call behind an own answer",
			session.View{},
			[]string{"i1 a: x", "i1 a: call c1", "i1 a: answer c1"},
			[]string{"model: x", "model: c1?", "user: c1=c1"},
		},
		{
			"later answers to calls of several events, in one",
			session.View{},
			[]string{"i1 a: long c1", "i2 a: long c2 + long c3", "i3 user: answer c3 + answer c1 + answer c2 + x"},
			[]string{"model: c1?", "user: c1=c1", "model: c2?, c3?", "user: c2=c2, c3=c3", "user: x"},
		},
		{
			"a result after the confirmation",
			session.View{},
			[]string{"i1 a: long c1 + call c2", "i1 a: answer c2", "i2 user: answer c1 (confirmed)", "i2 a: answer c1 (result)"},
			[]string{"model: c1?, c2?", "user: c1=c1(result), c2=c2"},
		},
		{
			"a confirmation is no result",
			session.View{},
			[]string{"i1 a: asks c1 + call c2", "i1 a: answer c2", "i2 user: answer c1 (confirmed)", "i2 a: answer c1 (result)"},
			[]string{"model: c1?, c2?", "user: c1=c1(result), c2=c2"},
		},
		{
			"a confirmation, to another agent",
			session.View{},
			[]string{"i1 b: asks c1", "i2 user: answer c1 (confirmed) + pay", "i2 user: answer c1 (paid)"},
			[]string{
				"user: For context:, [b] called tool `tc1` with {\"of\":\"c1\"}", "user: pay",
				"user: [user] tool `tc1` returned {\"to\":\"c1(paid)\"}",
			},
		},
		{
			"a call that waits beside one that does not",
			session.View{},
			[]string{"i1 a: long c1 + call c2", "i1 a: answer c2"},
			[]string{"model: c1?, c2?", `user: c1={"status":"pending"}, c2=c2`},
		},
		{
			"a call that waits",
			session.View{},
			[]string{"i1 a: long c1", "i2 user: hello?"},
			[]string{"model: c1?", `user: c1={"status":"pending"}`, "user: hello?"},
		},
		{"a response without its call", session.View{}, []string{
			"i1 user: answer c1 + hi", "i1 a: answer c2",
			"i1 a: call c2",
		}, []string{"user: hi", "model: c2?"}},
		{"calls without ids", session.View{}, []string{
			`{author: "a", content: {role: "model", parts: [{functionCall: {name: "t"}}]}}`,
			`{author: "a", content: {role: "user", parts: [{functionResponse: {name: "t", response: {to: "x"}}}]}}`,
		}, []string{"model: ?", "user: =x"}},
		{
			"the user's answer to another agent's call",
			session.View{},
			[]string{"i1 b: long c1", "i2 user: answer c1 (yes) + go on"},
			[]string{
				"user: For context:, [b] called tool `tc1` with {\"of\":\"c1\"}",
				"user: [user] tool `tc1` returned {\"to\":\"c1(yes)\"}, go on",
			},
		},
		{
			"one id for two calls",
			session.View{},
			[]string{"i1 a: call c1", "i1 a: answer c1 (1)", "i2 a: call c1", "i2 a: answer c1 (2)"},
			[]string{"model: c1?", "user: c1=c1(1)", "model: c1?", "user: c1=c1(2)"},
		},
		{
			"the current turn alone",
			session.View{None: true, From: 2},
			[]string{"i1 user: hi", "i1 b: hello", "i2 user: more", "i2 b: x", "i2 a: y"},
			[]string{"user: more", "user: For context:, [b] said: x", "model: y"},
		},
		{
			"the current turn, without an earlier call",
			session.View{None: true, From: 1},
			[]string{"i1 a: long c1", "i2 user: answer c1 + hi"},
			[]string{"user: hi"},
		},
		{
			"the current turn of one that goes on",
			session.View{None: true, From: 1},
			[]string{"i1 user: hi", "i1 a: long c1", "i2 user: other", "i3 user: answer c1"},
			[]string{"user: other", "model: c1?", "user: c1=c1"},
		},
		{
			"rewound",
			session.View{},
			[]string{
				"i1 user: 1", "i1 a: one", "i2 user: 2", "i2 a: two", "i3 user: 3", "i3 a: three",
				`{author: "user", content: {parts: [{text: "never shown"}]}, actions: {rewindBeforeInvocationId: "i2"}}`,
				"i4 user: 4",
			},
			[]string{"user: 1", "model: one", "user: 4"},
		},
		{"rewound twice", session.View{}, []string{
			"i1 user: 1", "i2 user: 2", "i3 user: 3", `{author: "user", actions: {rewindBeforeInvocationId: "i3"}}`,
			"i4 user: 4", `{author: "user", actions: {rewindBeforeInvocationId: "i2"}}`, "i5 user: 5",
		}, []string{"user: 1", "user: 5"}},
		{"rewound before one that is gone", session.View{}, []string{
			"i1 user: 1", "i2 user: 2", `{author: "user", actions: {rewindBeforeInvocationId: "i2"}}`,
			"i3 user: 3", `{author: "user", actions: {rewindBeforeInvocationId: "i2"}}`,
		}, []string{"user: 1", "user: 3"}},
		{"an answer that is rewound", session.View{}, []string{
			"i1 a: long c1", "i1 a: answer c1 (wait)", "i2 user: answer c1 (yes)",
			`{author: "user", actions: {rewindBeforeInvocationId: "i2"}}`,
		}, []string{"model: c1?", "user: c1=c1(wait)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.view.Agent = "a"
			wantContents(t, logOf(t, c.events...), c.view, c.want...)
			// Whatever is asked in between, the end is the same.
			l := logOf(t)
			for _, text := range c.events {
				l.Contents(c.view)
				add(t, l, text)
			}
			wantContents(t, l, c.view, c.want...)
		})
	}
}

// said is an event with an id that says a text.
func said(id, author, more string) string {
	return fmt.Sprintf(`{id: "%s", author: "%s", content: {parts: [{text: "%s"}]}, %s}`, id, author, id, more)
}

func compaction(id, first, last, more string) string {
	return said(id, "summariser", fmt.Sprintf(`actions: {compaction: {first: "%s", last: "%s"}}, %s`, first, last, more))
}

func TestCompaction(t *testing.T) {
	conversation := []string{
		said("1", "user", ""), said("2", "a", ""), said("3", "user", ""), said("4", "a", ""),
		said("5", "user", ""),
	}
	with := func(more ...string) []string { return append(slices.Clone(conversation), more...) }
	call := func(id, c string) string {
		return fmt.Sprintf(`{id: "%s", author: "a", content: {parts: [{functionCall: {id: "%s", name: "t"}}]}, `+
			`longRunningToolIds: ["%s"]}`, id, c, c)
	}
	answer := func(id, c string) string {
		return fmt.Sprintf(`{id: "%s", author: "user", content: {parts: [{functionResponse: {id: "%s", name: "t", `+
			`response: {to: "%s"}}}]}}`, id, c, c)
	}
	for _, c := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"at the start", with(compaction("s", "1", "3", "")), []string{"user: s", "model: 4", "user: 5"}},
		{
			"in the middle", with(compaction("s", "2", "3", ""), said("6", "a", "")),
			[]string{"user: 1", "user: s", "model: 4", "user: 5", "model: 6"},
		},
		{"of everything", with(compaction("s", "1", "5", "")), []string{"user: s"}},
		{"of one event", with(compaction("s", "4", "4", "")), []string{
			"user: 1", "model: 2", "user: 3", "user: s",
			"user: 5",
		}},
		{
			"with a role", with(`{id: "s", author: "a", content: {role: "model", parts: [{text: "s"}, {text: "hm", ` +
				`thought: true}]}, actions: {compaction: {first: "1", last: "4"}}}`),
			[]string{"model: s", "user: 5"},
		},
		{
			"without content", with(`{id: "s", author: "a", actions: {compaction: {first: "1", last: "4"}}}`),
			[]string{"user: 5"},
		},
		{
			"of a compaction and more", with(compaction("s", "1", "3", ""), said("6", "a", ""), compaction("t", "1", "5", "")),
			[]string{"user: t", "model: 6"},
		},
		{
			"overlapping", with(compaction("s", "1", "3", ""), compaction("t", "3", "4", "")),
			[]string{"user: s", "user: t", "user: 5"},
		},
		{
			"inside another", with(compaction("s", "1", "4", ""), compaction("t", "2", "3", "")),
			[]string{"user: s", "user: 5"},
		},
		{
			"of unknown events", with(compaction("s", "1", "x", "")),
			[]string{"user: 1", "model: 2", "user: 3", "model: 4", "user: 5", "user: For context:, [summariser] said: s"},
		},
		{
			"of events behind it", append([]string{compaction("s", "1", "2", "")}, conversation...),
			[]string{"user: For context:, [summariser] said: s", "user: 1", "model: 2", "user: 3", "model: 4", "user: 5"},
		},
		{
			"from last to first", with(compaction("s", "3", "1", "")),
			[]string{"user: 1", "model: 2", "user: 3", "model: 4", "user: 5", "user: For context:, [summariser] said: s"},
		},
		{
			"rewound",
			with(`{id: "s", invocationId: "i", author: "a", content: {parts: [{text: "s"}]}, `+
				`actions: {compaction: {first: "1", last: "4"}}}`,
				`{author: "user", actions: {rewindBeforeInvocationId: "i"}}`),
			[]string{
				"user: 1", "model: 2", "user: 3",
				"model: 4", "user: 5",
			},
		},
		{
			"in another branch", with(compaction("s", "1", "4", `branch: "p.x"`)),
			[]string{"user: 1", "model: 2", "user: 3", "model: 4", "user: 5"},
		},
		{
			"of a call and its answer",
			[]string{said("1", "user", ""), call("2", "c"), answer("3", "c"), said("4", "a", ""), compaction("s", "1", "3", "")},
			[]string{"user: s", "model: 4"},
		},
		{
			"between a call and its answer",
			[]string{
				said("1", "user", ""), call("2", "c"), said("3", "user", ""), compaction("s", "1", "3", ""),
				answer("4", "c"), said("5", "a", ""),
			},
			[]string{"user: s", "model: c?", "user: c=c", "model: 5"},
		},
		{"of a call that waits", []string{
			said("1", "user", ""), call("2", "c"), said("3", "user", ""),
			compaction("s", "1", "3", ""),
		}, []string{"user: s", "model: c?", `user: c={"status":"pending"}`}},
		{
			"of an answer without its call",
			[]string{call("1", "c"), said("2", "a", ""), answer("3", "c"), said("4", "a", ""), compaction("s", "2", "3", "")},
			[]string{"user: s", "model: c?", "user: c=c", "model: 4"},
		},
		{
			"of the answer, later",
			[]string{
				call("1", "c"), said("2", "a", ""), compaction("s", "1", "2", ""), answer("3", "c"), said("4", "a", ""),
				compaction("t", "3", "3", ""),
			},
			[]string{"user: s", "user: t", "model: 4"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantContents(t, logOf(t, c.events...), session.View{Agent: "a"}, c.want...)
			l := logOf(t)
			for _, text := range c.events {
				l.Contents(session.View{Agent: "a"})
				add(t, l, text)
			}
			wantContents(t, l, session.View{Agent: "a"}, c.want...)
		})
	}
}

// A content tells where it is from.
func TestContentsTellTheEvent(t *testing.T) {
	l := logOf(t, `{author: "user", timestamp: 5, content: {parts: [{text: "x"}]}}`,
		`{author: "a", timestamp: 6, content: {parts: [{functionCall: {id: "c", name: "t"}}]}, longRunningToolIds: ["c"]}`,
		`{author: "b", timestamp: 7, content: {parts: [{text: "y"}]}}`,
		`{author: "user", timestamp: 8, content: {parts: [{functionResponse: {id: "c", name: "t"}}]}}`)
	var got []string
	for _, c := range l.Contents(session.View{Agent: "a"}) {
		got = append(got, fmt.Sprint(c.Author, c.At, c.Event))
	}
	if strings.Join(got, " ") != "user5 0 b7 2 a6 1 user8 3" {
		t.Errorf("contents of %q", got)
	}
}

// However often contents are asked for between events, by whomever, they are those of a log that was read at once.
func TestContentsOnRandomLogs(t *testing.T) {
	authors := []string{"user", "user", "a", "a", "b", "system"}
	branches := []string{"", "", "", "p.a", "p", "p.b"}
	views := []session.View{
		{Agent: "a"},
		{Agent: "b"},
		{Agent: "a", Branch: "p.a"},
		{Agent: "b", Branch: "p.b"},
		{Agent: "a", None: true, From: 3},
		{Agent: "b", None: true, From: 10},
		{Agent: "c", Branch: "p"},
		{Agent: "d", Branch: "p.a.d"},
		{Agent: "e"},
		{}, // more than a log keeps
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(list []string) string { return list[r.IntN(len(list))] }
		l := &session.Log{}
		named := make([]map[uint64]string, len(views))
		var bodies [][]byte
		invocation := 0
		for i := range 40 {
			if r.IntN(3) == 0 {
				invocation++
			}
			e := &session.Event{
				ID: fmt.Sprint("e", i), InvocationID: fmt.Sprint("i",
					invocation), Author: pick(authors), Branch: pick(branches), HasContent: true,
			}
			for range r.IntN(3) {
				id := fmt.Sprint("c", r.IntN(8))
				switch r.IntN(6) {
				case 0, 1:
					e.Parts = append(e.Parts, session.NewCall(id, "t", []byte{0x80}))
					if r.IntN(2) == 0 {
						e.LongRunning = append(e.LongRunning, id)
						if r.IntN(2) == 0 {
							e.Actions.Confirmations = append(e.Actions.Confirmations, session.Member{Name: id, Value: []byte{0x80}})
						}
					}
				case 2, 3:
					e.Parts = append(e.Parts, session.NewResponse(id, "t", from(t, fmt.Sprintf("{to: %d}", i))))
				case 4:
					e.Parts = append(e.Parts, session.NewThought(fmt.Sprint("hm", i), nil))
				default:
					e.Parts = append(e.Parts, session.NewText(fmt.Sprint("x", i)))
				}
			}
			switch r.IntN(12) {
			case 0:
				e.Actions.RewindBefore = fmt.Sprint("i", max(0, invocation-r.IntN(6)))
			case 1, 2:
				first := r.IntN(i + 1)
				e.Parts = append(e.Parts, session.NewText(fmt.Sprint("summary", i)))
				e.Actions.Compaction = from(t, fmt.Sprintf(`{first: "e%d", last: "e%d"}`, first, first+r.IntN(6)))
			}
			body := e.Append(nil)
			bodies = append(bodies, body)
			if err := l.Add(body); err != nil {
				t.Fatal(err)
			}
			fresh := &session.Log{}
			for _, body := range bodies {
				if err := fresh.Add(body); err != nil {
					t.Fatal(err)
				}
			}
			for at, v := range views {
				if r.IntN(3) > 0 && i < 39 {
					continue
				}
				got, want := contents(t, l, v), contents(t, fresh, v)
				if got != want {
					t.Fatalf("seed %d: after %d events %+v shows\n%s\nwant\n%s", seed, i+1, v, got, want)
				}
				checkPairs(t, l.Contents(v))
				if named[at] == nil {
					named[at] = make(map[uint64]string)
				}
				checkMarks(t, l.Contents(v), fresh.Contents(v), named[at])
			}
		}
	}
}

// checkMarks checks that the marks of a view name what they have named before, and that they do not depend on when a
// log
// was asked.
func checkMarks(t *testing.T, list, fresh []session.Content, named map[uint64]string) {
	t.Helper()
	shown := ""
	for i, c := range list {
		shown += string(session.AppendContent(nil, c.Role, c.Parts))
		if before, known := named[c.Mark]; known && before != shown {
			t.Fatalf("the mark %d names %q and %q", c.Mark, before, shown)
		}
		if c.Mark >= 1<<53 || c.Mark != fresh[i].Mark {
			t.Fatalf("the mark is %d, that of a log asked once %d", c.Mark, fresh[i].Mark)
		}
		named[c.Mark] = shown
	}
}

// checkPairs checks that responses directly follow the content with their calls.
func checkPairs(t *testing.T, list []session.Content) {
	t.Helper()
	for i := range list {
		for _, p := range list[i].Parts {
			if p.Kind != session.PartResponse {
				continue
			}
			if i == 0 || !slices.ContainsFunc(list[i-1].Parts, func(c session.Part) bool {
				return c.Kind == session.PartCall &&
					c.ID == p.ID
			}) {
				t.Fatalf("the response %s does not follow its call", p.ID)
			}
		}
	}
}

// longLog is a conversation of a number of turns with a tool call each. turn adds one, and asks for the contents after
// each
// event that a model answers.
func longLog(b testing.TB, turns int) (turn func()) {
	l := &session.Log{}
	n := 0
	bodies := [4]func(id, call string) *session.Event{
		func(id, _ string) *session.Event {
			return &session.Event{
				ID: id, Author: "user", Role: "user", HasContent: true,
				Parts: []session.Part{session.NewText("What is the weather?")},
			}
		},
		func(id, call string) *session.Event {
			return &session.Event{
				ID: id, Author: "a", Role: "model", HasContent: true,
				Parts: []session.Part{session.NewCall(call, "weather", []byte{0x80})},
			}
		},
		func(id, call string) *session.Event {
			return &session.Event{
				ID: id, Author: "a", Role: "user", HasContent: true,
				Parts: []session.Part{session.NewResponse(call, "weather", []byte{0x80})},
			}
		},
		func(id, _ string) *session.Event {
			return &session.Event{
				ID: id, Author: "a", Role: "model", HasContent: true,
				Parts: []session.Part{session.NewText("It rains.")},
			}
		},
	}
	turn = func() {
		n++
		for i, body := range bodies {
			e := body(fmt.Sprint("e", n, "-", i), fmt.Sprint("c", n))
			e.InvocationID = fmt.Sprint("i", n)
			if err := l.Add(e.Append(nil)); err != nil {
				b.Fatal(err)
			}
			if i < 3 && len(l.Contents(session.View{Agent: "a"})) == 0 {
				b.Fatal("nothing is shown")
			}
		}
	}
	for range turns {
		turn()
	}
	return turn
}

// A turn costs the same, however many were before.
func TestTurnCost(t *testing.T) {
	short := testing.AllocsPerRun(200, longLog(t, 50))
	if long := testing.AllocsPerRun(200, longLog(t, 5000)); long > 1.5*short {
		t.Errorf("%v allocations for a turn after 50, %v after 5,000", short, long)
	}
}

// BenchmarkTurn adds a turn of four events to a session, and asks for the contents after three of them.
func BenchmarkTurn(b *testing.B) {
	for _, turns := range []int{0, 50, 5000} {
		b.Run(fmt.Sprint("after ", turns), func(b *testing.B) {
			turn := longLog(b, turns)
			b.ReportAllocs()
			for b.Loop() {
				turn()
			}
		})
	}
}
