package turns

import (
	"context"
	"errors"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/internal/panics"
)

// effect is something that the core asks of the host.
type effect struct {
	turn    *turn
	number  uint32
	kind    uint8
	context *dispatchOrTurn

	perform func() (abi.Raw, error) // runs user code; no lock is held
	cancel  context.CancelFunc      // of a request that the core may give up
	named   func() abi.Raw          // the result's value, once it is sent; under the turn's lock
	giveUp  context.CancelCauseFunc // of a tool's call that the core may give up
	late    bool                    // the core has given it up; under the turn's lock

	// applied and total count the writes of a commit that goes write by write.
	applied, total int

	owner   *actor // whose steps caused it, while that waits
	ready   bool   // all that came before it has been delivered
	started bool
}

// outcome is how an effect ended.
type outcome struct {
	value abi.Raw
	err   error
	about *abi.ErrorValue // describes err
}

func (t *turn) readEffect(a *actor, frame []byte) error {
	f := &t.frames.effect
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
	if limit := int(t.core.greeting.Limits.TurnEffects); len(t.running) >= limit {
		return fmt.Errorf("more than %d effects are outstanding", limit)
	}
	e := &effect{turn: t, number: f.Effect, kind: f.Kind, context: c}
	if err := e.prepare(f.Args); err != nil {
		return fmt.Errorf("effect %d: %w", f.Effect, err)
	}
	t.running[e.number] = e
	e.owner = a
	a.effects = append(a.effects, e)
	t.enqueue(delivery{effect: e})
	return nil
}

// prepare decodes the arguments. The caller holds t.mu.
func (e *effect) prepare(raw abi.Raw) error {
	t := e.turn
	switch e.kind {
	case abi.EffectExecutor:
		d := e.context.dispatch
		if d == nil || d.config.executor == nil {
			return errors.New("there is no executor")
		}
		e.perform = func() (abi.Raw, error) { return nil, d.config.executor(d, &d.helpers) }
	case abi.EffectMiddleware:
		args, err := abi.Decode[abi.MiddlewareArgs](raw)
		if err != nil {
			return err
		}
		return e.prepareMiddleware(args)
	case abi.EffectTool:
		args, err := abi.Decode[abi.ToolArgs](raw)
		if err != nil {
			return err
		}
		d, tool := e.context.dispatch, t.tools.tool(args.Tool)
		if d == nil || tool == nil {
			return fmt.Errorf("tool %d is not defined", args.Tool)
		}
		if args.Timed {
			ctx, giveUp := context.WithCancelCause(e.context.state.context())
			e.giveUp = giveUp
			d = d.during(ctx)
		}
		e.perform = func() (abi.Raw, error) { return e.runTool(d, tool, Args{args.Args}, &args) }
	case abi.EffectValidate:
		args, err := abi.Decode[abi.ValidateArgs](raw)
		if err != nil {
			return err
		}
		tool := t.tools.tool(args.Tool)
		if tool == nil || tool.Validator == nil {
			return fmt.Errorf("tool %d has no validation", args.Tool)
		}
		e.perform = func() (abi.Raw, error) { return tool.runValidator(Args{args.Args}) }
	case abi.EffectStore:
		args, err := abi.Decode[abi.Delta](raw)
		if err != nil {
			return err
		}
		delta, err := t.delta(&args)
		if err != nil {
			return err
		}
		ctx, callbacks := e.storage()
		e.perform = func() (abi.Raw, error) { return nil, callbacks.apply(ctx, delta) }
	case abi.EffectCommit:
		args, err := abi.Decode[abi.CommitArgs](raw)
		if err != nil {
			return err
		}
		deltas, err := t.deltas(args.Deltas)
		if err != nil {
			return err
		}
		ctx, callbacks := e.storage()
		if !callbacks.atOnce() {
			e.total = len(deltas)
		}
		e.perform = func() (abi.Raw, error) { return nil, callbacks.commit(ctx, deltas, &e.applied) }
	case abi.EffectDiscard:
		args, err := abi.Decode[abi.DiscardArgs](raw)
		if err != nil {
			return err
		}
		deltas, err := t.deltas(args.Deltas)
		ctx, callbacks := e.storage()
		if err != nil || callbacks.Discard == nil {
			return errors.Join(err, errors.New("there is no discard callback"))
		}
		e.perform = func() (abi.Raw, error) { return nil, callbacks.Discard(ctx, deltas, event.Status(args.Status)) }
	case abi.EffectEstimate:
		return e.prepareEstimate(raw)
	case abi.EffectHTTP:
		args, err := abi.DecodeInPlace[abi.HTTPArgs](raw)
		if err != nil {
			return err
		}
		t.frames.effect.Args = nil // a request is long: the effect has it, and no copy
		if args.Redirect > abi.RedirectManual {
			return fmt.Errorf("redirect %d is unknown", args.Redirect)
		}
		media, err := exchange.Splices(args.Body, args.Splices, t.media)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(e.context.state.context())
		e.cancel = cancel
		allow := e.allowedOrigins()
		e.perform = func() (abi.Raw, error) { return nil, e.request(ctx, &args, media, allow) }
	case abi.EffectModel:
		args, err := abi.DecodeInPlace[abi.ModelArgs](raw)
		if err != nil {
			return err
		}
		t.frames.effect.Args = nil // a request is long: the effect has it, and no copy
		media, err := exchange.Splices(args.Body, args.Splices, t.media)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(e.context.state.context())
		e.cancel = cancel
		e.perform = func() (abi.Raw, error) { return nil, e.generate(ctx, &args, media) }
	default:
		return e.prepareArtifact(raw)
	}
	return nil
}

