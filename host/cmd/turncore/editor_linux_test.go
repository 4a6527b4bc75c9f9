package main

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/term"
)

// tty is a terminal at which somebody types.
type tty struct {
	t      *testing.T
	master *os.File
	screen *os.File

	mu    sync.Mutex
	shown string // what was not looked at
}

func openTerminal(t *testing.T) *tty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	var number, unlocked uint32
	control := func(request uintptr, arg *uint32) {
		raw, err := master.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var errno syscall.Errno
		err = raw.Control(func(fd uintptr) {
			_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(arg)))
		})
		if err != nil || errno != 0 {
			t.Fatal(err, errno)
		}
	}
	control(syscall.TIOCSPTLCK, &unlocked)
	control(syscall.TIOCGPTN, &number)
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	s := &tty{t: t, master: master, screen: screen}
	go func() {
		for buffer := make([]byte, 4096); ; {
			n, err := master.Read(buffer)
			s.mu.Lock()
			s.shown += string(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

// sees waits until a text is shown.
func (s *tty) sees(text string) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		_, after, found := strings.Cut(s.shown, text)
		if found {
			s.shown = after
		}
		shown := s.shown
		s.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q is not in %.2000q", text, shown)
		}
	}
}

func (s *tty) types(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *tty) state() *term.State {
	s.t.Helper()
	state, err := term.GetState(int(s.screen.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// At a terminal lines are edited and had again; Ctrl-C stops an answer, then empties a line, then ends the chat; and
// the terminal is what it was.
func TestChatAtATerminal(t *testing.T) {
	s := openTerminal(t)
	before := s.state()
	cmd := call{
		args: []string{"chat", "--engine", "native", "--tool", "slow=sleep 60", "--confirm", "slow"}, env: []string{"TERM=xterm", "NO_COLOR=1"},
	}.cmd(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.screen, s.screen, s.screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const left, up = "\x1b[D", "\x1b[A"
	s.sees("\n> ")
	s.types("helo" + left + "l\r")
	s.sees("You said: hello")
	s.sees("\n> ")
	s.types(up + "!\r")
	s.sees("You said: hello!")
	s.sees("\n> ")

	s.types("slow\r")
	s.sees("Run it?")
	s.types("y\r")
	s.sees("waiting for ")
	s.types("\x03")
	s.sees("\n> ")
	s.types(up + "\r") // an answer to a question is not had again
	s.sees("Run it?")
	s.types("n\r")
	s.sees("\n> ")

	s.types("never\x03")
	s.sees("once more ends the chat")
	s.sees("> ")
	s.types("still there\r")
	s.sees("You said: still there")
	s.sees("\n> ")
	s.types("\x03")
	s.sees("once more ends the chat")
	s.sees("> ")
	s.types("\x03")
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if !reflect.DeepEqual(s.state(), before) {
		t.Error("the terminal is not what it was")
	}
}

// A chat that is ended from outside while a line is typed leaves the terminal as it was, and so does the end of input.
func TestChatLeavesTheTerminal(t *testing.T) {
	for name, end := range map[string]func(s *tty, cmd *exec.Cmd){
		"SIGTERM": func(_ *tty, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) },
		"Ctrl-D":  func(s *tty, _ *exec.Cmd) { s.types("\x04") },
		"/quit":   func(s *tty, _ *exec.Cmd) { s.types("/quit\r") },
	} {
		s := openTerminal(t)
		before := s.state()
		cmd := call{args: []string{"chat", "--engine", "native"}, env: []string{"TERM=xterm"}}.cmd(t)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.screen, s.screen, s.screen
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.sees("> ")
		end(s, cmd)
		_ = cmd.Wait() // how it ends is tested elsewhere
		if !reflect.DeepEqual(s.state(), before) {
			t.Errorf("%s: the terminal is not what it was", name)
		}
	}
}

func TestPast(t *testing.T) {
	p := &past{}
	for _, c := range []struct {
		line string
		kept bool
	}{{"a", true}, {"a ", true}, {"y", false}, {"", true}, {"b", true}} {
		p.kept = c.kept
		p.Add(c.line)
	}
	if p.Len() != 2 || p.At(0) != "b" || p.At(1) != "a" {
		t.Errorf("%v", p.lines)
	}
	for i := range 2000 {
		p.Add(fmt.Sprint(i))
	}
	if p.Len() != 1000 || p.At(0) != "1999" {
		t.Errorf("%d lines, the last is %s", p.Len(), p.At(0))
	}
}
