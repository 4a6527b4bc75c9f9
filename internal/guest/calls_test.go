package guest

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// executorFunc is a compiled-in executor of a test.
type executorFunc func(task runtime.Task, d *runtime.Dispatch) error

func (f executorFunc) Execute(task runtime.Task, d *runtime.Dispatch) error { return f(task, d) }

// openWith is open with an executor of the test.
func openWith(t testing.TB, executor executorFunc, configure func(*abi.OpenRunner)) *wire {
	w := open(t, configure)
	w.in.runners[1].Executor = executor
	return w
}

// failure returns the error of a failed reply.
func (w *wire) failure(r *abi.Reply) abi.ErrorValue {
	w.t.Helper()
	if r == nil || r.Error == nil {
		w.t.Fatalf("reply %+v, want a failure", r)
	}
	return *r.Error
}

// clean checks that nothing of any turn is left.
func (w *wire) clean() {
	w.t.Helper()
	in := w.in
	if len(in.turns) != 0 || in.effects != 0 || len(in.ready) != 0 || len(in.waiting) != 0 || len(in.idle) != len(in.coroutines) {
		w.t.Errorf("left behind: %d turns, %d effects, %d ready and %d waiting tasks, %d of %d coroutines idle",
			len(in.turns), in.effects, len(in.ready), len(in.waiting), len(in.idle), len(in.coroutines))
	}
}

// ops lists the ops of a batch in order.
func ops(t testing.TB, batch []byte) (list []abi.Op) {
	t.Helper()
	for len(batch) > 0 {
		op, _, rest, err := abi.Next(batch, abi.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		list, batch = append(list, op), rest
	}
	return list
}

func TestCallsWhileEffectsAreOutstanding(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { withTool(r); r.Callbacks = abi.CallbackDiscard })
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":1}`)})
	tool := w.effect(abi.EffectTool)
	// The tool's handler calls the context while the executor waits for it.
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "x")}))
	w.call(1, abi.MethodCommit, nil)
	commit := w.effect(abi.EffectCommit)
	w.ok(w.call(1, abi.MethodLog, &abi.LogArgs{Kind: "k", Message: "m"}))
	w.result(tool)
	if len(w.replies) != 1 || w.replies[0].Call != 1 || w.executed(&w.replies[0]).Effect != tool.Effect {
		t.Errorf("replies %+v, want that of the tool", w.replies)
	}
	w.result(commit)
	if len(w.replies) != 1 || w.replies[0].Call != 3 {
		t.Errorf("replies %+v, want that of the commit", w.replies)
	}
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.want("turnStart dispatchStart iterationStart toolStart sync(1,3:0 +1) log toolEnd sync(0,3:0 +1) iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	w.clean()
}

func TestNextTwiceAndLate(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}, {}} })
	w.start()
	outer := w.effect(abi.EffectMiddleware)
	w.call(0, abi.MethodNext, &abi.NextArgs{Effect: outer.Effect})
	inner := w.effect(abi.EffectMiddleware)
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: outer.Effect})) // again, while the first runs
	if len(w.effects) != 0 {
		t.Errorf("the rest runs twice: %+v", w.effects)
	}
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: inner.Effect}))
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: inner.Effect}))
	w.result(inner)
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: inner.Effect})) // late
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: 999}))          // an unknown effect
	w.result(outer)
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodNext, &abi.NextArgs{Effect: e.Effect})) // not a middleware's effect
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.want("turnStart dispatchStart iterationStart iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	w.clean()
}

func TestResultsThatNobodyWaitsFor(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}} })
	w.start()
	e := w.effect(abi.EffectMiddleware)
	for _, f := range []marshaler{
		&abi.Result{Op: abi.OpResult, Turn: 9, Effect: 1},
		&abi.Chunk{Op: abi.OpChunk, Turn: 9, Effect: 1},
		&abi.Abort{Op: abi.OpAbort, Turn: 9},
		&abi.Tick{Op: abi.OpTick, Turn: 9},
		&abi.Edit{Op: abi.OpEdit, Turn: 9, Edit: 99},
	} {
		if w.step(f); len(w.faults)+len(w.effects)+len(w.replies) > 0 {
			t.Errorf("%T is answered", f)
		}
	}
	for _, f := range []marshaler{
		&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect + 1}, &abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: e.Effect + 1},
	} {
		if w.step(f); len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIUnknownTarget {
			t.Errorf("%T of an effect that was never issued: %+v", f, w.faults)
		}
	}
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: e.Effect}))
	w.result(e)
	again := w.effect(abi.EffectExecutor)
	w.result(e) // already settled
	if len(w.effects) != 0 || again.Effect == e.Effect {
		t.Error("a settled effect was settled again")
	}
	// An answer of the host for an effect of another kind is a fault.
	w.step(&abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: again.Effect})
	if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIMalformedFrame {
		t.Errorf("faults %+v", w.faults)
	}
}

