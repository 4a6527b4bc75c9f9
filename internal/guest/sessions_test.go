package guest

import (
	"maps"
	"slices"
	"testing"

	"github.com/turncore/turncore/abi"
)

// agentsOn returns an instance with sessions, a history of events, and an invocation (turn 1) of a team (runner 5)
// whose root is of a kind and has hooks. The user's event is stored, and the instance waits for an effect.
func agentsOn(t testing.TB, root uint8, hooks ...uint32) (*wire, abi.Effect) {
	w := &wire{t: t, in: New()}
	w.in.ServeSessions()
	hello := &abi.Hello{
		Op: abi.OpHello, Major: abi.Major, Seed: make([]byte, abi.SeedSize), Features: supported | abi.FeatureSessions,
	}
	runner := &abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 1, Call: 1}
	withTool(runner)
	w.step(hello, runner, team(5, root, hooks...), events(9), startInvocation(1, 5))
	return w, w.passEvents()
}

// passEvents answers the last step's effects that an event causes, and those that this causes. It returns another one,
// if there is one.
func (w *wire) passEvents() (other abi.Effect) {
	for effects := w.effects; len(effects) > 0; effects = effects[1:] {
		e := effects[0]
		switch {
		case e.Kind == abi.SessionEffectAppend || e.Kind == abi.SessionEffectDeliver:
		case e.Kind == abi.SessionEffectHook && decode[abi.HookArgs](w.t, e.Args).Hook == abi.HookEvent:
		default:
			other = e
			continue
		}
		w.result(e)
		effects = append(effects, w.effects...)
	}
	return other
}

// team opens a team of an agent of each kind below a root.
func team(runner uint32, root uint8, hooks ...uint32) *abi.OpenAgents {
	options := func(text string) abi.Value { return abi.Value(schemaOf(text)) }
	f := &abi.OpenAgents{
		Op: abi.OpOpenAgents, Runner: runner, Call: 2, App: "app", Root: 1,
		Agents: []abi.AgentDef{
			{Number: 1, Kind: root, Name: "root", Children: []uint32{2, 3, 4}, Hooks: hooks},
			{Number: 2, Kind: abi.AgentLLM, Name: "model", Description: "asks", Runner: 1, Hooks: hooks, Options: options(
				`{"instruction":"in {app:place}","outputKey":"said","confirm":["add"],"longRunning":["add"],
				"includeContents":"none"}`)},
			{Number: 3, Kind: abi.AgentHost, Name: "script"},
			{Number: 4, Kind: abi.AgentLoop, Name: "loop", Children: []uint32{5}, Options: options(`{"maxIterations":2}`)},
			{Number: 5, Kind: abi.AgentParallel, Name: "together"},
		},
		Plugins: []abi.PluginDef{{Name: "watch", Hooks: 1 << abi.HookEvent}},
	}
	if root == abi.AgentLLM {
		f.Agents[0].Runner = 1
	}
	return f
}

// events are those of a session: one of its creation, one with everything.
func events(history uint32) *abi.History {
	first := schemaOf(`{"id":"e0","author":"system","timestamp":1,"actions":{"stateDelta":{"app:place":"here"}}}`)
	second := schemaOf(`{"id":"e1","invocationId":"i0","author":"root","timestamp":2,"content":{"role":"model","parts":[
		{"text":"t","thought":true},{"functionCall":{"id":"c1","name":"add","args":{"a":1}}}]},"usage":{"totalTokens":3},
		"longRunningToolIds":["c1"],"customMetadata":{"k":1},"actions":{"artifactDelta":{"user:f":1},"transferToAgent":"root",
		"requestedConfirmations":{"c1":{"name":"add","args":{"a":1},"hint":"h"}}}}`)
	return &abi.History{
		Op: abi.OpHistory, History: history, Collection: abi.CollectionEvents, Count: 2,
		Block: abi.Bytes(append(first, second...)),
	}
}

// startInvocation starts one in the session of history 9.
func startInvocation(turn, runner uint32) *abi.StartInvocation {
	return &abi.StartInvocation{
		Op: abi.OpStartInvocation, Turn: turn, Runner: runner, Now: 1000, Seed: make([]byte, abi.SeedSize), ID: "i1",
		Session: "s", User: "u", History: 9, Count: 2, State: abi.Value(schemaOf(`{"app:place":"here","n":[1,{"a":null}]}`)),
		Message: abi.Value(schemaOf(`{"role":"user","parts":[{"text":"hello"}]}`)),
		Options: abi.Value(schemaOf(`{"maxModelCalls":9,"compaction":{"tokens":100000}}`)),
		Shown:   []abi.Shown{{Agent: 2, Have: 1, Mark: 7, Tools: true}},
	}
}

// inModel waits for the model of an agent, inTool for a tool, inScript for a generator, and inHook for a callback.
func inModel(t testing.TB) *wire { w, _ := agentsOn(t, abi.AgentLLM); return w }

func inTool(t testing.TB) *wire {
	w, model := agentsOn(t, abi.AgentLLM)
	w.call(model.Context, abi.SessionMethodRespond, &abi.RespondArgs{Response: abi.Value(schemaOf(toolCall))})
	w.passEvents()
	w.result(model)
	if e := w.passEvents(); e.Kind != abi.EffectTool {
		t.Fatalf("an effect of kind %d, not of a tool", e.Kind)
	}
	return w
}

func inScript(t testing.TB) *wire { w, _ := agentsOn(t, abi.AgentHost); return w }

