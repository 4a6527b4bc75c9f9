package guest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/record"
)

// The runners of players. Every instance has them, and the history.
const (
	plainRunner = 1 // only the host's executor
	fullRunner  = 2 // all pipelines, tools and callbacks
	chatRunner  = 3 // the chat executor, bounded
)

const historyLength = 20

func jsonValue(text string) abi.Raw {
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// opening returns the frames after Hello that every instance gets.
func opening() []byte {
	tools := []abi.ToolDef{
		{Number: 1, Name: "calc", Description: "calculates", InputSchema: jsonValue(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer","default":2}},"required":["a"]}`)},
		{Number: 2, Name: "look", Description: "looks", InputSchema: jsonValue(`{"type":"object"}`), Flags: abi.ToolHidden},
	}
	hosts := []abi.Middleware{{}, {}}
	bound := abi.Middleware{Kind: abi.MiddlewareBuiltin, Name: "maxIterations", Arg: abi.Raw{6}}
	batch := abi.Append(nil, &abi.OpenRunner{Runner: plainRunner, Call: 1})
	batch = abi.Append(batch, &abi.OpenRunner{
		Runner: fullRunner, Call: 2, Tools: tools, TurnInput: hosts, TurnOutput: hosts[:1],
		DispatchInput: []abi.Middleware{{}, bound}, DispatchOutput: hosts,
		Callbacks: abi.CallbackCommit | abi.CallbackDiscard | abi.CallbackReplace,
	})
	batch = abi.Append(batch, &abi.OpenRunner{
		Runner: chatRunner, Call: 3, Executor: abi.ExecutorChat, Tools: tools[:1], DispatchInput: []abi.Middleware{bound},
		Chat: jsonValue(`{"model":"m","baseURL":"http://127.0.0.1:1/v1","idleTimeoutMs":100}`),
	})
	var block []byte
	for i := range historyLength {
		block = append(block, bodyOf(abi.CollectionMessages, fmt.Sprint("h", i))...)
	}
	return abi.Append(batch, &abi.History{History: 1, Collection: abi.CollectionMessages, Count: historyLength, Block: abi.Bytes(block)})
}

func bodyOf(collection uint8, id string) []byte {
	text := []byte("text of " + id)
	switch collection {
	case abi.CollectionInstructions:
		return value.AppendString(nil, id)
	case abi.CollectionMemories:
		return record.AppendMemory(nil, record.MemoryFields{ID: id, Content: text, Confidence: 0.5})
	case abi.CollectionRetrievables:
		switch id {
		case "r5":
			return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Part: textPart, TrustTier: "first-party"})
		case "r6":
			return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Part: artifactPart, TrustTier: "first-party"})
		}
		return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Content: text, TrustTier: "first-party"})
	case abi.CollectionMessages:
		return record.AppendMessage(nil, record.MessageFields{ID: id, Role: "user", Content: text})
	case abi.CollectionThoughts:
		return record.AppendThought(nil, record.ThoughtFields{ID: id, Content: text})
	}
	results := []byte{0xa1, 'r'}
	switch id {
	case "c5":
		results = artifactPart
	case "c6":
		results = slices.Concat(value.AppendListHeader(nil, 2), artifactPart, artifactPart)
	}
	return record.AppendToolCall(nil, record.ToolCallFields{
		ID: id, Tool: "calc", Args: []byte{0x80}, Checksum: "s" + id[:1], IsComplete: true, Results: results,
	})
}

var (
	textPart     = (&abi.TextPart{Part: abi.PartText, Bytes: 5}).Append(nil)
	artifactPart = record.AppendArtifact(nil, "SpooledJsonArtifact", -1, -1, "")
)