func TestCallsAfterEnd(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodAck, nil))
	// A call that crosses with the end is in the same step, after the result that causes it.
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect}, &abi.Call{Op: abi.OpCall, Turn: 1, Call: 50, Context: 1, Method: abi.MethodAck})
	if len(w.ends) != 1 || len(w.replies) != 1 || w.failure(&w.replies[0]).Code != abi.CodeCallAfterEnd {
		t.Errorf("ends %+v, replies %+v", w.ends, w.replies)
	}
	for method := range uint8(20) {
		if e := w.failure(w.call(1, method, nil)); e.Code != abi.CodeCallAfterEnd {
			t.Errorf("method %d: %+v", method, e)
		}
	}
	w.start() // the number may be reused
	w.effect(abi.EffectExecutor)
}

func TestUnknownTargets(t *testing.T) {
	w := open(t, withTool)
	w.start()
	for name, r := range map[string]*abi.Reply{
		"context":    w.call(7, abi.MethodAck, nil),
		"method":     w.call(1, 99, nil),
		"of a turn":  w.call(0, abi.MethodAck, nil),
		"tool":       w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 9}),
		"runner":     w.call(1, abi.MethodDispatch, &abi.DispatchArgs{Runner: 9}),
		"handle":     w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: 3, Handle: 9}),
		"collection": w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: 6, Handle: 1, Data: message("m", "x")}),
		"to delete":  w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: 7}),
		"in a group": w.call(1, abi.MethodReplaceGroup, &abi.ReplaceGroupArgs{Items: []abi.Item{{Handle: 9}}}),
		"ascending": func() *abi.Reply {
			w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: 3, Handle: 5, Data: message("m", "x")}))
			return w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: 3, Handle: 5, Data: message("m", "x")})
		}(),
	} {
		if e := w.failure(r); e.Code != abi.CodeABIUnknownTarget {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for name, f := range map[string]marshaler{
		"turn 0":         &abi.StartTurn{Op: abi.OpStartTurn, Runner: 1},
		"running turn":   &abi.StartTurn{Op: abi.OpStartTurn, Turn: 1, Runner: 1},
		"unknown runner": &abi.StartTurn{Op: abi.OpStartTurn, Turn: 2, Runner: 9},
		"no history":     &abi.Edit{Op: abi.OpEdit, Turn: 1, Collection: 3, Edit: abi.EditAddHistory, Handle: 9, Count: 1, History: 9},
		"no such edit":   &abi.Edit{Op: abi.OpEdit, Turn: 1, Collection: 3, Edit: 99},
		"no such tool":   &abi.Edit{Op: abi.OpEdit, Turn: 1, Collection: abi.CollectionTools, Edit: abi.EditRegister, Handle: 99},
	} {
		if w.step(f); len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIUnknownTarget {
			t.Errorf("%s: faults %+v", name, w.faults)
		}
	}
}

// A Sync precedes the Reply of the call that caused it, and End follows everything else of its turn.
func TestOrderWithinAStep(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	args := (&abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "x")}).Append(nil)
	batch := (&abi.Call{Op: abi.OpCall, Turn: 1, Call: 1, Context: 1, Method: abi.MethodStore, Args: args}).Append(nil)
	if got := ops(t, w.in.Step(batch)); !slices.Equal(got, []abi.Op{abi.OpSync, abi.OpReply}) {
		t.Errorf("store: %v", got)
	}
	args = (&abi.ReportArgs{ID: "m", Delta: "x"}).Append(nil)
	batch = (&abi.Call{Op: abi.OpCall, Turn: 1, Call: 2, Context: 1, Method: abi.MethodReport, Args: args}).Append(nil)
	if got := ops(t, w.in.Step(batch)); !slices.Equal(got, []abi.Op{abi.OpEvent, abi.OpReply}) {
		t.Errorf("report: %v", got)
	}
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	batch = (&abi.Result{Op: abi.OpResult, Turn: 1, Effect: w.effect(abi.EffectCommit).Effect}).Append(nil)
	if got := ops(t, w.in.Step(batch)); !slices.Equal(got, []abi.Op{abi.OpSync, abi.OpEvent, abi.OpEvent, abi.OpEvent, abi.OpEnd}) {
		t.Errorf("the end: %v", got)
	}
}

