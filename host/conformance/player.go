package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// Features are the features that this runner offers to scenarios.
func Features() []string { return []string{"full", "static"} }

// Options configure a [Player].
type Options struct {
	// Engine runs the core.
	Engine host.Engine
	// Panics makes functions panic where their scripts throw. Otherwise they return errors.
	Panics bool
	// Patience is the time after which a scenario counts as stuck; 0 means a minute.
	Patience time.Duration
	// Store keeps what storage callbacks get, in a session for each scenario; nil for none. A scenario fails if the store
	// has anything else in the end than one in memory.
	Store store.Store
	// Host has further options of the host; its engine, clock, entropy, network and credentials belong to the player.
	Host turns.HostOptions
	// Written gets every record that a scenario's storage is given to write, if it is not nil.
	Written func(r record.Record)
}

// Player plays scenarios on one instance, one at a time, unless they ask for one of their own. The clock stands still
// at host.FixedTime unless a script moves it, and entropy is that of host.SeededEntropy(1), afresh for each scenario.
type Player struct {
	options Options
	host    *turns.Host
	entropy host.Entropy
	offset  atomic.Int64         // of the clock
	game    atomic.Pointer[game] // that is played
	commits int                  // that the store has kept
}

// NewPlayer returns a player. Close it when done.
func NewPlayer(options Options) *Player {
	options.Patience = cmp.Or(options.Patience, time.Minute)
	return &Player{options: options}
}

// Commits is how many commits the store has kept.
func (p *Player) Commits() int { return p.commits }

// Close ends the instance.
func (p *Player) Close() error {
	if p.host == nil {
		return nil
	}
	h := p.host
	p.host = nil
	return h.Close(context.Background())
}

func (p *Player) open() {
	if p.host == nil {
		o := p.options.Host
		o.Engine, o.Verify = p.options.Engine, true
		o.Clock = func() int64 { return host.FixedTime + p.offset.Load() }
		o.Entropy = func(b []byte) { p.entropy(b) }
		o.HTTP, o.Credentials = network{p}, credentials
		p.host = turns.NewHost(o)
	}
}

// malformed is the panic of a malformed scenario.
type malformedError struct{ why string }

func (e malformedError) Error() string { return e.why }

func malformed(format string, args ...any) error { return malformedError{fmt.Sprintf(format, args...)} }

// Play plays a scenario and returns its log. The error says that the scenario is malformed, or that it did not end.
func (p *Player) Play(s *Scenario) (Log, error) {
	if s.Host != nil {
		return p.playApart(s)
	}
	p.open()
	p.entropy = host.SeededEntropy(1)
	p.offset.Store(0)
	g := &game{player: p, scenario: s, kept: map[string]*frame{}, values: map[string]any{}, calls: map[string]int{}}
	p.game.Store(g)
	if p.options.Store != nil {
		g.stored = newKept(p.options.Store, s.ID)
	}
	g.prepare()
	main := s.Main
	if len(main) == 0 {
		main = Script{{Op: "run", Arg: map[string]any{}, At: -1, From: -1, Call: -1}}
	}
	done := make(chan error, 1)
	go func() { done <- g.guard(func() error { return (&frame{game: g, by: "main", iteration: -1}).do(main) }) }()
	select {
	case err := <-done:
		g.close()
		if err == nil {
			err = g.broken
		}
		if err == nil && g.stored != nil {
			var n int
			n, err = g.stored.written()
			p.commits += n
		}
		if err != nil {
			return g.log(), fmt.Errorf("conformance: %s: %w", s.ID, err)
		}
		return g.log(), nil
	case <-time.After(p.options.Patience):
		p.host = nil // it may never answer again
		return g.log(), fmt.Errorf("conformance: %s: it did not end; its log so far:\n%s", s.ID, g.log())
	}
}

// playApart plays a scenario on an instance of its own.
func (p *Player) playApart(s *Scenario) (Log, error) {
	options, bounded := p.options, *s
	options.Host.Limits, options.Host.Quota = s.Host.Limits, s.Host.Quota
	bounded.Host = nil
	apart := NewPlayer(options)
	log, err := apart.Play(&bounded)
	p.commits += apart.commits
	return log, errors.Join(err, apart.Close())
}

// game is a scenario in play.
type game struct {
	player   *Player
	scenario *Scenario
	runner   *turns.TurnRunner
	invalid  error // why there is no runner

	errors  map[string]error
	records map[string]any
	tools   map[string]*turns.Tool
	stored  *kept // nil for none
	texts   map[string]*record.Tokenizable

	mu     sync.Mutex
	lines  Log
	broken error // a malformed scenario
	kept   map[string]*frame
	values map[string]any
	calls  map[string]int // of each function
	// storageCalled hears of the next call of a storage callback, if it is there.
	storageCalled func()
	requests      int    // that the network got
	body          string // of the last one
}

