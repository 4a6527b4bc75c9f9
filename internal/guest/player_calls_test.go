package guest_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// method calls a method of a context.
func (p *player) method(context uint32, method uint8, args interface {
	Append(b []byte) []byte
},
) {
	p.calls++
	p.waiting[p.calls] = method
	f := &abi.Call{Turn: p.turn, Call: p.calls, Elapsed: p.elapsed, Context: context, Method: method}
	if args != nil {
		f.Args = args.Append(nil)
	}
	p.send(f)
}

// call calls a random method, mostly on the innermost dispatch.
func (p *player) call() {
	context := p.context()
	if !p.alone && p.chance(6) {
		p.gate(context)
		return
	}
	if context == 0 || p.chance(2) {
		p.write(context)
		return
	}
	id := fmt.Sprint("s", p.random.IntN(6))
	switch p.random.IntN(15) {
	case 14:
		p.method(context, abi.MethodInterrupt, &abi.InterruptArgs{Stream: uint8(p.random.IntN(2)), ID: id, Delta: "de"})
	case 0, 1, 2:
		p.method(context, abi.MethodReport, &abi.ReportArgs{Stream: uint8(p.random.IntN(2)), ID: id, Delta: "de ltä ", Complete: p.chance(6)})
	case 3, 4:
		a := &abi.ReportToolCallArgs{ID: id, HasTool: p.chance(2), Tool: "calc", HasResults: p.chance(3), Complete: p.chance(6)}
		if p.chance(2) {
			a.Args = jsonValue(`{"b":1,"a":[true,"x",2.5]}`)
		}
		p.method(context, abi.MethodReportToolCall, a)
	case 5:
		p.method(context, abi.MethodLog, &abi.LogArgs{Level: uint8(p.random.IntN(5)), Kind: "k", Message: "m", HasPayload: true, Payload: jsonValue(`{"x":1}`)})
	case 6:
		p.method(context, abi.MethodStats, &abi.StatsArgs{Stats: jsonValue(`{"totalTokens":5}`)})
	case 7, 8:
		if made := p.tools[context]; len(made) > 0 && !p.chance(4) {
			p.readArtifact(context, uint32(p.some(made)))
			return
		}
		args := `{"a":1}`
		if p.chance(4) {
			args = `{"a":"no"}`
		}
		tool := 1 + uint32(p.random.IntN(2))
		switch p.runner {
		case plainRunner:
			return // it has none
		case chatRunner:
			tool = 1
		}
		p.method(context, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: tool, Args: jsonValue(args)})
	case 9:
		p.method(context, abi.MethodToolCallCount, &abi.CountArgs{Checksum: "sc"})
	case 10:
		p.method(context, abi.MethodCommit, nil)
	case 11:
		if len(p.mirror) < 6 {
			p.method(context, abi.MethodDispatch, &abi.DispatchArgs{Runner: 1 + uint32(p.random.IntN(3))})
		}
	case 12:
		if p.chance(3) {
			a := &abi.NackArgs{}
			if p.chance(2) {
				p.errors++
				a.Error = &abi.ErrorValue{Handle: p.errors, Name: "Error", Message: "nack"}
			}
			p.method(context, abi.MethodNack, a)
		}
	case 13:
		if p.chance(3) {
			p.method(context, abi.MethodAck, nil)
		}
	}
}

// gate opens a gate or settles one.
func (p *player) gate(context uint32) {
	if p.gates == 0 || p.chance(3) {
		a := &abi.OpenGateArgs{ID: fmt.Sprint("g", p.random.IntN(3)), Reason: "why", Payload: jsonValue(`{"b":[1,true],"a":"ä"}`)}
		if p.chance(2) {
			a.Timeout = 1 + uint64(p.random.IntN(100))
		}
		if p.chance(2) {
			a.Schema = jsonValue(`{"type":"boolean"}`)
		}
		p.method(context, abi.MethodOpenGate, a)
		return
	}
	a := &abi.SettleGateArgs{Gate: 1 + uint32(p.random.IntN(int(p.gates))), Settle: uint8(p.random.IntN(3))}
	switch a.Settle {
	case abi.SettleResolve:
		a.Value = jsonValue([]string{"true", "7"}[p.random.IntN(2)])
	case abi.SettleReject:
		p.errors++
		a.Error = &abi.ErrorValue{Handle: p.errors, Name: "Error", Message: "no", Status: 500}
	}
	p.method(0, abi.MethodSettleGate, a)
}

