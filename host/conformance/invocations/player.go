package invocations

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// Options configure a [Player].
type Options struct {
	// Engine runs the core.
	Engine host.Engine
	// Host has further options of the host; its engine, clock and entropy belong to the player.
	Host turns.HostOptions
	// Journal takes the journal of each invocation that has run; nil for none. Its error fails the scenario.
	Journal func(journal []byte) error
	// Patience is the time after which a scenario counts as stuck; 0 means a minute.
	Patience time.Duration
}

// Player plays scenarios on one host, one at a time, each with a store in memory of its own. The clock stands still at
// host.FixedTime, and entropy is that of host.SeededEntropy(1), afresh for each scenario.
type Player struct {
	options Options
	host    *turns.Host
	mu      sync.Mutex
	entropy host.Entropy
}

// NewPlayer returns a player. Close it when done.
func NewPlayer(options Options) *Player {
	options.Patience = cmp.Or(options.Patience, time.Minute)
	return &Player{options: options}
}

// Close ends the host.
func (p *Player) Close() error {
	if p.host == nil {
		return nil
	}
	h := p.host
	p.host = nil
	return h.Close(context.Background())
}

func (p *Player) open() {
	p.mu.Lock()
	p.entropy = host.SeededEntropy(1)
	p.mu.Unlock()
	if p.host == nil {
		p.host = p.newHost()
	}
}

func (p *Player) newHost() *turns.Host {
	o := p.options.Host
	o.Engine = p.options.Engine
	o.Clock = func() int64 { return host.FixedTime }
	o.Entropy = func(b []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.entropy(b)
	}
	return turns.NewHost(o)
}

// another makes the host of another process, with entropy of its own.
func (p *Player) another() *turns.Host {
	p.mu.Lock()
	p.entropy = host.SeededEntropy(2)
	p.mu.Unlock()
	return p.newHost()
}

// Play plays a scenario and returns its log. The error says that the scenario is malformed, or that it did not end.
func (p *Player) Play(s *Scenario) (conformance.Log, error) {
	p.open()
	g := &game{Scenario: s, host: p.host, journal: p.options.Journal, used: map[string]int{}}
	g.another, g.kept = p.another, store.NewInMemory()
	g.changed = sync.NewCond(&g.mu)
	g.gone, g.over = make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() { done <- g.play(context.Background()) }()
	select {
	case err := <-done:
		log := g.log()
		if err = errors.Join(err, g.end(), g.broken); err != nil {
			return log, fmt.Errorf("invocations: %s: %w", s.ID, err)
		}
		return log, nil
	case <-time.After(p.options.Patience):
		p.host = nil // it may never answer again
		return g.log(), fmt.Errorf("invocations: %s: it did not end; its log so far:\n%s", s.ID, g.log())
	}
}

// game is a scenario in play.
type game struct {
	*Scenario
	host    *turns.Host
	another func() *turns.Host
	journal func([]byte) error
	kept    sessions.Store
	store   *keeper
	runner  *sessions.Runner
	made    map[string]sessions.Agent
	opened  []io.Closer
	gone    chan struct{} // closed when the process is gone
	over    chan struct{} // closed when the scenario is over: what the process that is gone has begun may end
	ended   chan struct{} // closed when it has ended; nil if no process is gone

	mu          sync.Mutex
	lines       []entry
	broken      error          // the scenario is malformed
	used        map[string]int // of models, tools, hooks and scripts
	ids         int            // of calls
	toolsEnded  int
	changed     *sync.Cond // toolsEnded, or a context
	invocations []string   // of the runs
	delivered   int
	appends     int
	abort       context.CancelFunc // of the run
}

// open makes the runner of a process.
func (g *game) open(ctx context.Context) error {
	g.store = &keeper{Store: g.kept, game: g}
	g.made = map[string]sessions.Agent{}
	root, err := g.agent(g.Agents[0].Name)
	if err != nil {
		return err
	}
	config := sessions.Config{App: "app", Host: g.host, Agent: root, Store: g.store}
	if config.Plugins, err = g.plugins(); err != nil {
		return err
	}
	config.Compaction = g.compaction()
	for _, step := range g.Main {
		if step.Run != nil {
			config.MaxModelCalls = max(config.MaxModelCalls, step.Run.MaxModelCalls)
		}
	}
	if g.runner, err = sessions.New(ctx, config); err != nil {
		return err
	}
	g.opened = append(g.opened, g.runner) // the host of the first process is the player's
	return nil
}

