package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/turncore/turncore/host/store"
)

var _ store.Appender = (*Store)(nil)

// Append implements store.Appender.
func (s *Store) Append(ctx context.Context, session string, a store.Append) (revision string, err error) {
	if err := checkSession(session); err != nil {
		return "", err
	}
	if err := a.Validate(); err != nil {
		return "", err
	}
	if err := s.checkNames(session, &a); err != nil {
		return "", err
	}
	err = s.updateSurely(ctx, session, a.Key != "", func(t *tx) (err error) {
		revision, err = (&appending{tx: t, id: session, a: &a}).run()
		return err
	})
	if err != nil {
		return "", err
	}
	s.collectAtTimes()
	return revision, nil
}

// checkNames returns the error of a name that the database does not take.
func (s *Store) checkNames(session string, a *store.Append) error {
	check := func(kind string, names ...string) error {
		for _, name := range names {
			if s.d.MaxID > 0 && len(name) > s.d.MaxID {
				return s.tooLong(session, kind, name)
			}
		}
		return nil
	}
	if a.Event != nil {
		if err := check("event", a.Event.ID); err != nil {
			return err
		}
	}
	for _, v := range a.State {
		if err := check("state", v.Scope, v.Name); err != nil {
			return err
		}
	}
	for _, v := range a.Artifacts {
		if err := check("artifact", v.Scope, v.Name); err != nil {
			return err
		}
	}
	return nil
}

// appending is an append under way.
type appending struct {
	*tx
	id  string // the session's
	a   *store.Append
	row *sessionRow
}

func (a *appending) run() (revision string, err error) {
	if err := a.checkEpoch(a.a.Turn, a.a.Epoch); err != nil {
		return "", err
	}
	a.row, err = a.session("lockSession", a.id)
	switch {
	case err != nil:
		return "", err
	case a.row == nil && a.a.Empty():
		return store.NoRevision, nil
	case a.row == nil:
		if a.row, err = a.begin(a.id); err != nil {
			return "", err
		}
	}
	return a.keyed(a.row, keyed{a.a.Key, a.a.Turn, a.a.Ended}, !a.a.Empty(), a.apply)
}

// apply stores all.
func (a *appending) apply() error {
	if err := a.check(); err != nil || a.a.Empty() {
		return err
	}
	at, err := a.next(a.row.revision)
	if err != nil {
		return err
	}
	if a.a.Event != nil {
		if err := a.addEvent(at); err != nil {
			return err
		}
	}
	// In one order, so that appends to a scope that sessions share wait for each other and do not meet.
	state, artifacts := slices.Clone(a.a.State), slices.Clone(a.a.Artifacts)
	slices.SortStableFunc(state, func(v, w store.StateValue) int {
		return cmp.Or(cmp.Compare(v.Scope, w.Scope), cmp.Compare(v.Name, w.Name))
	})
	slices.SortStableFunc(artifacts, func(v, w store.Artifact) int {
		return cmp.Or(cmp.Compare(v.Scope, w.Scope), cmp.Compare(v.Name, w.Name))
	})
	for i := range state {
		if err := a.change(&state[i]); err != nil {
			return err
		}
	}
	for i := range artifacts {
		if err := a.addVersion(&artifacts[i]); err != nil {
			return err
		}
	}
	a.row.revision, a.row.appended = at, at
	return nil
}

// check returns the E_SESSION_CONFLICT of what another turn has appended, or of a session that has been deleted, nil if
// there is none.
func (a *appending) check() error {
	if a.a.Revision == "" {
		return nil
	}
	seen, ok := a.row.known(a.a.Revision)
	switch {
	case ok && a.row.appended <= seen:
		return nil
	case a.row.appended == 0:
		return store.AppendConflict(a.id, "", "")
	}
	// A fork knows the revisions of the events that it began with, too.
	if a.a.Revision == revisionText(a.row.number, a.row.appended) {
		return nil
	}
	own, err := a.own(a.row, a.a.Turn, a.row.appended)
	if err == nil && !own {
		err = store.AppendConflict(a.id, "", "")
	}
	return err
}

func (a *appending) addEvent(at int64) error {
	e := eventRow{revision: at, id: []byte(a.a.Event.ID), body: blob(a.a.Event.Body)}
	rows, err := a.rows("findEvent", a.row.number, e.id)
	there, err := list(rows, err, (*eventRow).scan)
	if err == nil && len(there) > 0 {
		err = store.AppendConflict(a.id, "event", a.a.Event.ID)
	}
	if err != nil {
		return err
	}
	a.row.events++
	return a.exec("addEvent", a.row.number, e.revision, e.id, e.body, e.sumUp())
}

func (a *appending) change(v *store.StateValue) error {
	r := stateRow{scope: []byte(v.Scope), name: []byte(v.Name), value: v.Value}
	if v.Value == nil {
		return a.exec("dropState", a.row.owner(v.Scope), r.scope, r.name)
	}
	return a.exec("setState", a.row.owner(v.Scope), r.scope, r.name, r.value, r.sumUp())
}

func (a *appending) addVersion(v *store.Artifact) error {
	found, err := a.bytes(a.row, v.Bytes)
	if err == nil && found == nil {
		err = store.NoBytes(a.id, v.Bytes)
	}
	if err != nil {
		return err
	}
	r := artifactRow{
		scope: []byte(v.Scope), name: []byte(v.Name), version: int64(v.Version),
		content: found.content, size: found.size, body: blob(v.Body),
	}
	owner := a.row.owner(v.Scope)
	last, err := a.artifact(a.id, "lastArtifact", owner, r.scope, r.name)
	if err != nil {
		return err
	}
	next := int64(0)
	if last != nil {
		next = last.version + 1
	}
	added := false
	if r.version == next {
		// Another session may be adding it to a scope that both share.
		_, added, err = a.number("addArtifact", owner, r.scope, r.name, r.version, r.content, r.size, r.body, r.sumUp())
	}
	if err == nil && !added {
		err = store.AppendConflict(a.id, "artifact", v.Name)
	}
	return err
}

