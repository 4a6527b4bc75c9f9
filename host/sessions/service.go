package sessions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/invocation"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/store"
)

// Store is what sessions are kept in. The stores of Turncore are ones: that of [store.NewInMemory], SQLite and
// PostgreSQL.
type Store interface {
	store.Appender
	store.Sessions
}

// Service keeps the sessions of an application in a store. A session belongs to a user: another user's session of the
// same id is another one. Its methods may be called from many goroutines. A [Runner] has one.
type Service struct {
	app   string
	store Store
	host  invocation.Host
	cache cache
}

// Info tells of a session.
type Info struct {
	ID        string
	User      string
	CreatedAt time.Time // by the store's clock
	UpdatedAt time.Time // of the last write
	Revision  string
}

// checkIDs refuses ids that no session has.
func checkIDs(user, id string) error {
	for _, f := range [...]struct{ field, text string }{{"user", user}, {"session", id}} {
		if f.text == "" {
			return invalid(host.CodeInvalidInvocation, f.field, errors.New("must be a non-empty string"))
		}
		if err := store.CheckSessionID(f.field, f.text); err != nil {
			return err
		}
	}
	return nil
}

// checkHandle refuses a session that no service has loaded, and one of another application: nothing tells which of its
// revisions they have seen.
func (s *Service) checkHandle(session *Session) error {
	switch {
	case session == nil || session.Revision() == "":
		return invalid(host.CodeInvalidInvocation, "session", errors.New("must be what Create or Get returned"))
	case session.App != s.app:
		return invalid(host.CodeInvalidInvocation, "session", errors.New("is one of the application "+strconv.Quote(session.App)))
	}
	return nil
}

// createdID is the id of the event that creates a session: a session has one.
const createdID = "created"

// Create makes a session of a user. id is made up if it is "". state has the initial values by names with their scopes;
// nil for none. Those of the scope "temp:" are checked and then dropped: they are of an invocation, and none runs. It
// fails with E_SESSION_EXISTS if the user has a session of the id, and with E_INVALID_STATE, which names the field.
func (s *Service) Create(ctx context.Context, user, id string, state map[string]any) (*Session, error) {
	if id == "" {
		id = s.host.ID()
	}
	if err := checkIDs(user, id); err != nil {
		return nil, err
	}
	var initial abi.Value
	if len(state) > 0 {
		var err error
		if initial, err = initialState(state); err != nil {
			return nil, err
		}
	}
	key := keyOf(s.app, user, id)
	there, err := s.store.Find(ctx, key)
	if err != nil {
		return nil, inSession(err, key)
	}
	if there != nil {
		return nil, inSession(store.SessionExists(key), key)
	}
	at, err := s.host.Now()
	if err != nil {
		return nil, err
	}
	a, err := s.ask(ctx, abi.SessionMethodNewSession, (&abi.NewSessionArgs{
		App: s.app, User: user, ID: createdID, Now: at, State: initial,
	}).Append(nil))
	if err != nil {
		return nil, err
	}
	// Whoever appends to a session that is not there has seen none of its revisions.
	before := snapshot{revision: store.NoRevision}
	if len(a.State) > 0 {
		if before.state, err = s.loadState(ctx, key, user, map[string][]byte{}); err != nil {
			return nil, err
		}
		if err := before.checkSize("state.", changesOf(a.State)); err != nil {
			return nil, err
		}
	}
	if _, err := s.append(ctx, key, before, a, nil); err != nil {
		if errors.Is(err, host.CodeSessionConflict) {
			return nil, inSession(store.SessionExists(key), key)
		}
		return nil, err
	}
	return s.get(ctx, key, user, id)
}

// initialState encodes the values that a session begins with. The error names the one that has no encoding.
func initialState(state map[string]any) (abi.Value, error) {
	v, err := wire.Append(nil, state, "state")
	if err == nil {
		return v, nil
	}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if _, err := encoded(nil, state[name], name, host.CodeInvalidState); err != nil {
			return nil, err
		}
	}
	return nil, invalid(host.CodeInvalidState, "state", err)
}

// Get loads a session. It fails with E_SESSION_NOT_FOUND if the user has none of the id.
func (s *Service) Get(ctx context.Context, user, id string) (*Session, error) {
	if err := checkIDs(user, id); err != nil {
		return nil, err
	}
	return s.get(ctx, keyOf(s.app, user, id), user, id)
}

// get is Get for a session whose key is known.
func (s *Service) get(ctx context.Context, key, user, id string) (*Session, error) {
	now, err := s.load(ctx, key, user, id)
	if err != nil {
		return nil, err
	}
	return &Session{ID: id, User: user, App: s.app, now: now}, nil
}

// List returns a user's sessions, those updated last in front; of all users of the application if user is "".
func (s *Service) List(ctx context.Context, user string) ([]Info, error) {
	var list []Info
	for cursor := ""; ; {
		page, next, err := s.ListPage(ctx, user, cursor, 0)
		if err != nil {
			return nil, err
		}
		if list = append(list, page...); next == "" {
			return list, nil
		}
		cursor = next
	}
}

