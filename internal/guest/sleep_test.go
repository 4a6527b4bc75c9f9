package guest

import (
	"slices"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
)

// sleeping is an executor that sleeps, and records when and how it wakes.
type sleeping struct {
	ms    []uint64
	woken []uint64
	err   error
}

func (s *sleeping) execute(task runtime.Task, d *runtime.Dispatch) error {
	for _, ms := range s.ms {
		if s.err = task.Sleep(d.Number(), ms); s.err != nil {
			return s.err
		}
		s.woken = append(s.woken, d.Turn().Elapsed())
	}
	return d.Ack()
}

func (w *wire) tickAt(elapsed uint64) []abi.Op {
	return w.answer(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: elapsed})
}

// A task sleeps until a Tick at its time; other frames only set the clock.
func TestSleep(t *testing.T) {
	s := &sleeping{ms: []uint64{100, 0, 50}}
	w := openWith(t, s.execute, nil)
	w.start()
	if !slices.Equal(w.timers, []uint64{100}) {
		t.Fatalf("timers %v", w.timers)
	}
	w.step(&abi.Call{Op: abi.OpCall, Turn: 1, Call: 1, Elapsed: 120, Method: abi.MethodDigest})
	if len(s.woken) != 0 {
		t.Errorf("woken at %v by a call", s.woken)
	}
	w.tickAt(99) // late: the turn knows that it is 120
	if !slices.Equal(s.woken, []uint64{120, 120}) || !slices.Equal(w.timers, []uint64{170}) {
		t.Errorf("woken at %v, timers %v", s.woken, w.timers)
	}
	if got := w.tickAt(169); !slices.Equal(got, []abi.Op{abi.OpTimer}) {
		t.Errorf("a tick too early is answered with %v", got)
	}
	w.tickAt(170)
	if !slices.Equal(s.woken, []uint64{120, 120, 170}) || len(w.ends) != 1 || w.ends[0].Status != abi.StatusAck {
		t.Errorf("woken at %v, ends %+v", s.woken, w.ends)
	}
	w.clean()
}

// An abort of the turn or of the dispatch wakes its sleepers with an error.
func TestAbortWakes(t *testing.T) {
	for _, context := range []uint32{0, 1} {
		s := &sleeping{ms: []uint64{1000, 1000}}
		w := openWith(t, s.execute, nil)
		w.start()
		w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1, Elapsed: 5, Context: context})
		if s.err == nil || len(s.woken) != 0 || len(w.ends) != 1 || w.ends[0].Status != abi.StatusAborted {
			t.Errorf("context %d: woken at %v with %v, ends %+v", context, s.woken, s.err, w.ends)
		}
		w.clean()
	}
}

// The turn's single timer is set for the first to wake: a sleeper, a stream or a gate.
func TestSleepersShareTheTimer(t *testing.T) {
	s := &sleeping{ms: []uint64{80}}
	w := openWith(t, s.execute, nil)
	w.start()
	soon := gateArgs()
	soon.Timeout = 30
	call := w.openGate(1, soon)
	if !slices.Equal(w.timers, []uint64{30}) {
		t.Errorf("timers %v, want that of the gate", w.timers)
	}
	w.tickAt(30)
	w.failure(w.answered(call))
	if !slices.Equal(w.timers, []uint64{80}) || len(s.woken) != 0 {
		t.Errorf("timers %v, woken at %v", w.timers, s.woken)
	}
	w.tickAt(80)
	if !slices.Equal(s.woken, []uint64{80}) {
		t.Errorf("woken at %v", s.woken)
	}
	w.clean()
}
