package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host/conformance/mutate/mutant"
)

// trial holds the programs that every change of a sample is linked into, each chosen by its number.
type trial struct {
	root   string // of the repository
	work   string
	corpus string   // the program that plays the corpus
	tests  []string // the folders with unit tests, below the repository
}

// patience is how long a program may take: some changes make loops that never end.
const patience = 2 * time.Minute

// prepare compiles the sample into the corpus' player, and into the unit tests.
func prepare(root, work string, sample []*candidate, withTests bool) (*trial, error) {
	t := &trial{root: root, work: work, corpus: filepath.Join(work, "corpus")}
	replaced := map[string]string{}
	chosen := map[*source]map[int]*candidate{}
	for i, c := range sample {
		if chosen[c.source] == nil {
			chosen[c.source] = map[int]*candidate{}
		}
		chosen[c.source][i+1] = c
	}
	for s, some := range chosen {
		changed := filepath.Join(work, strconv.Itoa(len(replaced))+".go")
		if err := os.WriteFile(changed, []byte(s.rewrite(some)), 0o600); err != nil {
			return nil, err
		}
		replaced[filepath.Join(root, s.name)] = changed
	}
	overlay := filepath.Join(work, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if err := t.run("go", "build", "-overlay", overlay, "-o", t.corpus, "./host/conformance/mutants"); err != nil {
		return nil, err
	}
	if !withTests {
		return t, nil
	}
	units := filepath.Join(work, "units")
	if err := os.Mkdir(units, 0o700); err != nil {
		return nil, err
	}
	folders, err := testsOf(root, chosen)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		below, err := filepath.Rel(root, folder)
		if err != nil {
			return nil, err
		}
		below = filepath.ToSlash(below)
		if err := t.run("go", "test", "-c", "-overlay", overlay, "-o", t.unit(below), "./"+below); err != nil {
			return nil, err
		}
		t.tests = append(t.tests, below)
	}
	return t, nil
}

// testsOf lists the folders below runtime, and internal/guest, whose tests have a changed package in them.
func testsOf(root string, chosen map[*source]map[int]*candidate) ([]string, error) {
	type tested struct {
		Dir, ForTest string
		Deps         []string
	}
	list, err := goList[tested](root, "-test", "-json=Dir,ForTest,Deps", "./runtime/...", "./internal/guest")
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, p := range list {
		for s := range chosen {
			if p.ForTest != "" && (p.ForTest == s.pkg.Path() || slices.Contains(p.Deps, s.pkg.Path())) {
				folders = append(folders, p.Dir)
			}
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// unit is the program with the tests of a folder.
func (t *trial) unit(folder string) string {
	return filepath.Join(t.work, "units", strings.ReplaceAll(folder, "/", "-")+".test")
}

func (t *trial) run(name string, args ...string) error {
	command := exec.Command(name, args...)
	command.Dir = t.root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// byCorpus plays the corpus with a change, 0 for none, and returns what killed it, "" for nothing.
func (t *trial) byCorpus(number int) (string, error) {
	out, killed, err := t.try(number, t.root, t.corpus, "-play", "runtime/testdata/conformance")
	if err != nil || !killed {
		return "", err
	}
	if scenario := strings.TrimSpace(out); scenario != "" {
		return scenario, nil
	}
	return "a crash", nil
}

// byUnits runs the unit tests with a change until one fails, those of its own package first.
func (t *trial) byUnits(number int, own string) (string, error) {
	order := slices.Clone(t.tests)
	if i := slices.Index(order, own); i > 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, own)
	}
	for _, folder := range order {
		binary := t.unit(folder)
		out, killed, err := t.try(number, filepath.Join(t.root, folder), binary, "-test.failfast", "-test.short", "-test.timeout=110s")
		if err != nil {
			return "", err
		}
		if !killed {
			continue
		}
		for line := range strings.Lines(out) {
			if name, is := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); is {
				name, _, _ = strings.Cut(name, " ")
				return path.Join(folder, name), nil
			}
		}
		return folder + ", a crash", nil
	}
	return "", nil
}

// try runs a program with a change. Any end but a good one has killed the change.
func (t *trial) try(number int, folder, program string, args ...string) (stdout string, killed bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = folder
	command.Env = os.Environ()
	if number != 0 {
		command.Env = append(command.Env, mutant.Variable+"="+strconv.Itoa(number))
	}
	var out bytes.Buffer
	command.Stdout = &out
	err = command.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", false, nil
	case errors.As(err, &exit):
		return out.String(), true, nil
	}
	return "", false, err
}
