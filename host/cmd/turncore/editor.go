package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"
)

// errKey is that of a line at which the user has pressed Ctrl-C. The terminal makes no signal of it while a line is
// typed.
var errKey = errors.New("interrupted by a key")

// editor takes lines from a terminal, with keys that move and delete, and with earlier lines by the arrow keys. Between
// lines the terminal is as it was, so that Ctrl-C is a signal there.
type editor struct {
	keys *keys
	out  io.Writer
	past past
	term *term.Terminal

	mu   sync.Mutex
	was  *term.State // before the line that is being typed; nil between lines
	over bool        // no line is wanted any more
}

// newEditor returns an editor if lines are typed and shown at a terminal that can move its cursor, and nil otherwise.
func newEditor(from io.Reader, out io.Writer, getenv func(string) string) *editor {
	if !isTTY(from) || !isTTY(out) || getenv("TERM") == "dumb" {
		return nil
	}
	e := &editor{keys: &keys{file: from.(*os.File)}, out: out}
	e.begin()
	return e
}

// begin makes a terminal with an empty line.
func (e *editor) begin() {
	e.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, e.out}, "")
	e.term.History = &e.past
}

// line asks for a line. kept says that it can be had again with the arrow keys.
func (e *editor) line(prompt string, kept bool) (string, error) {
	if err := e.raw(); err != nil {
		return "", err
	}
	defer e.restore()
	if width, height, err := term.GetSize(int(e.keys.file.Fd())); err == nil && width > 0 {
		_ = e.term.SetSize(width, height) // it fails to draw again what is not there
	}
	e.term.SetPrompt(prompt)
	e.past.kept, e.keys.interrupted = kept, false
	text, err := e.term.ReadLine()
	if errors.Is(err, io.EOF) && e.keys.interrupted {
		e.begin()
		_, _ = io.WriteString(e.out, "\r\n") // what fails here fails with the next line
		return "", errKey
	}
	return text, err
}

func (e *editor) raw() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return io.EOF
	}
	e.was, err = term.MakeRaw(int(e.keys.file.Fd()))
	return err
}

// restore makes the terminal what it was before the line.
func (e *editor) restore() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.was != nil {
		_ = term.Restore(int(e.keys.file.Fd()), e.was) // a terminal that is gone needs nothing
		e.was = nil
	}
}

// close ends a line that is still being typed.
func (e *editor) close() {
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	e.restore()
}

// keys are what is typed.
type keys struct {
	file        *os.File
	interrupted bool // Ctrl-C was among them
}

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	const ctrlC = 3
	n, err := k.file.Read(p)
	k.interrupted = k.interrupted || bytes.IndexByte(p[:n], ctrlC) >= 0
	return n, err
}

// past are the lines that were typed. It implements [term.History].
type past struct {
	kept  bool // the line that is being typed shall be one
	lines []string
}

// Add adds a line, but for one that repeats the last.
func (p *past) Add(line string) {
	if line = strings.TrimSpace(line); !p.kept || line == "" || len(p.lines) > 0 && p.lines[len(p.lines)-1] == line {
		return
	}
	const most = 1000
	if len(p.lines) == most {
		p.lines = slices.Delete(p.lines, 0, 1)
	}
	p.lines = append(p.lines, line)
}

// Len returns how many there are.
func (p *past) Len() int { return len(p.lines) }

// At returns one: 0 is the last.
func (p *past) At(i int) string { return p.lines[len(p.lines)-1-i] }
