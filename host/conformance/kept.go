package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// kept has a store keep what storage callbacks get. In the end the store must have the same as one in memory.
type kept struct {
	store   store.Store
	memory  *store.InMemory
	session string

	mu      sync.Mutex
	commits int
	invalid error // why the store does not keep what it should
}

func newKept(s store.Store, session string) *kept {
	return &kept{store: s, memory: store.NewInMemory(), session: session}
}

// commit commits writes in one transaction, twice where they have a key. A record that cannot be written down is none
// that a database must keep: its commit is left out.
func (k *kept) commit(ctx turns.Context, deltas []store.Delta) {
	if k == nil || len(deltas) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.commits++
	c := store.Commit{Deltas: deltas, Key: ctx.IdempotencyKey(), Turn: k.session}
	if c.Key != "" {
		c.Key = fmt.Sprint(c.Key, ".", k.commits) // a key of its own for each callback of an effect
	}
	background := context.Background()
	revision, err := k.store.Commit(background, k.session, c)
	if unstorable(err) {
		return
	}
	if err != nil {
		k.invalid = errors.Join(k.invalid, err)
		return
	}
	if c.Key != "" {
		again, err := k.store.Commit(background, k.session, c)
		if err == nil && again != revision {
			err = fmt.Errorf("commit %s again: revision %q, not %q", c.Key, again, revision)
		}
		k.invalid = errors.Join(k.invalid, err)
	}
	if _, err := k.memory.Commit(background, k.session, c); err != nil {
		k.invalid = errors.Join(k.invalid, err)
	}
}

// written is how many commits the store has kept, and why it does not have what it should.
func (k *kept) written() (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.commits == 0 || k.invalid != nil {
		return k.commits, k.invalid
	}
	ctx := context.Background()
	got, err := k.store.Load(ctx, k.session, "")
	if err != nil {
		return k.commits, err
	}
	want, err := k.memory.Load(ctx, k.session, "")
	if err != nil {
		return k.commits, err
	}
	if g, w := fmt.Sprintf("%q", got.Instructions), fmt.Sprintf("%q", want.Instructions); g != w {
		return k.commits, fmt.Errorf("instructions: the store has %s, not %s", g, w)
	}
	return k.commits, errors.Join(
		same(ctx, k, got.Memories, want.Memories), same(ctx, k, got.Retrievables, want.Retrievables),
		same(ctx, k, got.Messages, want.Messages), same(ctx, k, got.Thoughts, want.Thoughts),
		same(ctx, k, got.ToolCalls, want.ToolCalls),
	)
}

// same compares records by what is stored of them, and reads the bytes that they refer to.
func same[R record.Type](ctx context.Context, k *kept, got, want []R) error {
	if len(got) != len(want) {
		return fmt.Errorf("the store has %d records of a kind, not %d", len(got), len(want))
	}
	for i, r := range want {
		body, _, err := k.stored(ctx, r)
		if unstorable(err) {
			continue // the store keeps records themselves
		}
		if err != nil {
			return err
		}
		kept, ids, err := k.stored(ctx, got[i])
		if err != nil {
			return err
		}
		if !bytes.Equal(kept, body) {
			return fmt.Errorf("%s %q: the store has %q, not %q", record.KindOf(r), record.Key(r), kept, body)
		}
		for _, id := range ids {
			content, size, err := k.store.OpenBytes(ctx, k.session, id)
			if err != nil {
				return err
			}
			if n, err := io.Copy(io.Discard, io.NewSectionReader(content, 0, size)); n != size || err != nil {
				return fmt.Errorf("bytes %q: %d, not %d: %w", id, n, size, err)
			}
		}
	}
	return nil
}

// stored is the stored form of a record, and the ids of the bytes that it refers to.
func (k *kept) stored(ctx context.Context, r record.Record) (body []byte, ids []string, err error) {
	rows, err := store.Rows(ctx, k.store, k.session, []store.Delta{{
		Op: store.OpStore, Kind: record.KindOf(r).String(), ID: record.Key(r), Record: r,
	}})
	if err != nil {
		return nil, nil, err
	}
	return rows[0].Body, rows[0].Bytes, nil
}

func unstorable(err error) bool {
	var typed *host.Error
	return errors.As(err, &typed) && typed.Code == host.CodeRecordUnstorable
}