// storage returns the callbacks that writes go through, and the context they are given: the turn's, or that of a
// dispatch without a turn.
func (e *effect) storage() (Context, *Callbacks) {
	if e.turn.standalone && e.context.dispatch != nil {
		return e.context.dispatch, &e.turn.config.callbacks
	}
	return e.turn.root, &e.turn.config.callbacks
}

func (e *effect) prepareMiddleware(args abi.MiddlewareArgs) error {
	t, i := e.turn, int(args.Index)
	next := e.next()
	config := t.config
	if d := e.context.dispatch; d != nil {
		config = d.config
		list := config.dispatchInput
		if args.Pipeline == abi.PipelineDispatchOutput {
			list = config.dispatchOutput
		}
		if i >= len(list) {
			return fmt.Errorf("pipeline %d has no middleware %d", args.Pipeline, args.Index)
		}
		fn := list[i]
		e.perform = func() (abi.Raw, error) { return nil, fn(d, next) }
		return nil
	}
	list := config.turnInput
	if args.Pipeline == abi.PipelineTurnOutput {
		list = config.turnOutput
	}
	if i >= len(list) {
		return fmt.Errorf("pipeline %d has no middleware %d", args.Pipeline, args.Index)
	}
	fn, ctx := list[i], e.context.turn
	e.perform = func() (abi.Raw, error) { return nil, fn(ctx, next) }
	return nil
}

// next is what a middleware calls to run the rest of its pipeline. The first call waits for it, others return at once.
func (e *effect) next() func() {
	called := false
	return func() {
		t := e.turn
		t.mu.Lock()
		defer t.mu.Unlock()
		if called {
			return
		}
		called = true
		// What fails further down is handled there.
		_, _ = t.invokeLocked(e.context.state.number, abi.MethodNext, payload(&abi.NextArgs{Effect: e.number}))
	}
}

func (e *effect) runTool(d *DispatchContext, tool *Tool, args Args, how *abi.ToolArgs) (abi.Raw, error) {
	result, err := tool.Handler(d, args)
	if err != nil {
		return nil, err
	}
	if how.Keep {
		e.keepResult(result)
		return nil, nil
	}
	return e.tellResult(tool, result, how.Spool)
}

// abandon tells a tool's handler that its call is given up. The caller holds t.mu.
func (e *effect) abandon() {
	e.late = true
	delete(e.turn.running, e.number) // however long it goes on
	e.giveUp(newError(abi.CodeChatToolTimeout, "", nil))
}

// run runs the effect. No lock is held. Panics become errors.
func (e *effect) run() (r outcome) {
	completed := false
	defer func() {
		if completed {
			return
		}
		if v := recover(); v != nil {
			r = e.failed(panics.Caught(v))
			return
		}
		// The goroutine is ending: runtime.Goexit, which t.FailNow is. Another one sees the turn through.
		go e.turn.takeOver(e, e.failed(panics.ErrGoexit))
	}()
	var err error
	if r.value, err = e.perform(); err != nil {
		r = e.failed(err)
	}
	completed = true
	return r
}

// failed is the outcome of an effect that failed.
func (e *effect) failed(err error) outcome {
	about := describe(err, e.context.state.reason())
	if e.total > 0 {
		about.Details = (&abi.CommitResult{Applied: uint32(e.applied), Total: uint32(e.total)}).Append(nil)
	}
	return outcome{err: err, about: about}
}

// takeOver goes on with a turn whose goroutine has ended.
func (t *turn) takeOver(e *effect, r outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := actor{whole: true}
	t.settleEffect(&a, e, r)
	t.await(&a)
}

// settleEffect tells the core how an effect ended. The caller holds t.mu.
func (t *turn) settleEffect(a *actor, e *effect, r outcome) {
	delete(t.running, e.number)
	if e.cancel != nil {
		e.cancel()
	}
	if e.giveUp != nil {
		e.giveUp(context.Canceled)
	}
	if t.closed {
		return
	}
	if e.late {
		r = outcome{}
	}
	if e.named != nil && r.err == nil {
		r.value = e.named()
	}
	f := &t.frames.result
	*f = abi.Result{Turn: t.number, Effect: e.number, Elapsed: t.tick(), Value: r.value}
	if r.err != nil {
		f.Value, f.Error = nil, t.errors.keep(r.err, r.about)
	}
	if err := t.exchange(a, f); err != nil && !t.closed {
		// The result is too large, or the core refuses it. It must hear of an end all the same.
		*f = abi.Result{Turn: t.number, Effect: e.number, Elapsed: t.tick(), Error: t.errors.keep(err, describe(err, nil))}
		if err = t.exchange(a, f); err != nil && !t.closed {
			t.perish(t.core.inst.Retire(err))
		}
	}
}
