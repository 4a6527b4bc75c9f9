package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store/sqlite"
	"github.com/turncore/turncore/host/turns"
)

// chatting runs a chat whose lines come through a pipe.
func chatting(t *testing.T, lines []string, args ...string) outcome {
	t.Helper()
	return call{stdin: strings.Join(lines, "\n"), args: append([]string{"chat", "--engine", "native"}, args...)}.run(t)
}

// has checks that a text has others, in this order.
func has(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("no %q in the rest of %q", w, text)
			return
		}
		rest = after
	}
}

func TestChatOnEveryEngine(t *testing.T) {
	on(t, func(t *testing.T, engine string) {
		got := turncore(t, "chat", "--engine", engine, "Please calculate (2 + 3) * 4")
		if got.status != 0 || got.stdout != "The tool answered: {\"result\":20}\n" {
			t.Errorf("%+v", got)
		}
		has(t, got.stderr, simulatedNote, "session ", "The text mentions calculate, so I call it.\n",
			`→ calculate {"expression":"(2 + 3) * 4"}`+"\n", `← {"result":20}`+"\n")
	})
}

// A session is made, forked, rewound and listed by lines, and goes on in another process.
func TestChatSessions(t *testing.T) {
	db := filepath.Join(t.TempDir(), "sessions.db")
	got := chatting(t, []string{
		"hello", "Please calculate 2 + 3", "/fork 2 other", "And on", "/resume first", "/events", "/sessions", "/resume 2",
		"/rewind 3", "/events", "/state",
	}, "--store", db, "--session", "first")
	if got.status != 0 {
		t.Fatalf("%+v", got)
	}
	has(t, got.stdout,
		"You said: hello\n", "The tool answered: {\"result\":5}\n",
		"   1  user: hello\n   2  assistant: You said: hello", "You said: And on\n",
		"   1  user: hello\n",
		"   3  user: Please calculate 2 + 3\n   4  assistant: → calculate {\"expression\":\"2 + 3\"}\n"+
			"   5  assistant: ← calculate {\"result\":5}\n",
		"   1  20", "  other\n", "*  2  20", "  first\n",
		"   1  user: hello\n", "   7  user: back to before ",
	)
	has(t, got.stderr, "session first\n", "session other, 2 events\n", "session first, 6 events\n")

	again := chatting(t, []string{"/events"}, "--store", db, "--session", "chat/me/other")
	has(t, again.stderr, "session other, 4 events\n")
	has(t, again.stdout, "   3  user: And on\n   4  assistant: You said: And on")
	if last := chatting(t, nil, "--store", db, "--last"); last.status != 0 ||
		!strings.Contains(last.stderr, "session first, 7 events\n") {
		t.Errorf("the last one: %+v", last)
	}
	list := ok(t, call{args: []string{"sessions", "list", "--store", db}})
	if !strings.Contains("\n"+list, "\nchat/me/other\t4\t") {
		t.Errorf("the list is %q", list)
	}
	list = ok(t, call{args: []string{"sessions", "list", "--json", "--store", db}})
	if !strings.Contains(list, `{"id":"chat/me/other","messages":0,"events":4,"createdAt":"`) {
		t.Errorf("the list as JSON is %s", list)
	}
	if shown := ok(t, call{args: []string{"sessions", "show", "chat/me/other", "--store", db}}); !strings.HasPrefix(shown,
		"user: hello\nassistant: You said: hello") {
		t.Errorf("shown as %q", shown)
	}
	ok(t, call{args: []string{"sessions", "delete", "chat/me/other", "--store", db}})
	if gone := chatting(t, []string{"/resume other", "/sessions"}, "--store", db); gone.status != 1 ||
		strings.Contains(gone.stdout, "other") {
		t.Errorf("deleted: %+v", gone)
	}
}

