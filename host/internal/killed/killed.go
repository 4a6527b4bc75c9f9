// Package killed runs tests in processes of their own, which it kills (as by kill -9).
package killed

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// name is the variable of the environment that tells a test that it is the process to be killed.
const name = "TURNCORE_STORETEST_KILLED"

// Task is what the process is to do; "" in the process of the test itself.
func Task() string { return os.Getenv(name) }

// Wait waits until the process is killed, at the end of its task.
func Wait() {
	fmt.Println("ended")
	select {}
}

// At runs the calling test in a process with a task, kills it a while after it has printed a line, from 1, and returns
// the lines that it had printed. The process must print only lines that are known; the last of them is that of [Wait].
// What waits for a line behind it is killed there.
func At(t *testing.T, task string, env []string, line int, delay time.Duration, known func(line string) bool) (lines []string, err error) {
	t.Helper()
	test, _, _ := strings.Cut(t.Name(), "/")
	process := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	process.Env = append(append(os.Environ(), env...), name+"="+task)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(time.Minute, func() { _ = process.Process.Kill() }) // it hangs: what it printed tells
	defer late.Stop()
	printed := bufio.NewScanner(out)
	seen := 0
	for printed.Scan() {
		switch text := printed.Text(); {
		case text == "ended":
			seen = line - 1
		case known(text):
			lines = append(lines, text)
		default:
			err = fmt.Errorf("the process says %q", text)
			continue
		}
		if seen++; seen == line {
			time.Sleep(delay)
			if err := process.Process.Kill(); err != nil {
				return nil, err
			}
		}
	}
	if seen < line && err == nil {
		err = fmt.Errorf("the process printed %d lines", seen)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = process.Wait() // it was killed
	return lines, err
}
