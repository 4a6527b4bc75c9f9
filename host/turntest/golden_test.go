package turntest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// log is a log of messages with the given deltas.
func log(deltas ...string) (events []event.Event) {
	at := time.UnixMilli(1)
	for i, d := range deltas {
		head := event.Head{Seq: uint32(i + 1), TurnID: "t", Iteration: -1, At: at}
		events = append(events, &event.Message{Head: head, StreamDelta: event.StreamDelta{ID: "m", Delta: d, Full: d, CreatedAt: at}})
	}
	head := event.Head{Seq: uint32(len(deltas) + 1), TurnID: "t", Iteration: -1, At: at}
	return append(events, &event.TurnEnd{Head: head, Status: event.Ack, StartedAt: at})
}

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a.golden")
	compare := func(events []event.Event) string {
		return reported(func(f *fakeT) { turntest.Golden(f, events, path) })
	}
	updating(t, "false", func() {
		says(t, compare(log("a")), "there is no "+path+": go test -update writes it")
	})
	updating(t, "true", func() {
		says(t, compare(nil), "there are no events to compare")
		says(t, compare(log("a", "b", "c")))
	})
	updating(t, "false", func() {
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), "\n") != 4 || !strings.HasPrefix(string(text), `{"event":"message","seq":1,`) {
			t.Errorf("%s, %v", text, err)
		}
		says(t, compare(log("a", "b", "c")))

		long := strings.Repeat("long ", 50)
		for _, c := range []struct {
			name  string
			got   []event.Event
			want  []string
			lines int
		}{
			{"changed", log("a", "B", "c"), []string{path, "go test -update", "\n  line 2, message /aDelta: got \"B\", want \"b\""}, 1},
			{"gone", log("a", "c"), []string{"\n  line 2 is gone: {\"event\":\"message\",\"seq\":2"}, 1},
			{"more", log("a", "b", "x", "c"), []string{"\n  behind line 2 comes: {\"event\":\"message\",\"seq\":3"}, 1},
			{"other end", append(log("a", "b", "c")[:3], &event.Warning{Head: event.Head{Seq: 4}}), []string{"\n  line 4:", "got  {\"event\":\"warning\"", "want {\"event\":\"turnEnd\""}, 3},
			{"long", log("a", "b", long+"x"+long), []string{"line 3, message /aDelta: got ", "want \"c\"", "line 3, message /length"}, 2},
			{"nothing alike", log("1", "2", "3"), []string{"line 1", "line 2", "line 3"}, 3},
		} {
			report := compare(c.got)
			says(t, report, c.want...)
			if n := strings.Count(report, "\n"); n != c.lines {
				t.Errorf("%s: %d lines in\n%s", c.name, n, report)
			}
		}

		// Only the numbers differ: that is a difference too.
		events := log("a", "b", "c")
		events[1].Meta().Seq = 7
		says(t, compare(events), "line 2, message /seq: got 7, want 2")
	})

	// A checkout of Git may have other line ends.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	updating(t, "false", func() { says(t, compare(log("a", "b", "c"))) })
	for _, value := range []string{"false", "true"} { // a folder is no file
		updating(t, value, func() {
			says(t, reported(func(f *fakeT) { turntest.Golden(f, log("a"), t.TempDir()) }), "turntest: ", "is a directory")
		})
	}
}

// A long log with many differences has a report that can be read, and one that differs everywhere takes no time to
// speak of.
func TestGoldenOfLongLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.golden")
	deltas := func(n int, prefix string) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint(prefix, i))
		}
		return list
	}
	for _, n := range []int{100, 5000} {
		updating(t, "true", func() { turntest.Golden(t, log(deltas(n, "a")...), path) })
		updating(t, "false", func() {
			report := reported(func(f *fakeT) { turntest.Golden(f, log(deltas(n, "b")...), path) })
			says(t, report, "line 1, message /aDelta", "line 20, message", fmt.Sprintf("and %d differences more", n-20))
			if len(report) > 10_000 {
				t.Errorf("%d bytes", len(report))
			}
		})
	}
}

// The events of a turn are the same each time on a host of the package, also where it is not the first one.
func TestEventsAreTheSame(t *testing.T) {
	var first string
	for range 3 {
		script := turntest.NewScript(t, turntest.Call("weather", map[string]any{"city": "Oslo"}), turntest.Text("Cold."))
		events, _ := play(t, turns.Config{Model: script.Model()}, "Hi!")
		var lines []string
		for _, e := range events {
			text, err := e.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(text))
		}
		log := strings.Join(lines, "\n")
		if first == "" {
			first = log
		}
		if log != first {
			t.Errorf("\n%s\nwas\n%s", log, first)
		}
	}
}
