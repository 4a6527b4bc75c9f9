package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
)

// A subject is something that is measured. sample runs it once, or often enough to be timed, and returns the
// nanoseconds that one operation took.
type subject struct {
	figure string
	sample func() (float64, error)

	all    []float64 // nanoseconds
	rounds []float64 // the median of each round, for ratios
}

// timed makes a subject of an operation: as many of them to a sample as take 20 µs, so that reading the clock costs
// nothing.
func timed(figureID string, op func() error) *subject {
	batch := 0
	run := func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			if err := op(); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
	return &subject{figure: figureID, sample: func() (float64, error) {
		for batch == 0 {
			// The first samples are warm-up and may be slow: the size settles on the fastest of some.
			fastest := time.Hour
			for range 20 {
				took, err := run(1)
				if err != nil {
					return 0, err
				}
				fastest = min(fastest, took)
			}
			batch = int(20*time.Microsecond/max(fastest, 1)) + 1
		}
		took, err := run(batch)
		return float64(took.Nanoseconds()) / float64(batch), err
	}}
}

// pace is how long the benchmark takes.
type pace struct {
	rounds int           // how often all subjects that are compared are measured
	slice  time.Duration // how long each is, in a round
	warm   time.Duration // how long each runs before
	starts int           // processes that are started
	crowd  int           // turns that stream at the same time
	gates  int           // turns that wait at gates at the same time
	stream int           // bytes of a long stream
	turns  [2]int        // after which memory is looked at
}

var (
	full  = pace{rounds: 15, slice: 60 * time.Millisecond, warm: 400 * time.Millisecond, starts: 15, crowd: 1000, gates: 10_000, stream: 10_000_000, turns: [2]int{10_000, 100_000}}
	quick = paceOf(os.Getenv("TURNCORE_BENCH_PACE"))
)

// paceOf is the pace of a quick run: a few seconds to see that everything runs, or, named pair, long enough to be
// compared with another build when it is repeated.
func paceOf(name string) pace {
	if name == "pair" {
		return pace{rounds: 5, slice: 10 * time.Millisecond, warm: 60 * time.Millisecond, starts: 3, crowd: 50, gates: 2000, stream: 1_000_000, turns: [2]int{500, 1000}}
	}
	return pace{rounds: 3, slice: 5 * time.Millisecond, warm: 20 * time.Millisecond, starts: 3, crowd: 20, gates: 300, stream: 300_000, turns: [2]int{300, 600}}
}

// measure runs subjects in turns, so that what else the machine does meets all of them, and a ratio of two compares
// what happened at the same time. Each slice begins after a garbage collection; those that the subject causes are part
// of it. Beside other builds it waits before each slice until it is its turn.
func (p pace) measure(subjects ...*subject) error {
	for _, s := range subjects {
		if err := s.run(p.warm, nil); err != nil {
			return err
		}
	}
	for range p.rounds {
		for _, s := range subjects {
			if err := awaitTurn(s.figure); err != nil {
				return err
			}
			runtime.GC()
			var round []float64
			if err := s.run(p.slice, &round); err != nil {
				return err
			}
			s.all = append(s.all, round...)
			s.rounds = append(s.rounds, figure.Median(round))
		}
	}
	return nil
}

// beside says that the pair command runs this program beside other builds, one at a time.
var beside = os.Getenv("TURNCORE_BENCH_BESIDE") != ""

// awaitTurn tells the pair command which figure comes next and waits until it answers.
func awaitTurn(figureID string) error {
	if !beside {
		return nil
	}
	fmt.Println(figureID)
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("waiting for the turn to measure %s: %w", figureID, err)
	}
	return nil
}

// run takes samples for a while, five at least.
func (s *subject) run(during time.Duration, samples *[]float64) error {
	start := time.Now()
	for n := 0; n < 5 || time.Since(start) < during; n++ {
		ns, err := s.sample()
		if err != nil {
			return fmt.Errorf("%s: %w", s.figure, err)
		}
		if samples != nil {
			*samples = append(*samples, ns)
		}
	}
	return nil
}

// row is a subject's figure in microseconds.
func (s *subject) row(engine string) figure.Row {
	us := slices.Clone(s.all)
	for i := range us {
		us[i] /= 1000
	}
	return figure.Summarize(s.figure, engine, figure.Micros, us)
}

// paired is a figure made of what two subjects took in the same round.
func paired(id, engine, unit string, a, b *subject, of func(a, b float64) float64) figure.Row {
	list := make([]float64, len(a.rounds))
	for i := range list {
		list[i] = of(a.rounds[i], b.rounds[i])
	}
	return figure.Summarize(id, engine, unit, list)
}

// single is a figure that is measured once.
func single(e host.Engine, id, unit string, v float64) figure.Row {
	return figure.Summarize(id, e.Name(), unit, []float64{v})
}

func ratio(a, b float64) float64 { return a / b }
