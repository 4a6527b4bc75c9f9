package guest

import (
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"testing"

	"github.com/turncore/turncore/abi"
)

// validFrames are frames of every type, and calls of every method, that tryOn's instance accepts.
func validFrames() map[string]marshaler {
	reason := &abi.ErrorValue{
		Handle: 7, Name: "Error", Message: "no", Details: schemaOf(`[1,2]`), Cause: &abi.ErrorValue{Name: "TypeError"},
		Suppressed: []abi.ErrorValue{{Name: "Error", Code: "E_X"}},
	}
	def := (&abi.ToolDef{Number: 70000, Name: "own", InputSchema: schemaOf(`{"type":"object"}`)}).Append(nil)
	body := message("m1", "text")
	frames := map[string]marshaler{
		"Hello": &abi.Hello{Op: abi.OpHello, Major: abi.Major, Seed: make([]byte, abi.SeedSize)},
		"OpenRunner": &abi.OpenRunner{
			Op: abi.OpOpenRunner, Runner: 2, Call: 1, Tools: []abi.ToolDef{{Number: 1, Name: "t", InputSchema: schemaOf(`{"type":"object","properties":{"a":{"type":"string","pattern":"^a+$"}}}`)}},
			TurnInput: []abi.Middleware{{}}, DispatchInput: []abi.Middleware{{Kind: 1, Name: "maxIterations", Arg: abi.Raw{5}}},
		},
		"OpenRunner chat": &abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 2, Call: 1, Executor: abi.ExecutorChat, Chat: schemaOf(`{"model":"m","baseURL":"http://h/v1"}`)},
		"CloseRunner":     &abi.CloseRunner{Op: abi.OpCloseRunner, Runner: 1},
		"History":         &abi.History{Op: abi.OpHistory, History: 1, Collection: 3, Count: 1, Block: body},
		"DropHistory":     &abi.DropHistory{Op: abi.OpDropHistory, History: 1},
		"StartTurn": &abi.StartTurn{
			Op: abi.OpStartTurn, Turn: 2, Runner: 1, Now: 1, Seed: make([]byte, 16), ID: "T2", SystemPrompt: "p", Instructions: []abi.Instruction{{Handle: 1, Text: "i"}},
			Stash: schemaOf(`{"a":[1,{"b":2}]}`), Message: abi.Block{Collection: 3, Handle: 2, Count: 1, Data: body},
		},
		"StartTurn standalone": &abi.StartTurn{
			Op: abi.OpStartTurn, Turn: 2, Runner: 1, Standalone: true, Seed: make([]byte, 16), ID: "T2",
			Initial: []abi.Block{{Collection: 3, Handle: 3, Count: 1, Data: body}},
		},
		"Edit Add":        &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 3, Edit: abi.EditAdd, Handle: 9, Count: 1, Data: body},
		"Edit Replace":    &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 3, Edit: abi.EditReplace, Handle: 1, Other: 9, Data: body},
		"Edit AddHistory": &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 3, Edit: abi.EditAddHistory, Handle: 9, Count: 1, History: 9},
		"Edit Set":        &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 6, Edit: abi.EditSet, Data: abi.Bytes([]byte{0xa1, 'k', 0x91, 5})},
		"Edit Unset":      &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 6, Edit: abi.EditUnset, Data: abi.Bytes([]byte{0xa1, 'k'})},
		"Edit Define":     &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 7, Edit: abi.EditDefine, Data: abi.Bytes(def)},
		"Edit Register":   &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 7, Edit: abi.EditRegister, Handle: 1},
		"Edit Unregister": &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 7, Edit: abi.EditUnregister, Data: abi.Bytes([]byte{0xa1, 'k'})},
		"Edit Hidden":     &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 7, Edit: abi.EditHidden, Data: abi.Bytes([]byte{0x92, 0xa1, 'k', 0xa1, 'j'})},
		"Result":          &abi.Result{Op: abi.OpResult, Turn: 1, Effect: 1, Elapsed: 5},
		"Result failed":   &abi.Result{Op: abi.OpResult, Turn: 1, Effect: 1, Error: reason},
		"Chunk":           &abi.Chunk{Op: abi.OpChunk, Turn: 9, Effect: 5, Status: 200, Headers: [][]string{{"a", "b"}}, Data: abi.Bytes([]byte("x"))},
		"Abort":           &abi.Abort{Op: abi.OpAbort, Turn: 1, Context: 1, Reason: reason},
		"Tick":            &abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 300},
		"GCPercent":       &abi.GCPercent{Op: abi.OpGCPercent, Percent: 50},
	}
	store := &abi.StoreArgs{Collection: 3, Handle: 9, Data: body, Old: "x"}
	for method, args := range map[uint8]marshaler{
		abi.MethodNext: &abi.NextArgs{Effect: 1}, abi.MethodStore: store, abi.MethodMutate: store, abi.MethodDelete: &abi.DeleteArgs{Collection: 3, ID: "m0"},
		abi.MethodReplaceGroup: &abi.ReplaceGroupArgs{IDs: []string{"a"}, Items: []abi.Item{{Handle: 9, Data: body}}},
		abi.MethodAck:          nil, abi.MethodNack: &abi.NackArgs{Error: &abi.ErrorValue{Handle: 1, Name: "Error", Message: "x"}},
		abi.MethodReport:         &abi.ReportArgs{ID: "s", Delta: "text", Complete: true},
		abi.MethodInterrupt:      &abi.InterruptArgs{ID: "i", Delta: "text"},
		abi.MethodReportToolCall: &abi.ReportToolCallArgs{ID: "c", HasTool: true, Tool: "add", Args: schemaOf(`{"a":1}`), Complete: true},
		abi.MethodLog:            &abi.LogArgs{Level: 2, Kind: "k", Message: "m", HasPayload: true, Payload: schemaOf(`{"a":1}`)},
		abi.MethodStats:          &abi.StatsArgs{Stats: schemaOf(`{"totalTokens":1}`)},
		abi.MethodExecuteTool:    &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":1}`)},
		abi.MethodToolCallCount:  &abi.CountArgs{Checksum: "s"}, abi.MethodCommit: nil, abi.MethodDispatch: &abi.DispatchArgs{Runner: 1},
		abi.MethodDigest: nil, abi.MethodEmit: &abi.EmitArgs{Kind: abi.EventLog, Payload: schemaOf(`{"a":1}`)},
	} {
		f := &abi.Call{Op: abi.OpCall, Turn: 1, Call: 3, Elapsed: 7, Context: 1, Method: method}
		if args != nil {
			f.Args = args.Append(nil)
		}
		frames[fmt.Sprint("Call ", method)] = f
	}
	return frames
}

