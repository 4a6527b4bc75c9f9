// Command mutants shows that the conformance corpus has teeth: it seeds faults into the core, one at a time, and plays
// the corpus on the native engine until a scenario catches the fault.
//
//	mutants [-only NAME | -shard 2/5] REPOSITORY   for each fault of mutants.json, or every fifth from the second on:
//	                                               which scenario caught it
//	mutants -play CORPUS                           plays a corpus and fails at the first scenario that does not pass
//
// The faults are replacements of text in source files, built with an overlay: no file is changed. One that nothing
// catches, or whose text is not there exactly once, makes the command fail.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/internal/shard"
	"github.com/turncore/turncore/host/native"
)

//go:embed mutants.json
var list []byte

// mutant is a fault.
type mutant struct {
	Name    string `json:"name"`
	File    string `json:"file"` // below the repository
	Find    string `json:"find"` // there exactly once
	Replace string `json:"replace"`
}

// seed returns the text of the file with the fault in it.
func (m mutant) seed(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Find); n != 1 || m.Find == m.Replace {
		return "", fmt.Errorf("its text is %d times in %s", n, m.File)
	}
	return strings.Replace(string(text), m.Find, m.Replace, 1), nil
}

// patience is how long a scenario may take on a core that may never end.
const patience = 3 * time.Second

func main() {
	playing := flag.String("play", "", "play the corpus in this folder")
	only := flag.String("only", "", "seed only this fault")
	part := flag.String("shard", "1/1", "seed these faults: 2/5 is every fifth, from the second on")
	flag.Parse()
	mine, err := shard.Parse(*part)
	switch {
	case err != nil:
		err = fmt.Errorf("-shard is %w", err)
	case *playing != "":
		err = play(*playing)
	case flag.NArg() == 1:
		err = hunt(flag.Arg(0), func(i int, m mutant) bool { return mine.Has(i) && (*only == "" || m.Name == *only) })
	default:
		err = errors.New("usage: mutants [-only NAME | -shard 2/5] REPOSITORY | mutants -play CORPUS")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// caught is the exit status of a play that a scenario failed.
const caught = 3

// play plays the corpus. It prints the first scenario that fails, and ends the program with status caught.
func play(folder string) error {
	files, err := conformance.Load(os.DirFS(folder))
	if err != nil {
		return err
	}
	passed := 0
	for _, file := range files {
		player := conformance.NewPlayer(conformance.Options{Engine: native.New(), Patience: patience})
		for _, s := range file.Scenarios {
			if !s.Playable(conformance.Features()...) {
				continue
			}
			log, err := player.Play(s)
			if err == nil {
				err = s.Check(log)
			}
			for _, one := range s.Failing(log) {
				if err == nil {
					if log, err = player.Play(one); err == nil {
						err = one.CheckStorage(log)
					}
				}
			}
			if err != nil {
				fmt.Println(s.ID)
				fmt.Fprintln(os.Stderr, err)
				os.Exit(caught)
			}
			passed++
		}
		if err := player.Close(); err != nil {
			return err
		}
	}
	fmt.Printf("native: %d passed\n", passed)
	return nil
}

// hunt seeds the faults that are chosen and says what caught each.
func hunt(repository string, chosen func(i int, m mutant) bool) error {
	var mutants []mutant
	if err := json.Unmarshal(list, &mutants); err != nil {
		return err
	}
	root, err := filepath.Abs(repository)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	// Those that are not chosen must have their place, too.
	for _, m := range mutants {
		if _, err := m.seed(root); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	// The corpus passes without a fault: otherwise everything would count as caught.
	if by, err := try(root, work, 0, mutant{}); err != nil || by != "" {
		return fmt.Errorf("without a fault: %s %w", by, err)
	}
	results := make([]string, len(mutants))
	failures := make([]error, len(mutants))
	var wait sync.WaitGroup
	slots := make(chan struct{}, max(1, runtime.NumCPU()))
	tried := 0
	for i, m := range mutants {
		if !chosen(i, m) {
			continue
		}
		tried++
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i], failures[i] = try(root, work, i+1, m)
		})
	}
	wait.Wait()
	died := 0
	for i, m := range mutants {
		switch {
		case failures[i] != nil:
			fmt.Printf("ERROR   %s: %v\n", m.Name, failures[i])
		case results[i] != "":
			fmt.Printf("caught  %s: by %s\n", m.Name, results[i])
			died++
		case chosen(i, m):
			fmt.Printf("ALIVE   %s\n", m.Name)
		}
	}
	fmt.Printf("mutants: %d of %d caught\n", died, tried)
	if died != tried || tried == 0 {
		return fmt.Errorf("%d faults were not caught", tried-died)
	}
	return nil
}

// try builds this command with a fault and plays the corpus. It returns the scenario that caught it, "" for none.
func try(root, work string, number int, m mutant) (by string, err error) {
	folder := filepath.Join(work, fmt.Sprint(number))
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	replaced := map[string]map[string]string{"Replace": {}}
	if m.File != "" {
		text, err := m.seed(root)
		if err != nil {
			return "", err
		}
		changed := filepath.Join(folder, filepath.Base(m.File))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced["Replace"][filepath.Join(root, m.File)] = changed
	}
	description, err := json.Marshal(replaced)
	if err == nil {
		err = os.WriteFile(overlay, description, 0o600)
	}
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	binary := filepath.Join(folder, "play")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", binary, "./host/conformance/mutants")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build: %s", out)
	}
	run := exec.CommandContext(ctx, binary, "-play", filepath.Join(root, "runtime/testdata/conformance"))
	out, err := run.Output()
	_ = os.Remove(binary)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &exit) && exit.ExitCode() == caught:
		return strings.TrimSpace(string(out)), nil
	case errors.As(err, &exit) && strings.Contains(string(exit.Stderr), "panic:"):
		return "a panic", nil
	}
	return "", fmt.Errorf("playing: %w", err)
}
