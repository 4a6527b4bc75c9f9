package turntest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Golden compares events, those of a turn (event.Event) or of a session (*sessions.Event), with those in a file, which
// has a line of JSON for each: that of the event log. The test fails where they differ, and the report names the line,
// the event or its author, and the member:
//
//	line 7, message /aDelta: got "warm.", want "cold."
//
// With the flag -update it writes the file and compares nothing. No events at all fail the test.
//
// The events are the same each time on a host of [Host], with tools that give the same and, in turns, do not run side
// by side.
func Golden[E json.Marshaler](t T, events []E, path string) {
	t.Helper()
	if len(events) == 0 {
		t.Errorf("turntest: there are no events to compare with %s", path)
		return
	}
	var log bytes.Buffer
	for i, e := range events {
		text, err := e.MarshalJSON()
		if err == nil {
			err = json.Compact(&log, text)
		}
		if err != nil {
			t.Errorf("turntest: event %d of the %d: %v", i+1, len(events), err)
			return
		}
		log.WriteByte('\n')
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
