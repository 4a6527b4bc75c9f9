package guest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/internal/provider"
)

// openLimited is open with lowered limits.
func openLimited(t testing.TB, limits abi.Limits, configure func(*abi.OpenRunner)) *wire {
	w := &wire{t: t, in: New(provider.OpenAI)}
	w.step(&abi.Hello{Op: abi.OpHello, Major: abi.Major, Seed: make([]byte, abi.SeedSize), Features: supported, Limits: limits})
	r := &abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 1, Call: 1}
	if configure != nil {
		configure(r)
	}
	w.step(r)
	if len(w.replies) != 1 || w.replies[0].Error != nil {
		t.Fatalf("replies %+v, faults %+v", w.replies, w.faults)
	}
	return w
}

func (w *wire) startTurn(n uint32) {
	w.step(&abi.StartTurn{Op: abi.OpStartTurn, Turn: n, Runner: 1, Seed: make([]byte, 16), ID: fmt.Sprint(n)})
}

// tool calls a tool in a turn; the call is outstanding afterwards if there is room for it.
func (w *wire) tool(turn uint32) *abi.Reply {
	w.calls++
	args := (&abi.ExecuteToolArgs{Tool: 1, Args: abi.Raw{0x80}}).Append(nil)
	w.step(&abi.Call{Op: abi.OpCall, Turn: turn, Call: w.calls, Context: 1, Method: abi.MethodExecuteTool, Args: args})
	if len(w.replies) == 1 {
		return &w.replies[0]
	}
	return nil
}

// fullOf checks that a failed tool call reports too many effects.
func (w *wire) full(r *abi.Reply) {
	w.t.Helper()
	e := w.failure(r)
	for cause := &e; cause != nil; cause = cause.Cause {
		if cause.Code == abi.CodeABILimitExceeded {
			return
		}
	}
	w.t.Errorf("error %+v", e)
}

func TestEffectsOfATurnAreBounded(t *testing.T) {
	for _, limit := range []uint32{abi.MaxTurnEffects, 5} {
		w := openLimited(t, abi.Limits{TurnEffects: limit}, withTool)
		w.startTurn(1)
		first := w.effect(abi.EffectExecutor)
		var last abi.Effect
		for range limit - 1 {
			if r := w.tool(1); r != nil {
				t.Fatalf("with %d outstanding: %+v", w.in.effects, r)
			}
			last = w.effects[0]
		}
		w.full(w.tool(1))
		w.startTurn(2) // another turn has its own limit
		if len(w.effects) != 1 {
			t.Errorf("effects %+v", w.effects)
		}
		w.result(last)
		if r := w.tool(1); r != nil {
			t.Errorf("after a result: %+v", r)
		}
		w.ok(w.call(1, abi.MethodAck, nil))
		w.result(first)
		if len(w.ends) != 1 || w.in.effects != 1 {
			t.Errorf("ends %+v, %d effects", w.ends, w.in.effects)
		}
	}
}

func TestEffectsOfAnInstanceAreBounded(t *testing.T) {
	w := openLimited(t, abi.Limits{InstanceEffects: 10}, withTool)
	for n := range uint32(5) {
		w.startTurn(n + 1)
		if r := w.tool(n + 1); r != nil {
			t.Fatalf("turn %d: %+v", n+1, r)
		}
	}
	w.full(w.tool(3))
	w.startTurn(6) // there is no room for its executor
	if len(w.ends) != 1 || w.ends[0].Status != abi.StatusNack || w.ends[0].Error.Cause.Code != abi.CodeABILimitExceeded {
		t.Fatalf("ends %+v", w.ends)
	}
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: 2})
	if r := w.tool(3); r != nil {
		t.Errorf("after a result: %+v", r)
	}
	// The default would take long to reach.
	w = open(t, withTool)
	w.in.effects = abi.MaxInstanceEffects - 2
	w.startTurn(1)
	if r := w.tool(1); r != nil {
		t.Errorf("the last but none: %+v", r)
	}
	w.full(w.tool(1))
}

