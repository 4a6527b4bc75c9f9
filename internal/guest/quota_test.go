package guest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/runtime"
)

// openBounded is open with a quota.
func openBounded(t testing.TB, quota abi.Quota, configure func(*abi.OpenRunner)) *wire {
	w := &wire{t: t, in: New(provider.OpenAI)}
	w.step(&abi.Hello{Op: abi.OpHello, Major: abi.Major, Features: supported, Quota: quota, Seed: make([]byte, abi.SeedSize)})
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

func (w *wire) begin(number uint32) abi.Effect {
	w.step(&abi.StartTurn{Op: abi.OpStartTurn, Turn: number, Runner: 1, Seed: make([]byte, abi.SeedSize), ID: fmt.Sprint("T", number)})
	return w.effect(abi.EffectExecutor)
}

// ended checks that the turn failed over its quota in the last step, and that nothing of it is left.
func (w *wire) endedOver(turn uint32) {
	w.t.Helper()
	if len(w.ends) != 1 || w.ends[0].Turn != turn || w.ends[0].Status != abi.StatusFailed || w.ends[0].Error.Code != abi.CodeTurnQuotaExceeded {
		w.t.Fatalf("ends %+v, replies %+v, faults %+v", w.ends, w.replies, w.faults)
	}
	if len(w.faults) != 0 {
		w.t.Errorf("faults %+v", w.faults)
	}
}

// Whatever exceeds the quota, the turn fails with its events in order, and another one goes on.
func TestTurnQuota(t *testing.T) {
	const bound = 1 << 16
	large := strings.Repeat("x", bound)
	begin := "turnStart dispatchStart iterationStart "
	broken := "iterationEnd(1) dispatchEnd(1,1) error(E_TURN_QUOTA_EXCEEDED) turnEnd(3)"
	for name, c := range map[string]struct {
		configure func(*abi.OpenRunner)
		exceed    func(w *wire, e abi.Effect)
		replies   int
	}{
		"a stored record": {nil, func(w *wire, _ abi.Effect) {
			w.step(w.frame(1, abi.MethodStore, &abi.StoreArgs{Collection: abi.CollectionMessages, Handle: 1, Data: message("m", large)}))
		}, 1},
		"records that are added": {nil, func(w *wire, _ abi.Effect) {
			w.step(&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: abi.CollectionMessages, Edit: abi.EditAdd, Handle: 1, Count: 1, Data: message("m", large)})
		}, 0},
		"a history": {nil, func(w *wire, _ abi.Effect) {
			w.step(&abi.History{Op: abi.OpHistory, History: 1, Collection: abi.CollectionMessages, Count: 1, Block: message("m", large)})
			w.step(&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: 1, Collection: abi.CollectionMessages, Edit: abi.EditAddHistory, Handle: 1, Count: 1, History: 1})
			w.in.quota.DropHistory(w.in.histories[1])
		}, 0},
		"reported arguments": {nil, func(w *wire, _ abi.Effect) {
			w.step(w.frame(1, abi.MethodReportToolCall, &abi.ReportToolCallArgs{ID: "c", HasTool: true, Tool: "t", Args: schemaOf(`{"a":"` + large + `"}`)}))
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := openBounded(t, abi.Quota{Turn: bound}, c.configure)
			other := w.begin(2)
			w.log = nil
			e := w.begin(1)
			c.exceed(w, e)
			w.endedOver(1)
			if len(w.replies) != c.replies || c.replies == 1 && w.failure(&w.replies[0]).Code != abi.CodeTurnQuotaExceeded {
				t.Errorf("replies %+v", w.replies)
			}
			if got := strings.Join(w.log, " "); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, broken) {
				t.Errorf("log %s", got)
			}
			w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect}) // of a turn that has ended
			w.step(&abi.Call{Op: abi.OpCall, Turn: 2, Call: 1, Context: 1, Method: abi.MethodAck})
			w.result(other)
			if len(w.ends) != 1 || w.ends[0].Status != abi.StatusAck {
				t.Errorf("the other turn: %+v", w.ends)
			}
			w.clean()
			if n := w.in.quota.Held(); n != 0 {
				t.Errorf("%d bytes are held", n)
			}
		})
	}
}

// Many writes are queued without new records.
func TestQuotaOfQueuedWrites(t *testing.T) {
	w := openBounded(t, abi.Quota{Turn: 10_000}, nil)
	w.begin(1)
	for i := 0; len(w.ends) == 0; i++ {
		if i > 200 {
			t.Fatal("a queue without an end")
		}
		w.step(w.frame(1, abi.MethodDelete, &abi.DeleteArgs{Collection: abi.CollectionMessages, ID: "m"}))
	}
	w.endedOver(1)
	w.clean()
}

