package sessionstest

import (
	"context"
	"errors"
	"sync"

	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
)

// watched is a store that counts its calls, and fails at one of its appends.
type watched struct {
	sessions.Store
	mu      sync.Mutex
	calls   int // of methods that read or write events and sessions
	read    int // events and sessions that were read
	changes int // transactions that write besides appends
	appends int // since the last call of failAt
	failing int // the append that fails, from 1; 0 for none
	late    bool
}

var errFails = errors.New("the store fails")

// failAt lets the n-th append from here on fail: before it is stored, or after that if late.
func (w *watched) failAt(n int, late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.appends, w.failing, w.late = 0, n, late
}

// counted returns how many calls there were since the last time, and how much they read.
func (w *watched) counted() (calls, read int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls, read = w.calls, w.read
	w.calls, w.read = 0, 0
	return calls, read
}

func (w *watched) count(read int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.read += read
}

// Append implements store.Appender.
func (w *watched) Append(ctx context.Context, session string, a store.Append) (string, error) {
	w.count(0)
	w.mu.Lock()
	w.appends++
	fails, late := w.appends == w.failing, w.late
	w.mu.Unlock()
	if fails && !late {
		return "", errFails
	}
	revision, err := w.Store.Append(ctx, session, a)
	if fails && err == nil {
		return "", errFails
	}
	return revision, err
}

// Events implements store.Appender.
func (w *watched) Events(ctx context.Context, session string, q store.EventQuery) ([]store.SessionEvent, error) {
	list, err := w.Store.Events(ctx, session, q)
	w.count(len(list))
	return list, err
}

// Find implements store.Sessions.
func (w *watched) Find(ctx context.Context, session string) (*store.Session, error) {
	found, err := w.Store.Find(ctx, session)
	w.count(1)
	return found, err
}

// List implements store.Sessions.
func (w *watched) List(ctx context.Context, cursor string, limit int) ([]store.Session, string, error) {
	page, next, err := w.Store.List(ctx, cursor, limit)
	w.count(len(page))
	return page, next, err
}

// ListOf implements store.Sessions.
func (w *watched) ListOf(ctx context.Context, prefix, cursor string, limit int) ([]store.Session, string, error) {
	page, next, err := w.Store.ListOf(ctx, prefix, cursor, limit)
	w.count(len(page))
	return page, next, err
}

// Fork implements store.Sessions.
func (w *watched) Fork(ctx context.Context, from, to string) error {
	w.change()
	return w.Store.Fork(ctx, from, to)
}

// ForkAt implements store.Appender.
func (w *watched) ForkAt(ctx context.Context, from, to string, at store.ForkPoint) error {
	w.change()
	return w.Store.ForkAt(ctx, from, to, at)
}

// change counts a transaction that writes besides Append.
func (w *watched) change() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes++
}