// readArtifact runs a registered tool, usually one that reads artifacts.
func (p *player) readArtifact(context, tool uint32) {
	args := p.offers[tool]
	if args == "" || p.chance(8) {
		args = `{"callId":"none"}`
	}
	p.method(context, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: tool, Args: jsonValue(args)})
}

// write stores, mutates, deletes or replaces at random.
func (p *player) write(context uint32) {
	c := uint8(p.random.IntN(6))
	known := p.known[c]
	switch op := p.random.IntN(8); {
	case op < 4 || len(known) == 0:
		p.method(context, abi.MethodStore, &abi.StoreArgs{Collection: c, Handle: p.handle, Data: abi.Bytes(bodyOf(c, p.id(c)))})
		p.known[c] = append(p.known[c], p.handle)
		p.handle++
	case op == 4:
		p.method(context, abi.MethodMutate, &abi.StoreArgs{Collection: c, Handle: p.some(known), Old: p.id(c)})
	case op == 5:
		p.method(context, abi.MethodDelete, &abi.DeleteArgs{Collection: c, ID: p.id(c)})
	default:
		c = abi.CollectionToolCalls
		a := &abi.ReplaceGroupArgs{IDs: []string{p.id(c), p.id(c)}}
		for range p.random.IntN(3) {
			if len(p.known[c]) > 0 && p.chance(2) {
				a.Items = append(a.Items, abi.Item{Handle: p.some(p.known[c])})
				continue
			}
			a.Items = append(a.Items, abi.Item{Handle: p.handle, Data: abi.Bytes(bodyOf(c, p.id(c)))})
			p.known[c] = append(p.known[c], p.handle)
			p.handle++
		}
		p.method(context, abi.MethodReplaceGroup, a)
	}
}

// body is an HTTP answer sent in pieces.
type body struct {
	rest string
	head bool
}

