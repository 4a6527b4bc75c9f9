package guest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

func gateArgs() *abi.OpenGateArgs {
	return &abi.OpenGateArgs{ID: "g", Reason: "delete?", Payload: schemaOf(`{"path":"/a"}`), CreatedAt: 1000}
}

// openGate opens a gate that waits.
func (w *wire) openGate(context uint32, a *abi.OpenGateArgs) (call uint32) {
	w.t.Helper()
	if r := w.call(context, abi.MethodOpenGate, a); r != nil {
		w.t.Fatalf("reply %+v", r)
	}
	return w.calls
}

// answered returns the reply to an earlier call, which must be in the last step.
func (w *wire) answered(call uint32) *abi.Reply {
	w.t.Helper()
	for i := range w.replies {
		if w.replies[i].Call == call {
			return &w.replies[i]
		}
	}
	w.t.Fatalf("call %d has no reply among %+v", call, w.replies)
	return nil
}

// atGate starts a turn and runs its input middleware.
func atGate(t testing.TB, configure func(*abi.OpenRunner)) (*wire, abi.Effect) {
	w := open(t, func(r *abi.OpenRunner) {
		r.TurnInput = []abi.Middleware{{}}
		if configure != nil {
			configure(r)
		}
	})
	w.start()
	return w, w.effect(abi.EffectMiddleware)
}

func TestAGateIsNoTask(t *testing.T) {
	w, m := atGate(t, nil)
	coroutines := len(w.in.coroutines)
	call := w.openGate(0, gateArgs())
	if len(w.in.coroutines) != coroutines || len(w.timers) != 0 {
		t.Errorf("%d coroutines became %d; timers %v", coroutines, len(w.in.coroutines), w.timers)
	}
	settle := w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: schemaOf(`{"ok":true}`)})
	w.ok(settle)
	if r := w.answered(call); r.Error != nil || !bytes.Equal(r.Value, schemaOf(`{"ok":true}`)) {
		t.Errorf("reply %+v", r)
	}
	if w.replies[0].Call != call {
		t.Error("who settles is answered before who waits")
	}
	for name, again := range map[string]*abi.SettleGateArgs{
		"abort": {Gate: 1, Settle: abi.SettleAbort}, "reject": {Gate: 1, Settle: abi.SettleReject},
		"resolve": {Gate: 1, Value: schemaOf(`true`)}, "a digest that is not the gate's": {Gate: 1, Value: schemaOf(`true`), Digest: "00"},
	} {
		e := w.failure(w.call(0, abi.MethodSettleGate, again))
		if e.Code != abi.CodeTurnGateSettled || e.Status != 409 || !bytes.Equal(e.Details, schemaOf(`{"result":"resolved"}`)) {
			t.Errorf("%s of a settled gate: %+v", name, e)
		}
	}
	w.call(0, abi.MethodNext, &abi.NextArgs{Effect: m.Effect})
	w.result(m)
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.want("turnStart gateOpen(1 g) gateClosed(1 0) dispatchStart iterationStart iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	w.clean()
}

func TestAResolutionThatIsRefused(t *testing.T) {
	w, _ := atGate(t, nil)
	a := gateArgs()
	a.Schema = schemaOf(`{"type":"boolean"}`)
	call := w.openGate(0, a)
	e := w.failure(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: schemaOf(`"true"`)}))
	if e.Code != abi.CodeInvalidTurnGateResolution || len(e.Details) == 0 {
		t.Errorf("error %+v", e)
	}
	e = w.failure(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: schemaOf(`true`), Digest: "00"}))
	if e.Code != abi.CodeInvalidTurnGateResolution {
		t.Errorf("error %+v", e)
	}
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: schemaOf(`true`)}))
	w.ok(w.answered(call))
	// The rejecting error comes back under the host's handle.
	call = w.openGate(0, gateArgs())
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 2, Settle: abi.SettleReject, Error: &abi.ErrorValue{Handle: 77, Name: "TypeError", Message: "no"}}))
	if e := w.failure(w.answered(call)); e.Handle != 77 || e.Name != "TypeError" {
		t.Errorf("error %+v", e)
	}
}

