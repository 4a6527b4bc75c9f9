package guest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// wire exchanges frames with an instance and notes its answers in short form.
type wire struct {
	t     testing.TB
	in    *Instance
	log   []string
	calls uint32
	// Requests of the last step.
	effects []abi.Effect
	replies []abi.Reply
	ends    []abi.End
	faults  []abi.Fault
	timers  []uint64
}

func open(t testing.TB, configure func(*abi.OpenRunner)) *wire {
	w := &wire{t: t, in: New(provider.OpenAI)}
	w.step(&abi.Hello{Op: abi.OpHello, Major: abi.Major, Seed: make([]byte, abi.SeedSize), Features: supported})
	r := &abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 1, Call: 1}
	if configure != nil {
		configure(r)
	}
	w.step(r)
	return w
}

var eventNames = map[uint8]string{
	abi.EventMessage: "message", abi.EventThought: "thought", abi.EventToolCall: "toolCall",
	abi.EventTurnStart: "turnStart", abi.EventTurnEnd: "turnEnd", abi.EventDispatchStart: "dispatchStart",
	abi.EventDispatchEnd: "dispatchEnd", abi.EventIterationStart: "iterationStart", abi.EventIterationEnd: "iterationEnd",
	abi.EventToolExecutionStart: "toolStart", abi.EventToolExecutionEnd: "toolEnd", abi.EventLog: "log",
	abi.EventWarning: "warning", abi.EventError: "error", abi.EventGenerationStats: "stats",
	abi.EventMessageInterrupted: "messageInterrupted", abi.EventThoughtInterrupted: "thoughtInterrupted",
}

func decode[T any, P abi.Tuple[T]](t testing.TB, b []byte) T {
	v, err := abi.Decode[T, P](b)
	if err != nil {
		t.Fatalf("decode %T: %v", v, err)
	}
	return v
}

func (w *wire) step(frames ...marshaler) {
	var batch []byte
	for _, f := range frames {
		batch = f.Append(batch)
	}
	w.take(w.in.Step(batch))
}

func (w *wire) take(out []byte) {
	w.effects, w.replies, w.ends, w.faults, w.timers = nil, nil, nil, nil, nil
	for len(out) > 0 {
		op, frame, rest, err := abi.Next(out, abi.DefaultLimits())
		if err != nil {
			w.t.Fatalf("outbox: %v", err)
		}
		out = rest
		switch op {
		case abi.OpEvent:
			e := decode[abi.Event](w.t, frame)
			word := eventNames[e.Kind]
			switch e.Kind {
			case abi.EventIterationEnd:
				p := decode[abi.IterationEndEvent](w.t, e.Payload)
				word += fmt.Sprintf("(%d", p.Status)
				if n := len(p.Discarded); n > 0 {
					word += fmt.Sprintf(",-%d", n)
				}
				word += ")"
			case abi.EventDispatchEnd:
				p := decode[abi.DispatchEndEvent](w.t, e.Payload)
				word += fmt.Sprintf("(%d,%d)", p.Status, p.Iterations)
			case abi.EventTurnEnd:
				word += fmt.Sprintf("(%d)", decode[abi.TurnEndEvent](w.t, e.Payload).Status)
			case abi.EventTurnGateOpen:
				p := decode[abi.GateOpenEvent](w.t, e.Payload)
				word = fmt.Sprintf("gateOpen(%d %s)", p.Gate, p.ID)
			case abi.EventTurnGateClosed:
				p := decode[abi.GateClosedEvent](w.t, e.Payload)
				word = fmt.Sprintf("gateClosed(%d %d)", p.Gate, p.Result)
			case abi.EventError:
				if e.Scope&abi.ScopeTurn == 0 {
					continue
				}
				p := decode[abi.ErrorEvent](w.t, e.Payload)
				word += "(" + p.Error.Code + p.Error.Name + ")"
			}
			w.log = append(w.log, word)
		case abi.OpEffect:
			w.effects = append(w.effects, decode[abi.Effect](w.t, frame))
		case abi.OpTimer:
			w.timers = append(w.timers, decode[abi.Timer](w.t, frame).Due)
		case abi.OpReply:
			w.replies = append(w.replies, decode[abi.Reply](w.t, frame))
		case abi.OpEnd:
			w.ends = append(w.ends, decode[abi.End](w.t, frame))
		case abi.OpFault:
			w.faults = append(w.faults, decode[abi.Fault](w.t, frame))
		case abi.OpSync:
			s := decode[abi.Sync](w.t, frame)
			if s.Sync != abi.SyncOpen && s.Sync != abi.SyncSignal {
				w.log = append(w.log, fmt.Sprintf("sync(%d,%d:%d %+d)", s.Context, s.Collection, s.Sync, s.Handle))
			}
		}
	}
}

