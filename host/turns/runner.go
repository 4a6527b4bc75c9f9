package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/internal/stash"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/record"
)

// TurnRunner runs turns. Its methods may be called from many goroutines, and many turns may run at once.
type TurnRunner struct {
	host    *Host
	ownHost bool
	config  *definition
	bus     bus.Bus
	gates   turn.Gates
	flight  turn.Flight

	mu      sync.Mutex
	running map[string]*attached // turns that have a caller-chosen id
}

// mustBeMade panics for a runner that no constructor has made.
func (r *TurnRunner) mustBeMade() {
	if r == nil || r.host == nil {
		panic("turns: a runner is made by New or NewTurnRunner")
	}
}

// attached is a turn that several callers wait for.
type attached struct {
	done   chan struct{}
	bus    *bus.Bus
	result *Result
	err    error
}

// NewTurnRunner returns a runner. An invalid configuration fails with E_INVALID_TURN_RUNNER_CONFIG, whose message
// lists all violations. Nothing is loaded yet.
func NewTurnRunner(config TurnRunnerConfig) (*TurnRunner, error) {
	config.chatOutside()
	if err := config.validate(); err != nil {
		return nil, err
	}
	r := &TurnRunner{host: config.Host, config: config.definition(), running: make(map[string]*attached)}
	if r.host == nil {
		r.host, r.ownHost = NewHost(HostOptions{}), true
	}
	return r, nil
}

// On calls fn for every event of the given kind of all the runner's turns: KindMessage, KindThought, KindToolCall.
//
// fn runs on the goroutine that caused the event, before the causing call returns; the events of a turn come one at a
// time. fn may call methods of the turn's contexts: such a call returns with its answer, and its events follow after
// fn. Other goroutines that use the turn wait until their own events are delivered, so fn must not wait for them. A
// panic in fn becomes an error event with E_LISTENER_ERROR.
//
// A fn registered twice is called twice. The returned function removes fn. On panics for a nil fn and for an unknown
// kind.
func (r *TurnRunner) On(kind event.Kind, fn func(event.Event)) (off func()) {
	return r.bus.Add(bus.Bit(kind), fn)
}

// Observe is On for the kinds of event that report the progress of a turn. Both accept any kind.
func (r *TurnRunner) Observe(kind event.Kind, fn func(event.Event)) (off func()) {
	return r.bus.Add(bus.Bit(kind), fn)
}

// OnAny calls fn for every event of any kind.
func (r *TurnRunner) OnAny(fn func(event.Event)) (off func()) { return r.bus.Add(bus.AllKinds, fn) }

// Listen calls fn for every event of one type of all the runner's turns, such as *event.Message.
// It panics for a nil function, and for the type Event itself, which OnAny is for.
func Listen[E event.Event](r *TurnRunner, fn func(E)) (off func()) {
	var e E
	if fn == nil {
		panic("turns: nil listener")
	}
	if any(e) == nil {
		panic("turns: Listen is for one type of event, OnAny for all")
	}
	return r.bus.Add(bus.Bit(e.Kind()), func(ev event.Event) {
		if ev, ok := ev.(E); ok {
			fn(ev)
		}
	})
}

// Host is the host of the runner's turns.
func (r *TurnRunner) Host() *Host { return r.host }

// Shutdown closes the runner when its turns have ended. New turns fail: Run and Stream return ErrClosed, unless they
// attach to a running turn. If ctx ends first, the remaining turns are aborted with ErrClosed, whose cause is that of
// ctx; they have a second to end, and Shutdown returns the cause of ctx. A host passed to the runner stays open.
func (r *TurnRunner) Shutdown(ctx context.Context) error {
	r.mustBeMade()
	late := r.flight.Drain(ctx)
	return errors.Join(late, r.Close())
}

// Close frees the runner's resources without waiting. Running turns end with ErrClosed: as failed on the runner's own
// host, which is closed too; as aborted on a host that was passed in, which stays open. From then on Run and Stream
// fail with ErrClosed. Use Shutdown to let the turns finish.
func (r *TurnRunner) Close() error {
	r.mustBeMade()
	left := r.flight.Close()
	if !r.ownHost {
		turn.AbortAll(left, newError(abi.CodeClosed, "", nil))
	}
	r.host.cores.CloseRunner(r.config)
	if r.ownHost {
		return r.host.Close(context.Background())
	}
	return nil
}