func TestAbortsAndGates(t *testing.T) {
	w, m := atGate(t, nil)
	call := w.openGate(0, gateArgs())
	w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1})
	if e := w.failure(w.answered(call)); e.Code != abi.CodeTurnGateAborted || e.Status != 499 {
		t.Errorf("error %+v", e)
	}
	// After the abort a gate opens and requests a tick.
	call = w.openGate(0, gateArgs())
	if !slices.Equal(w.timers, []uint64{1}) {
		t.Errorf("timers %v", w.timers)
	}
	w.step(&abi.Tick{Op: abi.OpTick, Turn: 1})
	if e := w.failure(w.answered(call)); e.Code != abi.CodeTurnGateAborted {
		t.Errorf("error %+v", e)
	}
	reason := &abi.ErrorValue{Handle: 1000, Code: abi.CodeTurnGateAborted, Message: "x"}
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: m.Effect, Error: reason})
	w.want("turnStart gateOpen(1 g) gateClosed(1 2) gateOpen(2 g) gateClosed(2 2) turnEnd(2)")
	w.clean()
}

func TestGatesThatNobodyAwaits(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	call := w.openGate(1, gateArgs())
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	if e := w.failure(w.answered(call)); e.Code != abi.CodeTurnGateAborted {
		t.Errorf("error %+v", e)
	}
	w.want("turnStart dispatchStart iterationStart gateOpen(1 g) iterationEnd(0) dispatchEnd(0,1) gateClosed(1 2) turnEnd(0)")
	if e := w.failure(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1})); e.Code != abi.CodeCallAfterEnd {
		t.Errorf("settled after the end: %+v", e)
	}
	w.clean()
}

// Gates and idle streams share the turn's timer.
func TestOneTimerForGatesAndStreams(t *testing.T) {
	r := &reading{idle: 100}
	w := openWith(t, r.execute, nil)
	w.start()
	w.effect(abi.EffectHTTP)
	if !slices.Equal(w.timers, []uint64{100}) {
		t.Fatalf("timers %v", w.timers)
	}
	late, soon := gateArgs(), gateArgs()
	late.Timeout, soon.Timeout = 500, 30
	lateCall := w.openGate(1, late)
	if len(w.timers) != 0 {
		t.Errorf("timers %v, the stream's is earlier", w.timers)
	}
	w.openGate(1, soon)
	if !slices.Equal(w.timers, []uint64{30}) {
		t.Errorf("timers %v", w.timers)
	}
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 2, Settle: abi.SettleAbort}))
	if !slices.Equal(w.timers, []uint64{100}) {
		t.Errorf("timers %v, want that of the stream again", w.timers)
	}
	soonCall := w.openGate(1, soon)
	w.step(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 30})
	if e := w.failure(w.answered(soonCall)); e.Code != abi.CodeTurnGateTimeout || e.Status != 408 {
		t.Errorf("error %+v", e)
	}
	if !slices.Equal(w.timers, []uint64{100}) {
		t.Errorf("timers %v", w.timers)
	}
	w.step(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 100}) // the stream is idle, the executor acks, the turn ends
	r.want(t, "idle")
	if e := w.failure(w.answered(lateCall)); e.Code != abi.CodeTurnGateAborted {
		t.Errorf("error %+v", e)
	}
	w.clean()
}