// sample is a valid frame, and an instance that takes it.
type sample struct {
	frame marshaler
	on    func(testing.TB) *wire
}

// samples are those of turns and of sessions.
func samples() map[string]sample {
	all := sessionSamples()
	for name, f := range validFrames() {
		all[name] = sample{f, tryOn}
	}
	return all
}

// tryOn returns an instance with a runner, a history and a turn in its executor that has stored a message.
func tryOn(t testing.TB) *wire {
	w := open(t, withTool)
	w.step(&abi.History{Op: abi.OpHistory, History: 9, Collection: 3, Count: 1, Block: message("h", "x")})
	w.start()
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: 3, Handle: 1, Data: message("m0", "x")}))
	return w
}

// give steps through any bytes: the output is frames, at most one of them a Fault, and the instance goes on.
func give(t testing.TB, w *wire, batch []byte, what string) {
	t.Helper()
	w.log, w.faults = nil, nil
	w.take(w.in.Step(batch))
	if len(w.faults) > 1 || len(w.faults) == 1 && w.faults[0].Code == "" {
		t.Fatalf("%s: faults %+v", what, w.faults)
	}
	w.step(&abi.Call{Op: abi.OpCall, Turn: 999, Call: 1})
	if len(w.replies) != 1 {
		t.Fatalf("%s: the instance does not answer any more", what)
	}
	w.in.Close()
}