func (w *wire) start(frames ...marshaler) {
	w.step(&abi.StartTurn{Op: abi.OpStartTurn, Turn: 1, Runner: 1, Now: 1000, Seed: make([]byte, 16), ID: "T", SystemPrompt: "test"})
}

// effect returns the only effect of the last step, which must be of the kind.
func (w *wire) effect(kind uint8) abi.Effect {
	w.t.Helper()
	if len(w.effects) != 1 || w.effects[0].Kind != kind {
		w.t.Fatalf("effects %+v, want one of kind %d; log %v", w.effects, kind, w.log)
	}
	return w.effects[0]
}

func (w *wire) result(e abi.Effect) {
	w.step(&abi.Result{Op: abi.OpResult, Turn: e.Turn, Effect: e.Effect})
}

// executed returns the value of a successful reply to a tool's call.
func (w *wire) executed(r *abi.Reply) abi.ExecuteToolResult {
	w.t.Helper()
	w.ok(r)
	return decode[abi.ExecuteToolResult](w.t, r.Value)
}

func (w *wire) fail(e abi.Effect, message string) {
	w.step(&abi.Result{Op: abi.OpResult, Turn: e.Turn, Effect: e.Effect, Error: &abi.ErrorValue{Handle: 1000, Name: "Error", Message: message}})
}

// call makes a call and returns its reply, if it came in the same step.
func (w *wire) call(context uint32, method uint8, args marshaler) *abi.Reply {
	w.t.Helper()
	w.calls++
	f := &abi.Call{Op: abi.OpCall, Turn: 1, Call: w.calls, Context: context, Method: method}
	if args != nil {
		f.Args = args.Append(nil)
	}
	w.step(f)
	for i := range w.replies {
		if w.replies[i].Call == w.calls {
			return &w.replies[i]
		}
	}
	return nil
}

func (w *wire) ok(r *abi.Reply) {
	w.t.Helper()
	if r == nil || r.Error != nil {
		w.t.Fatalf("reply %+v", r)
	}
}

func (w *wire) want(log string) {
	w.t.Helper()
	if got := strings.Join(w.log, " "); got != log {
		w.t.Errorf("log\n got %s\nwant %s", got, log)
	}
}

func message(id, text string) abi.Raw {
	return abi.Bytes(record.AppendMessage(nil, record.MessageFields{ID: id, Role: "assistant", Content: []byte(text), CreatedAt: 1, UpdatedAt: 1}))
}

func schemaOf(text string) abi.Raw {
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func withTool(r *abi.OpenRunner) {
	r.Tools = []abi.ToolDef{{Number: 1, Name: "add", Description: "adds", InputSchema: schemaOf(`{"type":"object","properties":{"a":{"type":"number"}}}`)}}
}

func TestAckInTheFirstIteration(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodReport, &abi.ReportArgs{ID: "m", Delta: "Hi.", Complete: true}))
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "Hi.")}))
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.result(w.effect(abi.EffectCommit))
	w.want("turnStart dispatchStart iterationStart message sync(1,3:0 +1) sync(0,3:0 +1) iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	if len(w.ends) != 1 || w.ends[0].Status != abi.StatusAck || len(w.in.turns) != 0 || w.in.effects != 0 {
		t.Errorf("ends %+v, turns %d, effects %d", w.ends, len(w.in.turns), w.in.effects)
	}
}

func TestToolCallThenAnswer(t *testing.T) {
	w := open(t, withTool)
	w.start()
	e := w.effect(abi.EffectExecutor)
	if r := w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":1}`)}); r != nil {
		t.Fatalf("reply before the handler ran: %+v", r)
	}
	tool := w.effect(abi.EffectTool)
	w.result(tool)
	if len(w.replies) != 1 || w.replies[0].Error != nil {
		t.Fatalf("replies %+v", w.replies)
	}
	w.result(e)
	e = w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.want("turnStart dispatchStart iterationStart toolStart toolEnd iterationEnd(4) iterationStart iterationEnd(0) dispatchEnd(0,2) turnEnd(0)")
}

func TestToolThatIsNotAwaited(t *testing.T) {
	w := open(t, withTool)
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":1}`)})
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.want("turnStart dispatchStart iterationStart toolStart toolEnd iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	if len(w.ends) != 1 || w.in.effects != 0 || len(w.in.idle) != 2 {
		t.Errorf("ends %+v, %d effects outstanding, %d coroutines idle, want both", w.ends, w.in.effects, len(w.in.idle))
	}
}