// Compiled-in code parks its own task.
func TestAGateOfCodeInside(t *testing.T) {
	var got []byte
	w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) (err error) {
		got, err = d.Turn().WaitFor(task, d, runtime.GateInput{ID: "in", Reason: "r", Payload: []byte{0xc0}, Timeout: 50})
		if err != nil {
			return err
		}
		return d.Ack()
	}, nil)
	w.start()
	if !slices.Equal(w.timers, []uint64{50}) {
		t.Errorf("timers %v", w.timers)
	}
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: schemaOf(`[1]`)}))
	w.want("turnStart dispatchStart iterationStart gateOpen(1 in) gateClosed(1 0) iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	if !bytes.Equal(got, []byte{0x91, 1}) {
		t.Errorf("resolved with %x", got)
	}
	w.clean()

	w = openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
		_, err := d.Turn().WaitFor(task, d, runtime.GateInput{ID: "in", Reason: "r", Payload: []byte{0xc0}, Timeout: 50})
		if !fault.Is(err, fault.TurnGateTimeout) {
			t.Errorf("error %v", err)
		}
		return err
	}, nil)
	w.start()
	w.step(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 50})
	w.want("turnStart dispatchStart iterationStart gateOpen(1 in) gateClosed(1 3) iterationEnd(1) dispatchEnd(1,1) error(E_LLM_EXECUTION_EXECUTOR_ERROR) turnEnd(1)")
	w.clean()
}

func TestHostileGates(t *testing.T) {
	w, _ := atGate(t, nil)
	for name, c := range map[string]struct {
		method uint8
		args   marshaler
		code   string
	}{
		"unknown number":    {abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 9}, abi.CodeABIUnknownTarget},
		"number 0":          {abi.MethodSettleGate, &abi.SettleGateArgs{}, abi.CodeABIUnknownTarget},
		"nothing given":     {abi.MethodOpenGate, &abi.OpenGateArgs{}, abi.CodeInvalidInitialTurnGateValue},
		"schema of garbage": {abi.MethodOpenGate, &abi.OpenGateArgs{ID: "g", Reason: "r", Payload: abi.Raw{1}, Schema: abi.Raw{7}}, abi.CodeInvalidInitialTurnGateValue},
	} {
		if e := w.failure(w.call(0, c.method, c.args)); e.Code != c.code {
			t.Errorf("%s: %+v", name, e)
		}
	}
	w.openGate(0, gateArgs())
	if e := w.failure(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Settle: 7})); e.Code != abi.CodeABIUnknownTarget {
		t.Errorf("way 7: %+v", e)
	}
	// Nested too deep: the frame is rejected, and the turn goes on.
	deep := append([]byte(strings.Repeat("\x91", 10_000)), 0xc0)
	a := gateArgs()
	a.Payload = deep
	w.call(0, abi.MethodOpenGate, a)
	if len(w.faults) != 1 {
		t.Errorf("a deep payload: faults %+v, replies %+v", w.faults, w.replies)
	}
	w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: deep})
	if len(w.faults) != 1 {
		t.Errorf("a deep resolution: faults %+v, replies %+v", w.faults, w.replies)
	}
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Settle: abi.SettleAbort}))
}

func TestGatesAreBounded(t *testing.T) {
	w := openLimited(t, abi.Limits{TurnEffects: 3, Frame: 4096}, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}} })
	w.startTurn(1)
	for range 3 {
		w.openGate(0, gateArgs())
	}
	if e := w.failure(w.call(0, abi.MethodOpenGate, gateArgs())); e.Code != abi.CodeABILimitExceeded {
		t.Errorf("error %+v", e)
	}
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Settle: abi.SettleAbort}))
	a := gateArgs()
	a.Payload = schemaOf(`"` + strings.Repeat("x", 4000) + `"`)
	if e := w.failure(w.call(0, abi.MethodOpenGate, a)); e.Code != abi.CodeABILimitExceeded {
		t.Errorf("a large payload: %+v", e)
	}
	// Defaults in the schema make the resolution larger than a frame.
	a = gateArgs()
	a.Schema = schemaOf(`{"items":{"properties":{"a":{"default":"` + strings.Repeat("x", 2000) + `"}}}}`)
	w.openGate(0, a)
	if e := w.failure(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 4, Value: schemaOf(`[{},{},{}]`)})); e.Code != abi.CodeABILimitExceeded {
		t.Errorf("large defaults: %+v", e)
	}
	w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 4, Value: schemaOf(`[]`)}))
}
