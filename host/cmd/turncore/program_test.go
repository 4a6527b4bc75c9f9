//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProgramTool(t *testing.T) {
	on(t, func(t *testing.T, engine string) {
		got := turncore(
			t, "run", "--engine", engine, "--json",
			"--tool", "weather:Tells the weather: now.=cat; echo; echo x=done", "What is the weather like?",
		)
		end := checkLog(t, got.stdout)
		if got.status != 0 || len(end.ToolCalls) != 1 || end.ToolCalls[0].IsError || end.ToolCalls[0].Results != "{}\nx=done" {
			t.Errorf("%s, end %+v", got.stderr, end)
		}
	})
	got := turncore(t, "run", "--engine", "native", "--tool", "weather=echo no forecast >&2; exit 3", "What is the weather like?")
	if got.status != 0 || !strings.Contains(got.stderr, "→ weather {}\n") || !strings.Contains(got.stderr, "✗ ") || !strings.Contains(got.stdout, "no forecast") {
		t.Errorf("%+v", got)
	}
}

func TestProgramInPlaceOfABuiltinTool(t *testing.T) {
	got := turncore(t, "run", "--engine", "native", "--tool", "calculate=echo 42", "calculate 1 + 1")
	if got.status != 0 || got.stdout != "The tool answered: 42\n" {
		t.Errorf("%+v", got)
	}
}

func TestProgramResults(t *testing.T) {
	for program, want := range map[string]string{
		`printf 'a\n\n'`:        "a\n",
		`printf 'a\r\n'`:        "a",
		`printf 'a\r'`:          "a\r",
		`printf ''`:             "",
		`printf 'a\377b'`:       "a\uFFFDb",
		`cat >/dev/null; true`:  "",
		`true`:                  "", // it does not read its input
		`sleep 30 & echo early`: "early",
	} {
		got, err := programTool{program: program}.run(context.Background(), bytes.Repeat([]byte("x"), 1<<20))
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", program, got, err)
		}
	}
	for program, want := range map[string]string{
		`exit 3`:                              "exit status 3",
		`echo " reason " >&2; exit 1`:         "reason",
		`kill -9 $$`:                          "signal: killed",
		`/no/such/program`:                    "no",
		`head -c 5000000 /dev/zero`:           "longer than",
		`head -c 9000 /dev/zero >&2; exit 1`:  "\x00",
		`yes | head -c 5000000 >&2; exit 200`: "y\ny\n",
	} {
		got, err := programTool{program: program}.run(context.Background(), nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > maxReason || got != "" {
			t.Errorf("%s: %q, %.100v", program, got, err)
		}
	}
}

func TestProgramIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(100*time.Millisecond, func() { cancel(errInterrupted) })
	begun := time.Now()
	_, err := programTool{program: "sleep 60 & sleep 60; echo never"}.run(ctx, nil)
	if !errors.Is(err, errInterrupted) || time.Since(begun) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// TestInterrupt stops a turn while a tool runs: the tool's programs end, the turn ends properly. A closed terminal does
// the same.
func TestInterrupt(t *testing.T) {
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sent.String(), func(t *testing.T) { interrupt(t, sent) })
	}
}

func interrupt(t *testing.T, with syscall.Signal) {
	on(t, func(t *testing.T, engine string) {
		pid := filepath.Join(t.TempDir(), "pid")
		cmd := call{args: []string{
			"run", "--engine", engine, "--json", "--tool", "weather=echo $$ > " + pid + "; sleep 60", "What is the weather like?",
		}}.cmd(t)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		sent := false
		for scan := bufio.NewScanner(out); scan.Scan(); {
			log.WriteString(scan.Text() + "\n")
			if strings.Contains(scan.Text(), "toolExecutionStart") && !sent {
				sent = true
				waitFor(t, func() bool { text, _ := os.ReadFile(pid); return strings.HasSuffix(string(text), "\n") })
				if err := cmd.Process.Signal(with); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%v", err)
		}
		end := checkLog(t, log.String())
		if end.Status != "aborted" || end.Error == nil || end.Error.Code != "AbortError" || end.Error.Message != "interrupted" || len(end.Messages) != 1 {
			t.Errorf("end %+v", end)
		}
		text, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		number, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return errors.Is(syscall.Kill(number, 0), syscall.ESRCH) })
	})
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for range 1000 {
		if so() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("it took too long")
}
