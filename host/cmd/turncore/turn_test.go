package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// typist gives a line at a time, as slowly as nobody types.
type typist struct{ lines []string }

func (t *typist) Read(p []byte) (int, error) {
	if len(t.lines) == 0 {
		return 0, io.EOF
	}
	time.Sleep(50 * time.Millisecond)
	n := copy(p, t.lines[0])
	t.lines = t.lines[1:]
	return n, nil
}

// TestChat has a conversation of several turns, which only a terminal has otherwise.
func TestChat(t *testing.T) {
	var stdout, stderr bytes.Buffer
	c := &command{
		stdin: &typist{[]string{"hello\n", "\n", "  calculate 2 * 3  \n", "bye"}}, stdout: &stdout, stderr: &stderr,
		getenv: func(string) string { return "" },
	}
	o, err := c.parseRun([]string{"--engine", "native"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	if err := c.chat(s); err != nil {
		t.Fatal(err)
	}
	const tools = "\n\nI can also use tools: current_time, calculate. Mention one and I call it.\n"
	if want := "You said: hello" + tools + "The tool answered: 6\nYou said: bye" + tools; stdout.String() != want {
		t.Errorf("stdout %q", stdout.String())
	}
	if strings.Count(stderr.String(), "> ") != 4 || !strings.Contains(stderr.String(), "→ calculate") {
		t.Errorf("stderr %q", stderr.String())
	}
	// The last turn has the whole conversation.
	if n := s.last.TurnMessages().Len(); n != 6 {
		t.Errorf("%d messages", n)
	}
}

func TestChatEndsWithItsOutput(t *testing.T) {
	c := &command{
		stdin: strings.NewReader("hello\nhello\n"), stdout: brokenWriter{}, stderr: &bytes.Buffer{},
		getenv: func(string) string { return "" },
	}
	s, err := c.open(&runFlags{engine: engineFlags{name: "native"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	if err := c.chat(s); err == nil || !strings.Contains(err.Error(), "standard output") {
		t.Errorf("error %v", err)
	}
}
