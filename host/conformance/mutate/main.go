// Command mutate makes mutants of the core, at random, and counts how many of them the conformance corpus and the unit
// tests kill.
//
//	mutate [-seed N] [-count N] [-corpus N] [-all N] [-results FILE] [-units=false] [-packages PATTERNS] REPOSITORY
//
// A mutant is one small change of a function: a condition negated (which is also the exchange of the branches behind
// it), == for !=, < for <=, && for ||, + for -, a constant one more or less, a statement left out, a zero value or no
// error returned, break for continue. A sample of them, which the seed decides, is compiled into one program, as
// package mutant says, with an overlay: no file is changed. Each is tried on the native engine with the corpus, until a
// scenario fails; what survives that, with the unit tests below runtime and those of internal/guest, which send what no
// host sends. A program that crashes, or does not end, has noticed.
//
// It prints what killed each mutant, and fails if the corpus alone killed fewer than 80 of 100, or with the unit tests
// fewer than 92; -corpus and -all set other bounds. survivors.json lists mutants that nothing has to notice, with the
// reason. They count as survivors all the same, and those that are not in it are marked ALIVE. With -results what was
// found is kept in a file, and a further run tries only what the corpus has not killed. With -units=false only the
// corpus counts.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// options are those of the command.
type options struct {
	root     string
	seed     uint64
	count    int
	results  string
	units    bool
	packages []string
	byCorpus int // the least share that the corpus must kill, of 100
	byAll    int // and the corpus and the unit tests together
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "decides the sample")
	flag.IntVar(&o.count, "count", 200, "how many mutants")
	flag.StringVar(&o.results, "results", "", "keep what was found in this file, and go on from there")
	flag.IntVar(&o.byCorpus, "corpus", 80, "the least share that the corpus must kill, of 100")
	flag.IntVar(&o.byAll, "all", 92, "the least share that the corpus and the unit tests must kill")
	flag.BoolVar(&o.units, "units", true, "run the unit tests too")
	packages := flag.String("packages", "./runtime ./runtime/chat ./runtime/record", "whose functions change")
	flag.Parse()
	o.packages = strings.Fields(*packages)
	err := errors.New("usage: mutate [-seed N] [-count N] [-corpus N] [-all N] [-results FILE] [-units=false] [-packages PATTERNS] REPOSITORY")
	if flag.NArg() == 1 && o.count > 0 {
		if o.root, err = filepath.Abs(flag.Arg(0)); err == nil {
			err = run(o)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// draw draws a sample: the same for the same seed as long as the code stays as it is.
func draw(all []*candidate, seed uint64, count int) []*candidate {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))
	var sample []*candidate
	for _, i := range order[:min(count, len(order))] {
		sample = append(sample, all[i])
	}
	return sample
}

// collect lists all candidates.
func collect(root string, packages []string) ([]*candidate, error) {
	files, err := sources(root, packages)
	if err != nil {
		return nil, err
	}
	var all []*candidate
	for _, file := range files {
		all = append(all, file.candidates()...)
	}
	return all, nil
}

func run(o options) error {
	known, err := survivors()
	if err != nil {
		return err
	}
	all, err := collect(o.root, o.packages)
	if err != nil {
		return err
	}
	sample := draw(all, o.seed, o.count)
	fmt.Printf("seed %d: %d of %d mutants\n", o.seed, len(sample), len(all))
	verdicts, err := try(o, sample)
	if err != nil {
		return err
	}

	var byCorpus, byUnits, alive, unlisted int
	for i, c := range sample {
		v := verdicts[i]
		before, after := c.lines()
		what, why := "", ""
		switch {
		case v.Corpus != "":
			byCorpus++
			fmt.Printf("corpus  %s:%d: %s: %s\n", c.source.name, c.line(), c.operator, v.Corpus)
			continue
		case v.Unit != "":
			byUnits++
			what, why = "unit   ", v.Unit
		case known[c.survivor()] != "":
			alive++
			what, why = "listed ", known[c.survivor()]
		default:
			alive++
			unlisted++
			what, why = "ALIVE  ", "nothing noticed"
		}
		fmt.Printf("%s %s:%d: %s: %s\n\t- %s\n\t+ %s\n", what, c.source.name, c.line(), c.operator, why, before, after)
	}
	n := len(sample)
	fmt.Printf("mutate: %d mutants, %d killed by the corpus (%.1f %%), %d more by unit tests (%.1f %%), %d survived, %d of them not listed\n",
		n, byCorpus, share(byCorpus, n), byUnits, share(byCorpus+byUnits, n), alive, unlisted)
	switch {
	case byCorpus*100 < o.byCorpus*n:
		return fmt.Errorf("the corpus killed fewer than %d %%", o.byCorpus)
	case !o.units:
		return nil
	case (byCorpus+byUnits)*100 < o.byAll*n:
		return fmt.Errorf("corpus and unit tests killed fewer than %d %%", o.byAll)
	}
	return nil
}

func share(part, of int) float64 { return 100 * float64(part) / float64(of) }

// try finds what kills each mutant of the sample.
func try(o options, sample []*candidate) ([]verdict, error) {
	earlier := map[verdict]verdict{}
	keep := func(verdict) error { return nil }
	if o.results != "" {
		var err error
		if earlier, err = readVerdicts(o.results); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(o.results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		keep = func(v verdict) error { return json.NewEncoder(f).Encode(v) }
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	t, err := prepare(o.root, work, sample, o.units)
	if err != nil {
		return nil, err
	}
	// Without a change everything passes: otherwise everything would count as killed.
	by, err := t.byCorpus(0)
	if err == nil && by == "" && o.units {
		by, err = t.byUnits(0, "")
	}
	if err != nil || by != "" {
		return nil, errors.Join(fmt.Errorf("without a change: %s", by), err)
	}

	verdicts := make([]verdict, len(sample))
	failures := make([]error, len(sample))
	var mu sync.Mutex
	var wait sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, c := range sample {
		verdicts[i] = earlier[c.place()]
		if verdicts[i].Corpus != "" {
			continue
		}
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			v := c.place()
			if v.Corpus, failures[i] = t.byCorpus(i + 1); failures[i] == nil && v.Corpus == "" {
				if v.Unit = verdicts[i].Unit; v.Unit == "" && o.units {
					v.Unit, failures[i] = t.byUnits(i+1, c.folder())
				}
			}
			verdicts[i] = v
			if failures[i] == nil {
				mu.Lock()
				defer mu.Unlock()
				failures[i] = keep(v)
			}
		})
	}
	wait.Wait()
	return verdicts, errors.Join(slices.DeleteFunc(failures, func(err error) bool { return err == nil })...)
}
