package sqltest

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/store/internal/sqlstore"
)

// asInMemory does at random what a store in memory does too, and compares: results, errors and what is loaded.
func asInMemory(t *testing.T, d *Database) {
	seeds, rounds := uint64(2), 300
	if os.Getenv("TURNCORE_LONG") != "" {
		seeds, rounds = 10, 1000
	}
	for seed := range seeds {
		m := &model{
			t: t, r: rand.New(rand.NewPCG(seed, 13)), prefix: fmt.Sprintf("seed %d ", seed),
			memory: store.NewInMemory(), s: opened(t, d, sqlstore.Options{}),
		}
		for m.n = range rounds {
			m.step()
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, m.n)
			}
		}
		if m.conflicts == 0 || m.answered == 0 || m.partly == 0 || m.appended == 0 {
			t.Errorf("seed %d: %d conflicts, %d commits answered from the first, %d loads of what was added, %d appends", seed, m.conflicts, m.answered, m.partly, m.appended)
		}
	}
}

// model has two stores that are to be alike.
type model struct {
	t       *testing.T
	r       *rand.Rand
	memory  *store.InMemory
	s       *sqlstore.Store
	prefix  string
	n       int
	seen    []states
	counter int

	conflicts, answered, partly, appended int
}

// states are the revisions of one state of a session in both stores.
type states struct{ session, memory, s string }

func (m *model) step() {
	session := m.prefix + string(rune('a'+m.r.IntN(3)))
	switch m.r.IntN(20) {
	case 0:
		m.same(m.memory.Delete(m.t.Context(), session), m.s.Delete(m.t.Context(), session))
	case 1:
		to := m.prefix + string(rune('a'+m.r.IntN(4)))
		m.same(m.memory.Fork(m.t.Context(), session, to), m.s.Fork(m.t.Context(), session, to))
	case 2:
		// Over another session, which others may share.
		to := m.prefix + string(rune('a'+m.r.IntN(4)))
		if to != session {
			m.same(m.memory.Delete(m.t.Context(), to), m.s.Delete(m.t.Context(), to))
			m.same(m.memory.Fork(m.t.Context(), session, to), m.s.Fork(m.t.Context(), session, to))
			m.look(to)
		}
	case 3, 4, 5:
		m.append(session)
	case 6:
		title := fmt.Sprintf("title %d", m.n)
		m.same(m.memory.SetTitle(m.t.Context(), session, title), m.s.SetTitle(m.t.Context(), session, title))
	default:
		m.commit(session)
	}
	m.look(session)
}

// same compares the errors of both stores.
func (m *model) same(memory, s error) bool {
	m.t.Helper()
	var a, b *host.Error
	if (memory == nil) != (s == nil) || memory != nil && (!errors.As(memory, &a) || !errors.As(s, &b) || a.Error() != b.Error()) {
		m.t.Errorf("memory says %v, the database %v", memory, s)
	}
	return memory == nil && s == nil
}

func (m *model) commit(session string) {
	c := store.Commit{Turn: fmt.Sprintf("turn %d", m.r.IntN(5))}
	for range m.r.IntN(4) {
		c.Deltas = append(c.Deltas, m.delta())
	}
	if m.r.IntN(2) == 0 {
		c.Key = fmt.Sprintf("key %d", m.r.IntN(40))
	}
	of := c
	if m.r.IntN(6) == 0 {
		// Not where it may fail: a database forgets no key then.
		c.Ended = []string{fmt.Sprintf("turn %d", m.r.IntN(5))}
		of.Ended = c.Ended
	} else if n := len(m.seen); n > 0 && m.r.IntN(3) > 0 {
		at := m.seen[max(0, n-1-m.r.IntN(12))]
		if at.session == session {
			c.Revision, of.Revision = at.memory, at.s
		}
	}
	a, err := m.memory.Commit(m.t.Context(), session, c)
	b, err2 := m.s.Commit(m.t.Context(), session, of)
	if !m.same(err, err2) {
		if m.t.Failed() {
			m.t.Logf("the commit was %+v, with %q in the database", c, of.Revision)
		}
		m.conflicts++
		return
	}
	for _, at := range m.seen {
		if at.session == session && (at.memory == a) != (at.s == b) {
			m.t.Errorf("memory is at %s and the database at %s after %+v, of %+v", a, b, c, at)
		}
		if at.session == session && at.memory == a && len(c.Deltas) > 0 {
			m.answered++
		}
	}
	m.seen = append(m.seen, states{session, a, b})
}

