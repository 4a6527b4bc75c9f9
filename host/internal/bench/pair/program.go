package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

// A program is a benchmark that runs beside others. It prints the figure whose slice comes next, and measures it when a
// byte arrives on its standard input.
type program struct {
	cmd     *exec.Cmd
	out     string // where it writes its figures
	answers io.WriteCloser
	asks    *bufio.Scanner
	said    bytes.Buffer // standard error

	begun, ended bool
	figure       string // that it waits to measure, once begun and until ended
}

// newProgram makes a program of a command in folder, whose last word names the file of its figures. The end of ctx ends
// it.
func newProgram(ctx context.Context, folder string, command []string) (*program, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if strings.Contains(command[0], "/") && !filepath.IsAbs(command[0]) {
		command[0] = filepath.Join(folder, command[0])
	}
	p := &program{cmd: exec.CommandContext(ctx, command[0], command[1:]...), out: command[len(command)-1]}
	p.cmd.Dir, p.cmd.Stderr = folder, &p.said
	p.cmd.Env = append(os.Environ(), "TURNCORE_BENCH_BESIDE=1")
	if p.answers, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	asks, err := p.cmd.StdoutPipe()
	p.asks = bufio.NewScanner(asks)
	return p, err
}

// next starts the program or lets it measure what it waits for, and returns when it waits again or has ended.
func (p *program) next() error {
	var err error
	if p.begun {
		_, err = p.answers.Write([]byte{'\n'})
	} else {
		p.begun, err = true, p.cmd.Start()
	}
	if err == nil && p.asks.Scan() {
		p.figure = p.asks.Text()
		return nil
	}
	p.ended, p.figure = true, ""
	if p.cmd.Process != nil {
		if ended := p.cmd.Wait(); ended != nil {
			err = ended
		}
	}
	if err == nil {
		err = p.asks.Err()
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w\n%s", strings.Join(p.cmd.Args, " "), p.cmd.Dir, err, p.said.Bytes())
	}
	return nil
}

// figures reads what an ended program has measured.
func (p *program) figures() (rows []figure.Row, err error) {
	data, err := os.ReadFile(p.out)
	if err != nil {
		return nil, err
	}
	var report figure.Report
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("%s: %w", p.out, err)
	}
	for _, row := range report.Rows {
		if !math.IsNaN(row.Median) && row.Median > 0 {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// orders are in which order base, head and base again take their turns: each comes first, second and last as often.
var orders = [][3]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}

// takeTurns runs base, head and base again until all have ended, one at a time. While they wait for the same figure
// each measures it once. A figure that the head alone has is measured when the head comes to it. It returns how many
// slices were measured beside the others', and how many the head measured alone.
func takeTurns(programs [3]*program, round int) (together, alone int, err error) {
	const head = 1
	for turn := round; ; turn++ {
		same, ended := true, 0
		for _, p := range programs {
			same = same && p.figure == programs[head].figure
			if p.ended {
				ended++
			}
		}
		if ended == len(programs) {
			return together, alone, nil
		}
		if begun := programs[head].begun && !programs[head].ended; begun && same && ended == 0 {
			together++
		} else if begun {
			alone++
		}
		for _, which := range orders[turn%len(orders)] {
			p := programs[which]
			if p.ended || (!same && !programs[head].ended && which != head) {
				continue
			}
			if err := p.next(); err != nil {
				return together, alone, err
			}
		}
	}
}