// reopen goes on in another process.
func (g *game) reopen(ctx context.Context) error {
	g.host = g.another()
	g.opened = append(g.opened, closing{g.host})
	return g.open(ctx)
}

// closing is a host that is closed.
type closing struct{ *turns.Host }

func (c closing) Close() error { return c.Host.Close(context.Background()) }

// end ends what is open.
func (g *game) end() error {
	close(g.over)
	if g.ended != nil {
		<-g.ended
	}
	var failed []error
	for _, open := range slices.Backward(g.opened) {
		failed = append(failed, open.Close())
	}
	return errors.Join(failed...)
}

func (g *game) play(ctx context.Context) error {
	if err := g.open(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(g.Main, func(step *Step) bool { return step.Create != nil }) {
		g.create(ctx, &Target{})
	}
	for _, step := range g.Main {
		g.step(ctx, step)
		if g.ended != nil && len(g.opened) == 1 {
			if err := g.reopen(ctx); err != nil {
				return err
			}
		}
	}
	if g.Main[len(g.Main)-1].Load == nil {
		g.load(ctx, byMain, &Target{})
	}
	return nil
}

func (g *game) step(ctx context.Context, step *Step) {
	switch {
	case step.Create != nil:
		g.create(ctx, step.Create)
	case step.Load != nil:
		g.load(ctx, byMain, step.Load)
	case step.Run != nil:
		g.run(ctx, step.Run)
	case step.Rewind != nil:
		g.rewind(ctx, step.Rewind)
	case step.Append != nil:
		g.append(ctx, step.Append)
	case step.Retry != nil:
		g.retry(ctx, step.Retry)
	case step.Delete != nil:
		user, id := step.Delete.key()
		g.did("delete", g.runner.Sessions().Delete(ctx, user, id))
	case step.Fork != nil:
		g.fork(ctx, step.Fork)
	default:
		g.two(ctx, step.Two)
	}
}

func (g *game) create(ctx context.Context, t *Target) {
	user, id := t.key()
	_, err := g.runner.Sessions().Create(ctx, user, id, oddMap(t.State))
	g.did("create", err)
}

// load writes what a session has.
func (g *game) load(ctx context.Context, by string, t *Target) {
	user, id := t.key()
	s, err := g.runner.Sessions().Get(ctx, user, id)
	var events []*sessions.Event
	if err == nil {
		events, err = s.Events()
	}
	if err != nil {
		g.write(by, conformance.Line{"did": "load", "threw": described(err)})
		return
	}
	words, ids := []string{}, []string{}
	for _, e := range events {
		words, ids = append(words, brief(e)), append(ids, e.ID)
	}
	g.write(by, conformance.Line{"stored": words, "ids": ids, "state": plain(s.State()), "session": storedID(user, id)})
}

func storedID(user, id string) string {
	return sessions.Key{App: "app", User: user, Session: id}.StoredID()
}

func (g *game) rewind(ctx context.Context, t *Target) {
	user, id := t.key()
	before := ""
	if t.ID != nil {
		before = *t.ID
	} else {
		if t.Before < 1 || t.Before > len(g.invocations) {
			g.malformed("there is no run %d", t.Before)
			return
		}
		before = g.invocations[t.Before-1]
	}
	e, err := g.runner.Rewind(ctx, user, id, before)
	if e != nil {
		g.event(e)
	}
	g.did("rewind", err)
}

func (g *game) append(ctx context.Context, t *Target) {
	user, id := t.key()
	all := g.runner.Sessions()
	s, err := all.Get(ctx, user, id)
	if err == nil {
		given := oddEvent(t.Event)
		_, err = all.Append(ctx, s, given)
		if t.Change {
			change(given)
		}
		g.write(byMain, conformance.Line{"handle": plain(s.State())})
	}
	g.did("append", err)
}

// retry appends an event, to the session as somebody else has left it.
func (g *game) retry(ctx context.Context, t *Target) {
	user, id := t.key()
	all := g.runner.Sessions()
	n := 0
	g.did("retry", all.Retry(ctx, user, id, func(s *sessions.Session) error {
		n++
		g.write(byMain, conformance.Line{"attempt": n, "events": s.Len()})
		if n <= t.Others {
			other, err := all.Get(ctx, user, id)
			if err != nil {
				return err
			}
			if _, err := all.Append(ctx, other, &sessions.Event{Author: "user", Content: sessions.Text("meanwhile")}); err != nil {
				return err
			}
		}
		_, err := all.Append(ctx, s, oddEvent(t.Event))
		return err
	}))
}

// change changes what is in an event.
func change(e *sessions.Event) {
	var walk func(v any)
	walk = func(v any) {
		m, _ := v.(map[string]any)
		for name := range m {
			walk(m[name])
			m[name] = "changed"
		}
	}
	walk(e.Actions.StateDelta)
	if e.Content != nil {
		for i := range e.Content.Parts {
			e.Content.Parts[i].Text = "changed"
		}
	}
}

func (g *game) fork(ctx context.Context, t *Target) {
	user, id := t.key()
	after := ""
	if t.UpTo > 0 {
		s, err := g.runner.Sessions().Get(ctx, user, id)
		if err == nil && s.Len() < t.UpTo {
			err = errors.New("there is no such event")
		}
		if err != nil {
			g.did("fork", err)
			return
		}
		e, err := s.Event(t.UpTo - 1)
		if err != nil {
			g.did("fork", err)
			return
		}
		after = e.ID
	}
	_, err := g.runner.Fork(ctx, user, id, t.To, after)
	g.did("fork", err)
}

// two appends events by handles that have seen the same revision.
func (g *game) two(ctx context.Context, events []*sessions.Event) {
	user, id := (&Target{}).key()
	var handles []*sessions.Session
	for range events {
		s, err := g.runner.Sessions().Get(ctx, user, id)
		if err != nil {
			g.did("append", err)
			return
		}
		handles = append(handles, s)
	}
	for i, e := range events {
		_, err := g.runner.Sessions().Append(ctx, handles[i], e)
		g.write(byMain, conformance.Line{"handle": plain(handles[i].State())})
		g.did("append", err)
	}
}

// run runs an invocation, until it ends or the process is gone.
func (g *game) run(ctx context.Context, t *Target) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.invoke(ctx, t)
	}()
	if g.ended != nil { // a process is gone once
		<-ended
		return
	}
	select {
	case <-ended:
	case <-g.gone:
		g.ended = ended
		g.write(byMain, conformance.Line{"did": "run", "gone": true})
	}
}