// append appends to a session.
func (m *model) append(session string) {
	a := store.Append{Turn: fmt.Sprintf("turn %d", m.r.IntN(3))}
	if m.r.IntN(4) > 0 {
		a.Event = &store.SessionEvent{ID: fmt.Sprint("event ", m.r.IntN(60)), Body: []byte(m.text())}
	}
	scopes := []string{"", m.prefix + "shared"}
	for range m.r.IntN(3) {
		v := store.StateValue{Scope: scopes[m.r.IntN(2)], Name: fmt.Sprint("name ", m.r.IntN(4))}
		if m.r.IntN(3) > 0 {
			v.Value = []byte(m.text())
		}
		a.State = append(a.State, v)
	}
	if m.r.IntN(3) == 0 {
		id := fmt.Sprint("bytes ", m.r.IntN(3))
		text := m.text()
		m.same(m.memory.PutBytes(m.t.Context(), session, id, strings.NewReader(text)), m.s.PutBytes(m.t.Context(), session, id, strings.NewReader(text)))
		a.Artifacts = []store.Artifact{{Scope: scopes[m.r.IntN(2)], Name: fmt.Sprint("artifact ", m.r.IntN(2)), Bytes: id}}
		have, err := m.memory.Artifacts(m.t.Context(), session, a.Artifacts[0].Scope)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, v := range have {
			if v.Name == a.Artifacts[0].Name && m.r.IntN(8) > 0 {
				a.Artifacts[0].Version++
			}
		}
	}
	if m.r.IntN(2) == 0 {
		a.Key = fmt.Sprintf("key %d", m.r.IntN(40))
	}
	of := a
	if n := len(m.seen); n > 0 && m.r.IntN(2) == 0 {
		if at := m.seen[max(0, n-1-m.r.IntN(6))]; at.session == session {
			a.Revision, of.Revision = at.memory, at.s
		}
	}
	x, err := m.memory.Append(m.t.Context(), session, a)
	y, err2 := m.s.Append(m.t.Context(), session, of)
	if m.same(err, err2) {
		m.seen = append(m.seen, states{session, x, y})
		m.appended++
	}
}

// told is what a store says of what was appended to a session.
func (m *model) told(s store.Appender, session, after string) (words []string) {
	events, err := s.Events(m.t.Context(), session, store.EventQuery{After: after})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range events {
		words = append(words, fmt.Sprintf("event %q %q", e.ID, e.Body))
	}
	for _, scope := range []string{"", m.prefix + "shared"} {
		state, err := s.State(m.t.Context(), session, scope)
		artifacts, err2 := s.Artifacts(m.t.Context(), session, scope)
		if err := errors.Join(err, err2); err != nil {
			m.t.Fatal(err)
		}
		for _, v := range state {
			words = append(words, fmt.Sprintf("state %q", v))
		}
		for _, v := range artifacts {
			content, size, err := s.OpenArtifact(m.t.Context(), session, scope, v.Name, v.Version)
			if err != nil {
				m.t.Fatal(err)
			}
			all, err := io.ReadAll(io.NewSectionReader(content, 0, size))
			words = append(words, fmt.Sprintf("artifact %q %q %d %d %q %v", v.Scope, v.Name, v.Version, v.Size, all, err))
		}
	}
	return words
}

// kinds of records that are written, some more often.
var kinds = []string{"message", "message", "thought", "memory", "retrievable", "toolCall", "toolCall", "standingInstruction"}

func (m *model) delta() store.Delta {
	kind := kinds[m.r.IntN(len(kinds))]
	id := fmt.Sprintf("%s %d", kind, m.r.IntN(12))
	d := store.Delta{Kind: kind, ID: id, Op: []store.Op{store.OpStore, store.OpStore, store.OpMutate, store.OpDelete}[m.r.IntN(4)]}
	if kind == "toolCall" && m.r.IntN(3) == 0 {
		d = store.Delta{Op: store.OpReplaceToolCallGroup, Kind: kind}
		for range m.r.IntN(4) {
			d.IDs = append(d.IDs, fmt.Sprintf("toolCall %d", m.r.IntN(12)))
		}
		for range m.r.IntN(4) {
			d.Records = append(d.Records, called(fmt.Sprintf("toolCall %d", m.r.IntN(12)), m.text()))
		}
		return d
	}
	if d.Op == store.OpDelete {
		return d
	}
	d.Record = m.record(kind, id)
	if kind == "standingInstruction" && d.Op == store.OpMutate {
		d.Record = m.record(kind, fmt.Sprintf("%s %d", kind, m.r.IntN(12)))
	}
	return d
}

