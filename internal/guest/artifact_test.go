package guest

import (
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/record"
)

func heldText(id string, inline bool) []byte {
	part := (&abi.TextPart{Part: abi.PartText, Bytes: 7}).Append(nil)
	return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Part: part, TrustTier: "first-party", Inline: inline})
}

func spooledText(id string) []byte {
	part := record.AppendArtifact(nil, "SpooledArtifact", 7, 2, "")
	return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Part: part, TrustTier: "first-party"})
}

func artifactCall(id string) []byte {
	return record.AppendToolCall(nil, record.ToolCallFields{
		ID: id, Tool: "fetch", Args: []byte{0x80}, Checksum: "sum", IsComplete: true, Results: record.AppendArtifact(nil, "SpooledArtifact", -1, -1, ""),
	})
}

func (w *wire) settle(e abi.Effect, value marshaler) {
	var raw abi.Raw
	if value != nil {
		raw = value.Append(nil)
	}
	w.step(&abi.Result{Op: abi.OpResult, Turn: e.Turn, Effect: e.Effect, Value: raw})
}

func item(handle int64, body []byte) *abi.Item {
	return &abi.Item{Handle: handle, Data: abi.Bytes(body)}
}

// addHeld adds records to the turn's collection whose texts the host holds.
func addHeld(first int64, ids ...string) *abi.Edit {
	var data []byte
	for _, id := range ids {
		data = append(data, heldText(id, false)...)
	}
	return &abi.Edit{Op: abi.OpEdit, Turn: 1, Collection: abi.CollectionRetrievables, Edit: abi.EditAdd, Handle: first, Count: uint32(len(ids)), Data: abi.Bytes(data)}
}

// The reply to a store has the handle of the stored record, in a turn and in a dispatch.
func TestStoreSpools(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}} })
	w.start()
	m := w.effect(abi.EffectMiddleware)
	store := func(context uint32, handle int64, body []byte) *abi.Reply {
		return w.call(context, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionRetrievables, Handle: handle, Data: abi.Bytes(body)})
	}
	store(0, 1, heldText("a", false))
	spool := w.effect(abi.EffectSpool)
	if args := decode[abi.SpoolArgs](t, spool.Args); args.Handle != 1 || spool.Context != 0 {
		t.Errorf("%+v of context %d", args, spool.Context)
	}
	w.settle(spool, item(2, spooledText("a")))
	write := w.effect(abi.EffectStore)
	if d := decode[abi.Delta](t, write.Args); d.Handle != 2 {
		t.Errorf("%+v", d)
	}
	w.result(write)
	if len(w.replies) != 1 || w.replies[0].Error != nil || !slices.Equal(w.replies[0].Value, []byte{2}) {
		t.Errorf("replies %+v", w.replies)
	}
	w.result(m)
	e := w.effects
	if len(e) != 0 {
		t.Fatalf("%+v", e)
	}
}

func TestStoreSpoolsInADispatch(t *testing.T) {
	w := open(t, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	if r := w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionRetrievables, Handle: 1, Data: abi.Bytes(heldText("i", true))}); r == nil || !slices.Equal(r.Value, []byte{1}) {
		t.Errorf("inline text: reply %+v", r)
	}
	w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionRetrievables, Handle: 2, Data: abi.Bytes(heldText("a", false))})
	spool := w.effect(abi.EffectSpool)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e) // the iteration waits for it, though the executor did not
	if len(w.effects) != 0 {
		t.Fatalf("%+v", w.effects)
	}
	w.settle(spool, item(3, spooledText("a")))
	if len(w.replies) != 1 || !slices.Equal(w.replies[0].Value, []byte{3}) {
		t.Errorf("replies %+v", w.replies)
	}
	commit := w.effect(abi.EffectCommit)
	if args := decode[abi.CommitArgs](t, commit.Args); len(args.Deltas) != 2 || args.Deltas[1].Handle != 3 {
		t.Errorf("%+v", args)
	}
	w.result(commit)
	w.want("turnStart dispatchStart iterationStart sync(1,2:0 +1) sync(1,2:0 +3) sync(0,2:0 +1) sync(0,2:0 +3) iterationEnd(0) dispatchEnd(0,1) turnEnd(0)")
	w.clean()
}