// artifact reads a version of an artifact; nil if there is none.
func (t *tx) artifact(session, statement string, args ...any) (*artifactRow, error) {
	rows, err := t.rows(statement, args...)
	found, err := list(rows, err, (*artifactRow).scan)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], found[0].check(session)
}

// Events implements store.Appender.
func (s *Store) Events(ctx context.Context, session string, q store.EventQuery) (events []store.SessionEvent, err error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := checkSession(session); err != nil {
		return nil, err
	}
	err = s.view(ctx, session, func(t *tx) error {
		events = nil
		r, err := t.session("findSession", session)
		if err != nil || r == nil {
			return err
		}
		all, err := t.events(r, q)
		for i := range all {
			e := &all[i]
			events = append(events, store.SessionEvent{ID: string(e.id), Body: e.body, Revision: revisionText(r.number, e.revision)})
		}
		return err
	})
	return events, err
}

// events are the events of a session that are asked for.
func (t *tx) events(r *sessionRow, q store.EventQuery) ([]eventRow, error) {
	after := int64(0)
	// A fork knows the revisions of the events that it began with, too.
	if number, revision, ok := readRevision(q.After); ok && number == r.number && revision <= r.revision {
		after = revision
	}
	limit, statement := int64(q.Limit), "eventsAfter"
	switch {
	case limit <= 0:
		limit = math.MaxInt64
	case q.Newest:
		statement = "lastEvents"
	}
	rows, err := t.rows(statement, r.number, after, limit)
	all, err := list(rows, err, (*eventRow).scan)
	if err != nil {
		return nil, err
	}
	if statement == "lastEvents" {
		slices.Reverse(all)
	}
	for i := range all {
		if err := all[i].check(string(r.id)); err != nil {
			return nil, err
		}
	}
	if after == 0 && int64(len(all)) < min(limit, r.events) {
		return nil, invalidSession(string(r.id), fmt.Sprintf("it has %d events, not %d", len(all), r.events))
	}
	return all, nil
}

// inScope reads rows of a scope.
func inScope[R any](ctx context.Context, s *Store, session, scope, statement string, scan func(*R, scanner) error) (all []R, err error) {
	if err := checkSession(session); err != nil {
		return nil, err
	}
	err = s.view(ctx, session, func(t *tx) error {
		all = nil
		owner, err := t.ownerOf(session, scope)
		if err != nil || owner < 0 {
			return err
		}
		rows, err := t.rows(statement, owner, []byte(scope))
		all, err = list(rows, err, scan)
		return err
	})
	return all, err
}

// ownerOf is the number of the session whose scope it is, 0 of one that sessions share; -1 if the session is not there.
func (t *tx) ownerOf(session, scope string) (int64, error) {
	if scope != "" {
		return 0, nil
	}
	r, err := t.session("findSession", session)
	if err != nil || r == nil {
		return -1, err
	}
	return r.number, nil
}

// State implements store.Appender.
func (s *Store) State(ctx context.Context, session, scope string) (values []store.StateValue, err error) {
	all, err := inScope(ctx, s, session, scope, "allState", (*stateRow).scan)
	for i := range all {
		r := &all[i]
		if err := r.check(session); err != nil {
			return nil, err
		}
		values = append(values, store.StateValue{Scope: scope, Name: string(r.name), Value: r.value})
	}
	return values, err
}

// Artifacts implements store.Appender.
func (s *Store) Artifacts(ctx context.Context, session, scope string) (artifacts []store.Artifact, err error) {
	all, err := inScope(ctx, s, session, scope, "allArtifacts", (*artifactRow).scan)
	for i := range all {
		r := &all[i]
		if err := r.check(session); err != nil {
			return nil, err
		}
		next := int64(0)
		if i > 0 && string(all[i-1].name) == string(r.name) {
			next = all[i-1].version + 1
		}
		if r.version != next {
			return nil, invalidInScope(session, "artifact", r.scope, r.name, fmt.Sprintf("version %d is missing", next))
		}
		artifacts = append(artifacts, store.Artifact{
			Scope: scope, Name: string(r.name), Version: int(r.version), Size: r.size, Body: r.body,
		})
	}
	return artifacts, err
}

// OpenArtifact implements store.Appender.
func (s *Store) OpenArtifact(ctx context.Context, session, scope, name string, version int) (io.ReaderAt, int64, error) {
	if err := checkSession(session); err != nil {
		return nil, 0, err
	}
	gone := store.NoArtifact(session, scope, name, version)
	var r *artifactRow
	err := s.view(ctx, session, func(t *tx) error {
		r = nil
		owner, err := t.ownerOf(session, scope)
		if err == nil && owner >= 0 {
			r, err = t.artifact(session, "findArtifact", owner, []byte(scope), []byte(name), int64(version))
		}
		return err
	})
	if err == nil && r == nil {
		err = gone
	}
	if err != nil {
		return nil, 0, err
	}
	return &content{
		s: s, session: session, number: r.content, size: r.size, held: -1,
		again: func(*tx) (int64, error) { return 0, gone },
		invalid: func(why string) error {
			return invalidInScope(session, "artifact", r.scope, r.name, fmt.Sprintf("version %d: %s", version, why))
		},
	}, r.size, nil
}