// ListPage returns a page of what List does: at most limit sessions, 100 if limit is not positive. cursor is "" for the
// first page and then what the call before returned as next, which is "" behind the last page. How many sessions others
// have does not matter to what a page costs.
func (s *Service) ListPage(ctx context.Context, user, cursor string, limit int) (page []Info, next string, err error) {
	prefix := escaped(s.app) + "/"
	if user != "" {
		prefix = keysOf(s.app, user)
	}
	list, next, err := s.store.ListOf(ctx, prefix, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	for _, at := range list {
		if k, ok := ParseStoredID(at.ID); ok {
			page = append(page, Info{k.Session, k.User, at.CreatedAt, at.UpdatedAt, at.Revision})
		}
	}
	return page, next, nil
}

// Delete deletes a session with its events, its own state and its own artifacts. One that is not there is no error.
func (s *Service) Delete(ctx context.Context, user, id string) error {
	if err := checkIDs(user, id); err != nil {
		return err
	}
	key := keyOf(s.app, user, id)
	defer s.cache.forget(key)
	return inSession(s.store.Delete(ctx, key), key)
}

// Append stores an event that no agent made behind those of the session, with the state and artifacts that its actions
// change, and returns it as it was stored. A partial event changes nothing. The session's handle has the event then. It
// fails with E_SESSION_CONFLICT, and changes neither store nor handle, if somebody else has appended to the session
// since the handle was loaded, or if the session has an event of the same id; with E_INVALID_EVENT and E_INVALID_STATE,
// which name the field; and with E_INVALID_INVOCATION for a handle that is not one of the application's sessions.
func (s *Service) Append(ctx context.Context, session *Session, e *Event) (*Event, error) {
	if err := s.checkHandle(session); err != nil {
		return nil, err
	}
	v, err := e.encode(nil)
	if err != nil {
		return nil, err
	}
	at, err := s.host.Now()
	if err != nil {
		return nil, err
	}
	session.mu.Lock()
	defer session.mu.Unlock()
	a, err := s.ask(ctx, abi.SessionMethodAppend, (&abi.AppendEventArgs{
		App: s.app, User: session.User, ID: s.host.ID(), Now: at, Event: v,
	}).Append(nil))
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return decodeEvent(v)
	}
	key := keyOf(s.app, session.User, session.ID)
	changes := changesOf(a.State)
	if err := session.now.checkSize("actions.stateDelta.", changes); err != nil {
		return nil, err
	}
	named := session.artifacts.mark()
	now, err := s.append(ctx, key, session.now, a, &session.artifacts)
	if err != nil {
		session.artifacts.reset(named)
		return nil, err
	}
	session.now = now
	return decodeEvent(a.Event)
}