// A call that a person confirms waits in the store until the answer comes, in another process.
func TestChatConfirms(t *testing.T) {
	db := filepath.Join(t.TempDir(), "sessions.db")
	args := []string{"--store", db, "--session", "s", "--confirm", "calculate"}
	asked := chatting(t, []string{"Please calculate 2 + 3"}, args...)
	if asked.status != 0 || asked.stdout != "" {
		t.Fatalf("%+v", asked)
	}
	const question = `? assistant wants to run calculate {"expression":"2 + 3"}` + "\n"
	has(t, asked.stderr, "→ calculate", question,
		"1 call waits; turncore chat --store "+db+" --session chat/me/s goes on\n")

	// With a prompt nobody is asked.
	alone := chatting(t, []string{"y"}, "--store", db, "--session", "alone", "--confirm", "calculate",
		"Please calculate 2 + 3")
	has(t, alone.stderr, question, "1 call waits; turncore chat --store "+db+" --session chat/me/alone goes on\n")
	if alone.status != 0 || alone.stdout != "" {
		t.Errorf("%+v", alone)
	}

	answered := chatting(t, []string{
		"perhaps", "{}", "", "/pending", `{"confirmed":true,"by":"Ada"}`,
		"Please calculate 4 + 4", "N", "/events",
	}, args...)
	if answered.status != 0 {
		t.Errorf("%+v", answered)
	}
	has(t, answered.stderr, question, "error: answer y or n", "error: the answer needs a member confirmed", question,
		`← {"result":5}`, `? assistant wants to run calculate {"expression":"4 + 4"}`, "✗ the user did not confirm the call")
	has(t, answered.stdout, "The tool answered: {\"result\":5}\n",
		"   3  user: ← calculate {\"by\":\"Ada\",\"confirmed\":true}\n")
	if none := chatting(t, []string{"/pending"}, args...); !strings.Contains(none.stderr, "no call waits\n") {
		t.Errorf("%+v", none)
	}
}