// guard runs a function and records that the scenario is malformed, if it is.
func (g *game) guard(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(malformedError)
			if !ok {
				panic(r)
			}
			g.mu.Lock()
			g.broken = errors.Join(g.broken, bad)
			g.mu.Unlock()
			err = bad
		}
	}()
	return run()
}

func (g *game) close() {
	if g.runner != nil {
		_ = g.runner.Close() // the instance is the player's
	}
}

func (g *game) log() Log {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.lines)
}

// write adds a line, as JSON would read it.
func (g *game) write(line Line) {
	text := line.String()
	var plain map[string]any
	if err := json.Unmarshal([]byte(text), &plain); err != nil {
		panic(malformed("line %s: %v", text, err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, plain)
}

// event writes an event's line.
func (g *game) event(ev event.Event, to string) {
	g.opened(ev)
	text, err := ev.MarshalJSON()
	if err != nil {
		panic(malformed("%v", err))
	}
	var line Line
	if err := json.Unmarshal(text, &line); err != nil {
		panic(malformed("event %s: %v", text, err))
	}
	if to != "" {
		line["to"] = to
	}
	switch ev := ev.(type) {
	case *event.TurnEnd:
		line.err(g, ev.Err)
	case *event.DispatchEnd:
		line.err(g, ev.Err)
	case *event.ModelCallEnd:
		line.err(g, ev.Err)
	case *event.Warning:
		line.err(g, ev.Err)
	case *event.Error:
		line.err(g, ev.Err)
	}
	g.write(line)
}

func (l Line) err(g *game, err error) {
	if err != nil {
		l["error"] = g.describe(err, 0)
	}
}

// describe describes an error: by its name if it is the scenario's own object.
func (g *game) describe(err error, depth int) map[string]any {
	for name, own := range g.errors {
		if err == own {
			return map[string]any{"is": name}
		}
	}
	if group, is := err.(*store.ReplaceGroupError); is {
		v := g.describe(group.Err, depth)
		v["deletedIds"] = anyList(group.DeletedIDs)
		return v
	}
	// A panic in a script counts as the error that it carries.
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "panic: ") {
		return g.describe(inner, depth)
	}
	v := map[string]any{"code": "Error"}
	if cause := errors.Unwrap(err); cause != nil && depth < 8 {
		if inner := g.describe(cause, depth+1); inner["is"] != nil {
			v["cause"] = inner
		}
	}
	coded, _ := err.(*host.Error)
	if coded != nil {
		if coded.Code != "" {
			v["code"], v["status"] = string(coded.Code), coded.Status
			v["message"] = coded.Message
			if coded.Fatal {
				v["fatal"] = true
			}
		} else if coded.Name != "" {
			v["code"] = coded.Name
		}
		var list []any
		for _, e := range coded.Suppressed {
			list = append(list, g.describe(e, depth+1))
		}
		if len(list) > 0 {
			v["suppressed"] = list
		}
	}
	if cause := errors.Unwrap(err); cause != nil && depth < 8 && coded != nil && coded.Code != "" {
		inner := g.describe(cause, depth+1)
		v["cause"] = inner
		// The wording of a plain error, and of a listener's panic, depends on the language.
		if len(inner) == 1 && inner["code"] == "Error" || coded.Code == host.CodeListenerError {
			delete(v, "message")
		}
	}
	return v
}

// scenarioError is an error that a script throws.
type scenarioError struct {
	message string
	cause   error
}

func (e *scenarioError) Error() string { return e.message }
func (e *scenarioError) Unwrap() error { return e.cause }

// error returns the error of a name: one object for each name.
func (g *game) error(name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.errors == nil {
		g.errors = map[string]error{"CANCELED": &scenarioError{"The operation was aborted.", context.Canceled}}
	}
	err, there := g.errors[name]
	if !there {
		spec := g.scenario.Errors[name]
		message := name
		if spec.Message != nil {
			message = *spec.Message
		}
		var cause error
		if spec.Cause != "" {
			g.mu.Unlock()
			cause = g.error(spec.Cause)
			g.mu.Lock()
		}
		err = &scenarioError{message, cause}
		if spec.Code != "" {
			err = &host.Error{Code: host.Code(spec.Code), Message: message, Status: 500, Cause: cause}
		}
		g.errors[name] = err
	}
	return err
}

// join joins words.
func join(parts ...string) string { return strings.TrimSpace(strings.Join(parts, " ")) }
