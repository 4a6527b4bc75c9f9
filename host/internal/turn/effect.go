package turn

import (
	"context"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/record"
)

// Effect is something that the core asks of the host.
type Effect struct {
	Context *Context
	Number  uint32
	Kind    uint8

	// Apart says that it may wait for what the goroutine does whose call caused it: it gets one of its own.
	Apart bool
	// Gives says that it may set Given, which the goroutine takes that runs the invocation, before it is settled.
	Gives bool
	// Yields says that what it performs may have other effects give something, other than in calls that it waits for: it
	// must not hold up who takes that.
	Yields bool
	// Ahead says that the core has gone on: the effects behind it wait for it, and fail with it.
	Ahead bool

	late    bool   // the core has given it up; under the turn's lock
	ready   bool   // all that came before it has been delivered
	started bool   // somebody performs it
	passed  bool   // its middleware has called next; under the turn's lock
	head    uint16 // status of the answer, 0 until it is known; under the turn's lock

	Begin   func() error            // takes in what comes with it, once nothing is before it; nil for nothing. Under the turn's lock
	Perform func() (abi.Raw, error) // runs user code; no lock is held
	Cancel  context.CancelFunc      // of a request that the core may give up
	GiveUp  context.CancelCauseFunc // of a tool's call that the core may give up
	Model   *event.ModelCall        // what call of a model it is; nil for none
	Given   any
	Partial *Partial // of a commit that goes write by write; nil for others

	turn   *Turn
	owner  *actor         // whose steps caused it, while that waits
	named  func() abi.Raw // the result's value, once it is sent; under the turn's lock
	own    *wanted        // made when it is first asked for; under the turn's lock
	tokens int64          // of a model's answer, counted so far; under the turn's lock
}

// Partial counts the writes of a commit.
type Partial struct{ Applied, Total int }

// wanted is what is cancelled when nobody wants the result of an effect.
type wanted struct {
	context.Context
	cancel context.CancelCauseFunc
}

// outcome is how an effect ended.
type outcome struct {
	value abi.Raw
	err   error
	about *abi.ErrorValue // describes err
}

func (t *Turn) readEffect(a *actor, frame []byte) error {
	f := &t.space.effect
	if err := abi.DecodeTo(frame, f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	c := t.context(f.Context)
	if c == nil {
		return fmt.Errorf("effect %d is of context %d, which is not open", f.Effect, f.Context)
	}
	if t.running[f.Effect] != nil {
		return fmt.Errorf("effect %d is outstanding already", f.Effect)
	}
	if limit := int(t.core.Greeting().Limits.TurnEffects); len(t.running) >= limit {
		return fmt.Errorf("more than %d effects are outstanding", limit)
	}
	e := &Effect{turn: t, Number: f.Effect, Kind: f.Kind, Context: c}
	var err error
	if e.Kind == abi.EffectRead {
		err = e.prepareRead(f)
	} else {
		err = t.Program.Prepare(e, f)
	}
	if err != nil {
		return fmt.Errorf("effect %d: %w", f.Effect, err)
	}
	refused := t.refuse(e)
	t.running[e.Number] = e
	if t.ahead != nil {
		t.behind = append(t.behind, e)
		return nil
	}
	if !refused {
		t.beginModel(e)
	}
	return t.admit(a, e)
}

// Next returns what a middleware calls to run the rest of its pipeline. The first call waits for it, others return at
// once.
func (e *Effect) Next() func() {
	return func() {
		e.turn.mu.Lock()
		defer e.turn.mu.Unlock()
		if e.passed {
			return
		}
		e.passed = true
		// What fails further down is handled there.
		_, _ = e.Context.InvokeLocked(abi.MethodNext, Payload(&abi.NextArgs{Effect: e.Number}))
	}
}

// Send hands the core a part of an answer. It tells whether more is wanted.
func (e *Effect) Send(f *abi.Chunk) bool {
	t := e.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.running[e.Number] != e {
		return false
	}
	f.Turn, f.Effect, f.Elapsed = t.number, e.Number, t.tick()
	if f.Status != 0 {
		e.head = f.Status
	}
	a := actor{busy: true}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		t.perish(t.core.Retire(err))
	}
	t.await(&a)
	return !t.closed
}

