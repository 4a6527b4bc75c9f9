package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/killed"
	"github.com/turncore/turncore/host/store"
)

// appends begins the task of a process that appends.
const appends = "appends "

const (
	appendedRounds = 3
	appendedWrites = 6 // of a round: an entry, an event, a message, a fork, a change of what it shares, a checkpoint
)

// appendUntilKilled does rounds of writes, and says before and after each that it is there.
func appendUntilKilled(session string, open Opener) {
	s, err := open()
	if err == nil {
		a, _ := s.(store.Appender)
		j, _ := s.(store.Journal)
		for n := 0; n < appendedRounds && err == nil; n++ {
			err = appendRound(context.Background(), a, j, session, n, func(write func() error) error {
				fmt.Println("commit")
				err := write()
				if err == nil {
					fmt.Println("committed")
				}
				return err
			})
		}
	}
	if err != nil {
		fmt.Println("failed:", err)
	}
	killed.Wait()
}

// appendRound does the writes of a round, each by a function. The turn has the session's name.
func appendRound(ctx context.Context, a store.Appender, j store.Journal, session string, n int, do func(write func() error) error) error {
	id := fmt.Sprint(n)
	return errors.Join(
		do(func() error {
			return j.AppendJournal(ctx, session, store.JournalAppend{Epoch: 1, At: int64(2 * n), Entries: entries("first "+id, "second "+id)})
		}),
		a.PutBytes(ctx, session, "b"+id, strings.NewReader("bytes "+id)),
		do(func() error {
			of := happened(id)
			of.Key, of.Turn, of.Epoch = session+".a"+id, session, 1
			of.State = []store.StateValue{set("", "n", id), set("", "before", ""), unset("", "before"), set(session, "n", id)}
			of.Artifacts = []store.Artifact{version("", "a", n, "b"+id), version(session, "a", n, "b"+id)}
			_, err := a.Append(ctx, session, of)
			return err
		}),
		do(func() error {
			c := store.Commit{Deltas: []store.Delta{put(message(id, id))}, Key: session + ".c" + id, Turn: session, Epoch: 1}
			_, err := a.Commit(ctx, session, c)
			return err
		}),
		do(func() error {
			sessions, ok := a.(store.Sessions)
			if !ok {
				return nil
			}
			err := sessions.Fork(ctx, session, forkOf(session, n))
			if errors.Is(err, host.Code("E_SESSION_EXISTS")) {
				return nil // it is done again
			}
			return err
		}),
		do(func() error {
			c := store.Commit{Deltas: []store.Delta{change(message("0", "changed "+id))}, Key: session + ".d" + id, Turn: session, Epoch: 1}
			_, err := a.Commit(ctx, session, c)
			return err
		}),
		do(func() error {
			return j.CompactJournal(ctx, session, 1, int64(2*n+1), []byte("checkpoint "+id))
		}),
	)
}

// forkOf is the session that a round forks.
func forkOf(session string, n int) string { return fmt.Sprint(session, " fork ", n) }

// killAppends kills processes that append, at each line that they print, and returns how many have left what they
// should.
func killAppends(t *testing.T, random *rand.Rand, env []string, open Opener) (passed int) {
	for n := range 2 * appendedWrites * appendedRounds {
		delay := time.Duration(random.IntN(2000)) * time.Microsecond
		session := fmt.Sprint("appended ", n)
		acknowledged, err := killAt(t, appends+session, n+1, delay, env)
		if err == nil {
			err = appendsSurvived(t.Context(), session, acknowledged, open)
		}
		if err != nil {
			t.Errorf("appends, killed %v after line %d: %v", delay, n+1, err)
			continue
		}
		passed++
	}
	return passed
}

// appendsSurvived says what is wrong with what a process has left that was killed, and goes on with its work.
func appendsSurvived(ctx context.Context, session string, acknowledged int, open Opener) error {
	s, err := open()
	if err != nil {
		return err
	}
	defer closed(s) //nolint:errcheck // what was read counts
	a, _ := s.(store.Appender)
	j, _ := s.(store.Journal)
	got, err := leftOf(ctx, a, j, session)
	if err != nil {
		return err
	}
	// What a store in memory has after as many writes, or one more.
	done := -1
	for _, writes := range []int{acknowledged, acknowledged + 1} {
		want, err := modelOf(ctx, session, writes)
		if err != nil {
			return err
		}
		if got == want {
			done = writes
		}
	}
	if done < 0 {
		return fmt.Errorf("after %d writes it has %s", acknowledged, got)
	}
	// One that got no answer does its last write again, and then the rest.
	skip := done - 1
	for n := range appendedRounds {
		err := appendRound(ctx, a, j, session, n, func(write func() error) error {
			if skip > 0 {
				skip--
				return nil
			}
			return write()
		})
		if err != nil {
			return fmt.Errorf("going on with round %d: %w", n, err)
		}
	}
	got, err = leftOf(ctx, a, j, session)
	if err != nil {
		return err
	}
	if want, err := modelOf(ctx, session, appendedWrites*appendedRounds); err != nil || got != want {
		return fmt.Errorf("in the end it has %s, not %s (%w)", got, want, err)
	}
	return nil
}

// errEnough ends the writes of a model.
var errEnough = errors.New("enough")

// modelOf is what a store in memory has after some of the writes.
func modelOf(ctx context.Context, session string, writes int) (string, error) {
	m := store.NewInMemory()
	for n := range appendedRounds {
		err := appendRound(ctx, m, m, session, n, func(write func() error) error {
			if writes == 0 {
				return errEnough
			}
			writes--
			return write()
		})
		if err != nil && !errors.Is(err, errEnough) {
			return "", err
		}
	}
	return leftOf(ctx, m, m, session)
}

// leftOf is what there is of a session and of its turn, in words.
func leftOf(ctx context.Context, a store.Appender, j store.Journal, session string) (string, error) {
	words, err := toldOf(ctx, a, session, session)
	if err != nil {
		return "", err
	}
	c, err := a.Load(ctx, session, "")
	if err != nil {
		return "", err
	}
	if c == nil {
		c = &store.Conversation{}
	}
	part, err := j.ReadJournal(ctx, session, 0)
	if err != nil {
		return "", err
	}
	if part == nil {
		part = &store.JournalPart{}
	}
	for n := range appendedRounds {
		fork, err := a.Load(ctx, forkOf(session, n), "")
		if err != nil {
			return "", err
		}
		told, err := toldOf(ctx, a, forkOf(session, n), session)
		if err != nil {
			return "", err
		}
		if fork != nil {
			words = append(words, "fork "+brief(fork))
		}
		words = append(words, told...)
	}
	return fmt.Sprintf("%s; messages %s; journal [%s] %d %s", words, brief(c), part.Checkpoint, part.First, part.Entries), nil
}