func TestLoweredLimits(t *testing.T) {
	limits := abi.Limits{Frame: 600, String: 100, Array: 14, Depth: 6}
	long, list := strings.Repeat("x", 101), append(abi.Raw{0x9f}, make([]byte, 15)...)
	deep := abi.Raw{0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x01}
	log := func(f abi.LogArgs) marshaler {
		args := f.Append(nil)
		return &abi.Call{Op: abi.OpCall, Turn: 1, Call: 9, Context: 1, Method: abi.MethodLog, Args: args}
	}
	for name, f := range map[string]marshaler{
		"string":      log(abi.LogArgs{Message: long}),
		"byte string": &abi.Edit{Op: abi.OpEdit, Turn: 1, Collection: 3, Handle: 1, Count: 1, Data: abi.Bytes([]byte(long))},
		"array":       log(abi.LogArgs{HasPayload: true, Payload: list}),
		"depth":       log(abi.LogArgs{HasPayload: true, Payload: deep}),
		"frame":       &abi.StartTurn{Op: abi.OpStartTurn, Turn: 2, Runner: 1, Seed: make([]byte, 16), Stash: schemaOf(`{"a":"` + long[:90] + `","b":"` + long[:90] + `","c":"` + long[:90] + `","d":"` + long[:90] + `","e":"` + long[:90] + `","f":"` + long[:90] + `","g":"` + long[:90] + `"}`)},
	} {
		w := openLimited(t, limits, nil)
		w.startTurn(1)
		w.step(f)
		if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABILimitExceeded {
			t.Errorf("%s: faults %+v, replies %+v", name, w.faults, w.replies)
		}
		w.ok(w.call(1, abi.MethodLog, &abi.LogArgs{Message: long[:100], HasPayload: true, Payload: deep[3:]}))
	}
	w := openLimited(t, limits, nil)
	if w.in.Inbox(601) != nil || len(w.in.Inbox(600)) != 601 {
		t.Error("the inbox does not know the limit")
	}
	// A commit lists its writes in one array, whose limit bounds the queue.
	w.startTurn(1)
	for range 14 {
		w.ok(w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: 3, ID: "x"}))
	}
	if e := w.failure(w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: 3, ID: "x"})); e.Code != abi.CodeABILimitExceeded {
		t.Errorf("error %+v", e)
	}
}

// The default limits need no check of their own: the decoder enforces them.
func TestDefaultLimits(t *testing.T) {
	nested := func(levels int) abi.Raw {
		raw := make(abi.Raw, levels, levels+1)
		for i := range raw {
			raw[i] = 0x91
		}
		return append(raw, 0x01)
	}
	w := open(t, nil)
	w.start()
	// The frame and the arguments are two levels themselves.
	w.ok(w.call(1, abi.MethodLog, &abi.LogArgs{HasPayload: true, Payload: nested(abi.MaxDepth - 2)}))
	w.call(1, abi.MethodLog, &abi.LogArgs{HasPayload: true, Payload: nested(abi.MaxDepth - 1)})
	if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABILimitExceeded {
		t.Errorf("faults %+v", w.faults)
	}
	many := append(abi.Raw{0xdc, 0x20, 0x01}, make([]byte, 8193)...)
	w.call(1, abi.MethodLog, &abi.LogArgs{HasPayload: true, Payload: many})
	if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABILimitExceeded {
		t.Errorf("faults %+v", w.faults)
	}
	if w.in.Inbox(abi.MaxFrame+1) != nil || w.in.Inbox(abi.MaxFrame) == nil {
		t.Error("the inbox does not know the limit")
	}
}

