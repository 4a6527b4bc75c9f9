package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// terminal is a screen that takes its two streams for one terminal.
func terminal(getenv func(string) string) (*screen, *bytes.Buffer) {
	var b bytes.Buffer
	s := newScreen(&b, &b, getenv)
	s.outIsTTY, s.errIsTTY, s.shared = true, true, true
	if getenv("NO_COLOR") == "" {
		s.dim.EnableColor()
		s.red.EnableColor()
	}
	return s, &b
}

func plainEnv(string) string { return "" }

func TestLinesOfATerminal(t *testing.T) {
	s, b := terminal(func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] })
	s.whisper("hm")
	s.whisper("m\n")
	s.whisper("so")
	s.print("an answer")
	s.print(" in parts")
	s.note(s.dim, "a %s", "note")
	s.whisper("and")
	s.note(s.dim, "another")
	s.line()
	s.print("")
	s.print("end")
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if want := "hmm\nso\nan answer in parts\na note\nand\nanother\nend\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestNoExtraLinesInAFile(t *testing.T) {
	var out, err bytes.Buffer
	s := newScreen(&out, &err, plainEnv)
	s.busy("nothing to be seen")
	s.print("an \x1b[31manswer")
	s.note(s.red, "a note")
	s.print(" in parts")
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "an \x1b[31manswer in parts" || err.String() != "a note\n" {
		t.Errorf("out %q, err %q", out.String(), err.String())
	}
}

func TestTextCannotDriveTheTerminal(t *testing.T) {
	s, b := terminal(plainEnv)
	const evil = "a\x1b]0;title\x07\x1b[2J\x9b1m\u009bb\r\x08\x00\x7f\tc\nd"
	s.print(evil)
	s.note(s.dim, "%s", evil)
	s.whisper(evil)
	s.failure(&host.Error{Name: evil, Message: evil, Help: evil})
	text := b.String()
	for _, own := range []string{"\x1b[2m", "\x1b[31m", "\x1b[0m", "\x1b[22m", "\x1b[0;22m"} {
		text = strings.ReplaceAll(text, own, "")
	}
	if strings.ContainsAny(text, "\x00\x07\x08\r\x1b\x7f") || strings.Contains(text, "\u009b") {
		t.Errorf("%q", text)
	}
	if !strings.Contains(text, "\tc\nd") {
		t.Errorf("tabs and line ends are lost: %q", text)
	}
}

func TestFailureTellsCauseAndHelp(t *testing.T) {
	var out, errs bytes.Buffer
	s := newScreen(&out, &errs, plainEnv)
	cause := host.NewError(host.CodeHTTPTransport, "no route", nil)
	s.failure(host.NewError(host.CodeLLMExecutionExecutorError, "", cause))
	text := errs.String()
	if !strings.HasPrefix(text, "error: E_LLM_EXECUTION_EXECUTOR_ERROR") || !strings.Contains(text, "because of E_HTTP_TRANSPORT") || strings.Count(text, "\n") != 3 {
		t.Errorf("%q", text)
	}
	errs.Reset()
	s.failure(errors.New("just that"))
	if errs.String() != "error: just that\n" {
		t.Errorf("%q", errs.String())
	}
}

func TestShowInterrupted(t *testing.T) {
	for _, tt := range []struct {
		terminal    bool
		delta, want string
	}{
		{true, "Hel", "Hel (broken off)\n"},
		{true, "Hel\n", "Hel\n(broken off)\n"},
		{false, "Hel", "Hel\n"}, // what a program reads is the answer and nothing else
	} {
		var out, errs bytes.Buffer
		s := newScreen(&out, &errs, plainEnv)
		s.outIsTTY = tt.terminal
		w := newShow(s, false)
		w.event(&event.Message{StreamDelta: event.StreamDelta{Delta: tt.delta}})
		w.event(&event.Message{StreamDelta: event.StreamDelta{IsComplete: true, IsInterrupted: true}})
		if out.String() != tt.want || errs.String() != "" {
			t.Errorf("%q, want %q; %q", out.String(), tt.want, errs.String())
		}
	}
}

func TestShow(t *testing.T) {
	var out, errs bytes.Buffer
	w := newShow(newScreen(&out, &errs, plainEnv), false)
	long := strings.Repeat("long ", 200)
	for _, ev := range []event.Event{
		&event.IterationStart{},
		&event.ToolCall{ID: "1", Tool: "refused", Args: []byte(`{"a":1}`), Checksum: "x", IsComplete: true, IsError: true, Results: "not\nso"},
		&event.ToolExecutionStart{ToolExecution: event.ToolExecution{ToolName: "run", CallID: "y"}, Args: []byte(`{}`)},
		&event.ToolCall{ID: "2", Tool: "run", Checksum: "y"},
		&event.ToolCall{ID: "2", Tool: "run", Checksum: "y", IsComplete: true, Results: map[string]any{"a": 1}},
		&event.ToolExecutionStart{ToolExecution: event.ToolExecution{ToolName: "run", CallID: "y"}, Args: []byte(`{}`)},
		&event.ToolCall{ID: "3", Tool: "run", Checksum: "y", IsComplete: true, Results: long},
		&event.Warning{Message: "mind"},
		&event.Log{Level: event.LevelInfo, Message: "quiet"},
		&event.Log{Level: event.LevelError, Message: "loud"},
		&event.GenerationStats{Stats: []byte(`{}`)},
		&event.Error{Err: errors.New("told at the end")},
	} {
		w.event(ev)
	}
	want := "→ refused {\"a\":1}\n✗ not so\n→ run {}\n← {\"a\":1}\n→ run {}\n← " + long[:longestShown] + " …\nwarning: mind\nerror: loud\n"
	if errs.String() != want || out.String() != "" {
		t.Errorf("%q, want %q", errs.String(), want)
	}
	errs.Reset()
	w.end(&turns.Result{Status: event.Aborted, Err: errInterrupted})
	w.end(&turns.Result{Status: event.Nack})
	if errs.String() != "interrupted\nthe turn ended with nack\n" {
		t.Errorf("%q", errs.String())
	}
}