// If a built-in executor exceeds a bound, the turn fails, not only the dispatch.
func TestQuotaOfTheModulesOwn(t *testing.T) {
	for name, exceed := range map[string]executorFunc{
		"a record": func(_ runtime.Task, d *runtime.Dispatch) error {
			return d.StoreBody(3, make([]byte, 1<<16))
		},
		"a request": func(task runtime.Task, d *runtime.Dispatch) error {
			_, err := task.Request(&runtime.HTTPRequest{Context: d.Number(), Body: make([]byte, 1<<16)})
			return err
		},
		"a request, nacked": func(task runtime.Task, d *runtime.Dispatch) error {
			_, err := task.Generate(&runtime.ModelRequest{Context: d.Number(), Body: make([]byte, 1<<16)})
			return d.Nack(err)
		},
		"a stream": func(_ runtime.Task, d *runtime.Dispatch) error { return d.HoldStream(1 << 16) },
		"nobody listens": func(_ runtime.Task, d *runtime.Dispatch) error {
			_ = d.HoldStream(1 << 16)
			return d.Ack()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := openBounded(t, abi.Quota{Turn: 1 << 16}, nil)
			w.in.runners[1].Executor = executorFunc(func(task runtime.Task, d *runtime.Dispatch) error {
				if err := d.HoldStream(1); err != nil {
					t.Error(err)
				}
				return exceed(task, d)
			})
			w.start()
			w.endedOver(1)
			if got := w.log[len(w.log)-1]; got != "turnEnd(3)" {
				t.Errorf("log %v", w.log)
			}
			w.clean()
			if n := w.in.quota.Held(); n != 0 {
				t.Errorf("%d bytes are held", n)
			}
		})
	}
}

// Received but unread data counts; read data does not.
func TestQuotaOfOpenStreams(t *testing.T) {
	for _, slow := range []bool{false, true} {
		w := openBounded(t, abi.Quota{Turn: 1000}, nil)
		w.in.runners[1].Executor = executorFunc(func(task runtime.Task, d *runtime.Dispatch) error {
			s, err := task.Request(&runtime.HTTPRequest{Context: d.Number()})
			if err != nil {
				return err
			}
			for !slow {
				if _, more, err := s.Next(); err != nil || !more {
					break
				}
			}
			if slow {
				_ = task.Sleep(d.Number(), 1000)
			}
			return d.Ack()
		})
		w.start()
		e := w.effect(abi.EffectHTTP)
		w.chunk(e, 0, 200, "")
		for range 20 {
			w.chunk(e, 0, 0, strings.Repeat("x", 100))
			if len(w.ends) > 0 {
				break
			}
		}
		if slow {
			w.endedOver(1)
		} else if w.result(e); len(w.ends) != 1 || w.ends[0].Status != abi.StatusAck {
			t.Errorf("ends %+v", w.ends)
		}
		w.clean()
		if n := w.in.quota.Held(); n != 0 {
			t.Errorf("slow %v: %d bytes are held", slow, n)
		}
	}
}

// Turns within their own bound share the instance's; a common history counts once.
func TestInstanceQuota(t *testing.T) {
	w := openBounded(t, abi.Quota{Turn: 10_000, Instance: 20_000}, nil)
	w.step(&abi.History{Op: abi.OpHistory, History: 1, Collection: abi.CollectionMessages, Count: 1, Block: message("h", strings.Repeat("x", 5000))})
	var effects []abi.Effect
	for n := uint32(1); n <= 10; n++ {
		effects = append(effects, w.begin(n))
		w.step(&abi.Edit{Op: abi.OpEdit, Turn: n, Context: 1, Collection: abi.CollectionMessages, Edit: abi.EditAddHistory, Handle: 1, Count: 1, History: 1})
		if len(w.ends) != 0 {
			t.Fatalf("turn %d: %+v", n, w.ends)
		}
	}
	grow := func(n uint32) {
		w.step(&abi.Edit{Op: abi.OpEdit, Turn: n, Context: 1, Collection: abi.CollectionMessages, Edit: abi.EditAdd, Handle: 2, Count: 1, Data: message("m", strings.Repeat("x", 4000))})
	}
	for n := uint32(1); n <= 3; n++ {
		if grow(n); len(w.ends) != 0 {
			t.Fatalf("turn %d: %+v", n, w.ends)
		}
	}
	grow(4)
	w.endedOver(4)
	if grow(5); len(w.ends) == 0 {
		t.Error("turn 5 went beyond the quota and did not end")
	}
	// After DropHistory it counts as long as a turn uses it.
	w.step(&abi.DropHistory{Op: abi.OpDropHistory, History: 1})
	if n := w.in.quota.Held(); n < 17_000 {
		t.Errorf("%d bytes are held", n)
	}
	for i, e := range effects {
		if w.in.turns[uint32(i+1)] != nil {
			w.step(&abi.Abort{Op: abi.OpAbort, Turn: e.Turn})
			w.result(e)
		}
	}
	w.clean()
	if n := w.in.quota.Held(); n != 0 {
		t.Errorf("%d bytes are held", n)
	}
}

// frame is a call of turn 1.
func (w *wire) frame(context uint32, method uint8, args marshaler) *abi.Call {
	w.calls++
	f := &abi.Call{Op: abi.OpCall, Turn: 1, Call: w.calls, Context: context, Method: method}
	f.Args = args.Append(nil)
	return f
}
