package guest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
)

// caller is a random host of a session: its agents, and invocations one after another. The seed and the guest's output
// determine everything it does. It only does what a host may do, and checks the output against what invocations
// promise.
type caller struct {
	t       testing.TB
	random  *rand.Rand
	turn    uint32 // of the running invocation
	runner  uint32 // of the team; its tools are those of the runner behind it
	history uint32 // that the guest has of the session; 0 for none
	told    int    // events that it was told of
	agents  []abi.AgentDef
	tree    int               // how many of them are in it
	asTools []string          // names of those that are tools
	steps   map[uint32]uint32 // agents of open steps, by context
	rest    int               // invocations that are still to come
	left    int               // random steps of this invocation; then it is brought to its end

	running  bool
	ended    bool // the last one has
	elapsed  uint64
	effects  []abi.Effect      // outstanding, in the order of their coming
	replies  map[uint32]uint32 // effects for which a call waits, by call
	busy     map[uint32]bool   // effects for which one waits
	model    map[uint32]bool   // model calls that have their answer
	calls    uint32
	errors   int64
	broken   bool // an append has failed, or the caller has left: no other must come
	aborted  bool
	wanted   bool // the message is valid
	statuses []uint8

	log    [][]byte          // what is stored
	events []event           // the same, read
	state  map[string][]byte // the session's, by name with its scope
	called map[string]bool   // ids of calls that are stored
	shown  map[string]bool   // ids of calls that generators were told of
	ids    map[string]bool   // of stored events

	batch   []byte
	in, out [][]byte // all input and output, by step
	turns   []uint32 // those of the steps
}

func newCaller(t testing.TB, number uint32, seed uint64) *caller {
	c := &caller{
		t: t, random: rand.New(rand.NewPCG(seed, 8)), turn: number * 100, runner: number * 100, rest: 4,
		replies: map[uint32]uint32{}, busy: map[uint32]bool{}, model: map[uint32]bool{},
		state: map[string][]byte{}, called: map[string]bool{}, shown: map[string]bool{}, steps: map[uint32]uint32{}, ids: map[string]bool{},
	}
	return c
}

func (c *caller) chance(one int) bool { return c.random.IntN(one) == 0 }

func (c *caller) one(of ...string) string { return of[c.random.IntN(len(of))] }

func (c *caller) send(f abi.Frame) { c.batch = abi.Append(c.batch, f) }

// grow adds an agent of a random kind, and those below it.
func (c *caller) grow(depth int) uint32 {
	number := uint32(len(c.agents) + 1)
	kind := uint8(c.random.IntN(5))
	if depth == 3 {
		kind = uint8(c.random.IntN(2))
	}
	c.agents = append(c.agents, abi.AgentDef{Number: number, Kind: kind, Name: fmt.Sprint("a", number), Description: "an agent"})
	options := map[string]any{}
	var children []uint32
	n := c.random.IntN(3)
	switch kind {
	case abi.AgentLLM:
		options["confirm"], options["longRunning"] = []any{"sure"}, []any{"slow"}
		if c.chance(2) {
			options["outputKey"] = c.one("said", "user:said", "app:said", "temp:said")
		}
		options["instruction"] = c.one("Be brief.", "You speak of {said?}.")
		if c.chance(3) {
			options["includeContents"] = "none"
		}
		if c.chance(3) {
			options["confirmHook"] = []any{"calc"}
		}
		n /= 2
	case abi.AgentLoop:
		options["maxIterations"] = 1 + c.random.IntN(3)
		n++
	case abi.AgentHost:
		n /= 2
	default:
		n++
	}
	for range n {
		if depth < 3 && len(c.agents) < 8 {
			children = append(children, c.grow(depth+1))
		}
	}
	a := &c.agents[number-1]
	a.Children, a.Options = children, encoded(options)
	if kind == abi.AgentLLM {
		a.Runner = c.runner + 1
	}
	if c.chance(2) {
		a.Hooks = make([]uint32, 17)
		for i := abi.HookBeforeAgent; i <= abi.HookToolError; i++ {
			if c.chance(4) {
				a.Hooks[i] = uint32(1 + c.random.IntN(2))
			}
		}
		if c.chance(2) {
			a.Hooks[abi.HookConfirm] = 1
		}
	}
	return number
}