func (m *model) text() string {
	m.counter++
	return fmt.Sprintf("text %d", m.counter)
}

func (m *model) record(kind, id string) any {
	at := noon.AddDate(0, 0, m.r.IntN(100))
	switch kind {
	case "message":
		return record.NewMessage(id, record.User, m.text(), at)
	case "thought":
		return record.NewThought(id, m.text(), at)
	case "memory":
		return record.NewMemory(id, m.text(), 0.5, 1, at)
	case "retrievable":
		return record.NewRetrievable(id, m.text(), record.FirstParty, at)
	case "toolCall":
		return called(id, m.text())
	}
	return &record.Instruction{Text: id}
}

// look loads a session from both stores, whole and after an earlier state.
func (m *model) look(session string) {
	after := []states{{}}
	if n := len(m.seen); n > 0 {
		if at := m.seen[max(0, n-1-m.r.IntN(6))]; at.session == session {
			after = append(after, at)
		}
	}
	for _, at := range after {
		a, b := load(m.t, m.memory, session, at.memory), load(m.t, m.s, session, at.s)
		if (a.After == "") != (b.After == "") {
			m.t.Errorf("memory loads after %q, the database after %q", a.After, b.After)
		}
		if a.After != "" {
			m.partly++
		}
		want, err := lines(a)
		got, err2 := lines(b)
		if err := errors.Join(err, err2); err != nil || !slices.Equal(got, want) {
			m.t.Errorf("%s after %q: %v\nmemory   %q\ndatabase %q", session, at.memory, err, want, got)
		}
	}
	a, err := m.memory.Newest(m.t.Context(), session)
	b, err2 := m.s.Newest(m.t.Context(), session)
	if m.same(err, err2); !a.Equal(b) {
		m.t.Errorf("the newest of memory is %s, that of the database %s", a, b)
	}
	for _, at := range after {
		if a, b := m.told(m.memory, session, at.memory), m.told(m.s, session, at.s); !slices.Equal(a, b) {
			m.t.Errorf("%s after %q: memory tells %q, the database %q", session, at.memory, a, b)
		}
	}
	m.list()
}

// list compares the lists of sessions.
func (m *model) list() {
	var a, b []string
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := m.memory.List(m.t.Context(), cursor, 2)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, s := range page {
			a = append(a, fmt.Sprint(s.ID, s.Title, s.Messages))
		}
		cursor = next
	}
	for cursor, more := "", true; more; more = cursor != "" {
		page, next, err := m.s.List(m.t.Context(), cursor, 2)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, s := range page {
			if len(s.ID) > len(m.prefix) && s.ID[:len(m.prefix)] == m.prefix {
				b = append(b, fmt.Sprint(s.ID, s.Title, s.Messages))
			}
		}
		cursor = next
	}
	if !slices.Equal(a, b) {
		m.t.Errorf("memory lists %q, the database %q", a, b)
	}
}

// placesRunOut replaces the last of a group by two, again and again, before a call that stays.
func placesRunOut(t *testing.T, d *Database) {
	s, memory := opened(t, d, sqlstore.Options{}), store.NewInMemory()
	write := func(w store.Delta) {
		commit(t, s, "s", w)
		commit(t, memory, "s", w)
	}
	for _, id := range []string{"0", "behind"} {
		write(store.Delta{Op: store.OpStore, Kind: "toolCall", ID: id, Record: called(id, id)})
	}
	for n := range 50 {
		last := fmt.Sprint(n)
		write(store.Delta{
			Op: store.OpReplaceToolCallGroup, Kind: "toolCall", IDs: []string{last},
			Records: []*record.ToolCall{called(last+" is done", last), called(fmt.Sprint(n+1), last)},
		})
	}
	want, err := lines(load(t, memory, "s", ""))
	got, err2 := lines(load(t, s, "s", ""))
	if err := errors.Join(err, err2); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\nmemory   %q\ndatabase %q", err, want, got)
	}
}