const (
	sseText = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hé"}}]}` + "\r\n\r\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"llo"},"finish_reason":"stop"}]}` + "\n\n: ping\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}` + "\n\ndata: [DONE]\n\n"
	sseTool = `data: {"choices":[{"index":0,"delta":{"reasoning":"hm","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"calc","arguments":"{\"a\""}}]}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":4}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
)

// stream sends the next piece of an HTTP answer, or lets time pass.
func (p *player) stream(e abi.Effect) {
	b := p.bodies[e.Effect]
	if b == nil {
		p.requests++
		b = &body{rest: sseText}
		if p.requests%2 == 1 && p.requests < 6 {
			b.rest = strings.Replace(sseTool, "call_1", fmt.Sprint("call_", p.requests), 1)
		}
		p.bodies[e.Effect] = b
	}
	switch {
	case p.steps > 0 && p.chance(20):
		p.elapsed += 120 // longer than the executor waits
		p.send(&abi.Tick{Turn: p.turn, Elapsed: p.elapsed})
	case !b.head:
		b.head = true
		p.send(&abi.Chunk{Turn: p.turn, Effect: e.Effect, Elapsed: p.elapsed, Status: 200, Headers: [][]string{{"content-type", "text/event-stream"}}})
	case b.rest == "" || p.steps > 0 && p.chance(30):
		p.settle(e)
	default:
		n := min(1+p.random.IntN(200), len(b.rest))
		p.send(&abi.Chunk{Turn: p.turn, Effect: e.Effect, Elapsed: p.elapsed, Data: abi.Bytes([]byte(b.rest[:n]))})
		b.rest = b.rest[n:]
	}
}

// take reads the turn's frames in the answer of the last step.
func (p *player) take(batch []byte) {
	p.t.Helper()
	p.out = append(p.out, slices.Clone(batch))
	for len(batch) > 0 {
		op, frame, rest, err := abi.Next(batch, abi.Limits{})
		if err != nil {
			p.t.Fatalf("turn %d: %v", p.turn, err)
		}
		batch = rest
		if p.ended && op != abi.OpReply {
			p.t.Fatalf("turn %d: frame %d after End", p.turn, op)
		}
		p.frame(op, frame)
	}
	if p.digest == nil {
		return
	}
	for c, got := range p.digest {
		sum := uint32(2166136261)
		for _, h := range p.mirror[p.asked][c] {
			for shift := 0; shift < 32; shift += 8 {
				sum = (sum ^ uint32(h>>shift)&255) * 16777619
			}
		}
		if int64(sum) != got {
			p.t.Errorf("turn %d: collection %d of context %d is not %v", p.turn, c, p.asked, p.mirror[p.asked][c])
		}
	}
}

func (p *player) frame(op abi.Op, frame []byte) {
	p.t.Helper()
	switch op {
	case abi.OpEvent:
		e := read[abi.Event](p, frame)
		if e.Seq != p.seq+1 {
			p.t.Errorf("turn %d: seq %d, want %d", p.turn, e.Seq, p.seq+1)
		}
		if e.Scope != abi.ScopeDispatch || p.alone {
			p.seq++ // an event that the turn's listeners do not get leaves no gap in their sequence
		}
		p.span(e)
		if e.Elapsed > p.elapsed {
			p.t.Errorf("turn %d: an event at %d, it is %d", p.turn, e.Elapsed, p.elapsed)
		}
	case abi.OpEffect:
		e := read[abi.Effect](p, frame)
		if p.effect++; e.Effect != p.effect {
			p.t.Errorf("turn %d: effect %d, want %d", p.turn, e.Effect, p.effect)
		}
		p.effects = append(p.effects, e)
	case abi.OpReply:
		p.reply(read[abi.Reply](p, frame))
	case abi.OpSync:
		p.sync(read[abi.Sync](p, frame))
	case abi.OpCancel:
		f := read[abi.Cancel](p, frame)
		p.effects = slices.DeleteFunc(p.effects, func(e abi.Effect) bool { return e.Effect == f.Effect })
	case abi.OpTimer:
		f := read[abi.Timer](p, frame)
		p.due = f.Due
		if p.gates == 0 && f.Due != 0 && f.Due < p.elapsed { // a gate may be overdue
			p.t.Errorf("turn %d: a timer for %d, it is %d", p.turn, f.Due, p.elapsed)
		}
	case abi.OpEnd:
		p.ended, p.status = true, read[abi.End](p, frame).Status
		if len(p.open) > 0 {
			p.t.Errorf("turn %d: at End %v are open", p.turn, p.open)
		}
	default:
		p.t.Fatalf("turn %d: frame %d %q", p.turn, op, frame)
	}
}

// span checks that beginnings and ends match.
func (p *player) span(e abi.Event) {
	p.t.Helper()
	switch e.Kind {
	case abi.EventTurnGateOpen:
		g := read[abi.GateOpenEvent](p, e.Payload)
		if p.gates++; g.Gate != p.gates {
			p.t.Errorf("turn %d: gate %d opens, want %d", p.turn, g.Gate, p.gates)
		}
		p.open[fmt.Sprint("gate ", g.Gate)] = true
	case abi.EventTurnGateClosed:
		key := fmt.Sprint("gate ", read[abi.GateClosedEvent](p, e.Payload).Gate)
		if !p.open[key] {
			p.t.Errorf("turn %d: %s is closed, and open are %v", p.turn, key, p.open)
		}
		delete(p.open, key)
	}
	name := map[uint8]string{
		abi.EventTurnStart: "turn", abi.EventTurnEnd: "turn", abi.EventDispatchStart: "dispatch", abi.EventDispatchEnd: "dispatch",
		abi.EventIterationStart: "iteration", abi.EventIterationEnd: "iteration",
	}[e.Kind]
	if name == "" {
		return
	}
	key := fmt.Sprint(name, " ", e.Dispatch)
	begins := e.Kind == abi.EventTurnStart || e.Kind == abi.EventDispatchStart || e.Kind == abi.EventIterationStart
	if p.open[key] == begins || name == "dispatch" && p.open[fmt.Sprint("iteration ", e.Dispatch)] {
		p.t.Errorf("turn %d: event %d of %s within %v", p.turn, e.Kind, key, p.open)
	}
	if begins {
		p.open[key] = true
	} else {
		delete(p.open, key)
	}
}

func read[T any, P abi.Tuple[T]](p *player, frame []byte) T {
	v, err := abi.Decode[T, P](frame)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *player) reply(f abi.Reply) {
	p.t.Helper()
	method, ok := p.waiting[f.Call]
	if !ok {
		p.t.Errorf("turn %d: a reply to call %d, which waits for none", p.turn, f.Call)
	}
	delete(p.waiting, f.Call)
	if f.Error != nil {
		e := f.Error
		if strings.HasPrefix(e.Code, "E_ABI") {
			p.t.Errorf("turn %d: method %d: %+v", p.turn, method, e)
		}
		if p.ended && e.Code != abi.CodeCallAfterEnd {
			p.t.Errorf("turn %d: after End method %d says %+v", p.turn, method, e)
		}
		return
	}
	if p.ended {
		p.t.Errorf("turn %d: method %d succeeded after End", p.turn, method)
	}
	if method == abi.MethodDigest {
		_ = value.EachItem(f.Value, func(_ int, v []byte) bool {
			n, _ := value.Int(v)
			p.digest = append(p.digest, n)
			return true
		})
	}
}

// syncTools tracks the tools that the guest makes.
func (p *player) syncTools(f abi.Sync) {
	p.t.Helper()
	data, err := abi.BytesOf(f.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	switch f.Sync {
	case abi.SyncDefine:
		def := read[abi.ToolDef](p, data)
		if int64(def.Number) != 1<<31+p.defined {
			p.t.Errorf("turn %d: tool %d is made after %d others", p.turn, def.Number, p.defined)
		}
		p.defined++
		properties, _ := value.Get(def.InputSchema, "properties")
		callID, _ := value.Get(properties, "callId")
		enum, _ := value.Get(callID, "enum")
		_ = value.EachItem(enum, func(_ int, v []byte) bool {
			id, _ := value.String(v)
			p.offers[def.Number] = `{"callId":"` + string(id) + `"` + map[string]string{
				"artifact_grep": `,"pattern":"a"`, "artifact_estimate_tokens": `,"encoding":"claude"`,
				"artifact_json_get": `,"path":"$.a"`, "artifact_json_filter": `,"path":"$.a"`, "artifact_json_pluck": `,"path":"$"`,
			}[def.Name] + "}"
			return true
		})
	case abi.SyncTools:
		p.tools[f.Context] = nil
		_ = value.EachItem(data, func(_ int, v []byte) bool {
			n, _ := value.Int(v)
			if n >= 1<<31+p.defined {
				p.t.Errorf("turn %d: tool %d is registered, and not defined", p.turn, n)
			}
			p.tools[f.Context] = append(p.tools[f.Context], n)
			return true
		})
	default:
		p.t.Errorf("turn %d: sync %d of tools", p.turn, f.Sync)
	}
}

func (p *player) sync(f abi.Sync) {
	p.t.Helper()
	if f.Sync == abi.SyncOpen {
		var copies [6][]int64
		for c, handles := range p.mirror[max(f.Other, 0)] {
			copies[c] = slices.Clone(handles)
		}
		if p.mirror = append(p.mirror, copies); int(f.Context) != len(p.mirror)-1 {
			p.t.Errorf("turn %d: context %d opens", p.turn, f.Context)
		}
		return
	}
	if f.Sync == abi.SyncSignal {
		if p.signalled[f.Context] {
			p.t.Errorf("turn %d: context %d is signalled again", p.turn, f.Context)
		}
		p.signalled[f.Context] = true
		if f.Handle != abi.SignalAck && f.Handle != abi.SignalNack || (f.Handle == abi.SignalNack) != (len(f.Data) > 0) {
			p.t.Errorf("turn %d: signal %d with %d bytes", p.turn, f.Handle, len(f.Data))
		}
		return
	}
	if f.Collection == abi.CollectionTools {
		p.syncTools(f)
		return
	}
	col := &p.mirror[f.Context][f.Collection]
	at := slices.Index(*col, f.Handle)
	subject := f.Handle
	switch f.Sync {
	case abi.SyncAdd:
		*col = append(*col, f.Handle)
	case abi.SyncInsert:
		where := slices.Index(*col, f.Other)
		if f.Other == 0 {
			where = len(*col)
		}
		*col = slices.Insert(*col, where, f.Handle)
	case abi.SyncRemove:
		*col = slices.Delete(*col, at, at+1)
	case abi.SyncReplace:
		(*col)[at] = f.Other
		subject = f.Other
	}
	if subject < 0 && !slices.Contains(p.known[f.Collection], subject) {
		if len(f.Data) == 0 {
			p.t.Errorf("turn %d: the first sync of handle %d has no body", p.turn, subject)
		}
		p.known[f.Collection] = append(p.known[f.Collection], subject)
	}
}