// Retry loads a session and calls fn, and does so again when fn fails with E_SESSION_CONFLICT, up to 16 times. The
// conflict of an event whose id the session has already would come again, and is returned at once. A nil fn is an
// E_INVALID_VALUE.
func (s *Service) Retry(ctx context.Context, user, id string, fn func(session *Session) error) error {
	if fn == nil {
		return invalid(host.CodeInvalidValue, "fn", errors.New("must be a function"))
	}
	const most = 16
	for n := 1; ; n++ {
		session, err := s.Get(ctx, user, id)
		if err != nil {
			return err
		}
		if err = fn(session); n == most || !errors.Is(err, host.CodeSessionConflict) || isTaken(err) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// isTaken reports whether a conflict is that of an event whose id the session has.
func isTaken(conflict error) bool {
	var e *host.Error
	if !errors.As(conflict, &e) {
		return false
	}
	details, _ := e.Details.(map[string]any)
	return details["kind"] == "event"
}

// ask has the core make an append; nil if there is nothing to store.
func (s *Service) ask(ctx context.Context, method uint8, args []byte) (*abi.AppendArgs, error) {
	v, err := s.host.Call(ctx, method, args)
	if err != nil || wire.IsNil(v) {
		return nil, err
	}
	a := &abi.AppendArgs{}
	if err := abi.DecodeInPlaceTo(v, a); err != nil {
		return nil, err
	}
	return a, nil
}

// load returns a session as the store has it under a key. What it held when it was last used is not loaded again.
func (s *Service) load(ctx context.Context, key, user, id string) (snapshot, error) {
	info, err := s.store.Find(ctx, key)
	if err != nil {
		return snapshot{}, inSession(err, key)
	}
	if info == nil {
		s.cache.forget(key)
		return snapshot{}, noSession(user, id)
	}
	now := s.cache.get(key)
	own := now.state
	if now.revision != info.Revision {
		if now, err = s.loadEvents(ctx, key, now); err != nil {
			return snapshot{}, inSession(err, key)
		}
		own = nil
	}
	if now.events.count == 0 { // there are no events under the id: it is somebody else's
		return snapshot{}, noSession(user, id)
	}
	now.revision, now.updated = info.Revision, info.UpdatedAt
	if now.state, err = s.loadState(ctx, key, user, own); err != nil {
		return snapshot{}, err
	}
	s.cache.put(key, now)
	return now, nil
}

func noSession(user, id string) error {
	e := host.NewError(host.CodeSessionNotFound, "user "+strconv.Quote(user)+", session "+strconv.Quote(id), nil)
	e.Details = map[string]any{"user": user, "session": id}
	return e
}

// loadEvents returns a session with the events that the store has behind those that are known.
func (s *Service) loadEvents(ctx context.Context, key string, known snapshot) (snapshot, error) {
	after, from := known.before, known.events.count-1
	if known.events.count == 0 {
		after, from = "", 0
	}
	// The last one known is asked for again: a session may have been deleted and created anew.
	list, err := s.store.Events(ctx, key, store.EventQuery{After: after})
	if err != nil {
		return snapshot{}, err
	}
	now := known
	if from > 0 && (len(list) == 0 || list[0].Revision != known.last) {
		if list, err = s.store.Events(ctx, key, store.EventQuery{}); err != nil {
			return snapshot{}, err
		}
		from = 0
	}
	bodies := make([][]byte, len(list))
	for i := range list {
		bodies[i] = list[i].Body
	}
	now.events = events{known.events.log, from}.followedBy(bodies...)
	now.last, now.before = "", ""
	if n := len(list); n > 0 {
		now.last = list[n-1].Revision
		if n > 1 {
			now.before = list[n-2].Revision
		} else if from > 0 {
			now.before = known.before
		}
	}
	return now, nil
}

// loadState reads the state of a session. own has the session's own values, nil if they are to be read.
func (s *Service) loadState(ctx context.Context, key, user string, own map[string][]byte) (map[string][]byte, error) {
	list := [...]string{appScope(s.app), userScope(s.app, user), ""}
	scopes := list[:]
	if own != nil {
		scopes = list[:2]
	}
	all, copied := withoutShared(own)
	for _, scope := range scopes {
		values, err := s.store.State(ctx, key, scope)
		if err != nil {
			return nil, inSession(err, key)
		}
		if len(values) > 0 && !copied {
			all, copied = maps.Clone(all), true
		}
		prefix := prefixOf(scope)
		for _, v := range values {
			all[prefix+v.Name] = v.Value
		}
	}
	return all, nil
}

// withoutShared is a state without the values that sessions share, as it is if there are none. copied tells that the
// map is another one.
func withoutShared(state map[string][]byte) (own map[string][]byte, copied bool) {
	shared := func(name string, _ []byte) bool {
		return strings.HasPrefix(name, appPrefix) || strings.HasPrefix(name, userPrefix)
	}
	for name, v := range state {
		if shared(name, v) {
			own = maps.Clone(state)
			maps.DeleteFunc(own, shared)
			return own, true
		}
	}
	if state == nil {
		return make(map[string][]byte), true
	}
	return state, false
}

// saved are artifacts whose bytes the store has and that no event has named yet.
type saved interface {
	// take returns a version, behind those before it that no event has named; nothing if it is not there.
	take(scope, name string, version int) []store.Artifact
}

// append stores what the core says in one transaction, and returns the session after it.
func (s *Service) append(ctx context.Context, key string, now snapshot, a *abi.AppendArgs, artifacts saved) (snapshot, error) {
	id, ok := value.GetString(a.Event, "id")
	if !ok {
		return now, invalid(host.CodeInvalidEvent, "id", errors.New("must be a string"))
	}
	write := store.Append{Event: &store.SessionEvent{ID: string(id), Body: a.Event}, Revision: now.revision}
	changes := changesOf(a.State)
	write.State = make([]store.StateValue, 0, len(a.State))
	for i, v := range a.State {
		write.State = append(write.State, store.StateValue{Scope: v.Scope, Name: v.Name, Value: changes[i].value})
	}
	for _, v := range a.Artifacts {
		var with []store.Artifact
		if artifacts != nil {
			with = artifacts.take(v.Scope, v.Name, int(v.Version))
		}
		if with == nil {
			field := "actions.artifactDelta." + prefixOf(v.Scope) + v.Name
			return now, invalid(host.CodeInvalidEvent, field, errors.New("nobody has saved version "+strconv.Itoa(int(v.Version))))
		}
		write.Artifacts = append(write.Artifacts, with...)
	}
	revision, err := s.store.Append(ctx, key, write)
	if err != nil {
		return now, inSession(err, key)
	}
	after := now.with(revision, a.Event, changes)
	if !after.part {
		s.cache.put(key, after)
	}
	return after, nil
}

// changesOf are changes of the state by names with their scopes.
func changesOf(state []abi.StateDelta) []change {
	list := make([]change, len(state))
	for i, v := range state {
		list[i].name = prefixOf(v.Scope) + v.Name
		if !wire.IsNil(v.Value) {
			list[i].value = v.Value
		}
	}
	return list
}
