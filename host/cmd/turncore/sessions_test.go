package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/sqlite"
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
	if got := in("sessions", "show", "work").run(t); got.status != 1 || !strings.Contains(got.stderr, "E_SESSION_NOT_FOUND") ||
		!strings.Contains(got.stderr, "\n  It is there from its first commit on") {
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

// A document that is wrong is refused by name, and the right one can be imported afterwards.
func TestDocumentsThatAreWrong(t *testing.T) {
	text, err := os.ReadFile("../../../abi/testdata/records/appended.json")
	if err != nil {
		t.Fatal(err)
	}
	in := func(document string, args ...string) call {
		return call{args: append(args, "--store", filepath.Join(t.TempDir(), "c.db")), stdin: document}
	}
	for _, c := range [][3]string{
		{`"id": "10"`, `"id": "e1"`, "the document: events[1].id: an earlier event has it"},
		{`"name": "2"`, `"name": "usr:2"`, `the document: state[1].name: a scope is app:, user: or temp:; did you mean "user:2"?`},
		{`"base64": "hK`, `"text": "hK`, "the document: events[0].body: it is not the encoding of an event"},
	} {
		wrong := in(strings.Replace(string(text), c[0], c[1], 1), "sessions", "import")
		if got := wrong.run(t); got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, c[2]+"\n") {
			t.Errorf("%s: %+v", c[1], got)
		}
		list, right := wrong, wrong
		list.args = append([]string{"sessions", "list"}, wrong.args[2:]...)
		if left := ok(t, list); left != "" {
			t.Errorf("%s: it left %s", c[1], left)
		}
		right.stdin = string(text)
		if name := ok(t, right); name != "appended\n" {
			t.Errorf("%s: the right one is imported as %q", c[1], name)
		}
	}
}

// reading counts the events that are read of a database.
type reading struct {
	*sqlite.Store
	read int
}

func (r *reading) Events(ctx context.Context, session string, q store.EventQuery) ([]store.SessionEvent, error) {
	list, err := r.Store.Events(ctx, session, q)
	r.read += len(list)
	return list, err
}

// What a list of sessions costs does not depend on how many events they have.
func TestSessionsListReadsNoEvents(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	agent := &sessions.CustomAgent{Name: "a", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		for range 20 {
			if err := yield(&sessions.Event{Content: sessions.ModelText("x")}); err != nil {
				return err
			}
		}
		return nil
	}}
	r, err := sessions.New(t.Context(), sessions.Config{App: "app", Agent: agent, Engine: native.New(), Store: s})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, id := range []string{"long", "empty"} {
		if _, err := r.Sessions().Create(t.Context(), "u", id, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Collect(t.Context(), sessions.Input{User: "u", Session: "long", Message: sessions.Text("hello")}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fork(t.Context(), "u", "long", "fork", ""); err != nil {
		t.Fatal(err)
	}
	from, out := &reading{Store: s}, &strings.Builder{}
	if err := listSessions(t.Context(), from, out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"app/u/fork\t21\t", "app/u/long\t21\t", "app/u/empty\t0\t"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if from.read > 3 {
		t.Errorf("%d events of three sessions were read", from.read)
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
