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

// Fork makes a session of the user that begins with what another one has: its events up to the one with the id after,
// all of them if after is "", and the session's own state and artifacts as they were then. Values of "app:" and "user:"
// are shared anyway. id is made up if it is "". The store does it in one transaction. It fails with
// E_SESSION_NOT_FOUND, E_SESSION_EXISTS, and E_INVALID_EVENT if the session has no event of the id after.
func (s *Service) Fork(ctx context.Context, user, from, id, after string) (*Session, error) {
	if id == "" {
		id = s.host.ID()
	}
	if err := errors.Join(checkIDs(user, from), checkIDs(user, id)); err != nil {
		return nil, err
	}
	old, key := keyOf(s.app, user, from), keyOf(s.app, user, id)
	now, err := s.load(ctx, old, user, from)
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
	if n == now.events.count {
		err = s.store.Fork(ctx, old, key)
	} else {
		err = s.forkAt(ctx, old, key, now.events, n)
	}
	if err != nil {
		return nil, inSession(inSession(err, old), key)
	}
	return s.get(ctx, key, user, id)
}

// forkAt makes a session of the first n events of another one.
func (s *Service) forkAt(ctx context.Context, from, to string, of events, n int) error {
	var at store.ForkPoint
	own := make(map[string][]byte)
	for i := range n {
		e, err := decodeEvent(of.body(i))
		if err != nil {
			return err
		}
		if err := apply(own, e.Actions.StateDelta); err != nil {
			return err
		}
		for name, version := range e.Actions.ArtifactDelta {
			if strings.HasPrefix(name, userPrefix) {
				continue
			}
			if at.Artifacts == nil {
				at.Artifacts = make(map[string]int)
			}
			at.Artifacts[name] = max(at.Artifacts[name], version+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		at.State = append(at.State, store.StateValue{Name: name, Value: own[name]})
	}
	var err error
	if at.Revision, err = s.revisionOf(ctx, from, of, n); err != nil {
		return err
	}
	return s.store.ForkAt(ctx, from, to, at)
}

// apply changes a session's own values.
func apply(own map[string][]byte, delta map[string]any) (err error) {
	for name, v := range delta {
		switch {
		case strings.HasPrefix(name, appPrefix) || strings.HasPrefix(name, userPrefix):
		case v == nil:
			delete(own, name)
		default:
			if own[name], err = wire.Append(nil, v, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// revisionOf is that of the n-th event of a session, from 1. It fails with E_SESSION_NOT_FOUND if the store has another
// event there.
func (s *Service) revisionOf(ctx context.Context, key string, of events, n int) (string, error) {
	list, err := s.store.Events(ctx, key, store.EventQuery{Limit: n})
	if err != nil {
		return "", err
	}
	want, _ := value.GetString(of.body(n-1), "id")
	if len(list) < n || list[n-1].ID != string(want) {
		return "", store.NoSession(key)
	}
	return list[n-1].Revision, nil
}
