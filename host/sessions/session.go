package sessions

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/host/internal/wire"
)

// Session is a handle of a session: what it was when it was loaded, and what the handle's own appends made of it. Its
// methods may be called from many goroutines. What they return is the caller's own.
type Session struct {
	ID   string
	User string
	App  string

	mu        sync.Mutex
	now       snapshot
	artifacts artifacts // that [Service.SaveArtifact] has saved
}

func (s *Session) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Revision names the state of the session in its store.
func (s *Session) Revision() string { return s.snapshot().revision }

// UpdatedAt is the store's time of the last write before the session was loaded.
func (s *Session) UpdatedAt() time.Time { return s.snapshot().updated }

// Len is the number of events that the handle has.
func (s *Session) Len() int {
	now := s.snapshot()
	return now.shown()
}

// Event returns the i-th event, from 0. It fails with E_INVALID_EVENT if the store has something else there. It panics
// if there is no such event.
func (s *Session) Event(i int) (*Event, error) {
	now := s.snapshot()
	if i < 0 || i >= now.shown() {
		panic("sessions: there is no such event")
	}
	return decodeEvent(now.events.body(now.hidden() + i))
}

// Events returns the events in order.
func (s *Session) Events() ([]*Event, error) {
	now := s.snapshot()
	list := make([]*Event, 0, now.shown())
	for i := now.hidden(); i < now.events.count; i++ {
		e, err := decodeEvent(now.events.body(i))
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Get returns a value of the state by its name with the scope, as plain data: bool, int64, float64, string, []byte,
// []any, map[string]any. It is nil if there is none.
func (s *Session) Get(name string) any {
	now := s.snapshot()
	v, err := wire.Plain(now.state[name])
	if err != nil {
		return nil // a store has changed it
	}
	return v
}

// Names are the names in the state with their scopes, in the order of their bytes.
func (s *Session) Names() []string {
	now := s.snapshot()
	return slices.Sorted(maps.Keys(now.state))
}

// State returns all values of the state by their names with their scopes.
func (s *Session) State() map[string]any {
	now := s.snapshot()
	all := make(map[string]any, len(now.state))
	for name := range now.state {
		if v, err := wire.Plain(now.state[name]); err == nil {
			all[name] = v
		}
	}
	return all
}