// The iteration waits for a commit that nobody awaited, and commits run one after another.
func TestCommitThatIsNotAwaited(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	store := func(handle int64) {
		w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: handle, Data: message(fmt.Sprint(handle), "x")}))
	}
	store(1)
	w.call(1, abi.MethodCommit, nil)
	first := w.effect(abi.EffectCommit)
	store(2)
	w.call(1, abi.MethodCommit, nil)
	store(3)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	if len(w.effects)+len(w.ends) != 0 {
		t.Fatalf("effects %+v, ends %+v while the first commit is under way", w.effects, w.ends)
	}
	w.result(first)
	second := w.effect(abi.EffectCommit)
	if args := decode[abi.CommitArgs](t, second.Args); len(args.Deltas) != 2 {
		t.Errorf("the second commit has %d writes", len(args.Deltas))
	}
	w.result(second)
	w.want("turnStart dispatchStart iterationStart sync(1,3:0 +1) sync(1,3:0 +2) sync(1,3:0 +3) sync(0,3:0 +1) sync(0,3:0 +2) sync(0,3:0 +3) iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	w.clean()
}

// A dispatch that nobody awaits ends with the iteration that it was started in; its executor may still run.
func TestDispatchThatIsNotAwaited(t *testing.T) {
	w := open(t, nil)
	w.start()
	outer := w.effect(abi.EffectExecutor)
	w.call(1, abi.MethodDispatch, &abi.DispatchArgs{Runner: 1})
	inner := w.effect(abi.EffectExecutor)
	w.ok(w.call(2, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "x")}))
	w.result(outer)
	next := w.effect(abi.EffectExecutor)
	if e := w.failure(w.call(2, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1})); e.Code != abi.CodeCallAfterEnd {
		t.Errorf("a store after it ended: %+v", e)
	}
	w.result(inner)
	if len(w.replies) != 1 || w.replies[0].Error != nil {
		t.Fatalf("replies %+v", w.replies)
	}
	if r := decode[abi.DispatchResult](t, w.replies[0].Value); r != (abi.DispatchResult{Dispatch: 2, Status: abi.StatusAborted, Iterations: 1}) {
		t.Errorf("result %+v", r)
	}
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(next)
	w.want("turnStart dispatchStart iterationStart dispatchStart iterationStart sync(2,3:0 +1) iterationEnd(2,-1) dispatchEnd(2,1) iterationEnd(4) " +
		"iterationStart iterationEnd(0) dispatchEnd(0,2) turnEnd(0)")
	w.clean()
}

// A dispatch of turn middleware still runs when the turn ends.
func TestTurnEndsDispatches(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.TurnOutput = []abi.Middleware{{}} })
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	m := w.effect(abi.EffectMiddleware)
	w.call(0, abi.MethodDispatch, &abi.DispatchArgs{Runner: 1})
	w.effect(abi.EffectExecutor)
	w.ok(w.call(0, abi.MethodNext, &abi.NextArgs{Effect: m.Effect}))
	w.result(m)
	w.want("turnStart dispatchStart iterationStart iterationEnd(0) dispatchEnd(0,1) dispatchStart iterationStart iterationEnd(2) dispatchEnd(2,1) turnEnd(0)")
	w.clean()
}

// A task that panics fails its turn, not the instance.
func TestPanics(t *testing.T) {
	for name, fall := range map[string]func(){
		"string": func() { panic("the floor is gone") },
		"error":  func() { var nothing []int; _ = nothing[len(name(t))] },
		"goexit": goruntime.Goexit,
		"other":  func() { panic(42) },
	} {
		t.Run(name, func(t *testing.T) {
			again := false
			w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
				if again {
					return d.Ack()
				}
				again = true
				if _, err := task.Await(&runtime.CallExecutor{Context: d.Number()}); err != nil {
					return err
				}
				fall()
				return nil
			}, nil)
			w.start()
			w.result(w.effect(abi.EffectExecutor))
			w.want("turnStart dispatchStart iterationStart iterationEnd(1) dispatchEnd(1,1) error(E_INSTANCE_FAILED) turnEnd(3)")
			if len(w.ends) != 1 || w.ends[0].Status != abi.StatusFailed || w.ends[0].Error.Code != abi.CodeInstanceFailed || w.ends[0].Iterations != 1 {
				t.Fatalf("ends %+v", w.ends)
			}
			if name == "string" && !strings.Contains(w.ends[0].Error.Message, "the floor is gone") {
				t.Errorf("message %q", w.ends[0].Error.Message)
			}
			w.log = nil
			w.start()
			w.want("turnStart dispatchStart iterationStart iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
			if name != "goexit" {
				w.clean() // a coroutine that called Goexit is lost
			}
			w.in.Close()
		})
	}
}

