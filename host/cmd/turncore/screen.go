package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/briandowns/spinner"
	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/turncore/turncore/host"
)

// screen is where people read: the answer on standard output, everything else on standard error. On a terminal it uses
// colours, unless NO_COLOR is set, and shows that something is going on. What comes from models and tools cannot move
// the cursor or change the terminal.
type screen struct {
	mu       sync.Mutex
	out, err io.Writer
	outIsTTY bool
	errIsTTY bool
	shared   bool // both are the same terminal
	outMid   bool // the cursor stands behind an unfinished line
	errMid   bool
	spin     *spinner.Spinner // nil unless standard error is a terminal
	failed   error            // the first failure to write to standard output

	dim, red, yellow, cyan *color.Color
}

func newScreen(out, err io.Writer, getenv func(string) string) *screen {
	s := &screen{
		out: out, err: err, outIsTTY: isTTY(out), errIsTTY: isTTY(err),
		dim: color.New(color.Faint), red: color.New(color.FgRed), yellow: color.New(color.FgYellow), cyan: color.New(color.FgCyan),
	}
	s.shared = s.outIsTTY && s.errIsTTY
	colours := s.errIsTTY && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	for _, c := range []*color.Color{s.dim, s.red, s.yellow, s.cyan} {
		if colours {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
	}
	if file, ok := err.(*os.File); ok && s.errIsTTY && getenv("TERM") != "dumb" {
		s.spin = spinner.New(spinner.CharSets[14], 100*time.Millisecond, spinner.WithWriterFile(file), spinner.WithHiddenCursor(false))
	}
	return s
}

// style is how a text looks on a terminal.
type style int

const (
	plain style = iota
	faint
	bad
	warn
	accent
)

// styled is a text with its style.
type styled struct {
	style style
	text  string
}

// style is the colour of a style.
func (s *screen) style(of style) *color.Color {
	return [...]*color.Color{plain: nil, faint: s.dim, bad: s.red, warn: s.yellow, accent: s.cyan}[of]
}

// isTTY tells whether a stream is a terminal.
func isTTY(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// busy shows what is being waited for, until something else is shown.
func (s *screen) busy(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spin == nil || s.errMid || s.shared && s.outMid {
		return // it would wipe the line out
	}
	s.spin.Stop()
	s.spin.Suffix = " " + printable(what)
	s.spin.Start()
}

// quiet takes away what busy shows. The caller holds s.mu.
func (s *screen) quiet() {
	if s.spin != nil {
		s.spin.Stop()
	}
}

// print writes to standard output.
func (s *screen) print(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet()
	if s.shared {
		s.finish(s.err, &s.errMid)
	}
	if s.outIsTTY {
		text = printable(text)
	}
	s.write(s.out, text)
	s.outMid = !strings.HasSuffix(text, "\n")
}

// aside puts a remark behind what was printed, if standard output is a terminal: what a program reads there is the
// answer and nothing else.
func (s *screen) aside(text string) {
	if !s.outIsTTY {
		return
	}
	if s.outMid {
		text = " " + text
	}
	s.print(text)
}

// line ends the line on standard output if it is unfinished.
func (s *screen) line() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet()
	s.finish(s.out, &s.outMid)
}

// finish ends a line if it is unfinished. The caller holds s.mu.
func (s *screen) finish(w io.Writer, unfinished *bool) {
	if *unfinished {
		s.write(w, "\n")
		*unfinished = false
	}
}

// write notes when standard output fails. There is nowhere to report a failure of standard error to.
func (s *screen) write(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil && w == s.out && s.failed == nil {
		s.failed = fmt.Errorf("standard output: %w", err)
	}
}

// whisper writes a part of a text to standard error that is shown as it comes.
func (s *screen) whisper(text string) {
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet()
	if !s.errMid {
		s.ready()
	}
	text = printable(text)
	s.write(s.err, s.dim.Sprint(text))
	s.errMid = !strings.HasSuffix(text, "\n")
}

// ready puts the cursor at the beginning of a line of standard error. The caller holds s.mu.
func (s *screen) ready() {
	if s.shared {
		s.finish(s.out, &s.outMid)
	}
	s.finish(s.err, &s.errMid)
}

// note writes a line to standard error.
func (s *screen) note(c *color.Color, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet()
	s.ready()
	s.write(s.err, c.Sprint(printable(fmt.Sprintf(format, args...)))+"\n")
}

// prompt asks for a line on standard error.
func (s *screen) prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet()
	s.ready()
	s.write(s.err, text)
}

// broken is the first failure to write to standard output.
func (s *screen) broken() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// notice tells about something that a user would not expect.
func (s *screen) notice(text string) { s.note(s.yellow, "note: %s", text) }

// failure tells about an error: its code, its message, what led to it and what to do about it.
func (s *screen) failure(err error) {
	s.note(s.red, "error: %v", err)
	help := ""
	for _, cause := range chain(err, 8) {
		if e, ok := cause.(*host.Error); ok {
			if e != err && !strings.Contains(err.Error(), e.Error()) {
				s.note(s.dim, "  because of %v", e)
			}
			if help == "" {
				help = e.Help
			}
		}
	}
	if help != "" {
		s.note(s.dim, "  %s", help)
	}
}

// chain lists an error and what it wraps, at most so many.
func chain(err error, most int) []error {
	var list []error
	rest := []error{err}
	for len(rest) > 0 && len(list) < most {
		first := rest[0]
		rest = rest[1:]
		if first == nil {
			continue
		}
		list = append(list, first)
		switch e := first.(type) {
		case interface{ Unwrap() error }:
			rest = append([]error{e.Unwrap()}, rest...)
		case interface{ Unwrap() []error }:
			rest = append(slices.Clone(e.Unwrap()), rest...)
		}
	}
	return list
}

// close tells whether all could be written.
func (s *screen) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet()
	s.ready()
	return s.failed
}

// printable replaces the control characters of a text, but tabs and line ends.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, text)
}
