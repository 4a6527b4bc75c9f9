package guest_test

import (
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/runtime/record"
)

// nested is nil inside so many lists.
func nested(levels int) []byte {
	b := make([]byte, levels, levels+1)
	for i := range b {
		b[i] = 0x91
	}
	return append(b, 0xc0)
}

// brackets is the JSON text of such a list in an object.
func brackets(levels int) string {
	return `{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
}

// answers holds the frames of a step that a test checks.
type answers struct {
	effects []abi.Effect
	replies []abi.Reply
	ends    []abi.End
	faults  []abi.Fault
}

// stepFrames steps through frames. The output must be within the limits, or the host would drop the instance.
func stepFrames(t *testing.T, inst host.Instance, frames ...abi.Frame) answers {
	t.Helper()
	return stepWithin(t, inst, abi.Limits{}, frames...)
}

func stepWithin(t *testing.T, inst host.Instance, limits abi.Limits, frames ...abi.Frame) (a answers) {
	t.Helper()
	var batch []byte
	for _, f := range frames {
		batch = abi.Append(batch, f)
	}
	out, err := inst.Step(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	for len(out) > 0 {
		op, frame, rest, err := abi.Next(out, limits)
		if err != nil {
			t.Fatalf("%v in a frame that begins with %x", err, out[:min(len(out), 40)])
		}
		out = rest
		switch op {
		case abi.OpEffect:
			a.effects = append(a.effects, must[abi.Effect](t, frame))
		case abi.OpReply:
			a.replies = append(a.replies, must[abi.Reply](t, frame))
		case abi.OpEnd:
			a.ends = append(a.ends, must[abi.End](t, frame))
		case abi.OpFault:
			a.faults = append(a.faults, must[abi.Fault](t, frame))
		}
	}
	return a
}

func must[T any, P abi.Tuple[T]](t *testing.T, frame []byte) T {
	t.Helper()
	v, err := abi.Decode[T, P](frame)
	if err != nil {
		t.Fatalf("%v: %s", err, journal.AppendJSON(nil, frame))
	}
	return v
}

func begin(turn, runner uint32) *abi.StartTurn {
	return &abi.StartTurn{Turn: turn, Runner: runner, Seed: make([]byte, 16), ID: "T", SystemPrompt: "Be brief."}
}

func methodCall(context uint32, method uint8, args interface {
	Append(b []byte) []byte
},
) *abi.Call {
	return &abi.Call{Turn: 1, Call: 1, Context: context, Method: method, Args: args.Append(nil)}
}

// deepToolCall is the body of a tool call with deeply nested arguments.
func deepToolCall(levels int) []byte {
	args := append([]byte{0x81, 0xa1, 'a'}, nested(levels)...)
	return record.AppendToolCall(nil, record.ToolCallFields{
		ID: "c", Tool: "calc", Args: args, Checksum: "s", IsComplete: true, Results: append([]byte{0x91}, nested(levels)...),
	})
}

// Values that nest 10,000 levels deep fail with a typed error, even on engines with a small stack: no code recurses
// over them.
func TestDeepNestingIsRefused(t *testing.T) {
	deepMessage := append([]byte{0x97, 0xa1, 'm', 0xa4, 'u', 's', 'e', 'r', 0xa1, 'x', 0xc0, 0, 0}, nested(10_000)...)
	key := value.AppendString(nil, "k")
	schema := append([]byte{0x82, 0xa4, 't', 'y', 'p', 'e', 0xa6, 'o', 'b', 'j', 'e', 'c', 't', 0xa5, 'i', 't', 'e', 'm', 's'}, nested(10_000)...)
	def := append([]byte{0x96, 0xce, 0, 1, 0x11, 0x70, 0xa1, 'd', 0xa0}, append(schema, 0, 0)...)
	for name, c := range map[string]struct {
		frame abi.Frame
		fault string // code of the Fault
		code  string // of the error in the Reply
	}{
		"arguments of a tool":  {methodCall(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: nested(10_000)}), abi.CodeABILimitExceeded, ""},
		"payload of a log":     {methodCall(1, abi.MethodLog, &abi.LogArgs{HasPayload: true, Payload: nested(10_000)}), abi.CodeABILimitExceeded, ""},
		"value of a result":    {&abi.Result{Turn: 1, Effect: 1, Value: nested(10_000)}, abi.CodeABILimitExceeded, ""},
		"reason of an abort":   {&abi.Abort{Turn: 1, Reason: &abi.ErrorValue{Details: nested(10_000)}}, abi.CodeABILimitExceeded, ""},
		"stash of a turn":      {&abi.StartTurn{Turn: 2, Runner: 1, Stash: append([]byte{0x81, 0xa1, 'k'}, nested(10_000)...)}, abi.CodeABILimitExceeded, ""},
		"options of a runner":  {&abi.OpenRunner{Runner: 9, Executor: abi.ExecutorChat, Chat: append([]byte{0x81, 0xa1, 'k'}, nested(10_000)...)}, abi.CodeABILimitExceeded, ""},
		"stash":                {&abi.Edit{Turn: 1, Context: 1, Collection: abi.CollectionStash, Edit: abi.EditSet, Data: abi.Bytes(append(key, nested(10_000)...))}, abi.CodeABIUnknownTarget, ""},
		"schema of a tool":     {&abi.Edit{Turn: 1, Context: 1, Collection: abi.CollectionTools, Edit: abi.EditDefine, Data: abi.Bytes(def)}, abi.CodeABIMalformedFrame, ""},
		"a message":            {methodCall(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: abi.Bytes(deepMessage)}), "", abi.CodeInvalidInitialMessageValue},
		"a tool call":          {methodCall(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionToolCalls, Handle: 1, Data: abi.Bytes(deepToolCall(10_000))}), "", abi.CodeInvalidInitialToolCallValue},
		"tool calls, replaced": {methodCall(1, abi.MethodReplaceGroup, &abi.ReplaceGroupArgs{Items: []abi.Item{{Handle: 1, Data: abi.Bytes(deepToolCall(10_000))}}}), "", abi.CodeInvalidInitialToolCallValue},
	} {
		for _, e := range hosttest.Engines(t) {
			t.Run(name+" "+e.Name(), func(t *testing.T) {
				inst := openInstance(t, e)
				stepFrames(t, inst, begin(1, fullRunner))
				// Answer its two turn middleware, so that there is a dispatch.
				stepFrames(t, inst, methodCall(0, abi.MethodNext, &abi.NextArgs{Effect: 1}))
				stepFrames(t, inst, methodCall(0, abi.MethodNext, &abi.NextArgs{Effect: 2}))
				stepFrames(t, inst, &abi.Result{Turn: 1, Effect: 2}, &abi.Result{Turn: 1, Effect: 1})
				a := stepFrames(t, inst, c.frame)
				switch {
				case c.fault != "" && (len(a.faults) != 1 || a.faults[0].Code != c.fault):
					t.Errorf("faults %+v, replies %+v, want %s", a.faults, a.replies, c.fault)
				case c.code != "" && (len(a.replies) != 1 || a.replies[0].Error == nil):
					t.Errorf("replies %+v, faults %+v, want %s", a.replies, a.faults, c.code)
				case c.code != "":
					if e := a.replies[0].Error; e.Code != c.code {
						t.Errorf("error %+v, want %s", e, c.code)
					}
				}
				if a := stepFrames(t, inst, methodCall(1, abi.MethodLog, &abi.LogArgs{Message: "alive"})); len(a.replies) != 1 {
					t.Error("the instance does not answer any more")
				}
			})
		}
	}
}

// Deeply nested, unchecked input, such as records of a history or a provider's answer, at worst ends a turn.
func TestDeepNestingInTheChatExecutor(t *testing.T) {
	chunk := func(delta string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
	}
	quoted := func(text string) string { return string(value.AppendJSONString(nil, text)) }
	with := func(args string) string {
		return chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"calc","arguments":`+quoted(args)+`}}]}`) + "data: [DONE]\n\n"
	}
	call := func(levels int) string { return with(brackets(levels)) }
	wide := `{"a":[0` + strings.Repeat(",1", 9000) + `]}`
	for name, c := range map[string]struct {
		body   string
		status uint16
		record []byte
	}{
		"event 10,000":          {body: chunk(brackets(10_000))},
		"event 400":             {body: chunk(brackets(400))},
		"arguments 10,000":      {body: call(10_000)},
		"arguments 500":         {body: call(500)},
		"arguments 61":          {body: call(61)},
		"arguments 58":          {body: call(58)},
		"usage 400":             {body: `data: {"choices":[],"usage":{"prompt_tokens":1,"x":` + brackets(400) + `}}` + "\n\ndata: [DONE]\n\n"},
		"usage 58":              {body: `data: {"choices":[],"usage":{"prompt_tokens":1,"x":` + brackets(58) + `}}` + "\n\ndata: [DONE]\n\n"},
		"arguments, wide":       {body: with(wide)},
		"usage, wide":           {body: `data: {"choices":[],"usage":` + wide + "}\n\ndata: [DONE]\n\n"},
		"error, wide":           {body: `data: {"error":{"message":"no","x":` + wide + "}}\n\n"},
		"error 400":             {body: `data: {"error":{"message":"no","code":` + brackets(400) + `}}` + "\n\n"},
		"error 10,000":          {body: `data: {"error":` + brackets(10_000) + `}` + "\n\n"},
		"refused 10,000":        {body: `{"error":` + brackets(10_000) + `}`, status: 400},
		"refused 58":            {body: `{"error":{"message":"no","code":` + brackets(58) + `}}`, status: 400},
		"a tool call of 10,000": {body: sseText, record: deepToolCall(10_000)},
		"a tool call of 500":    {body: sseText, record: deepToolCall(500)},
	} {
		for _, e := range hosttest.Engines(t) {
			t.Run(name+" "+e.Name(), func(t *testing.T) {
				inst := openInstance(t, e)
				first := []abi.Frame{begin(1, chatRunner)}
				a := stepFrames(t, inst, first...)
				if c.record != nil {
					// End the first request with an abort, so that the second one projects the record.
					if a.effects[0].Kind != abi.EffectHTTP {
						t.Fatalf("effects %+v", a.effects)
					}
					stepFrames(t, inst, &abi.Edit{Turn: 1, Context: 1, Collection: abi.CollectionToolCalls, Edit: abi.EditAdd, Handle: 1, Count: 1, Data: abi.Bytes(c.record)})
					answer(t, inst, a.effects[0].Effect, 200, sseTool)
					a = stepFrames(t, inst, &abi.Result{Turn: 1, Effect: a.effects[0].Effect})
				}
				effect := lastEffect(t, inst, a)
				if effect == 0 {
					return // the turn is over
				}
				status := c.status
				if status == 0 {
					status = 200
				}
				if a = answer(t, inst, effect, status, c.body); len(a.ends) == 0 {
					a = stepFrames(t, inst, &abi.Result{Turn: 1, Effect: effect})
				}
				if len(a.ends)+len(a.effects) == 0 { // the request is repeated a moment later
					a = stepFrames(t, inst, &abi.Tick{Turn: 1, Elapsed: 1 << 20})
				}
				if len(a.ends)+len(a.effects) == 0 {
					t.Error("the turn does not go on")
				}
				if a := stepFrames(t, inst, begin(2, plainRunner)); len(a.effects) != 1 {
					t.Error("the instance does not answer any more")
				}
			})
		}
	}
}