// player is a random host of one turn: the seed and the turn's output determine everything it does. It only does what a
// host may do, and checks the output against a model.
type player struct {
	t      testing.TB
	random *rand.Rand
	turn   uint32
	runner uint32
	steps  int // random steps; then it ends the turn

	alone    bool // a standalone dispatch
	started  bool
	ended    bool
	status   uint8
	elapsed  uint64
	due      uint64 // of the timer; 0 for none
	seq      uint32
	effect   uint32
	effects  []abi.Effect     // outstanding
	passed   map[uint32]bool  // middleware that called next
	bodies   map[uint32]*body // HTTP answers in progress
	requests int
	calls    uint32
	waiting  map[uint32]uint8 // the methods of calls without a reply, by number
	digest   []int64          // answer of the last Digest
	asked    uint32           // its context
	errors   int64
	gates    uint32 // opened so far
	handle   int64  // next free handle
	known    [6][]int64
	mirror   [][6][]int64
	history  bool
	open     map[string]bool // events begun and not ended
	// Dispatches that were acked or nacked.
	signalled map[uint32]bool
	tools     map[uint32][]int64 // registered tools by context, including the guest's
	defined   int64              // by the guest
	offers    map[uint32]string  // arguments that a tool of the guest accepts

	batch   []byte
	in, out [][]byte // all input and output, by step
}

func newPlayer(t testing.TB, turn uint32, seed uint64) *player {
	random := rand.New(rand.NewPCG(seed, 7))
	p := &player{
		t: t, random: random, turn: turn, runner: 1 + uint32(random.IntN(3)), steps: 5 + random.IntN(60), alone: random.IntN(6) == 0,
		passed: map[uint32]bool{}, bodies: map[uint32]*body{}, waiting: map[uint32]uint8{}, open: map[string]bool{}, signalled: map[uint32]bool{}, tools: map[uint32][]int64{}, offers: map[uint32]string{}, handle: 1, mirror: make([][6][]int64, 1),
	}
	return p
}

func (p *player) send(f abi.Frame) { p.batch = abi.Append(p.batch, f) }

func (p *player) chance(one int) bool { return p.random.IntN(one) == 0 }

// next returns the frames of the next step.
func (p *player) next() []byte {
	p.batch = nil
	p.digest = nil
	switch {
	case !p.started:
		p.start()
	case p.steps > 0:
		p.steps--
		if p.chance(3) {
			p.elapsed += uint64(p.random.IntN(70))
		}
		for range p.random.IntN(3) {
			p.edit()
		}
		p.play()
		if p.chance(4) {
			p.harmless()
		}
	default:
		p.close()
	}
	p.in = append(p.in, p.batch)
	return p.batch
}

func (p *player) start() {
	p.started = true
	f := &abi.StartTurn{
		Turn: p.turn, Runner: p.runner, Standalone: p.alone, Now: 1_700_000_000_000, Seed: make([]byte, 16), ID: fmt.Sprint("turn-", p.turn),
		SystemPrompt: "Be brief.", Stash: jsonValue(`{"n":1}`), Aborted: p.chance(25),
	}
	for range p.random.IntN(3) {
		f.Instructions = append(f.Instructions, abi.Instruction{Handle: p.handle, Text: fmt.Sprint("instruction ", p.handle)})
		p.name(abi.CollectionInstructions, p.handle, 0)
	}
	if p.alone {
		for c := range uint8(6) {
			if p.chance(2) {
				continue
			}
			n, first := 1+p.random.IntN(3), p.handle
			f.Initial = append(f.Initial, abi.Block{Collection: c, Handle: first, Count: uint32(n), Data: abi.Bytes(p.fresh(c, n, 0))})
		}
	} else if p.chance(2) {
		f.Message = abi.Block{Collection: abi.CollectionMessages, Handle: p.handle, Count: 1, Data: abi.Bytes(bodyOf(abi.CollectionMessages, "own"))}
		p.known[abi.CollectionMessages] = append(p.known[abi.CollectionMessages], p.handle)
		p.handle++
	}
	p.send(f)
}

// name assigns the next handle to a record that is now in a context.
func (p *player) name(collection uint8, handle int64, context int) {
	p.handle = handle + 1
	p.known[collection] = append(p.known[collection], handle)
	p.mirror[context][collection] = append(p.mirror[context][collection], handle)
}

// fresh makes n records of a kind, which are now in a context, and returns their bodies.
func (p *player) fresh(collection uint8, n, context int) (data []byte) {
	for range n {
		data = append(data, bodyOf(collection, p.id(collection))...)
		p.name(collection, p.handle, context)
	}
	return data
}