func inHook(t testing.TB) *wire {
	w, _ := agentsOn(t, abi.AgentLLM, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	return w
}

const toolCall = `{"content":{"role":"model","parts":[{"functionCall":{"id":"c2","name":"add","args":{"a":1}}}]},
	"turnComplete":true}`

// sessionSamples are valid frames of sessions and invocations.
func sessionSamples() map[string]sample {
	call := func(turn, context uint32, method uint8, args marshaler) *abi.Call {
		f := &abi.Call{Op: abi.OpCall, Turn: turn, Call: 30, Elapsed: 7, Context: context, Method: method}
		if args != nil {
			f.Args = args.Append(nil)
		}
		return f
	}
	result := func(effect uint32, v string) *abi.Result {
		return &abi.Result{Op: abi.OpResult, Turn: 1, Effect: effect, Elapsed: 5, Value: abi.Value(schemaOf(v))}
	}
	back := startInvocation(2, 5)
	back.Message, back.Options = nil, abi.Value(schemaOf(`{"rewindBeforeInvocationId":"i0"}`))
	value := func(text string) abi.Value { return abi.Value(schemaOf(text)) }
	edit := &abi.Edit{
		Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 3, Edit: abi.EditAdd, Handle: 9, Count: 1, Data: message("m", "t"),
	}
	no := &abi.ErrorValue{Name: "Error", Message: "no"}
	event := value(`{"author":"script","content":{"parts":[{"text":"t"},{"fileData":{"fileUri":"u"}}]},
		"actions":{"stateDelta":{"user:k":[1],"temp:t":1,"d":null},"escalate":true}}`)
	actions := `{"stateDelta":{"k":1},"artifactDelta":{"f":0},"skipSummarization":true}`
	return map[string]sample{
		"OpenAgents":      {team(6, abi.AgentLLM), inModel},
		"History events":  {events(8), inModel},
		"Drop events":     {&abi.DropHistory{Op: abi.OpDropHistory, History: 9}, inModel},
		"Close agents":    {&abi.CloseRunner{Op: abi.OpCloseRunner, Runner: 5}, inModel},
		"StartInvocation": {startInvocation(2, 5), inModel},
		"Rewind":          {back, inModel},
		"NewSession": {call(0, 0, abi.SessionMethodNewSession, &abi.NewSessionArgs{
			App: "app", User: "u", ID: "e", Now: 1, State: value(`{"app:a":1,"user:b":{"c":2},"d":null}`),
		}), inModel},
		"AppendEvent": {call(0, 0, abi.SessionMethodAppend, &abi.AppendEventArgs{
			App: "app", User: "u", ID: "e", Now: 1, Event: event,
		}), inModel},
		"GetState": {call(1, 0, abi.SessionMethodGetState, &abi.StateKeyArgs{Name: "app:place"}), inModel},
		"SetState": {call(1, 1, abi.SessionMethodSetState, &abi.SetStateArgs{
			Name: "k", Value: value(`[1,{"a":2}]`),
		}), inModel},
		"StateKeys": {call(1, 0, abi.SessionMethodStateKeys, nil), inModel},
		"Respond": {call(1, 1, abi.SessionMethodRespond, &abi.RespondArgs{
			Response: value(toolCall),
		}), inModel},
		"Respond part": {call(1, 1, abi.SessionMethodRespond, &abi.RespondArgs{
			Response: value(`{"content":{"parts":[{"text":"t","thought":true}]},"partial":true,"customMetadata":{"k":1}}`),
		}), inModel},
		"Request": {call(1, 1, abi.SessionMethodRequest, &abi.RequestArgs{Have: 1, Mark: 7, Tools: true}), inModel},
		"Answer": {result(2, `{"content":{"role":"model","parts":[{"text":"t"}]},"usage":{"totalTokens":1},
			"finishReason":"stop"}`), inModel},
		"Failed model": {&abi.Result{Op: abi.OpResult, Turn: 1, Effect: 2, Error: no}, inModel},
		"Abort":        {&abi.Abort{Op: abi.OpAbort, Turn: 1, Reason: no}, inModel},
		"Edit":         {edit, inModel},
		"Tool's state": {call(1, 1, abi.SessionMethodSetState, &abi.SetStateArgs{
			Name: "user:k", Value: value(`1`), ExecutionID: "i1.x1",
		}), inTool},
		"Actions": {call(1, 1, abi.SessionMethodActions, &abi.ActionsArgs{
			ExecutionID: "i1.x1", Actions: value(actions),
		}), inTool},
		"Tool's result": {result(5, `{"a":[1,2]}`), inTool},
		"Yield":         {call(1, 0, abi.SessionMethodYield, &abi.YieldArgs{Run: 1, Event: event}), inScript},
		"RunAgent": {call(1, 0, abi.SessionMethodRunAgent, &abi.RunAgentArgs{
			Run: 1, Agent: 2, Number: 1 << 31,
		}), inScript},
		"Generator": {result(2, `null`), inScript},
		"Hook":      {result(2, `{"value":{"parts":[{"text":"t"}]},"actions":`+actions+`}`), inHook},
	}
}

// Of valid frames no call fails, either.
func TestSessionSamplesSucceed(t *testing.T) {
	for name, s := range sessionSamples() {
		w := s.on(t)
		w.step(s.frame)
		for i := range w.replies {
			if e := w.replies[i].Error; e != nil {
				t.Errorf("%s: %+v", name, e)
			}
		}
		w.in.Close()
	}
}

// FuzzInvocation passes any bytes to an instance in the middle of an invocation.
func FuzzInvocation(f *testing.F) {
	stages := []func(testing.TB) *wire{inModel, inTool, inScript, inHook}
	all := sessionSamples()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		frame := all[name].frame.Append(nil)
		for i := range stages {
			f.Add(uint8(i), slices.Concat(frame, all["Answer"].frame.Append(nil)))
		}
	}
	f.Fuzz(func(t *testing.T, stage uint8, batch []byte) {
		give(t, stages[int(stage)%len(stages)](t), batch, "fuzz")
	})
}
