package sessions

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/invocation"
	"github.com/turncore/turncore/host/internal/queue"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// Config configures [New]. App and Agent are required.
type Config struct {
	// App names the application, whose sessions and whose "app:" state it is.
	App string
	// Agent answers. It may have agents below it.
	Agent Agent
	// Store keeps the sessions: one in memory by default.
	Store Store
	// Plugins are called for all agents, in order.
	Plugins []*Plugin
	// MaxModelCalls bounds the model calls of an invocation, over all its agents; 0 means 500. One more fails the
	// invocation with E_MODEL_CALL_LIMIT.
	MaxModelCalls int
	// Compaction sums up long sessions; nil for never.
	Compaction *Compaction
	// WhenBusy says what becomes of an invocation while another one of its session runs in the process: turns.Queue by
	// default.
	WhenBusy turns.WhenBusy
	// Host runs the invocations. nil gives the runner its own host, on Engine, which Close closes. Only one of them may be
	// given.
	Host   *turns.Host
	Engine host.Engine
}

// Runner runs invocations of a tree of agents. Its methods may be called from many goroutines, and many invocations may
// run at once. Close it when done.
type Runner struct {
	host     invocation.Host
	tree     *tree
	plugins  []*Plugin
	sessions *Service
	options  abi.Value
	queue    *queue.Queue
	refuse   bool // an invocation of a session while another one runs
}

// New returns a runner and loads the core. It fails with E_INVALID_AGENT, whose message lists what is wrong.
func New(ctx context.Context, config Config) (*Runner, error) {
	t, err := newTree(&config)
	if err != nil {
		return nil, err
	}
	switch config.WhenBusy {
	case "", turns.Queue, turns.Refuse:
	default:
		return nil, invalid(host.CodeInvalidAgent, "whenBusy", errors.New(`must be "queue" or "refuse"`))
	}
	if config.Store == nil {
		config.Store = store.NewInMemory()
	}
	r := &Runner{host: invocation.Open(config.Host, config.Engine, &t.team), tree: t, plugins: slices.Clone(config.Plugins)}
	r.queue, r.refuse = queue.Of(config.Store), config.WhenBusy == turns.Refuse
	r.sessions = &Service{app: config.App, store: config.Store, host: r.host}
	if r.options, err = config.options(); err != nil {
		return nil, err
	}
	if err := r.host.Load(ctx); err != nil {
		_ = r.Close() // the error that matters is err
		return nil, err
	}
	return r, nil
}

// options encodes those that all invocations have.
func (c *Config) options() (abi.Value, error) {
	var m members
	if c.MaxModelCalls < 0 {
		return nil, invalid(host.CodeInvalidAgent, "maxModelCalls", errors.New("must not be negative"))
	}
	m.number("maxModelCalls", c.MaxModelCalls)
	if c.Compaction != nil {
		compaction, err := c.Compaction.option()
		if err != nil {
			return nil, err
		}
		m.put("compaction", compaction.value())
	}
	if len(m) == 0 {
		return nil, nil
	}
	return wire.Append(nil, m.value(), "options")
}

// Sessions are the sessions of the application.
func (r *Runner) Sessions() *Service { return r.sessions }

// Close frees the runner's resources. Invocations that run, or wait for another one of their session, end with
// E_CLOSED. A host passed to the runner stays open.
func (r *Runner) Close() error { return r.host.Close() }

// Input starts an invocation.
type Input struct {
	User    string // id of the user
	Session string // id of the session
	// Message is what the user says; see [Text]. One that answers function calls of an earlier invocation resumes that.
	// nil takes up the calls of an event that were confirmed and have no result, or lets the agent go on if there are
	// none.
	Message *Content
	// Journal receives the invocation's journal, for a replay; see package journal. nil writes none. If it fails, Run
	// fails with its error after the last event.
	Journal io.Writer
}