// All output is within the limits, even values that grow on their way through the guest.
func TestAnswersAreWithinTheLimits(t *testing.T) {
	within := func(w *wire, batch []byte) {
		t.Helper()
		for len(batch) > 0 {
			op, _, rest, err := abi.Next(batch, w.in.limits)
			if err != nil {
				t.Fatalf("frame %d: %v", op, err)
			}
			batch = rest
		}
	}
	w := open(t, withTool)
	w.start()
	e := w.effect(abi.EffectExecutor)
	large := strings.Repeat("x", abi.MaxFrame-40)
	for method, args := range map[uint8]marshaler{
		abi.MethodReport:      &abi.ReportArgs{Delta: large},
		abi.MethodLog:         &abi.LogArgs{Message: large},
		abi.MethodExecuteTool: &abi.ExecuteToolArgs{Tool: 1, Args: append(abi.Raw{0x81, 0xa1, 'x', 0xdb, 0, 0xff, 0xff, 0xd8}, large...)},
	} {
		raw := args.Append(nil)
		batch := (&abi.Call{Op: abi.OpCall, Turn: 1, Call: 1, Context: 1, Method: method, Args: raw}).Append(nil)
		if len(batch) > abi.MaxFrame {
			t.Fatalf("method %d: the call itself is too large", method)
		}
		out := w.in.Step(batch)
		within(w, out)
		w.take(out)
		if len(w.replies) != 1 || w.failure(&w.replies[0]).Code != abi.CodeABILimitExceeded {
			t.Errorf("method %d: replies %d", method, len(w.replies))
		}
	}
	// The commit of the queue would be larger than a frame.
	for range 3 {
		w.ok(w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: 3, ID: large[:7<<20]}))
	}
	w.ok(w.call(1, abi.MethodAck, nil))
	batch := (&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect}).Append(nil)
	out := w.in.Step(batch)
	within(w, out)
	w.take(out)
	if len(w.ends) != 1 || w.ends[0].Error == nil || w.ends[0].Error.Code != abi.CodeStorageCommitError {
		t.Errorf("ends %+v", w.ends)
	}
}

// An instance's output observes lowered limits, even where it wraps the host's input.
func TestLoweredLimitsHoldOutside(t *testing.T) {
	limits := abi.Limits{Frame: 8192, String: 1024, Array: 64, Depth: 9}
	w := openLimited(t, limits, withTool)
	conform := func(frames ...marshaler) {
		t.Helper()
		var batch []byte
		for _, f := range frames {
			batch = f.Append(batch)
		}
		out := append([]byte(nil), w.in.Step(batch)...)
		for rest := out; len(rest) > 0; {
			_, frame, after, err := abi.Next(rest, limits)
			if err != nil {
				t.Fatalf("%v in %x", err, rest[:min(len(rest), 64)])
			}
			rest = after
			_ = frame
		}
		w.take(out)
		if len(w.faults) > 0 {
			t.Fatalf("refused: %+v", w.faults)
		}
	}
	// The deepest chain of causes, the longest message and the longest text allowed as input.
	chain := func(depth int) *abi.ErrorValue {
		e := &abi.ErrorValue{Handle: 7, Name: "Error", Message: strings.Repeat("m", 1024)}
		for range depth {
			e = &abi.ErrorValue{Handle: e.Handle + 1, Name: "Error", Message: strings.Repeat("m", 1024), Cause: e}
		}
		return e
	}
	call := func(method uint8, args marshaler) *abi.Call {
		w.calls++
		raw := args.Append(nil)
		return &abi.Call{Op: abi.OpCall, Turn: 1, Call: w.calls, Context: 1, Method: method, Args: raw}
	}
	for _, end := range []string{"executor fails", "nack"} {
		conform(&abi.StartTurn{Op: abi.OpStartTurn, Turn: 1, Runner: 1, Seed: make([]byte, 16), ID: "T"})
		executor := w.effect(abi.EffectExecutor)
		// The frame, the arguments, the value: the tool gets arguments as deep as the input.
		nested := strings.Repeat(`{"a":`, 6) + "1" + strings.Repeat("}", 6)
		w.calls = 0
		conform(call(abi.MethodLog, &abi.LogArgs{Kind: "k", Message: strings.Repeat("m", 1024), HasPayload: true, Payload: schemaOf(nested)}))
		conform(call(abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(nested)}))
		conform(call(abi.MethodReport, &abi.ReportArgs{ID: "m", Delta: strings.Repeat("d", 1024)}))
		switch end {
		case "nack":
			conform(call(abi.MethodNack, &abi.NackArgs{Error: chain(5)}))
			conform(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: executor.Effect})
		default:
			conform(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: executor.Effect, Error: chain(6)})
		}
		if len(w.ends) != 1 || w.ends[0].Status != abi.StatusNack || w.ends[0].Error == nil {
			t.Errorf("%s: ends %+v; log %v", end, w.ends, w.log)
		}
	}
}