// begunElsewhere stores a session whose agent is another program's: two of its calls wait.
func begunElsewhere(t *testing.T, db string) {
	t.Helper()
	ctx := context.Background()
	kept, err := sqlite.Open(ctx, db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	remove := sessions.NewTool("delete_note", "Deletes a note.",
		func(*sessions.ToolContext, map[string]any) (string, error) { return "gone", nil })
	deliver := sessions.NewTool("deliver", "Delivers.", func(*sessions.ToolContext, map[string]any) (any, error) {
		return nil, nil
	})
	runner, err := sessions.New(ctx, sessions.Config{
		App: "notes", Store: kept, Engine: native.New(),
		Agent: &sessions.LLMAgent{
			Name: "keeper", Tools: []*turns.Tool{remove, deliver},
			Confirm: []string{"delete_note"}, LongRunning: []string{"deliver"},
			Executor: func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
				return yield(&sessions.Response{Content: sessions.ModelCall(
					sessions.FunctionCall{ID: "a", Name: "delete_note", Args: map[string]any{"note": "milk\u202emilk"}},
					sessions.FunctionCall{ID: "b", Name: "deliver", Args: map[string]any{"to": "Ada"}},
				)})
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	if _, err := runner.Sessions().Create(ctx, "ada", "1", map[string]any{"list": []any{"milk"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Collect(ctx, sessions.Input{
		User: "ada", Session: "1",
		Message: sessions.Text("Tidy up"),
	}); err != nil {
		t.Fatal(err)
	}
}

// The calls of a session that another program began are answered together, and its agent goes on under its own name.
func TestChatGoesOnWithASessionOfAnotherProgram(t *testing.T) {
	db := filepath.Join(t.TempDir(), "sessions.db")
	begunElsewhere(t, db)
	in := func(lines []string, more ...string) outcome {
		return chatting(t, lines, append(more, "--store", db, "--app", "notes", "--user", "ada", "--session", "1")...)
	}
	// Without its tool a call cannot be confirmed.
	without := in([]string{"y"})
	has(t, without.stderr, `? keeper wants to run delete_note {"note":"milk\u202emilk"}`,
		"error: this chat has no tool delete_note: give it with --tool delete_note=CMD, or answer n", "2 calls wait;")

	with := in([]string{"y", "tomorrow", "Thank you", "/events", "/state"}, "--tool", "delete_note=cat; echo ' is gone'")
	if with.status != 0 {
		t.Errorf("%+v", with)
	}
	has(t, with.stderr, `? keeper wants to run delete_note {"note":"milk\u202emilk"}`,
		`? deliver waits for its result: {"to":"Ada"}`, "← {\"note\":")
	has(t, with.stdout, "The tools answered: ", "You said: Thank you\n",
		"user: ← delete_note {\"confirmed\":true} ← deliver tomorrow\n", "keeper: You said: Thank you", `list: ["milk"]`)
	if strings.Contains(with.stdout, "assistant:") {
		t.Errorf("another agent has answered: %s", with.stdout)
	}
}

// chatLine is a line that a chat prints with --json.
type chatLine struct {
	Event   string
	Author  string
	Partial bool
	Session string
	Pending []string
	Error   *struct{ Code, Message string }
}

func chatLines(t *testing.T, text string) (list []chatLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l chatLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, l)
	}
	return list
}

func TestChatJSON(t *testing.T) {
	got := chatting(t, []string{
		"Please calculate 2 + 3",
		`{"parts":[{"functionResponse":{"id":"call_2","name":"calculate","response":{"confirmed":true}}}]}`,
		`{"parts":[{"functionResponse":{"id":"call_9","name":"calculate","response":{"confirmed":true}}}]}`,
		`{"parts":"none"}`, "/state", "/fly", "/resume nowhere", "/fork 1 2 3", "/rewind",
	}, "--json", "--confirm", "calculate", "--session", "s")
	if got.status != 1 || got.stderr != simulatedNote+"session s\n" {
		t.Errorf("status %d, %q", got.status, got.stderr)
	}
	var ends []chatLine
	partial := 0
	for _, l := range chatLines(t, got.stdout) {
		if l.Event == "end" {
			ends = append(ends, l)
		}
		if l.Partial {
			partial++
		}
	}
	var told []string
	for _, e := range ends {
		text := e.Session + " " + strings.Join(e.Pending, ",")
		if e.Error != nil {
			text += e.Error.Code
		}
		told = append(told, text)
	}
	want := []string{
		"s call_2", "s ", "s E_CALL_NOT_ASKED", "s E_INVALID_EVENT", "s ", "s Error", "s E_SESSION_NOT_FOUND", "s Error",
		"s Error",
	}
	if !slices.Equal(told, want) || partial == 0 {
		t.Errorf("%q, %d partial events", told, partial)
	}
	failing := chatting(t, []string{
		"Please calculate 2 + 3", "/fly", `{"parts":"none"}`,
		`{"parts":[{"functionResponse":{"id":"call_9","name":"calculate","response":{"confirmed":true}}}]}`,
	}, "--json", "--confirm", "calculate")
	for _, l := range chatLines(t, failing.stdout) {
		if l.Event == "end" && !slices.Equal(l.Pending, []string{"call_2"}) {
			t.Errorf("%q waits behind %v", l.Pending, l.Error)
		}
	}
	if same := chatting(t, []string{"hello"}, "--json", "--fixed-clock", "--seed", "1", "--session", "s"); same.stdout !=
		chatting(t, []string{"hello"}, "--json", "--fixed-clock", "--seed", "1", "--session", "s").stdout {
		t.Error("the same seed gives other events")
	}
}

// An interrupt stops an answer, and the chat goes on; two in a row end it.
func TestChatInterrupted(t *testing.T) {
	cmd := call{args: []string{"chat", "--engine", "native", "--tool", "slow=sleep 60"}}.cmd(t)
	cmd.Stdin = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	until := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("nobody says %q", text)
	}
	say := func(line string) {
		t.Helper()
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	interrupt := func() {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	say("Please run slow")
	until("→ slow")
	interrupt()
	until("interrupted")
	say("Hello again\n/new next")
	until("session next")
	interrupt()
	until("once more ends the chat")
	interrupt()
	for lines.Scan() {
		t.Errorf("it says %q", lines.Text())
	}
	_ = cmd.Wait() // the status tells that a message was interrupted
	if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(out.String(), "You said: Hello again") {
		t.Errorf("status %d, %q", status, out.String())
	}
}

func TestChatFailures(t *testing.T) {
	db := filepath.Join(t.TempDir(), "sessions.db")
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{2, []string{"a", "b"}, "put the prompt in quotes"},
		{2, []string{" "}, "the prompt is empty"},
		{2, []string{"--last"}, "give one"},
		{2, []string{"--last", "--session", "s", "--store", db}, "exclude each other"},
		{2, []string{"--confirm", "fly"}, "--confirm fly: there is no tool of that name"},
		{2, []string{"--model", "gpt-4o-mini"}, "needs a provider"},
		{2, []string{"--base-url", "ftp://x"}, "http or https"},
		{2, []string{"--recording", "r"}, "not defined: -recording"},
		{1, []string{"--last", "--store", db}, "the store has no session of chat/me"},
		{1, []string{"--base-url", "http://127.0.0.1:1/v1", "--model", "m", "hello"}, "error: "},
		{1, []string{"--session", strings.Repeat("x", 600)}, "E_INVALID_SESSION_ID"},
	} {
		if got := chatting(t, nil, c.args...); got.status != c.status || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	for _, line := range []string{
		"/fly", "/resume", "/resume nothing", "/resume a b", "/events 1", "/fork 7",
		"/rewind 7",
	} {
		if got := chatting(t, []string{line, "hello"}); got.status != 1 || !strings.Contains(got.stderr, "error: ") ||
			!strings.Contains(got.stdout, "You said: hello") {
			t.Errorf("%q: %+v", line, got)
		}
	}
	for _, more := range [][]string{nil, {"--json"}} {
		c := &command{
			stdin: strings.NewReader("hello\nhello\n"), stdout: brokenWriter{}, stderr: &strings.Builder{},
			getenv: func(string) string { return "" },
		}
		if err := c.chatWith(append(more, "--engine", "native")); err == nil ||
			!strings.Contains(err.Error(), "standard output") {
			t.Errorf("%q: error %v", more, err)
		}
	}
}
