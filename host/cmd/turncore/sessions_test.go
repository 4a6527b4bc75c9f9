package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// ok runs a command that must succeed and returns what it printed.
func ok(t *testing.T, c call) string {
	t.Helper()
	got := c.run(t)
	if got.status != 0 {
		t.Fatalf("%q: %+v", c.args, got)
	}
	return got.stdout
}

// A conversation goes on in another process, is exported, deleted, imported under another name, and goes on there.
func TestSessions(t *testing.T) {
	db := filepath.Join(t.TempDir(), "conversations.db")
	in := func(args ...string) call { return call{args: append(args, "--store", db)} }
	run := func(session, prompt string) string {
		return ok(t, in("run", "--engine", "native", "--session", session, prompt))
	}
	run("work", "Please calculate 2 + 3")
	run("work", "Thank you")
	run("play", "Hello")

	list := strings.Split(strings.TrimSpace(ok(t, in("sessions", "list"))), "\n")
	if len(list) != 2 || !strings.HasPrefix(list[0], "play\t2\t") || !strings.HasPrefix(list[1], "work\t") {
		t.Fatalf("the list is %q", list)
	}
	if text := ok(t, in("sessions", "list", "--json")); !strings.Contains(text, `{"id":"play","messages":2,"createdAt":"`) {
		t.Errorf("the list as JSON is %s", text)
	}
	shown := ok(t, in("sessions", "show", "work"))
	for _, want := range []string{
		"user: Please calculate 2 + 3\n", "→ calculate {\"expression\":\"2 + 3\"}\n← 5\n", "assistant: The tool answered: 5\n",
		"user: Thank you\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %q", want, shown)
		}
	}
	document := ok(t, in("sessions", "export", "work"))
	ok(t, in("sessions", "delete", "work"))
	if got := in("sessions", "show", "work").run(t); got.status != 1 || !strings.Contains(got.stderr, "E_SESSION_NOT_FOUND") {
		t.Errorf("a deleted conversation: %+v", got)
	}
	from := in("sessions", "import", "--session", "again")
	from.stdin = document
	if name := ok(t, from); name != "again\n" {
		t.Errorf("it is imported as %q", name)
	}
	if again := ok(t, in("sessions", "show", "again")); again != shown {
		t.Errorf("the imported conversation is\n%s\nnot\n%s", again, shown)
	}
	run("again", "And on")
	if again := ok(t, in("sessions", "show", "again")); !strings.HasPrefix(again, shown) || len(again) == len(shown) {
		t.Errorf("the imported conversation goes on as\n%s", again)
	}
	if got := from.run(t); got.status != 1 || !strings.Contains(got.stderr, "E_SESSION_EXISTS") {
		t.Errorf("imported twice: %+v", got)
	}
}

func TestSessionsUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sessions"}, "give an action"},
		{[]string{"sessions", "fly", "--store", "x"}, "is no action"},
		{[]string{"sessions", "list"}, "--store"},
		{[]string{"sessions", "show", "--store", "x"}, "needs the name"},
		{[]string{"sessions", "show", "a", "b", "--store", "x"}, "does not take 2 names"},
		{[]string{"sessions", "list", "--session", "a", "--store", "x"}, "for import"},
		{[]string{"sessions", "export", "a", "--json", "--store", "x"}, "--json is for"},
		{[]string{"run", "--session", "a", "hello"}, "give one"},
		{[]string{"run", "--recording", "r", "--store", "a"}, "exclude each other"},
	} {
		if got := turncore(t, c.args...); got.status != 2 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%q: %+v", c.args, got)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing.db")
	if got := turncore(t, "sessions", "list", "--store", missing); got.status != 1 || !strings.Contains(got.stderr, "missing.db") {
		t.Errorf("%+v", got)
	}
}