// id returns an id that is not always unique; tool calls and retrievables use different ones.
func (p *player) id(collection uint8) string {
	return fmt.Sprint(string("imrstc"[collection]), p.random.IntN(8))
}

// context picks an existing context.
func (p *player) context() uint32 {
	if p.alone {
		return 1
	}
	n := len(p.mirror)
	if n > 1 && !p.chance(4) {
		return uint32(n - 1)
	}
	return uint32(p.random.IntN(n))
}

// edit changes a collection as host code does.
func (p *player) edit() {
	context, c := p.context(), uint8(p.random.IntN(8))
	f := &abi.Edit{Turn: p.turn, Context: context, Collection: c}
	if c == abi.CollectionStash {
		f.Edit = abi.EditSet
		data := value.AppendString(nil, fmt.Sprint("k", p.random.IntN(3)))
		if p.chance(3) {
			f.Edit = abi.EditUnset
		} else {
			data = value.AppendInt(data, int64(p.random.IntN(100)))
		}
		f.Data = abi.Bytes(data)
		p.send(f)
		return
	}
	if c == abi.CollectionTools {
		f.Edit, f.Data = abi.EditHidden, abi.Bytes(jsonValue(`["look"]`))
		p.send(f)
		return
	}
	have := &p.mirror[context][c]
	switch op := p.random.IntN(12); {
	case op < 4:
		n := 1 + p.random.IntN(3)
		f.Edit, f.Handle, f.Count = abi.EditAdd, p.handle, uint32(n)
		f.Data = abi.Bytes(p.fresh(c, n, int(context)))
	case op < 6 && c == abi.CollectionMessages && !p.history:
		p.history = true
		f.Edit, f.Handle, f.History, f.Count = abi.EditAddHistory, p.handle, 1, uint32(1+p.random.IntN(historyLength))
		for range f.Count {
			p.name(c, p.handle, int(context))
		}
	case op < 8 && len(p.known[c]) > 0:
		f.Edit, f.Handle = abi.EditAddKnown, p.some(p.known[c])
		if !slices.Contains(*have, f.Handle) {
			*have = append(*have, f.Handle)
		}
	case op < 11 && len(*have) > 0:
		f.Handle = p.some(*have)
		i := slices.Index(*have, f.Handle)
		if p.chance(2) {
			f.Edit = abi.EditRemove
			*have = slices.Delete(*have, i, i+1)
			break
		}
		f.Edit, f.Other, f.Data = abi.EditReplace, p.handle, abi.Bytes(bodyOf(c, p.id(c)))
		p.known[c] = append(p.known[c], p.handle)
		(*have)[i] = p.handle
		p.handle++
	case op == 11:
		f.Edit = abi.EditClear
		*have = nil
	default:
		return
	}
	p.send(f)
}

func (p *player) some(list []int64) int64 { return list[p.random.IntN(len(list))] }

// play performs a random allowed action.
func (p *player) play() {
	if len(p.effects) == 0 {
		if p.chance(2) {
			p.elapsed = max(p.elapsed, p.due)
		}
		p.send(&abi.Tick{Turn: p.turn, Elapsed: p.elapsed})
		return
	}
	e := p.effects[len(p.effects)-1]
	if p.chance(5) {
		e = p.effects[p.random.IntN(len(p.effects))]
	}
	switch {
	case e.Kind == abi.EffectHTTP:
		p.stream(e)
	case e.Kind == abi.EffectMiddleware && !p.passed[e.Effect] && !p.chance(4):
		p.pass(e)
	case p.chance(60):
		f := &abi.Abort{Turn: p.turn, Elapsed: p.elapsed, Context: p.context()}
		if p.chance(2) {
			f.Reason = p.failure(true)
		}
		p.send(f)
	case p.chance(3):
		p.settle(e)
	default:
		p.call()
	}
}

func (p *player) pass(e abi.Effect) {
	p.passed[e.Effect] = true
	p.method(e.Context, abi.MethodNext, &abi.NextArgs{Effect: e.Effect})
}