// At the start of a dispatch texts are spooled one after the other, before its first event.
func TestDispatchStartSpools(t *testing.T) {
	start := func() (*wire, abi.Effect) {
		w := open(t, func(r *abi.OpenRunner) { r.TurnInput = []abi.Middleware{{}} })
		w.start()
		m := w.effect(abi.EffectMiddleware)
		w.step(addHeld(1, "a", "b", "c"))
		w.call(0, abi.MethodNext, &abi.NextArgs{Effect: m.Effect})
		return w, m
	}
	w, m := start()
	w.result(m)
	w.settle(w.effect(abi.EffectSpool), item(10, spooledText("a")))
	w.settle(w.effect(abi.EffectSpool), nil) // it stays unchanged
	w.settle(w.effect(abi.EffectSpool), item(11, spooledText("c")))
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	got := strings.Join(w.log, " ")
	if !strings.HasPrefix(got, "turnStart sync(1,2:2 +1) sync(0,2:2 +1) sync(1,2:2 +3) sync(0,2:2 +3) dispatchStart iterationStart sync(1,7:7 +0)") {
		t.Errorf("log %s", got)
	}
	w.clean()

	// The first failure stops the spooling, and fails the dispatch before any event.
	w, m = start()
	w.result(m)
	w.settle(w.effect(abi.EffectSpool), item(10, spooledText("a")))
	w.fail(w.effect(abi.EffectSpool), "disk full")
	w.want("turnStart sync(1,2:2 +1) sync(0,2:2 +1) error(Error) turnEnd(3)")
	w.clean()

	// A turn that fails meanwhile leaves nothing behind.
	w, m = start()
	w.result(m)
	w.in.turns[1].end(3, 0, nil)
	w.step(&abi.Tick{Op: abi.OpTick, Turn: 1})
	w.clean()
}

// Answers that a host must not give are malformed frames.
func TestMalformedAnswersAboutArtifacts(t *testing.T) {
	ask := func(kind uint8) (*wire, abi.Effect) {
		w := open(t, func(r *abi.OpenRunner) { r.Encodings = []string{"gemma"} })
		w.start()
		w.effect(abi.EffectExecutor)
		switch kind {
		case abi.EffectSpool:
			w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionRetrievables, Handle: 5, Data: abi.Bytes(heldText("a", false))})
		default:
			w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionToolCalls, Handle: 5, Data: abi.Bytes(artifactCall("c"))}))
			w.next(w.in.turns[1])
			tool := "artifact_cat"
			args := `{"callId":"c"}`
			if kind == abi.EffectEstimate {
				tool, args = "artifact_estimate_tokens", `{"callId":"c","encoding":"gemma"}`
			}
			w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: w.numberOf(tool), Args: schemaOf(args)})
		}
		return w, w.effect(kind)
	}
	for name, c := range map[string]struct {
		kind uint8
		raw  []byte
	}{
		"a record that is none":          {abi.EffectSpool, []byte{0xa1, 'x'}},
		"a handle that is not above":     {abi.EffectSpool, raw(item(4, spooledText("a")))},
		"a handle that nobody knows":     {abi.EffectSpool, raw(item(9, nil))},
		"nothing read":                   {abi.EffectRead, []byte{0xc0}},
		"lines that are none":            {abi.EffectRead, schemaOf(`[1,1,[2]]`)},
		"lines that are no list":         {abi.EffectRead, schemaOf(`[1,1,"a"]`)},
		"more lines than bytes":          {abi.EffectRead, []byte{0x93, 1, 1, 0xdd, 0x00, 0xff, 0xff, 0xff}},
		"a negative size":                {abi.EffectRead, schemaOf(`[-1,1,[]]`)},
		"a field more":                   {abi.EffectRead, schemaOf(`[1,1,["a"],1]`)},
		"an estimate that is not a list": {abi.EffectEstimate, schemaOf(`5`)},
		"an estimate of several texts":   {abi.EffectEstimate, schemaOf(`[5,6]`)},
		"a negative estimate":            {abi.EffectEstimate, schemaOf(`[-5]`)},
	} {
		w, e := ask(c.kind)
		w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect, Value: c.raw})
		if len(w.faults) != 1 || !strings.HasPrefix(w.faults[0].Code, "E_ABI_") {
			t.Errorf("%s: faults %+v, replies %+v", name, w.faults, w.replies)
		}
	}
}