// A handler may end in a later iteration, having run in the background; its end is reported then.
func TestToolThatEndsInTheNextIteration(t *testing.T) {
	w := open(t, withTool)
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":1}`)})
	tool := w.effect(abi.EffectTool)
	w.result(e)
	e = w.effect(abi.EffectExecutor)
	w.result(tool)
	if len(w.replies) != 1 || w.replies[0].Error != nil {
		t.Errorf("replies %+v", w.replies)
	}
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.want("turnStart dispatchStart iterationStart toolStart iterationEnd(4) iterationStart toolEnd iterationEnd(0) dispatchEnd(0,2) turnEnd(0)")
}

// The host validates a tool's arguments between checksum and toolExecutionStart.
func TestToolWithItsOwnValidation(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) {
		withTool(r)
		r.Tools[0].Flags = abi.ToolValidates
		r.Tools[0].InputSchema = schemaOf(`{"type":"object","$dynamicRef":"#what the module does not support"}`)
	})
	w.start()
	e := w.effect(abi.EffectExecutor)
	execute := &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":"1"}`)}

	w.call(1, abi.MethodExecuteTool, execute)
	check := w.effect(abi.EffectValidate)
	args := decode[abi.ValidateArgs](t, check.Args)
	if args.Tool != 1 || string(args.Args) != string(schemaOf(`{"a":"1"}`)) {
		t.Errorf("asked to validate %+v", args)
	}
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: check.Effect, Value: schemaOf(`{"a":1,"b":2}`)})
	tool := w.effect(abi.EffectTool)
	run := decode[abi.ToolArgs](t, tool.Args)
	if string(run.Args) != string(schemaOf(`{"a":1,"b":2}`)) || run.Valid != check.Effect {
		t.Errorf("runs with %+v", run)
	}
	if want, _ := value.Checksum("add", schemaOf(`{"a":"1"}`)); run.CallID != want {
		t.Errorf("call id %s, want that of the arguments as they came, %s", run.CallID, want)
	}
	w.result(tool)

	w.call(1, abi.MethodExecuteTool, execute)
	w.fail(w.effect(abi.EffectValidate), "not so")
	if len(w.replies) != 1 || w.replies[0].Error == nil || w.failure(&w.replies[0]).Message != "not so" {
		t.Errorf("replies %+v, want the failure as it is", w.replies)
	}

	w.call(1, abi.MethodExecuteTool, execute)
	late := w.effect(abi.EffectValidate)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.result(late)
	w.want("turnStart dispatchStart iterationStart toolStart toolEnd iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
}

// Arguments can be checked outside a turn.
func TestValidateOutsideOfATurn(t *testing.T) {
	w := open(t, nil)
	ask := func(method uint8, def abi.ToolDef, args string) *abi.Reply {
		w.step(&abi.Call{
			Op: abi.OpCall, Call: 7, Method: method,
			Args: (&abi.ValidateToolArgs{Tool: def, Args: schemaOf(args)}).Append(nil),
		})
		if len(w.replies) != 1 || w.replies[0].Turn != 0 || w.replies[0].Call != 7 {
			t.Fatalf("replies %+v, faults %+v", w.replies, w.faults)
		}
		return &w.replies[0]
	}
	def := abi.ToolDef{Name: "add", InputSchema: schemaOf(`{"type":"object","properties":{"a":{"type":"number"},"b":{"default":2}}}`)}
	if r := ask(abi.MethodValidate, def, `{"a":1}`); r.Error != nil || string(r.Value) != string(schemaOf(`{"a":1,"b":2}`)) {
		t.Errorf("reply %+v", r)
	}
	own := def
	own.Flags = abi.ToolValidates
	broken := def
	broken.InputSchema = schemaOf(`{"type":"string"}`)
	for _, c := range []struct {
		name  string
		reply *abi.Reply
		code  string
	}{
		{"arguments that break the schema", ask(abi.MethodValidate, def, `{"a":"1"}`), abi.CodeInvalidToolArgs},
		{"a tool that is broken", ask(abi.MethodValidate, broken, `{}`), abi.CodeInvalidInitialToolValue},
		{"a tool with its own validation", ask(abi.MethodValidate, own, `{}`), abi.CodeABIUnknownTarget},
		{"a method of a turn", ask(abi.MethodAck, def, `{}`), abi.CodeABIUnknownTarget},
	} {
		if got := w.failure(c.reply).Code; got != c.code {
			t.Errorf("%s: %s, want %s", c.name, got, c.code)
		}
	}
}