// settle ends an effect, sometimes with an error.
func (p *player) settle(e abi.Effect) {
	p.effects = slices.DeleteFunc(p.effects, func(o abi.Effect) bool { return o.Effect == e.Effect })
	f := &abi.Result{Turn: p.turn, Effect: e.Effect, Elapsed: p.elapsed}
	switch {
	case p.steps > 0 && p.chance(9):
		f.Error = p.failure(p.chance(4))
	case e.Kind == abi.EffectSpool:
		args, _ := abi.Decode[abi.SpoolArgs](e.Args)
		if p.chance(5) {
			break // it stays unchanged
		}
		body := record.AppendRetrievable(nil, record.RetrievableFields{ID: "r5", Part: artifactPart, TrustTier: "first-party"})
		f.Value = (&abi.Item{Handle: p.handle, Data: abi.Bytes(body)}).Append(nil)
		if !slices.Contains(p.known[abi.CollectionRetrievables], args.Handle) {
			p.t.Errorf("turn %d: record %d is to be spooled", p.turn, args.Handle)
		}
		p.known[abi.CollectionRetrievables] = append(p.known[abi.CollectionRetrievables], p.handle)
		p.handle++
	case e.Kind == abi.EffectRead:
		f.Value = p.read(e)
	case e.Kind == abi.EffectTool:
		args, _ := abi.Decode[abi.ToolArgs](e.Args)
		switch {
		case args.Keep:
		case p.chance(2):
			parts := artifactPart
			if p.chance(2) {
				parts = slices.Concat(value.AppendListHeader(nil, 2), artifactPart, artifactPart)
			}
			p.send(&abi.Edit{
				Turn: p.turn, Context: e.Context, Collection: abi.CollectionToolCalls, Edit: abi.EditKeep, Handle: int64(e.Effect), Data: abi.Bytes(parts),
			})
		default:
			f.Value = value.AppendString(nil, "42")
		}
	}
	p.send(f)
}

// read answers for a text of three lines, sometimes with nonsense.
func (p *player) read(e abi.Effect) abi.Raw {
	args, err := abi.Decode[abi.ReadArgs](e.Args)
	if err != nil {
		p.t.Error(err)
	}
	all := []string{`{"a":`, "1", "}"}
	r := &abi.ReadResult{Bytes: 9, Count: 3}
	switch {
	case args.Read == abi.ReadText:
		r.Lines = []string{strings.Join(all, "\n")}
	case args.Read == abi.ReadLines && !p.chance(9):
		r.Lines = all[min(args.From, 3):min(args.To, 3)]
	}
	return r.Append(nil)
}

func (p *player) failure(abort bool) *abi.ErrorValue {
	p.errors++
	e := &abi.ErrorValue{Handle: p.errors, Name: "Error", Message: fmt.Sprint("error ", p.errors), Status: 500, Abort: abort}
	if p.chance(3) {
		e.Cause = &abi.ErrorValue{Name: "TypeError", Message: "cause", Details: jsonValue(`[1,3]`)}
	}
	return e
}

// harmless sends frames that change nothing.
func (p *player) harmless() {
	switch p.random.IntN(4) {
	case 0:
		p.send(&abi.Tick{Turn: p.turn, Elapsed: p.elapsed})
	case 1:
		p.send(&abi.Result{Turn: p.turn + 1000, Effect: p.effect, Elapsed: p.elapsed})
	case 2:
		p.method(p.context(), abi.MethodNext, &abi.NextArgs{Effect: p.effect + 1000})
	case 3:
		if !p.alone {
			p.asked = p.context()
			p.method(p.asked, abi.MethodDigest, nil)
		}
	}
}

// close brings the turn closer to its end.
func (p *player) close() {
	if len(p.effects) == 0 {
		p.elapsed = max(p.elapsed, p.due)
		p.send(&abi.Tick{Turn: p.turn, Elapsed: p.elapsed})
		return
	}
	switch e := p.effects[len(p.effects)-1]; {
	case e.Kind == abi.EffectHTTP:
		p.stream(e)
	case e.Kind == abi.EffectMiddleware && !p.passed[e.Effect]:
		p.pass(e)
	case e.Kind == abi.EffectExecutor:
		p.method(e.Context, abi.MethodAck, nil)
		p.settle(e)
	default:
		p.settle(e)
	}
}
