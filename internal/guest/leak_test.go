package guest

import (
	"fmt"
	goruntime "runtime"
	"testing"

	"github.com/turncore/turncore/abi"
)

// busyTurn runs a turn that uses most per-turn state of the guest, and ends it in one of many ways.
func (w *wire) busyTurn(n int) {
	w.log, w.calls = w.log[:0], 0
	w.step(&abi.StartTurn{
		Op: abi.OpStartTurn, Turn: 1, Runner: 1, Seed: make([]byte, 16), ID: fmt.Sprint("turn", n), Stash: schemaOf(`{"a":1}`),
		Instructions: []abi.Instruction{{Handle: 1, Text: "be brief"}},
	})
	m := w.effect(abi.EffectMiddleware)
	w.step(&abi.Edit{Op: abi.OpEdit, Turn: 1, Collection: abi.CollectionMessages, Edit: abi.EditAddHistory, Handle: 2, Count: 3, History: 1})
	w.call(0, abi.MethodNext, &abi.NextArgs{Effect: m.Effect})
	w.result(m)
	e := w.effect(abi.EffectExecutor)
	w.ok(w.call(1, abi.MethodReport, &abi.ReportArgs{ID: fmt.Sprint("m", n), Delta: "Hi.", Complete: true}))
	w.ok(w.call(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 5, Data: message(fmt.Sprint("m", n), "Hi.")}))
	for range n % 4 { // calls that nobody awaits
		w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: abi.Raw{0x81, 0xa1, 'a', 1}})
		w.call(1, abi.MethodDispatch, &abi.DispatchArgs{Runner: 1})
	}
	for range n % 3 { // gates left open
		a := gateArgs()
		a.Schema, a.Timeout = schemaOf(`{"type":"boolean"}`), 1000
		w.openGate(1, a)
	}
	if n%3 > 0 {
		w.ok(w.call(0, abi.MethodSettleGate, &abi.SettleGateArgs{Gate: 1, Value: abi.Raw{0xc3}}))
	}
	switch n % 5 {
	case 0:
		w.ok(w.call(1, abi.MethodNack, &abi.NackArgs{}))
		w.result(e)
	case 1:
		w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1})
		w.result(e)
	case 2:
		w.fail(e, "broken")
	case 3:
		w.call(1, abi.MethodCommit, nil)
		w.call(1, abi.MethodDelete, &abi.DeleteArgs{Collection: abi.CollectionMessages, ID: "m1"})
		w.call(1, abi.MethodCommit, nil)
		w.fail(e, "broken")
		for number := e.Effect + 1 + 2*uint32(n%4); len(w.ends) == 0; number++ { // the iteration waits for them
			w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: number})
		}
	case 4:
		w.ok(w.call(1, abi.MethodAck, nil))
		w.result(e)
		w.result(w.effect(abi.EffectCommit))
	}
}

func heap() uint64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// After 10,000 turns no effect, coroutine, map entry or memory is left.
func TestTurnsLeaveNothingBehind(t *testing.T) {
	w := open(t, func(r *abi.OpenRunner) {
		withTool(r)
		r.TurnInput = []abi.Middleware{{}}
	})
	var block []byte
	for i := range 5 {
		block = append(block, mustBytes(message(fmt.Sprint("h", i), "x"))...)
	}
	w.step(&abi.History{Op: abi.OpHistory, History: 1, Collection: abi.CollectionMessages, Count: 5, Block: abi.Bytes(block)})
	var before uint64
	goroutines := 0
	for n := range 10_000 {
		if n == 2000 {
			before, goroutines = heap(), goruntime.NumGoroutine()
		}
		w.busyTurn(n)
		if len(w.in.turns) != 0 {
			t.Fatalf("turn %d did not end: %v", n, w.log)
		}
	}
	w.clean()
	if after := heap(); after > before+128<<10 {
		t.Errorf("after 2,000 turns %d bytes, after 10,000 %d", before, after)
	}
	if after := goruntime.NumGoroutine(); after != goroutines || len(w.in.coroutines) > 20 {
		t.Errorf("%d goroutines became %d; %d coroutines", goroutines, after, len(w.in.coroutines))
	}
	if n := len(w.in.spare); n > 64 {
		t.Errorf("%d spare effects", n)
	}
	if len(w.in.runners) != 1 || len(w.in.histories) != 1 {
		t.Errorf("%d runners, %d histories", len(w.in.runners), len(w.in.histories))
	}
	w.step(&abi.CloseRunner{Op: abi.OpCloseRunner, Runner: 1}, &abi.DropHistory{Op: abi.OpDropHistory, History: 1})
	if len(w.in.runners)+len(w.in.histories) != 0 {
		t.Error("what was closed is still there")
	}
}