func TestNackDiscards(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.Callbacks = abi.CallbackDiscard })
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "Hi.")}))
	w.ok(w.call(1, abi.MethodNack, &abi.NackArgs{Error: &abi.ErrorValue{Handle: 5, Name: "Error", Message: "no"}}))
	w.result(e)
	w.result(w.effect(abi.EffectDiscard))
	w.want("turnStart dispatchStart iterationStart sync(1,3:0 +1) iterationEnd(1,-1) dispatchEnd(1,1) error(Error) turnEnd(1)")
	if w.ends[0].Error.Handle != 5 {
		t.Errorf("error %+v, want the host's own", w.ends[0].Error)
	}
}

func TestMiddlewareOnion(t *testing.T) {
	host := []abi.Middleware{{}, {}}
	w := open(t, func(r *abi.OpenRunner) { r.TurnInput = host })
	w.start()
	outer := w.effect(abi.EffectMiddleware)
	if r := w.call(0, abi.MethodNext, &abi.NextArgs{Effect: outer.Effect}); r != nil {
		t.Fatal("next returned before the inner middleware ended")
	}
	inner := w.effect(abi.EffectMiddleware)
	w.fail(inner, "inner broke")
	if len(w.replies) != 1 || w.replies[0].Error != nil {
		t.Fatalf("next of the outer one: %+v, want a plain return", w.replies)
	}
	w.fail(outer, "outer broke")
	w.want("turnStart error(E_INPUT_PIPELINE_ERROR) turnEnd(3)")
	if e := w.ends[0].Error; e.Cause == nil || e.Cause.Message != "inner broke" || len(e.Suppressed) != 1 || e.Suppressed[0].Message != "outer broke" {
		t.Errorf("error %+v", e)
	}
}

func TestMiddlewareThatForgetsNext(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}} })
	w.start()
	w.result(w.effect(abi.EffectMiddleware))
	w.want("turnStart error(E_PIPELINE_SHORT_CIRCUITED) turnEnd(3)")
}

func TestNextThatIsNotAwaited(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}, {}} })
	w.start()
	outer := w.effect(abi.EffectMiddleware)
	w.call(0, abi.MethodNext, &abi.NextArgs{Effect: outer.Effect})
	inner := w.effect(abi.EffectMiddleware)
	w.result(outer)
	if len(w.effects) != 0 {
		t.Fatalf("the turn went on while the inner middleware runs: %+v", w.effects)
	}
	w.call(0, abi.MethodNext, &abi.NextArgs{Effect: inner.Effect})
	w.result(inner)
	w.effect(abi.EffectExecutor)
}

func TestAbort(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "Hi.")}))
	w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1})
	w.result(e)
	w.want("turnStart dispatchStart iterationStart sync(1,3:0 +1) iterationEnd(2,-1) dispatchEnd(2,1) turnEnd(2)")
}

func TestCommitThatFails(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	for i := range int64(2) {
		w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1 + i, Data: message("m", "Hi.")}))
	}
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	commit := w.effect(abi.EffectCommit)
	details := (&abi.CommitResult{Applied: 1, Total: 2}).Append(nil)
	full := &abi.ErrorValue{Handle: 9, Name: "Error", Message: "disk full", Details: details}
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: commit.Effect, Error: full})
	w.want("turnStart dispatchStart iterationStart sync(1,3:0 +1) sync(1,3:0 +2) sync(0,3:0 +1) iterationEnd(1,-1) dispatchEnd(1,1) error(E_STORAGE_COMMIT_ERROR) turnEnd(3)")
}

func TestSealedStream(t *testing.T) {
	w := open(t, nil)
	w.start()
	w.ok(w.call(1, abi.MethodReport, &abi.ReportArgs{ID: "m", Delta: "a", Complete: true}))
	r := w.call(1, abi.MethodReport, &abi.ReportArgs{ID: "m", Delta: "b"})
	if r.Error == nil {
		t.Fatal("a report on a sealed stream was taken")
	}
	if e := r.Error; e.Code != "" || e.Name != "Error" {
		t.Errorf("error %+v, want a plain one", e)
	}
}