// TurnInput starts a turn.
type TurnInput struct {
	// TurnID is the turn's id; one is made if it is empty. Starting a turn whose id is already running waits for the
	// running turn instead.
	TurnID string
	// SystemPrompt is required unless NoSystemPrompt is set.
	SystemPrompt   string
	NoSystemPrompt bool
	// StandingInstructions are texts, none of them empty.
	StandingInstructions []string
	// Text is the user's message, and Attachments are sent with it or alone. They are stored as a message before the
	// input pipeline runs. Message is a complete message that replaces both.
	Text        string
	Attachments []*record.Media
	Message     *record.Message
	// Stash has the initial values of the turn's stash: JSON-like values.
	Stash map[string]any
	// OnEvent is called for every event of this turn, after the runner's own listeners.
	OnEvent func(event.Event)
	// Journal receives the turn's journal, for a replay.
	Journal io.Writer

	// enter waits for other turns and returns the context to run in, and what ends the turn's stay; nil if none are in the
	// way.
	enter func(context.Context) (in context.Context, leave func(), err error)
	said  func(context.Context) (said, error) // asks the session when Text was said; nil for at the turn's start
	when  said                                // what it gave
}

func (in *TurnInput) validate() error {
	var list []string
	if in.SystemPrompt == "" && !in.NoSystemPrompt {
		list = append(list, abi.Violation(abi.RuleNonEmpty, "field", "systemPrompt"))
	}
	if !utf8.ValidString(in.TurnID) {
		list = append(list, check.NoUTF8("turnId"))
	}
	for i, text := range in.StandingInstructions {
		if text == "" {
			list = append(list, abi.Violation(abi.RuleNonEmpty, "field", check.At("standingInstructions", i)))
		}
	}
	if in.Text != "" && in.Message != nil {
		list = append(list, abi.Violation(abi.RuleExactlyOne, "field", "text", "other", "message"))
	}
	if in.Message != nil {
		if len(in.Attachments) > 0 {
			list = append(list, abi.Violation(abi.RuleHasItsOwn, "field", "attachments", "type", "Message"))
		}
		if err := in.Message.Validate(); err != nil {
			list = append(list, "message: "+err.Error())
		}
	}
	list = append(list, check.Elements("attachments", in.Attachments)...)
	if _, err := stash.Load(in.Stash); err != nil {
		list = append(list, err.Error())
	}
	return check.Invalid(abi.TurnInputRules, list)
}

// Run runs a turn to its end. Cancelling ctx aborts the turn.
//
// The error is nil for a turn that acked. For a turn that was nacked, failed or was aborted it is the result's Err,
// and the result is returned too: the same error value as in Nack, an error with a code, or the abort's cause, as
// context.Cause gives it. Without a result the input was rejected before any event.
func (r *TurnRunner) Run(ctx context.Context, in TurnInput) (*Result, error) {
	return r.runThen(ctx, in, func(*Result, error) {})
}

