package sessionstest

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/storetest"
)

// What most tests use.
const (
	app     = "app"
	user    = "ada"
	session = "s"
)

// place is where a test's store is, and a service on it.
type place struct {
	*testing.T
	open      storetest.Opener
	exclusive bool
	watched   *watched
	all       *sessions.Service // of the application app
	runner    *sessions.Runner  // of that, whose agent is agent
	agent     func(ctx *sessions.Context, yield func(*sessions.Event) error) error
}

// service makes a service of an application on the store.
func (p *place) service(app string) *sessions.Service {
	p.Helper()
	agent := &sessions.CustomAgent{Name: "agent", Run: func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
		return p.agent(ctx, yield)
	}}
	r := p.runnerOf(sessions.Config{App: app, Agent: agent})
	if p.runner == nil {
		p.runner = r
	}
	return r.Sessions()
}

// runnerOf makes a runner on the store.
func (p *place) runnerOf(config sessions.Config) *sessions.Runner {
	p.Helper()
	config.Store, config.Engine = p.watched, native.New()
	r, err := sessions.New(p.Context(), config)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := r.Close(); err != nil {
			p.Errorf("closing a runner: %v", err)
		}
	})
	return r
}

// another is a service that has loaded nothing, on the store as another process has it.
func (p *place) another() *sessions.Service {
	p.Helper()
	other := *p
	other.runner = nil
	if !p.exclusive {
		other.watched = &watched{Store: p.openStore()}
	}
	return other.service(app)
}

// again is a service on the store, which was closed and opened.
func (p *place) again() *sessions.Service {
	p.Helper()
	if err := closed(p.watched.Store); err != nil {
		p.Fatalf("closing the store: %v", err)
	}
	p.watched = &watched{Store: p.openStore()}
	return p.service(app)
}

func closed(s store.Store) error {
	if c, ok := s.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// create makes the session id of the user.
func (p *place) create(id string, state map[string]any) *sessions.Session {
	p.Helper()
	s, err := p.all.Create(p.Context(), user, id, state)
	if err != nil {
		p.Fatalf("creating %q: %v", id, err)
	}
	return s
}

// get loads the session id of the user, as a service that knows nothing of it does.
func (p *place) get(id string) *sessions.Session {
	p.Helper()
	return p.load(p.another(), user, id)
}

func (p *place) load(all *sessions.Service, user, id string) *sessions.Session {
	p.Helper()
	s, err := all.Get(p.Context(), user, id)
	if err != nil {
		p.Fatalf("loading %q of %q: %v", id, user, err)
	}
	return s
}

// append appends an event that must be stored.
func (p *place) append(s *sessions.Session, e *sessions.Event) *sessions.Event {
	p.Helper()
	stored, err := p.all.Append(p.Context(), s, e)
	if err != nil {
		p.Fatalf("appending to %q: %v", s.ID, err)
	}
	return stored
}

// refused appends an event that must not be stored: neither the store nor the handle changes.
func (p *place) refused(s *sessions.Session, e *sessions.Event, code host.Code) *host.Error {
	p.Helper()
	before, handle := p.shown(p.get(s.ID)), p.shown(s)
	_, err := p.all.Append(p.Context(), s, e)
	p.code("the append", err, code)
	p.is("the store after it", p.shown(p.get(s.ID)), before)
	p.is("the handle after it", p.shown(s), handle)
	var typed *host.Error
	if !errors.As(err, &typed) {
		return &host.Error{}
	}
	return typed
}

// code compares the code of an error.
func (p *place) code(what string, err error, code host.Code) {
	p.Helper()
	if !errors.Is(err, code) {
		p.Errorf("%s: %v, want %s", what, err, code)
	}
}

// there checks the error of a session that is there already: it names the session and its user.
func (p *place) there(what string, err error, id string) {
	p.Helper()
	p.code(what, err, host.CodeSessionExists)
	var e *host.Error
	if errors.As(err, &e) {
		p.details(e, "session", id)
		p.details(e, "user", user)
	}
	if !strings.HasSuffix(err.Error(), ": "+strconv.Quote(id)) {
		p.Errorf("%s: %v does not name the session", what, err)
	}
}

// details compares a member of an error's details.
func (p *place) details(e *host.Error, name string, want any) {
	p.Helper()
	if of, _ := e.Details.(map[string]any); of[name] != want {
		p.Errorf("the details are %v, want %s %v", e.Details, name, want)
	}
}

func (p *place) is(what, got, want string) {
	p.Helper()
	if got != want {
		p.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// shown is a session: its events as words, its revision and its state.
func (p *place) shown(s *sessions.Session) string {
	p.Helper()
	return p.words(s) + " " + s.Revision() + " " + text(s.State())
}

// words are the events of a session: author and text.
func (p *place) words(s *sessions.Session) string {
	p.Helper()
	list, err := s.Events()
	if err != nil {
		p.Fatal(err)
	}
	return words(list)
}

func words(list []*sessions.Event) string {
	said := make([]string, len(list))
	for i, e := range list {
		said[i] = e.Author + ":" + e.Text()
	}
	return strings.Join(said, " ")
}

// text is a value as JSON.
func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func said(text string) *sessions.Event {
	return &sessions.Event{Author: "host", Content: sessions.ModelText(text)}
}

func changed(changes map[string]any) *sessions.Event {
	return &sessions.Event{Author: "host", Actions: sessions.Actions{StateDelta: changes}}
}
