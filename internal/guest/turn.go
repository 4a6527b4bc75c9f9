package guest

import (
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// turn is a running turn, or a standalone dispatch, with its table of effects.
type turn struct {
	in         *Instance
	number     uint32
	run        *runtime.Turn
	message    int64 // handle of the message that it begins with; 0 for none
	standalone bool
	effects    []*effect
	few        [4]*effect // room for the usual number of effects
	next       uint32     // number of the last effect
	minted     int64      // handle of the guest's last error
	due        uint64     // of the pending timer; 0 for none
	ended      bool
	plain      bool     // errors are sent without causes and details
	named      int64    // lowest guest handle that a Sync has named
	late       []uint32 // tool calls given up, until their results arrive
	served     any      // by the instance's front, which keeps this of it; nil for a turn that is none of the front's
	ahead      int      // effects whose tasks have not waited
}

func (in *Instance) startTurn(f *abi.StartTurn) error {
	config := in.runners[f.Runner]
	if f.Turn == 0 || in.turns[f.Turn] != nil || config == nil {
		return fault.New(fault.ABIUnknownTarget, "StartTurn: turn "+itoa(int64(f.Turn))+" is 0 or running, or runner "+itoa(int64(f.Runner))+" is not open")
	}
	if len(f.Seed) != abi.SeedSize {
		return badSeed("StartTurn", f.Seed)
	}
	t := &turn{in: in, number: f.Turn}
	t.effects = t.few[:0]
	run, err := runtime.NewTurn(config, runtime.Input{
		ID: f.ID, Now: f.Now, Seed: f.Seed, SystemPrompt: f.SystemPrompt, Aborted: f.Aborted, Quota: &in.quota,
	}, t)
	if err != nil {
		in.append(&abi.End{Op: abi.OpEnd, Turn: f.Turn, Status: abi.StatusRefused, Error: t.errorValue(err)})
		return nil
	}
	t.run = run
	message, err := t.load(f)
	if err != nil {
		run.Release()
		return err
	}
	in.turns[f.Turn] = t
	t.standalone, t.message = f.Standalone, message
	in.spawn(t, t, nil)
	return nil
}

// perform implements body: it runs the turn.
func (t *turn) perform(task runtime.Task) {
	if t.standalone {
		t.end(t.run.Standalone(task))
		return
	}
	t.end(t.run.Run(task, t.message))
}

// fail implements body.
func (t *turn) fail(err error) { t.end(runtime.StatusFailed, t.run.Break(err), err) }

// Exceeded implements runtime.World.
//
//go:noinline
func (t *turn) Exceeded() { t.in.over = append(t.in.over, t) }

// load loads the contents of a StartTurn frame and returns the handle of its message, 0 for none.
func (t *turn) load(f *abi.StartTurn) (message int64, err error) {
	for _, i := range f.Instructions {
		if !t.run.Accept(i.Handle, 1, value.AppendString(nil, i.Text)) || !t.run.Add(0, record.Instructions, i.Handle, 1) {
			return 0, malformedStart()
		}
	}
	for _, b := range f.Initial {
		if err := t.accept(b); err != nil || !t.run.Add(0, recordKind(b.Collection), b.Handle, b.Count) {
			return 0, malformedStart()
		}
	}
	if f.Message.Count > 0 {
		if err := t.accept(f.Message); err != nil {
			return 0, malformedStart()
		}
		message = f.Message.Handle
	}
	if err := t.run.Stash(0).Load(f.Stash); err != nil {
		return 0, malformedStart()
	}
	return message, nil
}

func malformedStart() error {
	return fault.New(fault.ABIMalformedFrame, "StartTurn: instructions, message, initial records or stash")
}

func (t *turn) accept(b abi.Block) error {
	data, err := abi.BytesOf(b.Data)
	if err != nil {
		return err
	}
	if uint64(b.Count) > uint64(len(data)) || !t.run.Accept(b.Handle, b.Count, clone(data)) {
		return fault.New(fault.ABIMalformedFrame, "handles must be positive and ascend, and each record takes a byte")
	}
	return nil
}

// end closes the turn. Tasks of calls that nobody awaited may still wait: they are woken with an error so that they
// end, too, and their output is ignored.
func (t *turn) end(status runtime.Status, iterations int, err error) {
	if t.ended {
		return
	}
	for len(t.effects) > 0 {
		e := t.effects[len(t.effects)-1]
		if e.stream != nil {
			e.stream.cancel(aborted())
			continue
		}
		t.settle(e, nil, fault.New(fault.CallAfterEnd, "the turn has ended"))
	}
	end := abi.End{
		Op: abi.OpEnd, Turn: t.number, Status: uint8(status), Iterations: uint32(iterations), Error: t.errorValue(err),
	}
	start := len(t.in.out)
	if t.in.out = end.Append(t.in.out); !t.in.fits(start) {
		end.Error = t.plainError(err)
		t.in.out = end.Append(t.in.out[:start])
	}
	t.ended = true
	t.run.Release()
	delete(t.in.turns, t.number)
	t.in.last = nil
}

// begin adds an effect to the table and sends it to the host.
func (t *turn) begin(c *coroutine, e runtime.Effect) (*effect, error) {
	eff, err := t.enter(c)
	if err != nil {
		return nil, err
	}
	start := len(t.in.out)
	switch e := e.(type) {
	case *runtime.CallExecutor:
		args := abi.ExecutorArgs{Iteration: uint32(e.Iteration)}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectExecutor, e.Context))
	case *runtime.CallMiddleware:
		eff.next = e.Next
		args := abi.MiddlewareArgs{Pipeline: uint8(e.Pipeline), Index: uint32(e.Index)}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectMiddleware, e.Context))
	case *runtime.CallTool:
		e.Number, eff.valued, eff.asked = eff.number, true, e
		args := abi.ToolArgs{
			Tool: e.Tool.Number, CallID: e.CallID, ExecutionID: e.ExecutionID, ProviderCallID: e.Run.ProviderCallID, Args: e.Args,
			Keep: e.Run.Keep, Valid: e.Valid, Spool: e.Run.Spool, Timed: e.Run.Timed,
		}
		ordinal := t.run.CallOrdinal(e.Context, e.CallID)
		t.in.out = args.Append(t.effectHeadAs(eff, abi.EffectTool, e.Context, ordinal))
	case *runtime.CallValidate:
		e.Number, eff.valued = eff.number, true
		args := abi.ValidateArgs{Tool: e.Tool.Number, Args: e.Args}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectValidate, e.Context))
	case *runtime.Write:
		args := deltaOf(e.Delta)
		t.in.out = args.Append(t.effectHead(eff, abi.EffectStore, e.Context))
	case *runtime.Commit:
		args := abi.CommitArgs{Deltas: t.in.deltasOf(e.Deltas)}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectCommit, e.Context))
	case *runtime.Discard:
		args := abi.DiscardArgs{Deltas: t.in.deltasOf(e.Deltas), Status: uint8(e.Status)}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectDiscard, e.Context))
	default:
		t.ask(eff, e)
	}
	return eff, t.fit(eff, start, "an effect")
}