// runThen is Run, and calls ended with what it returns. When user code ends the goroutine, so that nothing is returned,
// ended is called at the turn's end all the same, on another one.
func (r *TurnRunner) runThen(ctx context.Context, in TurnInput, ended func(*Result, error)) (*Result, error) {
	r.mustBeMade()
	if err := in.validate(); err != nil {
		ended(nil, err)
		return nil, err
	}
	if in.TurnID == "" {
		var own *bus.Bus
		if in.OnEvent != nil {
			own = &bus.Bus{}
			own.Add(bus.AllKinds, in.OnEvent)
		}
		return r.run(ctx, &in, own, ended)
	}
	r.mu.Lock()
	a, runs := r.running[in.TurnID]
	if !runs {
		a = &attached{done: make(chan struct{}), bus: &bus.Bus{}}
		r.running[in.TurnID] = a
	}
	r.mu.Unlock()
	off := func() {}
	if in.OnEvent != nil {
		off = a.bus.Add(bus.AllKinds, in.OnEvent)
	}
	if !runs {
		return r.run(ctx, &in, a.bus, func(result *Result, err error) {
			r.mu.Lock()
			delete(r.running, in.TurnID)
			r.mu.Unlock()
			off()
			a.result, a.err = result, err
			close(a.done)
			ended(result, err)
		})
	}
	defer off()
	var result *Result
	var err error
	select {
	case <-a.done:
		result, err = a.result, a.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	ended(result, err)
	return result, err
}

func (r *TurnRunner) run(ctx context.Context, in *TurnInput, own *bus.Bus, ended func(*Result, error)) (result *Result, err error) {
	var p *program
	returned := false
	leave, tell := func() {}, ended
	ended = func(result *Result, err error) {
		if p != nil {
			p.ended()
		}
		leave()
		tell(result, err)
	}
	defer func() {
		switch {
		case returned:
			ended(result, err)
		case p == nil || !p.turn.Started():
			ended(nil, panics.ErrGoexit)
		default:
			go func() { ended(withTurnError(p.turn.Outcome())) }()
		}
	}()
	if in.enter != nil {
		var entered context.Context
		if entered, leave, err = in.enter(ctx); err == nil {
			ctx = entered
		} else {
			leave = func() {}
		}
	}
	if err == nil {
		p, err = r.prepare(ctx, in, own)
	}
	if err == nil {
		result, err = withTurnError(p.turn.Run(func(s turn.Start) error {
			for _, text := range in.StandingInstructions {
				s.Instruct(text)
			}
			if m := in.message(p.turn); m != nil {
				return s.Say(m)
			}
			return nil
		}))
	}
	returned = true
	return result, err
}

// withTurnError is what Run returns of a turn that has ended: why it did not ack, and what else went wrong.
func withTurnError(o turn.Outcome, err error) (*Result, error) {
	switch {
	case o.Err == nil:
	case err == nil:
		err = o.Err
	default:
		err = errors.Join(o.Err, err)
	}
	return resultOf(&o), err
}

// prepare makes a turn of the input.
func (r *TurnRunner) prepare(ctx context.Context, in *TurnInput, own *bus.Bus) (*program, error) {
	if in.said != nil {
		var err error
		if in.when, err = askSaid(ctx, in.said); err != nil {
			return nil, fmt.Errorf("the store does not tell how far the session has come: %w", err)
		}
	}
	data, err := stash.Load(in.Stash)
	if err != nil {
		return nil, err
	}
	return r.host.begin(ctx, r.config, turn.Spec{
		ID: in.TurnID, SystemPrompt: in.SystemPrompt, Stash: data, Flights: [2]*turn.Flight{1: &r.flight},
		Bus: &r.bus, Own: own, Gates: &r.gates, Journal: in.Journal,
	})
}

// said is when a user's message was said.
type said struct {
	at    time.Time // when a turn that runs again stored it the first time; zero for a turn that has not
	after time.Time // what came last in the session before
}

// askSaid asks a store. A panic there is an error like another.
func askSaid(ctx context.Context, ask func(context.Context) (said, error)) (when said, err error) {
	defer panics.Recovered(&err)
	return ask(ctx)
}

// userMessage is the id of the user's message in a turn.
func userMessage(turn string) string { return turn + ".user" }

// maxTime is the last instant that records may bear, ms since the Unix epoch.
const maxTime = 8_640_000_000_000_000

// message is the user's message in a turn that is about to start, nil for none. The caller holds the turn's lock.
func (in *TurnInput) message(t *turn.Turn) *record.Message {
	if in.Text == "" && len(in.Attachments) == 0 {
		return in.Message
	}
	created := min(max(t.Now(), in.when.after.UnixMilli()+1), maxTime)
	if at := in.when.at; !at.IsZero() {
		created = at.UnixMilli()
	}
	m := record.NewMessage(userMessage(t.ID), record.User, in.Text, time.UnixMilli(created).UTC())
	m.Attachments = slices.Clone(in.Attachments)
	return m
}
