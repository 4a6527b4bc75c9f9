package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// counted counts commits with writes.
type counted struct {
	*Store
	writes atomic.Int64
}

func (c *counted) Commit(ctx context.Context, session string, commit store.Commit) (string, error) {
	if len(commit.Deltas) > 0 {
		c.writes.Add(1)
	}
	return c.Store.Commit(ctx, session, commit)
}

// With 64 turns in flight there is at most one transaction for two writes of turns.
func TestTurnsShareTransactions(t *testing.T) {
	const inFlight, turnsEach = 64, 4
	s := &counted{Store: opened(t, filepath.Join(t.TempDir(), "shared.db"))}
	runner, err := turns.New(t.Context(), turns.Config{
		Store: s, Engine: native.New(),
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			id := fmt.Sprintf("%s.%d", ctx.TurnID(), ctx.Iteration())
			err := ctx.StoreMessage(record.NewMessage(id, record.Assistant, "some words of an answer", noon))
			if ctx.Iteration() == 1 {
				err = errors.Join(err, ctx.Ack())
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	before := s.Transactions()
	var group sync.WaitGroup
	for n := range inFlight {
		group.Go(func() {
			for k := range turnsEach {
				in := turns.Input{Message: "Hi!", TurnID: fmt.Sprintf("%d.%d", n, k), Session: fmt.Sprint("session ", n)}
				if _, err := runner.Run(t.Context(), in); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	writes, transactions := s.writes.Load(), s.Transactions()-before
	t.Logf("%d transactions for %d writes of %d turns: %.3f a write", transactions, writes, inFlight*turnsEach, float64(transactions)/float64(writes))
	if writes < 3*inFlight*turnsEach || 2*transactions > writes {
		t.Errorf("%d transactions for %d writes", transactions, writes)
	}
}