func raw(m marshaler) []byte {
	b := m.Append(nil)
	return b
}

// next ends the open iteration and steps to the next one's executor.
func (w *wire) next(t *turn) {
	w.t.Helper()
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: t.effects[0].number})
	w.result(w.effect(abi.EffectCommit))
	w.effect(abi.EffectExecutor)
}

// numberOf finds a tool of a dispatch by its name.
func (w *wire) numberOf(name string) uint32 {
	w.t.Helper()
	tool, ok := w.in.turns[1].run.DispatchContext(1).Tools().Get(name)
	if !ok {
		w.t.Fatalf("there is no tool %s", name)
	}
	return tool.Number
}

// H10 in frames: the tools are defined and registered; one runs in the module with the usual events, and reads ranges
// of lines.
func TestReaderToolOverTheWire(t *testing.T) {
	w := open(t, nil)
	w.start()
	w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionToolCalls, Handle: 1, Data: abi.Bytes(artifactCall("c"))}))
	executor := w.in.turns[1].effects[0].number
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: executor})
	commit := w.effect(abi.EffectCommit)

	var defs []abi.ToolDef
	var registered []byte
	batch := (&abi.Result{Op: abi.OpResult, Turn: 1, Effect: commit.Effect}).Append(nil)
	out := slices.Clone(w.in.Step(batch))
	for rest := out; len(rest) > 0; {
		op, frame, after, err := abi.Next(rest, abi.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if rest = after; op != abi.OpSync {
			continue
		}
		s := decode[abi.Sync](t, frame)
		data, _ := abi.BytesOf(s.Data)
		switch {
		case s.Collection == abi.CollectionTools && s.Sync == abi.SyncDefine:
			defs = append(defs, decode[abi.ToolDef](t, data))
		case s.Collection == abi.CollectionTools && s.Sync == abi.SyncTools:
			registered = slices.Clone(data)
		}
	}
	w.take(out)
	want := value.AppendListHeader(nil, len(defs))
	for i, def := range defs {
		if def.Number != 2147483648+uint32(i) || def.Flags != abi.ToolArtifact|abi.ToolEphemeral || def.OnCollision != abi.CollisionReplace || def.Builtin != "" || def.Description == "" {
			t.Errorf("%+v", def)
		}
		want = value.AppendInt(want, int64(def.Number))
	}
	if len(defs) < 6 || !slices.Equal(registered, want) {
		t.Fatalf("%d tools, registered %x", len(defs), registered)
	}
	properties, _ := value.Get(defs[0].InputSchema, "properties")
	callID, _ := value.Get(properties, "callId")
	enum, _ := value.Get(callID, "enum")
	if defs[0].Name != "artifact_head" || !value.Equal(enum, schemaOf(`["c"]`)) {
		t.Errorf("%s offers %x", defs[0].Name, enum)
	}

	w.log = nil
	w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: w.numberOf("artifact_cat"), Args: schemaOf(`{"callId":"c","start":2,"end":9}`)})
	read := w.effect(abi.EffectRead)
	if a := decode[abi.ReadArgs](t, read.Args); read.Context != 1 || a.Handle != 1 || a.Part != 0 || a.Read != abi.ReadLines || a.From != 2 || a.To != 9 || a.Max == 0 {
		t.Errorf("%+v of context %d", a, read.Context)
	}
	w.settle(read, &abi.ReadResult{Bytes: 20, Count: 4, Lines: []string{"beta"}})
	read = w.effect(abi.EffectRead)
	if a := decode[abi.ReadArgs](t, read.Args); a.From != 3 || a.To != 4 {
		t.Errorf("%+v", a)
	}
	w.settle(read, &abi.ReadResult{Bytes: 20, Count: 4, Lines: []string{"bananä"}})
	if len(w.replies) != 1 || !value.Equal(w.executed(&w.replies[0]).Value, schemaOf(`"beta\nbananä"`)) {
		t.Errorf("replies %+v", w.replies)
	}
	w.want("toolStart toolEnd")

	r := w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: w.numberOf("artifact_cat"), Args: schemaOf(`{"callId":"d"}`)})
	if f := w.failure(r); f.Code != abi.CodeInvalidToolArgs {
		t.Errorf("%+v", f)
	}
	r = w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 2147483648 + 100, Args: schemaOf(`{}`)})
	if f := w.failure(r); f.Code != abi.CodeABIUnknownTarget {
		t.Errorf("%+v", f)
	}
	w.log = nil
	w.ok(w.call(1, abi.MethodAck, nil))
	w.want("sync(1,7:4 +0)")
}

