package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/internal/killed"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// Kill runs conversations in processes of their own, each of which it kills at another point (as by kill -9), and looks
// at what the store then has: whole iterations only, each once, and all that Commit has returned for. points is how
// many processes there are, and seed makes the points. Of a store that is a store.Appender and a store.Journal it kills
// others at each call that appends an event, adds to a journal or compacts one: each is there whole or not at all.
//
// The processes run the same test binary with -test.run of the calling test, whose call of Kill then does not return.
// open opens the store: each time at the same place, also in those processes, which get env.
func Kill(t *testing.T, points int, seed uint64, env []string, open Opener) {
	if session := killed.Task(); session != "" {
		if rest, ok := strings.CutPrefix(session, appends); ok {
			appendUntilKilled(rest, open)
		}
		runUntilKilled(session, open)
	}
	passed := 0
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range points {
		line, delay := 1+random.IntN(2*len(allSteps())), time.Duration(random.IntN(2000))*time.Microsecond
		session := fmt.Sprint("killed ", n)
		acknowledged, err := killAt(t, session, line, delay, env)
		if err == nil {
			err = survived(t.Context(), session, acknowledged, open)
		}
		if err != nil {
			t.Errorf("point %d, killed %v after line %d: %v", n, delay, line, err)
			continue
		}
		passed++
	}
	if s, err := open(); err != nil {
		t.Fatal(err)
	} else {
		_, appender := s.(store.Appender)
		_, journal := s.(store.Journal)
		if err := closed(s); err != nil {
			t.Fatal(err)
		}
		if appender && journal {
			points += 2 * appendedWrites * appendedRounds
			passed += killAppends(t, random, env, open)
		}
	}
	t.Logf("store: %d of %d kills survived", passed, points)
}

// runUntilKilled runs a conversation, and says before and after each commit that it is there.
func runUntilKilled(session string, open Opener) {
	s, err := open()
	if err == nil {
		var r *turns.Runner
		if r, err = conversation(context.Background(), saying{s}); err == nil {
			for turn := 0; turn < turnsOf && err == nil; turn++ {
				_, err = r.Run(context.Background(), turns.Input{Message: "Hi!", TurnID: fmt.Sprint(turn), Session: session})
			}
		}
	}
	if err != nil {
		fmt.Println("failed:", err)
	}
	killed.Wait()
}

// saying is a store that says when a commit begins and when it has returned.
type saying struct{ store.Store }

func (s saying) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	fmt.Println("commit")
	revision, err := s.Store.Commit(ctx, session, c)
	if err == nil {
		fmt.Println("committed")
	}
	return revision, err
}

// killAt kills a process a while after it has printed a line, and returns how many commits it had said were done.
func killAt(t *testing.T, task string, line int, delay time.Duration, env []string) (acknowledged int, err error) {
	t.Helper()
	lines, err := killed.At(t, task, env, line, delay, func(line string) bool { return line == "commit" || line == "committed" })
	for _, line := range lines {
		if line == "committed" {
			acknowledged++
		}
	}
	return acknowledged, err
}

// survived says what is wrong with the conversation of a process that was killed.
func survived(ctx context.Context, session string, acknowledged int, open Opener) error {
	s, err := open()
	if err != nil {
		return err
	}
	defer closed(s) //nolint:errcheck // what was read counts
	c, err := s.Load(ctx, session, "")
	if err != nil {
		return err
	}
	if c == nil {
		c = &store.Conversation{}
	}
	got, err := steps(ctx, c)
	if err != nil {
		return err
	}
	want := allSteps()
	if !slices.Equal(got, want[:min(len(got), len(want))]) {
		return fmt.Errorf("%q is not the beginning of the conversation", got)
	}
	if len(got) < acknowledged || len(got) > acknowledged+1 {
		return fmt.Errorf("it has %d commits, the process had done %d", len(got), acknowledged)
	}
	return nil
}
