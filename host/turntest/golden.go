package turntest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/turncore/turncore/host/event"
)

// Golden compares events with those in a file, which has the line of the event log for each. The test fails where they
// differ, and the report names the line, the event and the member:
//
//	line 7, message /aDelta: got "warm.", want "cold."
//
// With the flag -update it writes the file and compares nothing. No events at all fail the test.
//
// The events of a turn are the same each time on a host of [Host], with tools that give the same and do not run side by
// side.
func Golden(t T, events []event.Event, path string) {
	t.Helper()
	if len(events) == 0 {
		t.Errorf("turntest: there are no events to compare with %s", path)
		return
	}
	var log bytes.Buffer
	for _, e := range events {
		text, err := e.MarshalJSON()
		if err != nil {
			t.Errorf("turntest: event %d, %s: %v", e.Meta().Seq, e.Kind(), err)
			return
		}
		log.Write(append(text, '\n'))
	}
	if Updating() {
		err := folderOf(path)
		if err == nil {
			err = os.WriteFile(path, log.Bytes(), 0o644)
		}
		if err != nil {
			t.Errorf("turntest: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("turntest: there is no %s: go test -update writes it", path)
		return
	case err != nil:
		t.Errorf("turntest: %v", err)
		return
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")) // Git may have made them
	if bytes.Equal(log.Bytes(), want) {
		return
	}
	t.Errorf("turntest: the events differ from %s (if they are right, go test -update):%s", path,
		listed(lineDifferences(lines(log.String()), lines(string(want)))))
}

// lines are the lines of a text.
func lines(text string) []string {
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
