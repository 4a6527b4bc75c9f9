package sessions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/store"
)

// Fork makes a session of the user that begins with what another one has: its events up to the one with the id after, all
// of them if after is "", and the session's own state and artifacts as they were then. Values of "app:" and "user:" are
// shared anyway. id is made up if it is "". A fork of all events costs the store one operation, another one an append for
// each event. It fails with E_SESSION_NOT_FOUND, E_SESSION_EXISTS, and E_INVALID_EVENT if the session has no event of the
// id after.
func (s *Service) Fork(ctx context.Context, user, from, id, after string) (*Session, error) {
	if id == "" {
		id = s.host.ID()
	}
	if err := errors.Join(checkIDs(user, from), checkIDs(user, id)); err != nil {
		return nil, err
	}
	now, err := s.load(ctx, user, from)
	if err != nil {
		return nil, err
	}
	n := now.events.count
	if after != "" {
		for n = 1; ; n++ {
			if n == now.events.count {
				return nil, invalid(host.CodeInvalidEvent, "after", errors.New("the session has no event of the id"))
			}
			if found, _ := value.GetString(now.events.body(n), "id"); string(found) == after {
				n++
				break
			}
		}
	}
	old, key := keyOf(s.app, user, from), keyOf(s.app, user, id)
	if n == now.events.count {
		err = s.store.Fork(ctx, old, key)
	} else {
		err = s.copyEvents(ctx, old, key, now.events, n)
	}
	switch {
	case errors.Is(err, host.CodeSessionExists), errors.Is(err, host.CodeSessionConflict):
		return nil, store.SessionExists(id)
	case err != nil:
		return nil, inSession(inSession(err, old), key)
	}
	return s.Get(ctx, user, id)
}

// copyEvents makes a session of the first n events of another one.
func (s *Service) copyEvents(ctx context.Context, from, to string, of events, n int) error {
	there, err := s.store.Find(ctx, to)
	if err != nil {
		return err
	}
	if there != nil {
		return store.SessionExists(to)
	}
	revision := "0"
	for i := range n {
		if revision, err = s.copyEvent(ctx, from, to, of.body(i), revision); err != nil {
			if i > 0 {
				err = errors.Join(err, s.store.Delete(context.WithoutCancel(ctx), to))
			}
			return err
		}
	}
	return nil
}

func (s *Service) copyEvent(ctx context.Context, from, to string, body []byte, revision string) (string, error) {
	e, err := decodeEvent(body)
	if err != nil {
		return "", err
	}
	write := store.Append{Event: &store.SessionEvent{ID: e.ID, Body: body}, Revision: revision}
	for _, name := range slices.Sorted(maps.Keys(e.Actions.StateDelta)) {
		if strings.HasPrefix(name, appPrefix) || strings.HasPrefix(name, userPrefix) {
			continue
		}
		v := store.StateValue{Name: name}
		if changed := e.Actions.StateDelta[name]; changed != nil {
			if v.Value, err = wire.Append(nil, changed, name); err != nil {
				return "", err
			}
		}
		write.State = append(write.State, v)
	}
	if write.Artifacts, err = s.copyArtifacts(ctx, from, to, e.Actions.ArtifactDelta); err != nil {
		return "", err
	}
	return s.store.Append(ctx, to, write)
}
