package turntest_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// said are the events of an invocation in a session of its own.
func said(t *testing.T, s sessions.Store, answers ...turntest.Answer) (events []*sessions.Event, err error) {
	t.Helper()
	runner, err := sessions.New(t.Context(), sessions.Config{
		App:   "journeys",
		Agent: &sessions.LLMAgent{Name: "guide", Model: turntest.NewScript(t, answers...).Model()},
		Host:  turntest.Host(t, turns.HostOptions{}),
		Store: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	if _, err := runner.Sessions().Create(t.Context(), "ada", "trip", nil); err != nil {
		return nil, err
	}
	in := sessions.Input{User: "ada", Session: "trip", Message: sessions.Text("Hi!")}
	for e, err := range runner.Run(t.Context(), in) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// Whatever call of the store fails, the caller is told.
func TestSessionStoreFails(t *testing.T) {
	all := turntest.FailAt(t, 0, nil)
	if _, err := said(t, all.SessionStore(store.NewInMemory()), turntest.Text("Hello!")); err != nil {
		t.Fatal(err)
	}
	if all.Calls() < 4 {
		t.Errorf("the store was called %d times", all.Calls())
	}
	for n := 1; n <= all.Calls(); n++ {
		failing := turntest.FailAt(t, n, errDisk).SessionStore(store.NewInMemory())
		_, err := said(t, failing, turntest.Text("Hello!").Maybe())
		if !errors.Is(err, errDisk) {
			t.Errorf("call %d of the store fails, the invocation ends with %v", n, err)
		}
	}
}

func TestGoldenOfSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.golden")
	compare := func(text ...string) string {
		events, err := said(t, store.NewInMemory(), turntest.Text(text...))
		if err != nil {
			t.Fatal(err)
		}
		return reported(func(f *fakeT) { turntest.Golden(f, events, path) })
	}
	updating(t, "true", func() { says(t, compare("It is ", "cold.")) })
	updating(t, "false", func() {
		says(t, compare("It is ", "cold."))
		says(t, compare("It is ", "warm."), `line 2, guide /content/parts/0/text: got "warm.", want "cold."`)
		report := compare("It is ", "very ", "cold.")
		if !strings.Contains(report, `behind line 1 comes: {"id"`) || strings.Count(report, "\n") != 2 {
			t.Error(report)
		}
	})
}