func encoded(v any) abi.Value {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return abi.Value(jsonValue(string(text)))
}

// addTools makes tools of agents that are outside of the tree.
func (c *caller) addTools() {
	for i := range c.tree {
		if c.agents[i].Kind != abi.AgentLLM || len(c.agents) > 10 || !c.chance(3) {
			continue
		}
		number := c.grow(2)
		options := map[string]any{"agent": number, "skipSummarization": c.chance(3)}
		var of map[string]any
		c.read(c.agents[i].Options, &of)
		of["agentTools"] = []any{options}
		c.agents[i].Options = encoded(of)
		c.asTools = append(c.asTools, c.agents[number-1].Name)
	}
}

// open opens the team.
func (c *caller) open() {
	object := jsonValue(`{"type":"object"}`)
	var tools []abi.ToolDef
	for i, name := range []string{"calc", "slow", "sure"} {
		tools = append(tools, abi.ToolDef{Number: uint32(i + 1), Name: name, Description: name, InputSchema: object})
	}
	tools = append(tools, abi.ToolDef{Number: 4, Name: "sum", Description: "sum", InputSchema: object, Builtin: "calculator"})
	c.send(&abi.OpenRunner{Runner: c.runner + 1, Call: 1, Tools: tools})
	c.grow(0)
	c.tree = len(c.agents)
	c.addTools()
	f := &abi.OpenAgents{Runner: c.runner, Call: 2, App: "app", Root: 1, Agents: c.agents}
	for i := range c.random.IntN(3) {
		p := abi.PluginDef{Name: fmt.Sprint("p", i)}
		for hook := range abi.HookConfirm {
			if c.chance(5) && hook != abi.HookInstruction && hook != abi.HookGlobalInstruction {
				p.Hooks |= 1 << hook
			}
		}
		f.Plugins = append(f.Plugins, p)
	}
	c.send(f)
}

// next returns the frames of the next step.
func (c *caller) next() []byte {
	c.batch = nil
	switch {
	case c.agents == nil:
		c.open()
	case !c.running:
		c.start()
	default:
		c.play()
	}
	c.in, c.turns = append(c.in, c.batch), append(c.turns, c.turn)
	return c.batch
}