// Run runs an invocation and yields its events. While another invocation of the session runs in the process, by
// whichever runner with the store, it waits, or fails with E_SESSION_BUSY: see Config.WhenBusy. One that is started
// inside another one of its session fails so, too, if its context is that of a handler; a loop over an invocation's
// events must not wait for another invocation of the session.
// The pair that has an error is the last one: of an agent, of the store, of
// the input, or, after ctx was cancelled, its cause. Input is refused before anything is stored, with
// E_SESSION_NOT_FOUND, E_INVALID_INVOCATION, E_CALL_NOT_ASKED or E_CALL_ANSWERED.
//
// An event that is not partial is in the store when it is yielded, and its agent goes on when the next one is asked
// for. Tools, callbacks and executors may run on the goroutine of the loop; one that ends that goroutine ends the
// invocation, too. The loop's body runs elsewhere for a part of an answer that an executor yields on another goroutine.
//
// Leaving the loop stops the invocation: the agents' yield fails with E_INVOCATION_STOPPED, and Run returns when they
// and the plugins' AfterRun have ended.
func (r *Runner) Run(ctx context.Context, in Input) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) { r.run(ctx, in, r.options, yield) }
}

// Collect is Run for a caller that wants all events at once. With an error it returns those that came before.
func (r *Runner) Collect(ctx context.Context, in Input) ([]*Event, error) {
	var list []*Event
	for e, err := range r.Run(ctx, in) {
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Fork makes a session that begins with what another one has: see [Service.Fork].
func (r *Runner) Fork(ctx context.Context, user, from, id, after string) (*Session, error) {
	return r.sessions.Fork(ctx, user, from, id, after)
}

// Rewind takes a session back to before an invocation: an event restores the session's own state as it was, initial
// values too, and models see neither the events of that invocation nor later ones. Values of "app:" and "user:" stay.
// It returns the event. It fails with E_INVOCATION_NOT_FOUND.
func (r *Runner) Rewind(ctx context.Context, user, session, before string) (*Event, error) {
	options, err := wire.Append(nil, map[string]any{"rewindBeforeInvocationId": before}, "options")
	if err != nil {
		return nil, err
	}
	var event *Event
	r.run(ctx, Input{User: user, Session: session}, options, func(e *Event, failure error) bool {
		event, err = e, failure
		return true
	})
	return event, err
}

// run runs an invocation.
func (r *Runner) run(ctx context.Context, in Input, options abi.Value, yield func(*Event, error) bool) {
	if err := checkIDs(in.User, in.Session); err != nil {
		yield(nil, err)
		return
	}
	key := keyOf(r.sessions.app, in.User, in.Session)
	ctx, leave, err := r.queue.Enter(ctx, "invocation", key, r.refuse, r.host.Until)
	if err != nil {
		yield(nil, inSession(err, key))
		return
	}
	defer leave()
	inv, start, err := r.begin(ctx, key, in)
	if err != nil {
		yield(nil, err)
		return
	}
	start.Options = options
	left, ended := false, false
	defer func() {
		if !ended { // yield has ended the goroutine, or a handler
			left = true
			inv.turn.Finish()
		}
	}()
	err = inv.outcome(inv.turn.Invoke(start, inv.now.events.view(), func(given any) error {
		if !left {
			left = true // if yield does not return
			left = !yield(given.(*Event), nil)
		}
		if left {
			return errStopped()
		}
		return nil
	}))
	if ended = true; err != nil && !left {
		yield(nil, err)
	}
}

// outcome is the error that the invocation has ended with.
func (inv *running) outcome(o turn.Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case o.Status == event.Aborted && inv.turn.Root().Reason() != nil:
		return inv.turn.Root().Reason()
	case o.Status == event.Ack:
		inv.appended()
	}
	return o.Err
}

// begin prepares an invocation.
func (r *Runner) begin(ctx context.Context, key string, in Input) (*running, *abi.StartInvocation, error) {
	f := &abi.StartInvocation{Session: in.Session, User: in.User}
	now, err := r.sessions.load(ctx, key, in.User, in.Session)
	if err != nil {
		return nil, nil, err
	}
	if in.Message != nil {
		if f.Message, err = encoded(nil, in.Message.form(), "message", host.CodeInvalidInvocation); err != nil {
			return nil, nil, tooLarge(err)
		}
	}
	f.State = now.stateValue()
	inv := &running{
		runner: r, message: in.Message, user: in.User, session: in.Session, key: key,
		id: r.host.ID(), now: now,
	}
	inv.turn, err = r.host.Begin(context.WithValue(ctx, runningKey{}, inv), inv.id, in.Journal, inv.prepare)
	if err != nil {
		return nil, nil, err
	}
	f.Shown = inv.told()
	return inv, f, nil
}