// An answer larger than the frames in force ends the turn with a typed error, whichever part is large.
func TestAnswersOfProvidersAreWithinTheLimits(t *testing.T) {
	large := strings.Repeat("x", 40_000)
	for name, body := range map[string]string{
		"one delta":    `data: {"choices":[{"index":0,"delta":{"content":"` + large + `"}}]}` + "\n\ndata: [DONE]\n\n",
		"many deltas":  strings.Repeat(`data: {"choices":[{"index":0,"delta":{"content":"`+large[:1000]+`"}}]}`+"\n\n", 40) + "data: [DONE]\n\n",
		"one thought":  `data: {"choices":[{"index":0,"delta":{"reasoning":"` + large + `"}}]}` + "\n\ndata: [DONE]\n\n",
		"one argument": `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"calc","arguments":"{\"a\":1,\"x\":\"` + large + `\"}"}}]}}]}` + "\n\ndata: [DONE]\n\n",
	} {
		for _, e := range hosttest.Engines(t) {
			for limited, limits := range map[string]abi.Limits{"frame": {Frame: 1 << 15}, "string": {String: 1 << 15}} {
				t.Run(name+" "+limited+" "+e.Name(), func(t *testing.T) {
					inst := openLimited(t, e, limits)
					stepWithin(t, inst, limits, begin(1, chatRunner))
					stepWithin(t, inst, limits, &abi.Chunk{Turn: 1, Effect: 1, Status: 200, Headers: [][]string{{"content-type", "text/event-stream"}}})
					var a answers
					for rest := body; len(rest) > 0; {
						n := min(16_000, len(rest))
						a = stepWithin(t, inst, limits, &abi.Chunk{Turn: 1, Effect: 1, Data: abi.Bytes([]byte(rest[:n]))})
						rest = rest[n:]
					}
					if len(a.ends) == 0 {
						a = stepWithin(t, inst, limits, &abi.Result{Turn: 1, Effect: 1})
					}
					if len(a.ends) != 1 || a.ends[0].Error == nil {
						t.Errorf("ends %+v, effects %+v", a.ends, a.effects)
					}
				})
			}
		}
	}
}