// start begins the next invocation.
func (c *caller) start() {
	c.rest--
	c.turn++
	c.running, c.aborted, c.broken, c.wanted = true, false, false, true
	c.elapsed, c.left, c.effects = 0, 10+c.random.IntN(60), nil
	clear(c.replies)
	clear(c.busy)
	clear(c.model)
	clear(c.steps)
	f := &abi.StartInvocation{
		Turn: c.turn, Runner: c.runner, Now: 1_700_000_000_000 + int64(c.turn), Seed: make([]byte, abi.SeedSize),
		ID: fmt.Sprint("i", c.turn), Session: "s", User: "u", State: c.held(), Aborted: c.chance(40),
		Message: encoded(map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hello"}}}),
	}
	f.Options = encoded(map[string]any{"maxModelCalls": 1 + c.random.IntN(30)})
	switch call, confirms := c.pending(); {
	case c.chance(12) && len(c.log) > 0:
		of := &c.events[c.random.IntN(len(c.events))]
		f.Message, f.Options = nil, encoded(map[string]any{"rewindBeforeInvocationId": of.InvocationID})
		c.wanted = false // it may be rewound already
	case call != nil && !c.chance(4):
		response := map[string]any{"done": true}
		if confirms {
			response = map[string]any{"confirmed": !c.chance(3)}
		}
		f.Message = encoded(map[string]any{"role": "user", "parts": []any{
			map[string]any{"functionResponse": map[string]any{"id": call.ID, "name": call.Name, "response": response}},
		}})
	}
	f.Aborted = f.Aborted && c.wanted
	c.aborted = f.Aborted
	c.tell()
	f.History, f.Count = c.history, uint32(len(c.log))
	c.send(f)
}

// pending is a call that waits for an answer from outside, and whether that is a confirmation; nil if none does.
func (c *caller) pending() (call *function, confirms bool) {
	var shown []event
	for _, e := range c.events {
		if before := e.Actions.RewindBeforeInvocationID; before != "" {
			shown = shown[:slices.IndexFunc(shown, func(e event) bool { return e.InvocationID == before })]
		} else {
			shown = append(shown, e)
		}
	}
	answered := map[string]int{}
	for _, e := range shown {
		for _, p := range e.Content.Parts {
			if r := p.FunctionResponse; r != nil && e.Author == "user" {
				answered[r.ID]++
			}
		}
	}
	var all []*function
	for _, e := range shown {
		for _, p := range e.Content.Parts {
			if f := p.FunctionCall; f != nil && slices.Contains(e.LongRunning, f.ID) && answered[f.ID] == 0 {
				all = append(all, f)
				f.confirms = e.Actions.RequestedConfirmations[f.ID] != nil
			}
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	call = all[c.random.IntN(len(all))]
	return call, call.confirms
}

// tell tells the guest of the session's events: of all under a number that it does not know, or of those that it does
// not have, or of none that it has appended itself.
func (c *caller) tell() {
	switch {
	case len(c.log) == 0:
		return
	case c.history == 0 || c.chance(3):
		if c.history != 0 {
			c.send(&abi.DropHistory{History: c.history})
		}
		c.history, c.told = c.turn, 0
	case c.chance(2):
		return
	}
	if rest := c.log[c.told:]; len(rest) > 0 {
		c.send(&abi.History{
			History: c.history, Collection: abi.CollectionEvents, Count: uint32(len(rest)), Block: abi.Bytes(slices.Concat(rest...)),
		})
	}
}

// held is the session's state.
func (c *caller) held() abi.Value {
	names := make([]string, 0, len(c.state))
	for name := range c.state {
		names = append(names, name)
	}
	slices.Sort(names)
	v := value.AppendMapHeader(nil, len(names))
	for _, name := range names {
		v = append(value.AppendString(v, name), c.state[name]...)
	}
	return v
}

type function struct {
	ID, Name string
	confirms bool
}

// event is what the caller looks at of one.
type event struct {
	ID           string
	InvocationID string `json:"invocationId"`
	Author       string
	Partial      bool
	LongRunning  []string `json:"longRunningToolIds"`
	Content      struct {
		Parts []struct {
			FunctionCall, FunctionResponse *function
		}
	}
	Actions struct {
		RequestedConfirmations   map[string]any
		RewindBeforeInvocationID string `json:"rewindBeforeInvocationId"`
	}
}

func (c *caller) read(v []byte, e any) {
	text, err := value.AppendJSON(nil, v)
	if err == nil {
		err = json.Unmarshal(text, e)
	}
	if err != nil {
		c.t.Fatalf("caller %d: %v", c.runner, err)
	}
}

// play does something that a host may do.
func (c *caller) play() {
	c.left--
	if c.chance(3) {
		c.elapsed += uint64(c.random.IntN(50))
	}
	if c.left > 0 && !c.aborted && c.chance(80) {
		c.aborted = true
		c.send(&abi.Abort{Turn: c.turn, Elapsed: c.elapsed, Reason: c.failure("")})
		return
	}
	for len(c.batch) == 0 {
		free := c.free()
		if free == 0 {
			c.t.Fatalf("caller %d: the invocation waits for nothing", c.runner)
		}
		e := c.effects[c.random.IntN(free)]
		switch {
		case e.Kind == abi.SessionEffectAppend:
			c.store(e)
		case c.busy[e.Effect]:
			if free == 1 {
				c.t.Fatalf("caller %d: a call waits for nothing", c.runner)
			}
		case c.left > 0 && c.calls < 1<<20 && !c.chance(3) && c.act(e):
		default:
			c.settle(e, c.answer(e))
		}
	}
}

// free is how many of the effects need not wait for an append that the guest has gone ahead of.
func (c *caller) free() int {
	for i, e := range c.effects {
		if e.Kind == abi.SessionEffectAppend && c.append(e).Ahead {
			return i + 1
		}
	}
	return len(c.effects)
}

func (c *caller) append(e abi.Effect) abi.AppendArgs {
	args, err := abi.Decode[abi.AppendArgs](e.Args)
	if err != nil {
		c.t.Fatal(err)
	}
	return args
}

// done takes an effect out of those that are outstanding.
func (c *caller) done(e abi.Effect) {
	c.effects = slices.DeleteFunc(c.effects, func(o abi.Effect) bool { return o.Effect == e.Effect })
}

func (c *caller) settle(e abi.Effect, r *abi.Result) {
	c.done(e)
	r.Turn, r.Effect, r.Elapsed = c.turn, e.Effect, c.elapsed
	c.send(r)
}

func (c *caller) failure(code string) *abi.ErrorValue {
	c.errors++
	return &abi.ErrorValue{Handle: c.errors, Name: "Error", Code: code, Message: fmt.Sprint("error ", c.errors), Abort: code == ""}
}

// store stores an event, or fails, or leaves.
func (c *caller) store(e abi.Effect) {
	args := c.append(e)
	var behind []abi.Effect
	if args.Ahead {
		i := c.free()
		behind, c.effects = slices.Clone(c.effects[i:]), c.effects[:i]
	}
	if c.left > 0 && c.chance(50) {
		c.broken = true
		code := c.one("E_DISK", "E_INVOCATION_STOPPED")
		if code == "E_INVOCATION_STOPPED" { // the caller has the event, and asks for no more
			c.keep(&args)
		}
		c.settle(e, &abi.Result{Error: c.failure(code)})
		return
	}
	c.keep(&args)
	if len(behind) == 0 {
		c.settle(e, &abi.Result{})
		return
	}
	c.done(e)
	for _, other := range behind {
		if c.aborted {
			c.settle(other, &abi.Result{Error: c.failure("")})
		} else {
			c.effects = append(c.effects, other)
		}
	}
}

// keep keeps an event and what it changes.
func (c *caller) keep(args *abi.AppendArgs) {
	var e event
	c.read(args.Event, &e)
	if e.Partial || c.ids[e.ID] || e.ID == "" || e.InvocationID == "" {
		c.t.Errorf("caller %d: a strange event is stored: %+v", c.runner, e)
	}
	c.ids[e.ID] = true
	for _, p := range e.Content.Parts {
		if call := p.FunctionCall; call != nil {
			if c.called[call.ID] {
				c.t.Errorf("caller %d: two calls %s", c.runner, call.ID)
			}
			c.called[call.ID] = true
		} else if r := p.FunctionResponse; r != nil && !c.called[r.ID] {
			c.t.Errorf("caller %d: a result of no call: %s", c.runner, r.ID)
		}
	}
	for _, d := range args.State {
		name := d.Name
		if scope := map[byte]string{'a': "app:", 'u': "user:"}; d.Scope != "" {
			name = scope[d.Scope[0]] + name
		}
		if d.Value == nil {
			delete(c.state, name)
		} else {
			c.state[name] = slices.Clone(d.Value)
		}
	}
	c.log, c.events = append(c.log, slices.Clone(args.Event)), append(c.events, e)
}

// see notes the calls of an event that a generator is told of. It returns the run that the event is for.
func (c *caller) see(e abi.Effect) (run uint32) {
	args, err := abi.Decode[abi.DeliverArgs](e.Args)
	if err != nil {
		c.t.Fatal(err)
	}
	var told event
	c.read(args.Event, &told)
	for _, p := range told.Content.Parts {
		if call := p.FunctionCall; call != nil && !told.Partial {
			c.shown[call.ID] = true
		}
	}
	return args.Run
}

// call makes a call that belongs to an effect, which goes on when it has its reply.
func (c *caller) call(e abi.Effect, method uint8, args interface{ Append([]byte) []byte }) {
	c.calls++
	c.replies[c.calls], c.busy[e.Effect] = e.Effect, true
	f := &abi.Call{Turn: c.turn, Call: c.calls, Elapsed: c.elapsed, Context: e.Context, Method: method}
	if args != nil {
		f.Args = args.Append(nil)
	}
	c.send(f)
}

// act makes a call from within an effect. ok is false if there is none that it may make.
func (c *caller) act(e abi.Effect) (ok bool) {
	switch e.Kind {
	case abi.SessionEffectModel:
		switch {
		case c.model[e.Effect]:
			return false
		case c.chance(4):
			c.call(e, abi.SessionMethodRequest, &abi.RequestArgs{Tools: true})
		default:
			r := c.response()
			if c.chance(3) {
				r["partial"] = true
				r["content"] = map[string]any{"role": "model", "parts": []any{map[string]any{"text": "t"}}}
			} else {
				c.model[e.Effect] = true
			}
			c.call(e, abi.SessionMethodRespond, &abi.RespondArgs{Response: encoded(r)})
		}
	case abi.SessionEffectAgent:
		args, err := abi.Decode[abi.AgentArgs](e.Args)
		if err != nil {
			c.t.Fatal(err)
		}
		if n := c.agents[args.Agent-1].Children; len(n) > 0 && c.chance(2) {
			c.call(e, abi.SessionMethodRunAgent, &abi.RunAgentArgs{
				Run: args.Run, Agent: n[c.random.IntN(len(n))], Number: 1<<31 + c.calls,
			})
			break
		}
		y := map[string]any{"content": map[string]any{"parts": []any{map[string]any{"text": "t"}}}}
		if c.chance(3) {
			y["partial"] = true
		} else if c.chance(3) {
			y["actions"] = c.actions()
		}
		c.call(e, abi.SessionMethodYield, &abi.YieldArgs{Run: args.Run, Event: encoded(y)})
	case abi.EffectTool:
		args, err := abi.Decode[abi.ToolArgs](e.Args)
		if err != nil {
			c.t.Fatal(err)
		}
		if id := args.ProviderCallID; !c.called[id] && !c.shown[id] && int(c.steps[e.Context]) <= c.tree {
			c.t.Errorf("caller %d: the call %q runs before it is stored", c.runner, id)
		}
		if c.chance(2) {
			c.call(e, abi.SessionMethodSetState, &abi.SetStateArgs{
				Name: c.name(), Value: encoded(c.random.IntN(9)), ExecutionID: args.ExecutionID,
			})
		} else {
			c.call(e, abi.SessionMethodActions, &abi.ActionsArgs{ExecutionID: args.ExecutionID, Actions: encoded(c.actions())})
		}
	default:
		return false
	}
	return true
}

func (c *caller) name() string { return c.one("k", "app:k", "user:k", "temp:k") }

func (c *caller) actions() map[string]any {
	switch c.random.IntN(4) {
	case 0:
		return map[string]any{"stateDelta": map[string]any{c.name(): []any{c.random.IntN(9)}}}
	case 1:
		return map[string]any{"escalate": true}
	case 2:
		return map[string]any{"skipSummarization": true}
	}
	return map[string]any{"stateDelta": map[string]any{c.name(): nil}}
}

// response is an answer of a model.
func (c *caller) response() map[string]any {
	parts := []any{map[string]any{"text": "t"}}
	if c.chance(2) {
		parts = nil
		for range 1 + c.random.IntN(3) {
			call := map[string]any{"name": c.one("calc", "calc", "slow", "sure", "none"), "args": map[string]any{"a": 1}}
			if c.chance(4) {
				to := c.agents[c.random.IntN(len(c.agents))].Name
				call = map[string]any{"name": "transfer_to_agent", "args": map[string]any{"agent_name": to}}
			}
			if n := len(c.asTools); n > 0 && c.chance(4) {
				call = map[string]any{"name": c.asTools[c.random.IntN(n)], "args": map[string]any{"request": "r"}}
			} else if c.chance(6) {
				call = map[string]any{"name": "sum", "args": map[string]any{"expression": "1+1"}}
			}
			if c.chance(2) {
				call["id"] = fmt.Sprint("c", c.random.IntN(20))
			}
			parts = append(parts, map[string]any{"functionCall": call})
		}
	}
	return map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "turnComplete": true}
}

// answer is how an effect ends.
func (c *caller) answer(e abi.Effect) *abi.Result {
	r := &abi.Result{}
	switch {
	case e.Kind == abi.SessionEffectDeliver:
		run := c.see(e)
		if c.left > 0 && c.chance(60) {
			c.broken = c.broken || run == 0
			r.Error = c.failure("E_INVOCATION_STOPPED")
		}
	case c.left > 0 && c.chance(25):
		r.Error = c.failure("E_HOST")
	case e.Kind == abi.SessionEffectModel && !c.model[e.Effect]:
		r.Value = encoded(c.response())
	case e.Kind == abi.EffectTool && !c.chance(4):
		r.Value = encoded(map[string]any{"r": c.random.IntN(9)})
	case e.Kind == abi.SessionEffectHook && c.chance(2):
		r.Value = c.hooked(e)
	}
	return r
}

// hooked is the answer of a callback.
func (c *caller) hooked(e abi.Effect) abi.Value {
	args, err := abi.Decode[abi.HookArgs](e.Args)
	if err != nil {
		c.t.Fatal(err)
	}
	content := map[string]any{"parts": []any{map[string]any{"text": "t"}}}
	var v any
	switch args.Hook {
	case abi.HookUserMessage, abi.HookBeforeRun, abi.HookBeforeAgent, abi.HookAfterAgent:
		v = content
	case abi.HookBeforeModel, abi.HookAfterModel, abi.HookModelError:
		v = c.response()
	case abi.HookBeforeTool, abi.HookAfterTool, abi.HookToolError:
		v = map[string]any{"hook": 1}
	case abi.HookConfirm:
		v = c.chance(2)
	case abi.HookEvent:
		m := value.AppendMapHeader(nil, 1)
		return abi.Value(append(value.AppendString(m, "value"), args.Value...))
	default:
		return nil
	}
	return encoded(map[string]any{"value": v})
}

// take reads the output of a step, as far as it is about the session.
func (c *caller) take(out []byte) {
	c.out = append(c.out, slices.Clone(out))
	for len(out) > 0 {
		op, frame, rest, err := abi.Next(out, abi.Limits{})
		if err != nil {
			c.t.Fatal(err)
		}
		out = rest
		switch op {
		case abi.OpEffect:
			e, err := abi.Decode[abi.Effect](frame)
			if err != nil {
				c.t.Fatal(err)
			}
			if c.broken && e.Kind == abi.SessionEffectAppend {
				c.t.Errorf("caller %d: an event behind one that could not be stored", c.runner)
			}
			c.effects = append(c.effects, e)
		case abi.OpSync:
			s, err := abi.Decode[abi.Sync](frame)
			if err != nil {
				c.t.Fatal(err)
			}
			if s.Sync == abi.SyncOpen {
				c.steps[s.Context] = uint32(s.Other)
			}
		case abi.OpReply:
			r, err := abi.Decode[abi.Reply](frame)
			if err != nil {
				c.t.Fatal(err)
			}
			delete(c.busy, c.replies[r.Call])
			delete(c.replies, r.Call)
			if r.Turn == 0 && r.Error != nil {
				c.t.Errorf("caller %d: %+v", c.runner, r.Error)
			}
		case abi.OpEnd:
			end, err := abi.Decode[abi.End](frame)
			if err != nil {
				c.t.Fatal(err)
			}
			if len(c.effects) > 0 || len(c.replies) > 0 {
				c.t.Errorf("caller %d: ended while %+v and calls %v are under way", c.runner, c.effects, c.replies)
			}
			refused := []string{abi.CodeCallAnswered, abi.CodeCallNotAsked, abi.CodeInvalidInvocation}
			if e := end.Error; e != nil && c.wanted && slices.Contains(refused, e.Code) {
				c.t.Errorf("caller %d: %+v", c.runner, e)
			}
			if e := end.Error; e != nil && e.Code == abi.CodeInvocationStopped && !c.broken {
				c.t.Errorf("caller %d: nobody has left: %+v", c.runner, e)
			}
			c.statuses = append(c.statuses, end.Status)
			c.running, c.ended, c.told = false, c.rest == 0, len(c.log)
		case abi.OpFault:
			fault, _ := abi.Decode[abi.Fault](frame)
			c.t.Fatalf("caller %d: %+v", c.runner, fault)
		}
	}
}

// stepCallers has an instance answer the next frames of some callers at once.
func stepCallers(t testing.TB, inst host.Instance, callers ...*caller) {
	t.Helper()
	var batch []byte
	for _, c := range callers {
		batch = append(batch, c.next()...)
	}
	out, err := inst.Step(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range callers {
		mine, err := journal.Filter(nil, out, c.turn)
		if err != nil {
			t.Fatal(err)
		}
		c.take(mine)
	}
}

// playCaller plays a session in an instance of its own.
func playCaller(t testing.TB, number uint32, seed uint64) *caller {
	c, inst := newCaller(t, number, seed), openInstance(t, native.New())
	for steps := 0; !c.ended; steps++ {
		if steps > 5000 {
			t.Fatalf("seed %d does not end; outstanding: %+v", seed, c.effects)
		}
		if stepCallers(t, inst, c); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	return c
}

// Whatever hosts do, invocations keep what they promise.
func TestInvocationsOfRandomHosts(t *testing.T) {
	seeds := 2200
	if os.Getenv("TURNCORE_LONG") != "" {
		seeds = 20000
	}
	statuses, events := map[uint8]int{}, 0
	for seed := range seeds {
		c := playCaller(t, 1, uint64(seed))
		for _, s := range c.statuses {
			statuses[s]++
		}
		events += len(c.log)
	}
	t.Logf("invocations by status %v, %d events", statuses, events)
	if len(statuses) < 3 {
		t.Errorf("the invocations end too much alike: %v", statuses)
	}
}

// Each of 30 sessions gives the same bytes alone and interleaved with the others.
func TestInvocationsDoNotSeeEachOther(t *testing.T) {
	var alone, all []*caller
	for i := range uint32(30) {
		alone = append(alone, playCaller(t, i+1, uint64(i)))
		all = append(all, newCaller(t, i+1, uint64(i)))
	}
	inst, random := openInstance(t, native.New()), rand.New(rand.NewPCG(1, 2))
	for running := slices.Clone(all); len(running) > 0; {
		random.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		stepCallers(t, inst, running[:1+random.IntN(min(4, len(running)))]...)
		running = slices.DeleteFunc(running, func(c *caller) bool { return c.ended })
	}
	for i, c := range all {
		if !slices.EqualFunc(c.in, alone[i].in, bytes.Equal) || !slices.EqualFunc(c.out, alone[i].out, bytes.Equal) {
			t.Errorf("session %d differs", i)
		}
	}
}

// Every engine answers what the native one has answered with the same bytes.
func TestEnginesGiveTheSameInvocations(t *testing.T) {
	var all []*caller
	for i := range uint32(30) {
		all = append(all, playCaller(t, i+1, 100+uint64(i)))
	}
	for _, e := range hosttest.Engines(t) {
		t.Run(e.Name(), func(t *testing.T) {
			inst := openInstance(t, e)
			for i, c := range all {
				for j, in := range c.in {
					out, err := inst.Step(nil, in)
					if err != nil {
						t.Fatal(err)
					}
					if out, err = journal.Filter(nil, out, c.turns[j]); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(out, c.out[j]) {
						t.Fatalf("session %d, step %d:\n%s\n%s", i, j, texts(c.out[j]), texts(out))
					}
				}
			}
		})
	}
}