func TestValidFramesAreTaken(t *testing.T) {
	for name, s := range samples() {
		if name == "Hello" { // a second Hello
			continue
		}
		w := s.on(t)
		if w.step(s.frame); len(w.faults) > 0 {
			t.Errorf("%s: %+v", name, w.faults)
		}
		w.in.Close()
	}
}

// The largest times of a frame give readable frames, and times beyond them a fault.
func TestLastTimes(t *testing.T) {
	for name, f := range validFrames() {
		for _, elapsed := range []uint64{abi.MaxInt, abi.MaxInt + 1, 1 << 62} {
			field := reflect.ValueOf(f).Elem().FieldByName("Elapsed")
			if !field.IsValid() {
				continue
			}
			field.SetUint(elapsed)
			frame := f.Append(nil)
			w, gate := tryOn(t), gateArgs()
			gate.Timeout = abi.MaxInt
			args := gate.Append(nil)
			w.step(&abi.Call{Op: abi.OpCall, Turn: 1, Call: 9, Elapsed: 1, Method: abi.MethodOpenGate, Args: args})
			w.take(w.in.Step(frame))
			if bad := len(w.faults) == 1; bad != (elapsed > abi.MaxInt) {
				t.Errorf("%s at %d: faults %+v", name, elapsed, w.faults)
			}
			give(t, w, nil, name)
		}
	}
}

func TestTruncatedFrames(t *testing.T) {
	n := 0
	for name, s := range samples() {
		frame := s.frame.Append(nil)
		for size := 1; size < len(frame); size++ {
			w := s.on(t)
			w.take(w.in.Step(frame[:size]))
			if len(w.faults) != 1 {
				t.Fatalf("%s cut after %d of %d bytes: faults %+v", name, size, len(frame), w.faults)
			}
			w.in.Close()
			n++
		}
	}
	t.Logf("%d frames", n)
}

func TestFlippedBytes(t *testing.T) {
	n := 0
	for name, s := range samples() {
		frame := s.frame.Append(nil)
		for i := range frame {
			for _, flip := range []byte{0x01, 0x10, 0x40, 0x80, 0xff} {
				bad := slices.Clone(frame)
				bad[i] ^= flip
				give(t, s.on(t), bad, fmt.Sprintf("%s, byte %d ^ %#x", name, i, flip))
				n++
			}
		}
	}
	t.Logf("%d frames", n)
}

// Frames after a bad one are dropped, frames before it are not.
func TestFaultDropsTheRest(t *testing.T) {
	w := tryOn(t)
	good := (&abi.Call{Op: abi.OpCall, Turn: 1, Call: 50, Context: 1, Method: abi.MethodDigest}).Append(nil)
	later := (&abi.Call{Op: abi.OpCall, Turn: 1, Call: 51, Context: 1, Method: abi.MethodDigest}).Append(nil)
	w.take(w.in.Step(slices.Concat(good, []byte{0x91, 30}, later)))
	if len(w.faults) != 1 || w.faults[0].Offset != uint32(len(good)) || w.faults[0].Code != abi.CodeABIUnknownFrame || len(w.replies) != 1 || w.replies[0].Call != 50 {
		t.Errorf("faults %+v, replies %+v", w.faults, w.replies)
	}
}