// A request larger than the strings or frames in force is not sent: the turn ends with a typed error.
func TestRequestsToProvidersAreWithinTheLimits(t *testing.T) {
	for name, limits := range map[string]abi.Limits{"frame": {Frame: 1 << 15}, "string": {String: 1 << 15}} {
		for _, e := range hosttest.Engines(t) {
			t.Run(name+" "+e.Name(), func(t *testing.T) {
				inst := openLimited(t, e, limits)
				start := begin(1, chatRunner)
				start.SystemPrompt = strings.Repeat("\x01", 20_000) // six bytes each in JSON
				a := stepWithin(t, inst, limits, start)
				if len(a.effects) != 0 || len(a.ends) != 1 || a.ends[0].Error == nil || a.ends[0].Error.Code != abi.CodeABILimitExceeded {
					t.Errorf("effects %d, ends %+v, faults %+v", len(a.effects), a.ends, a.faults)
				}
			})
		}
	}
}

// lastEffect settles tools and commits until an HTTP effect is outstanding, and returns its number; 0 if the turn ends.
func lastEffect(t *testing.T, inst host.Instance, a answers) uint32 {
	t.Helper()
	for range 10 {
		if len(a.effects) == 0 {
			return 0
		}
		e := a.effects[len(a.effects)-1]
		if e.Kind == abi.EffectHTTP {
			return e.Effect
		}
		a = stepFrames(t, inst, &abi.Result{Turn: 1, Effect: e.Effect, Value: value.AppendString(nil, "42")})
	}
	t.Fatal("the turn does not go on")
	return 0
}

func answer(t *testing.T, inst host.Instance, effect uint32, status uint16, body string) answers {
	t.Helper()
	stepFrames(t, inst, &abi.Chunk{Turn: 1, Effect: effect, Status: status, Headers: [][]string{{"content-type", "text/event-stream"}}})
	return stepFrames(t, inst, &abi.Chunk{Turn: 1, Effect: effect, Data: abi.Bytes([]byte(body))})
}