// fit withdraws an effect whose frame, the last one in the outbox, is too large for the host. The error says what it
// is.
func (t *turn) fit(eff *effect, start int, what string) error {
	if t.in.fits(start) {
		return nil
	}
	size, limit := int64(len(t.in.out)-start), int64(t.in.limits.Frame)
	t.in.out = t.in.out[:start]
	t.drop(eff)
	t.next--
	if size <= limit {
		return fault.New(fault.ABILimitExceeded, what+" is nested too deep, or has a string or an array that is too long")
	}
	err := fault.New(fault.ABILimitExceeded, what+" of "+itoa(size)+" bytes is over the frame limit of "+itoa(limit))
	err.Details = value.AppendString(value.AppendString(value.AppendMapHeader(nil, 3), "limit"), "frame")
	err.Details = value.AppendInt(value.AppendString(err.Details, "max"), limit)
	err.Details = value.AppendInt(value.AppendString(err.Details, "actual"), size)
	return err
}

// beginStream begins an effect whose answer arrives in chunks.
func (t *turn) beginStream(c *coroutine, kind uint8, context uint32, args marshaler) (runtime.Stream, error) {
	if t.abortedIn(context) {
		return nil, aborted()
	}
	eff, err := t.enter(c)
	if err != nil {
		return nil, err
	}
	eff.stream = &stream{turn: t, effect: eff}
	start := len(t.in.out)
	t.in.out = args.Append(t.effectHead(eff, kind, context))
	if err := t.fit(eff, start, "a request to a model"); err != nil {
		return nil, err
	}
	return eff.stream, nil
}