// Estimates by the host's tokenizer refer to the artifact, not to its text.
func TestEstimateOverTheWire(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.Encodings = []string{"gemma"} })
	w.start()
	w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionToolCalls, Handle: 1, Data: abi.Bytes(artifactCall("c"))}))
	w.next(w.in.turns[1])
	w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: w.numberOf("artifact_estimate_tokens"), Args: schemaOf(`{"callId":"c","encoding":"gemma"}`)})
	e := w.effect(abi.EffectEstimate)
	if a := decode[abi.EstimateArgs](t, e.Args); a.Encoding != "gemma" || a.Handle != 1 || len(a.Texts) != 0 {
		t.Errorf("%+v", a)
	}
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect, Value: schemaOf(`[321]`)})
	if len(w.replies) != 1 || !value.Equal(w.executed(&w.replies[0]).Value, schemaOf(`"321"`)) {
		t.Errorf("replies %+v", w.replies)
	}
}

// A host makes the tools of its own classes between the two syncs and its input pipeline.
func TestForgeOverTheWire(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) { r.DispatchInput = []abi.Middleware{{}} })
	body := record.AppendToolCall(nil, record.ToolCallFields{
		ID: "c", Tool: "q", Args: []byte{0x80}, Checksum: "s", IsComplete: true, Results: record.AppendArtifact(nil, "Table", 1, 1, ""),
	})
	block := (&abi.StartTurn{
		Op: abi.OpStartTurn, Turn: 1, Runner: 1, Standalone: true, Seed: make([]byte, 16), ID: "T", SystemPrompt: "test",
		Initial: []abi.Block{{Collection: abi.CollectionToolCalls, Handle: 1, Count: 1, Data: abi.Bytes(body)}},
	}).Append(nil)
	w.take(w.in.Step(block))
	forge := w.effect(abi.EffectForge)
	if a := decode[abi.ForgeArgs](t, forge.Args); forge.Context != 1 || !slices.Equal(a.Classes, []string{"Table"}) {
		t.Errorf("%+v of context %d", a, forge.Context)
	}
	def := (&abi.ToolDef{Number: 65536, Name: "rows", InputSchema: schemaOf(`{"type":"object"}`), Flags: abi.ToolEphemeral}).Append(nil)
	w.step(
		&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: abi.CollectionTools, Edit: abi.EditDefine, Data: abi.Bytes(def)},
		&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: abi.CollectionTools, Edit: abi.EditRegister, Handle: 65536},
		&abi.Result{Op: abi.OpResult, Turn: 1, Effect: forge.Effect},
	)
	m := w.effect(abi.EffectMiddleware)
	if w.numberOf("rows") != 65536 || w.numberOf("artifact_head") < 2147483648 {
		t.Error("tools")
	}
	w.call(1, abi.MethodNext, &abi.NextArgs{Effect: m.Effect})
	w.result(m)
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodAck, nil))
	w.result(e)
	w.clean()
}