// allocated returns how many bytes a function allocates.
func allocated(fn func()) uint64 {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	fn()
	goruntime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Small frames that promise much allocate little: at most 1 MiB and 64 bytes for each of their own.
func TestHostileFramesAllocateLittle(t *testing.T) {
	check := func(name string, w *wire, batch []byte) {
		t.Helper()
		var out []byte
		if n, most := allocated(func() { out = w.in.Step(batch) }), uint64(1<<20+64*len(batch)); n > most {
			t.Errorf("%s: %d bytes of frame allocate %d, at most %d", name, len(batch), n, most)
		}
		w.take(out)
		w.in.Close()
	}
	promise := map[string][]byte{
		"array": {0xdd, 0xff, 0xff, 0xff, 0xff}, "map": {0xdf, 0xff, 0xff, 0xff, 0xff}, "string": {0xdb, 0xff, 0xff, 0xff, 0xff},
		"bytes": {0xc6, 0xff, 0xff, 0xff, 0xff}, "short array": {0xdc, 0x20, 0x00},
	}
	for name, s := range samples() {
		frame := s.frame.Append(nil)
		for i := 1; i <= len(frame); i++ {
			for what, bytes := range promise {
				check(fmt.Sprintf("%s with %s at %d", name, what, i), s.on(t), slices.Concat(frame[:i], bytes))
			}
		}
	}
	// Frames with as many small elements as possible.
	many := func(n int, element ...byte) (raw abi.Raw) {
		raw = abi.Raw{0xdc, byte(n >> 8), byte(n)}
		for range n {
			raw = append(raw, element...)
		}
		return raw
	}
	for name, f := range map[string]marshaler{
		"nil tools":       &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 7, Edit: abi.EditHidden, Data: abi.Bytes(many(8192, 0xa0))},
		"many handles":    &abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 3, Edit: abi.EditAdd, Handle: 9, Count: 1<<32 - 1, Data: abi.Bytes(make([]byte, 100))},
		"many ids":        &abi.Call{Op: abi.OpCall, Turn: 1, Call: 9, Context: 1, Method: abi.MethodReplaceGroup, Args: slices.Concat(abi.Raw{0x92}, many(8192, 0xa0), abi.Raw{0x90})},
		"many items":      &abi.Call{Op: abi.OpCall, Turn: 1, Call: 9, Context: 1, Method: abi.MethodReplaceGroup, Args: slices.Concat(abi.Raw{0x92, 0x90}, many(8192, 0x92, 1, 0xc0))},
		"many suppressed": &abi.Result{Op: abi.OpResult, Turn: 1, Effect: 1, Error: &abi.ErrorValue{Suppressed: make([]abi.ErrorValue, 64)}},
		"many headers":    &abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: 1, Headers: slices.Repeat([][]string{{}}, 8192)},
		"stash":           &abi.StartTurn{Op: abi.OpStartTurn, Turn: 2, Runner: 1, Seed: make([]byte, abi.SeedSize), Stash: abi.Raw(manyKeys(8192))},
		"instructions":    &abi.StartTurn{Op: abi.OpStartTurn, Turn: 2, Runner: 1, Seed: make([]byte, abi.SeedSize), Instructions: make([]abi.Instruction, 8192)},
		"blocks":          &abi.StartTurn{Op: abi.OpStartTurn, Turn: 2, Runner: 1, Seed: make([]byte, abi.SeedSize), Initial: make([]abi.Block, 8192)},
		"middleware":      &abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 3, TurnInput: make([]abi.Middleware, 8192)},
		"tools":           &abi.OpenRunner{Op: abi.OpOpenRunner, Runner: 3, Tools: make([]abi.ToolDef, 8192)},
		"violations":      &abi.Call{Op: abi.OpCall, Turn: 1, Call: 9, Context: 1, Method: abi.MethodExecuteTool, Args: slices.Concat(abi.Raw{0x93, 2, 0xa0}, manyKeys(8192))},
	} {
		w := tryOn(t)
		def := (&abi.ToolDef{Number: 2, Name: "strict", InputSchema: schemaOf(`{"type":"object","additionalProperties":false}`)}).Append(nil)
		w.step(&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: 7, Edit: abi.EditDefine, Data: abi.Bytes(def)})
		batch := f.Append(nil)
		check(name, w, batch)
	}
}

func manyKeys(n int) []byte {
	b := []byte{0xde, byte(n >> 8), byte(n)}
	for i := range n {
		b = append(b, 0xa3, '0'+byte(i>>12), '0'+byte(i>>6&63), '0'+byte(i&63), 1)
	}
	return b
}

// FuzzTurn passes any bytes to an instance in the middle of a turn.
func FuzzTurn(f *testing.F) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range validFrames() {
			if !yield(name) {
				return
			}
		}
	}) {
		frame := validFrames()[name].Append(nil)
		f.Add(frame)
		result := validFrames()["Result"].Append(nil)
		f.Add(slices.Concat(frame, result))
	}
	f.Fuzz(func(t *testing.T, batch []byte) {
		give(t, tryOn(t), batch, "fuzz")
	})
}
