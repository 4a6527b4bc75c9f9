package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/store"
)

// Recent says which events of a session are wanted: those that fit both fields.
type Recent struct {
	// Last is how many events there are at most, the last ones; 0 for all.
	Last int
	// Since leaves out the events before the last one whose timestamp is earlier, and that one; the zero time leaves out
	// none.
	Since time.Time
}

// firstPage is how many events are asked for at first where a time bounds them.
const firstPage = 64

// GetRecent loads a session with its last events alone. What it costs depends on how many these are, and not on how
// many events the session has. The handle appends as any other one. It fails with E_SESSION_NOT_FOUND if the user has
// no such session.
func (s *Service) GetRecent(ctx context.Context, user, id string, which Recent) (*Session, error) {
	if err := checkIDs(user, id); err != nil {
		return nil, err
	}
	if which.Last < 0 {
		return nil, invalid(host.CodeInvalidInvocation, "last", errors.New("must not be negative"))
	}
	if which == (Recent{}) {
		return s.Get(ctx, user, id)
	}
	key := keyOf(s.app, user, id)
	info, err := s.store.Find(ctx, key)
	if err != nil {
		return nil, inSession(err, key)
	}
	if info == nil {
		return nil, noSession(user, id)
	}
	list, err := s.recentEvents(ctx, key, which)
	if err != nil {
		return nil, inSession(err, key)
	}
	if list == nil { // there are no events under the id: it is somebody else's
		return nil, noSession(user, id)
	}
	// An append after Find may be in the list: the handle then refuses to append.
	now := snapshot{revision: info.Revision, updated: info.UpdatedAt, part: true}
	now.events = now.events.followedBy(list...)
	if now.state, err = s.loadState(ctx, key, user, nil); err != nil {
		return nil, err
	}
	return &Session{ID: id, User: user, App: s.app, now: now}, nil
}

// recentEvents loads the bodies of events without the one that created the session. It is nil if the session has no
// events at all.
func (s *Service) recentEvents(ctx context.Context, key string, which Recent) ([][]byte, error) {
	limit := firstPage
	if which.Since.IsZero() {
		limit = which.Last
	}
	for {
		// One more than is wanted: the session may have no other event than the one that created it.
		list, err := s.store.Events(ctx, key, store.EventQuery{Limit: limit + 1, Newest: true})
		if err != nil || len(list) == 0 {
			return nil, err
		}
		whole := len(list) <= limit // the first event is the one that created the session, or one too many
		bodies, early := recentBodies(list[1:], which)
		if whole || early || which.Last > 0 && len(bodies) >= which.Last {
			return bodies, nil
		}
		limit *= 4
	}
}

// recentBodies are the bodies of the events that are wanted. early tells that an event was left out because of its
// time.
func recentBodies(list []store.SessionEvent, which Recent) (bodies [][]byte, early bool) {
	from := len(list)
	for from > 0 && (which.Last == 0 || len(list)-from < which.Last) {
		raw, _ := value.Get(list[from-1].Body, "timestamp")
		at, _ := value.Int(raw)
		if early = !which.Since.IsZero() && at < which.Since.UnixMilli(); early {
			break
		}
		from--
	}
	bodies = make([][]byte, 0, len(list)-from)
	for _, e := range list[from:] {
		bodies = append(bodies, e.Body)
	}
	return bodies, early
}