// Result makes a record the effect's result. It is named when the result goes out, as handles ascend.
func (e *Effect) Result(r record.Record) error {
	body, err := e.turn.encode(r)
	if err != nil {
		return err
	}
	e.named = func() abi.Raw {
		handle, data := e.turn.name(r, body)
		return (&abi.Item{Handle: handle, Data: data}).Append(nil)
	}
	return nil
}

// stop tells what performs the effect that nobody wants the result. The caller holds t.mu.
func (e *Effect) stop() {
	cause := host.NewError(abi.CodeInvocationStopped, "", nil)
	if e.Context.number != 0 { // a step is of nothing else
		e.Context.abort(cause)
		return
	}
	e.made()
	e.own.cancel(cause)
}

// Later is a context for what performs the effect: that of the effect's own context, which is cancelled also when
// nobody wants the result. It is made when it is first asked for anything. No caller of its methods may hold the turn's
// lock.
func (e *Effect) Later() context.Context { return &later{e} }

// made makes the context. The caller holds t.mu.
func (e *Effect) made() context.Context {
	if e.Context.number != 0 {
		return e.Context.Signal()
	}
	if e.own == nil {
		e.own = &wanted{}
		e.own.Context, e.own.cancel = context.WithCancelCause(e.Context.Signal())
	}
	return e.own
}

// abandon tells a tool's handler that its call is given up. The caller holds t.mu.
func (e *Effect) abandon() {
	e.late = true
	delete(e.turn.running, e.Number) // however long it goes on
	e.GiveUp(host.NewError(abi.CodeChatToolTimeout, "", nil))
}

// run runs the effect. No lock is held. Panics become errors.
func (e *Effect) run() (r outcome) {
	completed := false
	defer func() {
		if completed {
			return
		}
		if !e.callerLeaves() {
			if v := recover(); v != nil {
				r = e.failed(panics.Caught(v))
				return
			}
		}
		// The goroutine is ending: runtime.Goexit, which t.FailNow is, or a panic that is the caller's own. Another one sees
		// the turn through.
		go e.turn.takeOver(e, e.failed(panics.ErrGoexit))
	}()
	var err error
	if r.value, err = e.Perform(); err != nil {
		r = e.failed(err)
	}
	completed = true
	return r
}

// callerLeaves tells whether what ends the effect has ended who took what came of it, on the same goroutine.
func (e *Effect) callerLeaves() bool {
	e.turn.mu.Lock()
	defer e.turn.mu.Unlock()
	return e.turn.left && e.turn.away == e
}

// failed is the outcome of an effect that failed.
func (e *Effect) failed(err error) outcome {
	about := describe(err, e.Context.Reason())
	if p := e.Partial; p != nil {
		about.Details = (&abi.CommitResult{Applied: uint32(p.Applied), Total: uint32(p.Total)}).Append(nil)
	}
	return outcome{err: err, about: about}
}

// takeOver goes on with a turn whose goroutine has ended.
func (t *Turn) takeOver(e *Effect, r outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := actor{whole: true}
	t.performed(&a, e, r)
	t.await(&a)
}

// settleEffect tells the core how an effect ended. The caller holds t.mu.
func (t *Turn) settleEffect(a *actor, e *Effect, r outcome) {
	e.end()
	if t.closed || t.ahead == e && t.goOn(a, r) {
		return
	}
	if e.late {
		r = outcome{}
	}
	if e.named != nil && r.err == nil {
		r.value = e.named()
	}
	t.endModel(e.Number, int(e.head), r.err)
	defer t.forgetModels()
	f := abi.Result{Turn: t.number, Effect: e.Number, Elapsed: t.tick(), Value: r.value}
	if r.err != nil {
		f.Value, f.Error = nil, t.errors.keep(r.err, r.about)
	}
	if err := t.exchangeResult(a, f); err != nil && !t.closed {
		// The result is too large, or the core refuses it. It must hear of an end all the same.
		f.Elapsed, f.Value, f.Error = t.tick(), nil, t.errors.keep(err, describe(err, nil))
		if err = t.exchangeResult(a, f); err != nil && !t.closed {
			t.perish(t.core.Retire(err))
		}
	}
}