func name(t *testing.T) string { return t.Name() }

// A call whose task panics fails, and the turn goes on.
func TestPanicInACall(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) {
		r.DispatchInput = []abi.Middleware{{}, {Kind: abi.MiddlewareBuiltin, Name: "maxIterations", Arg: abi.Raw{1}}}
	})
	w.in.runners[1].DispatchInput[1].Builtin = func(runtime.Task, *runtime.Dispatch) error { panic("broken") }
	w.start()
	m := w.effect(abi.EffectMiddleware)
	if e := w.failure(w.call(1, abi.MethodNext, &abi.NextArgs{Effect: m.Effect})); e.Code != abi.CodeInstanceFailed {
		t.Errorf("error %+v", e)
	}
	w.result(m)
	w.want("turnStart dispatchStart iterationStart iterationEnd(1) dispatchEnd(1,1) error(E_PIPELINE_SHORT_CIRCUITED) turnEnd(3)")
	w.clean()
}

// Closing an instance ends all its tasks, wherever they wait.
func TestClose(t *testing.T) {
	before := goruntime.NumGoroutine()
	w := open(t, withTool)
	w.start()
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "x")}))
	for range 3 {
		w.call(1, abi.MethodCommit, nil) // two of them wait for the first
		w.ok(w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: abi.CollectionMessages, ID: "x"}))
		w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{}`)})
	}
	if len(w.in.waiting) != 2 || w.in.effects != 5 {
		t.Errorf("%d tasks wait, %d effects", len(w.in.waiting), w.in.effects)
	}
	w.in.Close()
	if after := goruntime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines became %d", before, after)
	}
}

// The host's warnings become events: of several about one subject, only the first in each context.
func TestWarnings(t *testing.T) {
	w := open(t, nil)
	w.start()
	w.effect(abi.EffectExecutor)
	want := "turnStart dispatchStart iterationStart"
	for i, context := range []uint32{1, 1, 0, 0} {
		for _, once := range []string{"gpt9", ""} {
			args := &abi.WarnArgs{Kind: "k", Message: "m", Once: once, Error: &abi.ErrorValue{Message: "why"}, Payload: abi.Raw{0x81, 0xa1, 'a', 1}}
			if r := w.call(context, abi.MethodWarn, args); r.Error != nil {
				t.Errorf("context %d: %+v", context, w.failure(r))
			}
			if once == "" || i%2 == 0 {
				want += " warning"
			}
		}
	}
	w.want(want)
}

// Deliberate leniencies and their limits: see the section in SPEC.md.
func TestLeniencies(t *testing.T) {
	w := open(t, nil)
	w.start()
	if e := w.failure(w.call(1, abi.MethodLog, &abi.LogArgs{Level: 5, Kind: "k", Message: "m"})); e.Code != abi.CodeInvalidValue {
		t.Errorf("a level that is none: %+v", e)
	}
	w.calls--
	w.ok(w.call(1, abi.MethodLog, &abi.LogArgs{Level: abi.LevelError, Kind: "k", Message: "m"})) // a call number twice

	memory := []byte{0x96, 0xa1, 'm', 0xa1, 'x', 1, 0, 1, 1} // integers in place of floats
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMemories, Handle: 1, Data: abi.Bytes(memory)}))
	w.want("turnStart dispatchStart iterationStart log sync(1,1:0 +1)")
}

// Seeds of the wrong length are rejected; the instance accepts a later Hello.
func TestSeeds(t *testing.T) {
	for _, n := range []int{0, 3, 15, 17} {
		w := &wire{t: t, in: New(provider.OpenAI)}
		w.step(&abi.Hello{Op: abi.OpHello, Major: abi.Major, Seed: make([]byte, n)})
		if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIMalformedFrame || !strings.Contains(w.faults[0].Message, "seed") {
			t.Errorf("Hello with %d bytes: %+v", n, w.faults)
		}
		w = open(t, nil)
		w.step(&abi.StartTurn{Op: abi.OpStartTurn, Turn: 1, Runner: 1, Seed: make([]byte, n), ID: "T"})
		if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIMalformedFrame || len(w.in.turns) != 0 {
			t.Errorf("StartTurn with %d bytes: %+v", n, w.faults)
		}
	}
}

// The greeting names the module's providers, the default one first: one of them in the core module, all in the full
// one.
func TestWelcomeNamesTheProviders(t *testing.T) {
	var all []string
	for _, p := range provider.All {
		all = append(all, p.Protocol().Name)
	}
	for name, c := range map[string]struct {
		module []chat.Provider
		want   []string
	}{
		"core": {provider.Core, []string{"openai"}},
		"full": {provider.All, all},
	} {
		hello := abi.Append(nil, &abi.Hello{Major: abi.Major, Seed: make([]byte, abi.SeedSize)})
		welcome, err := abi.Decode[abi.Welcome](New(c.module...).Step(hello))
		if err != nil || !slices.Equal(welcome.Providers, c.want) {
			t.Errorf("%s: %q, %v", name, welcome.Providers, err)
		}
	}
}

// A Hello of another major version is recognized by its first fields, whatever fields follow.
func TestHelloOfAnotherMajor(t *testing.T) {
	w := &wire{t: t, in: New(provider.OpenAI)}
	w.take(w.in.Step([]byte{0x95, 1, 1, 0, 0, 0x96, 0, 0, 0, 0, 0, 0})) // of ABI 1
	if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIVersion || !strings.Contains(w.faults[0].Message, "1.0") {
		t.Errorf("faults %+v", w.faults)
	}
}

// Hello is the first frame of the first step; others may follow it there.
func TestFramesBehindHello(t *testing.T) {
	in := New(provider.OpenAI)
	batch := abi.Append(nil, &abi.Hello{Major: abi.Major, Features: supported, Seed: make([]byte, abi.SeedSize)})
	batch = abi.Append(batch, &abi.OpenRunner{Runner: 1, Call: 1})
	if got := ops(t, in.Step(batch)); !slices.Equal(got, []abi.Op{abi.OpWelcome, abi.OpReply}) {
		t.Errorf("ops %v", got)
	}
}

// Path and ordinal identify an effect by its place in the turn, and distinguish equal calls of a tool.
func TestPathsAndOrdinals(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) {
		withTool(r)
		r.TurnInput, r.DispatchInput, r.DispatchOutput = []abi.Middleware{{}}, []abi.Middleware{{}}, []abi.Middleware{{}}
	})
	var got []string
	note := func(e abi.Effect) abi.Effect {
		got = append(got, fmt.Sprintf("%d %s %d", e.Kind, e.Path, e.Ordinal))
		return e
	}
	pass := func(context uint32) {
		m := note(w.effect(abi.EffectMiddleware))
		w.call(context, abi.MethodNext, &abi.NextArgs{Effect: m.Effect})
		w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: m.Effect})
	}
	tool := func(args string) abi.Effect {
		w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, ProviderCallID: "call_" + args, Args: schemaOf(`{"a":` + args + `}`)})
		return note(w.effect(abi.EffectTool))
	}
	w.start()
	pass(0)
	pass(1)
	x := note(w.effect(abi.EffectExecutor))
	first, second, third := tool("1"), tool("1"), tool("2")
	a, b := decode[abi.ToolArgs](t, first.Args), decode[abi.ToolArgs](t, second.Args)
	if a.CallID != b.CallID || a.ExecutionID != "T.x1" || b.ExecutionID != "T.x2" || a.ProviderCallID != "call_1" {
		t.Errorf("%+v, %+v", a, b)
	}
	w.result(second)
	if r := w.executed(&w.replies[0]); r.ExecutionID != "T.x2" || r.Effect != second.Effect {
		t.Errorf("%+v", r)
	}
	w.result(first)
	w.result(third)
	w.call(1, abi.MethodDispatch, &abi.DispatchArgs{Runner: 1})
	pass(2)
	inner := note(w.effect(abi.EffectExecutor))
	w.ok(w.call(2, abi.MethodAck, nil))
	w.result(inner)
	pass(2)
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "x")}))
	w.result(x)
	pass(1)
	note(w.effect(abi.EffectCommit))
	want := []string{
		"2 i 1", "2 d1.0.i 1", "1 d1.0.x 1", "3 d1.0.x 1", "3 d1.0.x 2", "3 d1.0.x 1",
		"2 d1.0.x.d1.0.i 1", "1 d1.0.x.d1.0.x 1", "2 d1.0.x.d1.0.o 1", "2 d1.0.o 1", "5 d1.0.c 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