// An interrupted stream is sealed, and reported by its own kind of event if the host supports that.
func TestInterruptedStream(t *testing.T) {
	for features, want := range map[abi.Features]string{
		supported:                          "turnStart dispatchStart iterationStart message messageInterrupted thoughtInterrupted thought messageInterrupted",
		supported &^ abi.FeatureInterrupts: "turnStart dispatchStart iterationStart message message thought thought messageInterrupted",
	} {
		w := &wire{t: t, in: New(provider.OpenAI)}
		w.step(&abi.Hello{Op: abi.OpHello, Major: abi.Major, Seed: make([]byte, abi.SeedSize), Features: features})
		w.step(&abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 1, Call: 1})
		w.start()
		w.ok(w.call(1, abi.MethodReport, &abi.ReportArgs{ID: "m", Delta: "a"}))
		w.ok(w.call(1, abi.MethodInterrupt, &abi.InterruptArgs{ID: "m", Delta: "b"}))
		w.ok(w.call(1, abi.MethodInterrupt, &abi.InterruptArgs{Stream: abi.StreamThought, ID: "m"}))
		w.ok(w.call(1, abi.MethodReport, &abi.ReportArgs{Stream: abi.StreamThought, ID: "n", Complete: true}))
		for _, method := range []uint8{abi.MethodReport, abi.MethodInterrupt} {
			var args marshaler = &abi.ReportArgs{ID: "m"}
			if method == abi.MethodInterrupt {
				args = &abi.InterruptArgs{ID: "m"}
			}
			r := w.call(1, method, args)
			if e := r.Error; e == nil || e.Name != "Error" {
				t.Errorf("method %d on a sealed stream: %+v", method, r)
			}
		}
		payload := (&abi.StreamEvent{ID: "e", Complete: true}).Append(nil)
		w.ok(w.call(1, abi.MethodEmit, &abi.EmitArgs{Kind: abi.EventMessageInterrupted, Payload: payload}))
		w.want(want)
	}
	// The arguments of one method do not fit another.
	w := open(t, nil)
	w.start()
	raw := (&abi.ReportArgs{ID: "m", Complete: true}).Append(nil)
	w.step(&abi.Call{Op: abi.OpCall, Turn: 1, Call: 1, Context: 1, Method: abi.MethodInterrupt, Args: raw})
	if len(w.faults) != 1 || w.faults[0].Code != string(fault.ABIMalformedFrame) {
		t.Errorf("%+v", w.faults)
	}
}

func TestHistoryIsShared(t *testing.T) {
	w := open(t, nil)
	var block []byte
	for i := range 100 {
		block = append(block, mustBytes(message(fmt.Sprintf("h%d", i), "x"))...)
	}
	w.step(&abi.History{Op: abi.OpHistory, History: 1, Collection: abi.CollectionMessages, Count: 100, Block: abi.Bytes(block)})
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.step(&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: abi.CollectionMessages, Edit: abi.EditAddHistory, Handle: 1, Count: 100, History: 1})
	w.log = nil
	w.ok(w.call(1, abi.MethodMutate, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 101, Data: message("h50", "new")}))
	w.ok(w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: abi.CollectionMessages, ID: "h99"}))
	w.want("sync(1,3:2 +51) sync(1,3:1 +100)")
	w.result(e)
}

func mustBytes(raw abi.Raw) []byte {
	b, err := abi.BytesOf(raw)
	if err != nil {
		panic(err)
	}
	return b
}

func TestMalformedFrames(t *testing.T) {
	for name, batch := range map[string][]byte{
		"garbage":   {0xc1},
		"truncated": {0x9a, abi.OpCall, 1},
		"unknown":   {0x91, 30},
		"no op":     {0x90},
		"short":     {0x92, abi.OpCall, 1},
		"not array": {0x01},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, nil)
			w.take(w.in.Step(batch))
			if len(w.faults) != 1 {
				t.Fatalf("faults %+v", w.faults)
			}
			w.start()
			w.effect(abi.EffectExecutor)
		})
	}
}

func TestHelloFirst(t *testing.T) {
	w := &wire{t: t, in: New(provider.OpenAI)}
	w.step(&abi.Tick{Op: abi.OpTick})
	if len(w.faults) != 1 || w.faults[0].Code != "E_ABI_HELLO_FIRST" {
		t.Errorf("faults %+v", w.faults)
	}
}

// BenchmarkTurn measures a turn of two iterations with a tool call and a commit.
func BenchmarkTurn(b *testing.B) {
	w := open(b, withTool)
	b.ReportAllocs()
	for b.Loop() {
		w.log = w.log[:0]
		w.calls = 0
		w.start()
		e := w.effect(abi.EffectExecutor)
		w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: abi.Raw{0x81, 0xa1, 'a', 1}})
		w.result(w.effect(abi.EffectTool))
		w.result(e)
		e = w.effect(abi.EffectExecutor)
		w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", "Hi.")})
		w.call(1, abi.MethodAck, nil)
		w.result(e)
		w.result(w.effect(abi.EffectCommit))
	}
}
