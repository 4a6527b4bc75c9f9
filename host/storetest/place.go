package storetest

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

// session is the session of most tests.
const session = "session"

// place is where a test's store keeps its sessions.
type place struct {
	*testing.T
	open      Opener
	exclusive bool
	last      store.Store // opened last; nil for none
}

func (s *Suite) place(t *testing.T) *place {
	return &place{T: t, open: s.Place(t), exclusive: s.Exclusive}
}

// store opens the store.
func (p *place) store() store.Store {
	p.Helper()
	s, err := p.open()
	if err != nil {
		p.Fatalf("opening the store: %v", err)
	}
	p.last = s
	p.Cleanup(func() { _ = closed(s) }) // it may be closed already
	return s
}

// another opens the store once more, as another process would; the same one if it may be open only once.
func (p *place) another() store.Store {
	p.Helper()
	if p.exclusive && p.last != nil {
		return p.last
	}
	return p.store()
}

// again closes a store and opens it.
func (p *place) again(s store.Store) store.Store {
	p.Helper()
	if err := closed(s); err != nil {
		p.Fatalf("closing the store: %v", err)
	}
	return p.store()
}

func closed(s store.Store) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (p *place) load(s store.Store, session, after string) *store.Conversation {
	p.Helper()
	c, err := s.Load(p.Context(), session, after)
	if err != nil {
		p.Fatalf("loading session %q after %q: %v", session, after, err)
	}
	if c == nil {
		c = &store.Conversation{}
	}
	return c
}

// commit commits writes that must succeed, and returns the revision.
func (p *place) commit(s store.Store, session string, c store.Commit) string {
	p.Helper()
	revision, err := s.Commit(p.Context(), session, c)
	if err != nil {
		p.Fatalf("a commit to session %q: %v", session, err)
	}
	return revision
}

// write commits writes without a key and without a revision.
func (p *place) write(s store.Store, session string, deltas ...store.Delta) string {
	p.Helper()
	return p.commit(s, session, store.Commit{Deltas: deltas})
}

// refused commits writes that must fail with a code, and store nothing.
func (p *place) refused(s store.Store, session string, c store.Commit, code host.Code) {
	p.Helper()
	before := p.load(s, session, "")
	if revision, err := s.Commit(p.Context(), session, c); !errors.Is(err, code) {
		p.Errorf("a commit gave revision %q and %v, want %s", revision, err, code)
	}
	after := p.load(s, session, "")
	p.same("after a refused commit", showAll(p.Context(), after), showAll(p.Context(), before))
	if after.Revision != before.Revision {
		p.Errorf("a refused commit left revision %q, before it was %q", after.Revision, before.Revision)
	}
}

// expect compares what a session has, in brief.
func (p *place) expect(s store.Store, session, want string) {
	p.Helper()
	if got := brief(p.load(s, session, "")); got != want {
		p.Errorf("session %q has %q, want %q", session, got, want)
	}
}

// same compares two lists. An element that is missing, too much or another one does not make those behind it differ.
func (p *place) same(what string, got, want []string) {
	p.Helper()
	for _, d := range differences(got, want) {
		p.Errorf("%s: %s", what, d)
	}
}

// bytes reads bytes of a session.
func readBytes(ctx context.Context, s store.Store, session, id string) ([]byte, error) {
	content, size, err := s.OpenBytes(ctx, session, id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(content, 0, size))
}
