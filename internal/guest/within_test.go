package guest

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// timed runs a turn whose executor waits for body within 100 ms, and returns its observations.
func timed(t *testing.T, body func(task runtime.Task, d *runtime.Dispatch) error) (w *wire, late *bool, failure *error) {
	w = open(t, withTool)
	late, failure = new(bool), new(error)
	w.in.runners[1].Executor = executorFunc(func(task runtime.Task, d *runtime.Dispatch) error {
		*late = task.(*coroutine).within(100, errSlow, func(task runtime.Task) {
			*failure = body(task, d)
		}, func(err error) {
			*failure = err
		})
		return d.Ack()
	})
	w.start()
	return w, late, failure
}

var errSlow = errors.New("too slow")

func callAdd(task runtime.Task, d *runtime.Dispatch) error {
	tool, _ := d.Tools().Get("add")
	_, err := d.ExecuteTool(task, tool, []byte{0x80}, runtime.ToolRun{Timed: true})
	return err
}

// After the time limit, the body's wait and its later requests fail.
func TestWithin(t *testing.T) {
	tests := []struct {
		name string
		body func(task runtime.Task, d *runtime.Dispatch) error
	}{
		{"a tool", callAdd},
		{"sleep", func(task runtime.Task, d *runtime.Dispatch) error { return task.Sleep(d.Number(), 1000) }},
		{"one thing after another", func(task runtime.Task, d *runtime.Dispatch) error {
			for {
				if err := callAdd(task, d); err != nil && fault.MessageOf(err) != "" {
					if err := callAdd(task, d); err == nil {
						return errors.New("a call of a task that was given up")
					}
					return err
				}
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, late, failure := timed(t, tt.body)
			asked := w.effects
			if *late || len(w.timers) == 0 || w.timers[len(w.timers)-1] != 100 {
				t.Fatalf("timers %v, late %v", w.timers, *late)
			}
			w.step(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 99})
			if len(w.ends) != 0 {
				t.Fatal("the time is not over")
			}
			w.step(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 100})
			if len(w.ends) != 1 || !*late || *failure == nil {
				t.Errorf("ends %+v, late %v, %v", w.ends, *late, *failure)
			}
			for _, e := range asked { // answers that come too late
				w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect, Elapsed: 101})
			}
			if len(w.faults) != 0 || w.in.effects != 0 {
				t.Errorf("faults %+v, %d effects", w.faults, w.in.effects)
			}
		})
	}
}

// In time, with a panic, and without any wait.
func TestWithinItsTime(t *testing.T) {
	w, late, failure := timed(t, callAdd)
	w.result(w.effect(abi.EffectTool))
	if len(w.ends) != 1 || *late || *failure != nil || w.in.effects != 0 {
		t.Errorf("ends %+v, late %v, %v", w.ends, *late, *failure)
	}
	w, late, failure = timed(t, func(task runtime.Task, d *runtime.Dispatch) error { return errSlow })
	if len(w.ends) != 1 || *late || *failure != errSlow || w.in.effects != 0 {
		t.Errorf("ends %+v, late %v, %v", w.ends, *late, *failure)
	}
	w, late, failure = timed(t, func(task runtime.Task, d *runtime.Dispatch) error {
		_ = callAdd(task, d)
		panic("gone")
	})
	w.result(w.effect(abi.EffectTool))
	if len(w.ends) != 1 || *late || *failure == nil || w.in.effects != 0 {
		t.Errorf("ends %+v, late %v, %v", w.ends, *late, *failure)
	}
}

// The time limit ends the wait, an abort does not. Kept results are dropped only for calls that were given up.
func TestCallThatIsGivenUp(t *testing.T) {
	w := open(t, withTool)
	late := false
	w.in.runners[1].Executor = executorFunc(func(task runtime.Task, d *runtime.Dispatch) error {
		if d.Aborted() {
			return nil
		}
		late = task.(*coroutine).within(100, errSlow, func(task runtime.Task) { _ = callAdd(task, d) }, func(error) {})
		return callAdd(task, d)
	})
	w.start()
	first := w.effect(abi.EffectTool)
	w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1, Context: first.Context, Elapsed: 1})
	if late || len(w.ends) != 0 {
		t.Fatalf("late %v, ends %+v", late, w.ends)
	}
	w.step(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 100})
	second := w.effect(abi.EffectTool)
	if !late {
		t.Fatal("the call has not been given up")
	}
	keep := func(effect uint32) {
		w.step(&abi.Edit{Op: abi.OpEdit, Turn: 1, Context: first.Context, Collection: abi.CollectionToolCalls, Edit: abi.EditKeep, Handle: int64(effect), Data: abi.Bytes([]byte{0x90})})
	}
	if keep(first.Effect); len(w.faults) != 0 {
		t.Errorf("what came too late: %+v", w.faults)
	}
	w.result(first)
	if keep(first.Effect); len(w.faults) != 1 {
		t.Error("a result that has come already was taken again")
	}
	w.result(second)
	if len(w.ends) != 1 {
		t.Errorf("ends %+v", w.ends)
	}
}