func (t *turn) enter(c *coroutine) (*effect, error) {
	if t.ended {
		return nil, fault.New(fault.CallAfterEnd, "the turn has ended")
	}
	if err := t.run.Exceeded(); err != nil {
		return nil, err
	}
	if len(t.effects) >= int(t.in.limits.TurnEffects) || t.in.effects >= int(t.in.limits.InstanceEffects) {
		return nil, fault.New(fault.ABILimitExceeded, "too many effects are outstanding")
	}
	if err := c.unwanted(); err != nil {
		return nil, err
	}
	t.next++
	var eff *effect
	if n := len(t.in.spare); n > 0 {
		eff, t.in.spare = t.in.spare[n-1], t.in.spare[:n-1]
	} else {
		eff = new(effect)
	}
	eff.number, eff.owner = t.next, c
	t.effects = append(t.effects, eff)
	t.in.effects++
	return eff, nil
}

// abortedIn reports whether a context is aborted.
func (t *turn) abortedIn(context uint32) bool {
	if d := t.run.DispatchContext(context); d != nil {
		return d.Aborted()
	}
	return t.run.Aborted()
}

func (in *Instance) result(f *abi.Result) error {
	t := in.turn(f.Turn)
	if t == nil {
		return nil // the turn has ended; nobody waits for it
	}
	t.run.SetElapsed(f.Elapsed)
	t.passed(f.Effect)
	eff := t.find(f.Effect)
	if eff == nil && f.Effect > t.next {
		return neverIssued("Result", f.Effect)
	}
	if eff == nil {
		t.late = slices.DeleteFunc(t.late, func(n uint32) bool { return n == f.Effect })
		return nil
	}
	if f.Error == nil {
		var v []byte
		if eff.valued {
			v = valueOf(f.Value)
		}
		if eff.asked != nil {
			if err := t.take(eff.asked, f.Value); err != nil {
				return err
			}
		}
		t.settle(eff, v, nil)
		return nil
	}
	t.settle(eff, nil, faultOf(f.Error))
	return nil
}

// neverIssued rejects a frame about an effect that was never issued. A settled effect is fine: a Cancel may have
// crossed its Result.
func neverIssued(frame string, effect uint32) error {
	return fault.New(fault.ABIUnknownTarget, frame+": effect "+itoa(int64(effect))+" was never issued")
}

// valueOf copies a value from a frame; nil for nil.
//
//go:noinline
func valueOf(raw []byte) []byte {
	if len(raw) == 0 || raw[0] == 0xc0 {
		return nil
	}
	return append([]byte(nil), raw...)
}

func (in *Instance) abort(f *abi.Abort) error {
	t := in.turn(f.Turn)
	if t == nil {
		return nil
	}
	t.run.SetElapsed(f.Elapsed)
	var reason error
	if f.Reason != nil {
		reason = faultOf(f.Reason)
	}
	if f.Context == 0 {
		t.run.Abort(reason)
	} else {
		t.run.AbortDispatch(f.Context, reason)
	}
	t.cancelAborted()
	return nil
}

// cancelAborted cancels the requests of aborted contexts and wakes their sleepers.
func (t *turn) cancelAborted() {
	for i := 0; i < len(t.effects); {
		e := t.effects[i]
		if e.stream != nil && !e.alarm && t.abortedIn(e.context) {
			e.stream.cancel(aborted()) // removes it from the table
			continue
		}
		i++
	}
}