// vanish is the end of the process: it does nothing until the scenario is over.
func (g *game) vanish() {
	close(g.gone)
	<-g.over
}

func (g *game) invoke(ctx context.Context, t *Target) {
	user, id := t.key()
	in := sessions.Input{User: user, Session: id}
	if t.Message != nil {
		in.Message = oddEvent(&sessions.Event{Content: &t.Message.Content}).Content
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g.abort = cancel
	var written bytes.Buffer
	if g.journal != nil {
		in.Journal = &written
	}
	defer func() {
		if written.Len() == 0 {
			return // it did not begin
		}
		if err := g.journal(written.Bytes()); err != nil {
			g.malformed("the journal: %w", err)
		}
	}()
	n, first := 0, ""
	var failure error
	left := false
	for e, err := range g.runner.Run(ctx, in) {
		if err != nil {
			failure = err
			break
		}
		n++
		g.delivered++
		first = cmp.Or(first, e.InvocationID)
		g.event(e)
		if t.Load && !e.Partial {
			g.load(ctx, byMain, t)
		}
		if g.delivered == g.Fault.Gone {
			g.vanish()
			return
		}
		if n == t.StopAfter || g.delivered == g.Fault.Leaves {
			left = true
			break
		}
	}
	g.invocations = append(g.invocations, first)
	if left {
		g.write(byMain, conformance.Line{"did": "run", "left": true})
		return
	}
	g.did("run", failure)
}
