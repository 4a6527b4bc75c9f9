// Package storebench measures what a further turn of a long conversation costs with a store, and a page of a long list,
// as ratios of what the same costs with little.
package storebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// Size is how much is measured.
type Size struct {
	Messages int // of the long conversation
	Samples  int // how many times each figure is taken
	Sessions int // of the long list
}

// Full and Quick are the sizes of the benchmark.
var (
	Full  = Size{Messages: 5000, Samples: 100, Sessions: 100_000}
	Quick = Size{Messages: 500, Samples: 5, Sessions: 2000}
)

// Run writes a row of a table in Markdown for each figure.
func Run(ctx context.Context, out io.Writer, name string, s store.Sessions, size Size) error {
	runner, err := turns.New(ctx, turns.Config{
		Store: s, Engine: native.New(),
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			answer := record.NewMessage(ctx.TurnID()+".answer", record.Assistant, "An answer of some words.", time.Now().UTC())
			return errors.Join(ctx.StoreMessage(answer), ctx.Ack())
		},
	})
	if err != nil {
		return err
	}
	defer runner.Close() // nothing is lost with it
	if err := fill(ctx, s, "long", size.Messages); err != nil {
		return err
	}
	turn := func(session string) (time.Duration, error) {
		begun := time.Now()
		_, err := runner.Run(ctx, turns.Input{Message: "Some words.", Session: session})
		return time.Since(begun), err
	}
	if _, err := turn("long"); err != nil { // which loads it
		return err
	}
	var first, further []time.Duration
	for n := range size.Samples {
		// In turns, so that both meet the same machine.
		a, err := turn(fmt.Sprint("first ", n))
		if err != nil {
			return err
		}
		b, err := turn("long")
		if err != nil {
			return err
		}
		first, further = append(first, a), append(further, b)
	}
	last := further[len(further)-min(len(further), 10):]
	fmt.Fprintf(out, "| %s | first turn of a conversation | %s | |\n", name, short(median(first)))
	row := func(what string, took, of time.Duration) {
		fmt.Fprintf(out, "| %s | %s | %s | %.2f |\n", name, what, short(took), float64(took)/float64(of))
	}
	row(fmt.Sprintf("further turn on %d messages", size.Messages), median(further), median(first))
	row(fmt.Sprintf("the same, turns %d to %d", size.Samples-len(last)+1, size.Samples), median(last), median(first))
	if err := sessions(ctx, s, 0, 2*pageSize); err != nil {
		return err
	}
	few, err := page(ctx, s)
	if err != nil {
		return err
	}
	if err := sessions(ctx, s, 2*pageSize, size.Sessions); err != nil {
		return err
	}
	many, err := page(ctx, s)
	if err != nil {
		return err
	}
	row(fmt.Sprintf("page of %d in a list of %d sessions, of one of %d", pageSize, size.Sessions, 2*pageSize), many, few)
	return nil
}

// pageSize is how many sessions a page has.
const pageSize = 50

// page is what a page of the list takes.
func page(ctx context.Context, s store.Sessions) (time.Duration, error) {
	var took []time.Duration
	for range 50 {
		begun := time.Now()
		if _, _, err := s.List(ctx, "", pageSize); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begun))
	}
	return median(took), nil
}

// fill stores messages.
func fill(ctx context.Context, s store.Store, session string, messages int) error {
	var writes []store.Delta
	for n := range messages {
		id := strconv.Itoa(n)
		m := record.NewMessage(id, record.User, "What a message says, in some words.", time.Now().UTC())
		writes = append(writes, store.Delta{Op: store.OpStore, Kind: "message", ID: id, Record: m})
	}
	_, err := s.Commit(ctx, session, store.Commit{Deltas: writes})
	return err
}

// sessions stores sessions of one message, from a number on up to another.
func sessions(ctx context.Context, s store.Store, from, to int) error {
	const writers = 64
	failed := make([]error, writers)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := from + w; n < to && failed[w] == nil; n += writers {
				failed[w] = fill(ctx, s, fmt.Sprint("session ", n), 1)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

func short(d time.Duration) string { return fmt.Sprintf("%.0f µs", float64(d)/1000) }
