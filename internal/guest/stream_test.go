package guest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// reading is an executor that makes a request and records the answer.
type reading struct {
	idle   uint64
	notes  []string
	cancel int // cancels after so many chunks; 0 never
	stream runtime.Stream
}

func (r *reading) note(s string) { r.notes = append(r.notes, s) }

func (r *reading) execute(task runtime.Task, d *runtime.Dispatch) error {
	s, err := task.Request(&runtime.HTTPRequest{
		Context: d.Number(), Method: "POST", URL: "http://x/y", Headers: [][2]string{{"a", "b"}}, Body: []byte("{}"), Credential: "key",
		Redirect: runtime.RedirectFollow, Redirects: 3,
	})
	if err != nil {
		return err
	}
	return r.read(s, d)
}

func (r *reading) read(s runtime.Stream, d *runtime.Dispatch) error {
	r.stream = s
	s.Idle(r.idle)
	for n := 1; ; n++ {
		c, more, err := s.Next()
		switch {
		case errors.Is(err, runtime.ErrIdle):
			r.note("idle")
			s.Cancel()
			return d.Ack()
		case err != nil:
			r.note("error " + fault.MessageOf(err))
			return err
		case !more:
			r.note("end")
			return d.Ack()
		case c.Status != 0:
			r.note("head " + itoa(int64(c.Status)) + " " + c.Headers[0][0] + "=" + c.Headers[0][1])
		default:
			r.note(string(c.Data))
		}
		if n == r.cancel {
			s.Cancel()
			s.Cancel() // once is enough
			_, more, err := s.Next()
			if more || err == nil {
				r.note("more after Cancel")
			}
			return d.Ack()
		}
	}
}

func (w *wire) chunk(e abi.Effect, elapsed uint64, status uint16, data string) {
	f := &abi.Chunk{Op: abi.OpChunk, Turn: e.Turn, Effect: e.Effect, Elapsed: elapsed, Status: status}
	if status != 0 {
		f.Headers = [][]string{{"content-type", "text/plain"}}
	} else {
		f.Data = abi.Bytes([]byte(data))
	}
	w.step(f)
}

// others holds the frames of the last answer that wire does not keep.
func (w *wire) answer(f marshaler) []abi.Op {
	batch := f.Append(nil)
	out := w.in.Step(batch)
	list := ops(w.t, out)
	w.take(out)
	return list
}

func (r *reading) want(t *testing.T, notes ...string) {
	t.Helper()
	if got := strings.Join(r.notes, "|"); got != strings.Join(notes, "|") {
		t.Errorf("notes %q, want %q", r.notes, notes)
	}
}

func TestHTTPAnswer(t *testing.T) {
	r := &reading{}
	w := openWith(t, r.execute, nil)
	w.start()
	e := w.effect(abi.EffectHTTP)
	args := decode[abi.HTTPArgs](t, e.Args)
	if args.Method != "POST" || args.URL != "http://x/y" || args.Credential != "key" || args.Redirect != abi.RedirectFollow || args.Redirects != 3 || len(args.Headers) != 1 || string(mustBytes(args.Body)) != "{}" {
		t.Errorf("request %+v", args)
	}
	w.chunk(e, 5, 200, "")
	// Chunks of one step stay in order.
	a := &abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: e.Effect, Data: abi.Bytes([]byte("one"))}
	b := &abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: e.Effect, Data: abi.Bytes([]byte("two"))}
	w.step(a, b, &abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect})
	r.want(t, "head 200 content-type=text/plain", "one", "two", "end")
	if len(w.ends) != 1 || w.ends[0].Status != abi.StatusAck {
		t.Errorf("ends %+v", w.ends)
	}
	w.clean()
}

// An engine's answer comes in chunks without a head, and an abort cancels it.
func TestModelAnswer(t *testing.T) {
	for _, abort := range []bool{false, true} {
		r := &reading{}
		w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
			s, err := task.Generate(&runtime.ModelRequest{Context: d.Number(), Model: "local", Body: []byte("{}")})
			if err != nil {
				return err
			}
			return r.read(s, d)
		}, nil)
		w.start()
		e := w.effect(abi.EffectModel)
		if args := decode[abi.ModelArgs](t, e.Args); args.Model != "local" || string(mustBytes(args.Body)) != "{}" {
			t.Errorf("request %+v", args)
		}
		w.chunk(e, 5, 0, "{\"text\":\"a\"}\n")
		if abort {
			if got := w.answer(&abi.Abort{Op: abi.OpAbort, Turn: 1}); len(got) == 0 || got[0] != abi.OpCancel {
				t.Errorf("frames %v, want Cancel first", got)
			}
			r.want(t, "{\"text\":\"a\"}\n", "error the context was aborted")
		} else {
			w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect})
			r.want(t, "{\"text\":\"a\"}\n", "end")
		}
		w.clean()
	}
}

func TestHTTPFails(t *testing.T) {
	r := &reading{}
	w := openWith(t, r.execute, nil)
	w.start()
	e := w.effect(abi.EffectHTTP)
	w.chunk(e, 0, 200, "")
	reset := &abi.ErrorValue{Handle: 4, Code: abi.CodeHTTPTransport, Message: "reset"}
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect, Error: reset})
	r.want(t, "head 200 content-type=text/plain", "error reset")
	if len(w.ends) != 1 || w.ends[0].Error.Cause.Handle != 4 {
		t.Errorf("ends %+v", w.ends)
	}
}

// The turn has one timer. A Tick wakes each stream that has waited long enough; a chunk restarts the wait.
func TestIdle(t *testing.T) {
	r := &reading{idle: 100}
	w := openWith(t, r.execute, nil)
	batch := (&abi.StartTurn{Op: abi.OpStartTurn, Turn: 1, Runner: 1, Seed: make([]byte, 16), ID: "T"}).Append(nil)
	out := w.in.Step(batch)
	if list := ops(t, out); list[len(list)-1] != abi.OpTimer {
		t.Fatalf("frames %v, want a Timer last", list)
	}
	w.take(out)
	e := w.effect(abi.EffectHTTP)
	tick := func(elapsed uint64) []abi.Op { return w.answer(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: elapsed}) }
	if got := tick(50); len(got) != 1 || got[0] != abi.OpTimer {
		t.Errorf("a tick too early is answered with %v, want a Timer", got)
	}
	// The chunk at 90 extends the wait to 190; the timer set for 100 stays.
	if got := w.answer(&abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: e.Effect, Elapsed: 90, Status: 200, Headers: [][]string{{"a", "b"}}}); len(got) != 0 {
		t.Errorf("a chunk is answered with %v", got)
	}
	if got := tick(100); len(got) != 1 || got[0] != abi.OpTimer {
		t.Errorf("the tick at 100 is answered with %v, want a Timer", got)
	}
	if got := tick(189); len(got) != 1 || got[0] != abi.OpTimer {
		t.Errorf("the tick at 189 is answered with %v, want a Timer", got)
	}
	if got := tick(190); len(got) == 0 || got[0] != abi.OpCancel || got[len(got)-1] != abi.OpEnd {
		t.Errorf("the tick at 190 is answered with %v, want Cancel … End", got)
	}
	r.want(t, "head 200 a=b", "idle")
	w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect})
	w.clean()
}

// An unnecessary timer is cancelled; a gate's stays.
func TestTimersEndWithTheirStream(t *testing.T) {
	for _, gate := range []bool{false, true} {
		w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
			r := &reading{idle: 100, cancel: 2}
			_ = r.execute(task, d) // its ack stands
			return task.Sleep(d.Number(), 500)
		}, nil)
		w.start()
		e := w.effect(abi.EffectHTTP)
		want := []uint64{0, 500}
		if gate {
			args := gateArgs()
			args.Timeout = 300
			w.openGate(1, args)
			want = []uint64{300}
		}
		w.chunk(e, 0, 200, "")
		w.chunk(e, 0, 0, "x")
		if !slices.Equal(w.timers, want) {
			t.Errorf("gate %v: timers %v, want %v", gate, w.timers, want)
		}
		w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1})
		w.clean()
	}
}

func TestTimersAreForWaitsWithABound(t *testing.T) {
	r := &reading{}
	w := openWith(t, r.execute, nil)
	w.start()
	w.effect(abi.EffectHTTP)
	if got := w.answer(&abi.Tick{Op: abi.OpTick, Turn: 1, Elapsed: 1 << 40}); len(got) != 0 {
		t.Errorf("a tick is answered with %v", got)
	}
}

func TestCancel(t *testing.T) {
	r := &reading{cancel: 1}
	w := openWith(t, r.execute, nil)
	w.start()
	e := w.effect(abi.EffectHTTP)
	got := w.answer(&abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: e.Effect, Status: 200, Headers: [][]string{{"a", "b"}}})
	if got[0] != abi.OpCancel || got[1] == abi.OpCancel || got[len(got)-1] != abi.OpEnd {
		t.Errorf("frames %v, want one Cancel first", got)
	}
	r.want(t, "head 200 a=b")
	for _, f := range []marshaler{
		&abi.Chunk{Op: abi.OpChunk, Turn: 1, Effect: e.Effect}, &abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect},
	} {
		if got := w.answer(f); len(got) != 0 {
			t.Errorf("%T after Cancel is answered with %v", f, got)
		}
	}
	w.clean()
}

// An abort cancels streams in the aborted contexts, and nothing else.
func TestAbortCancels(t *testing.T) {
	for _, context := range []uint32{0, 1} {
		r := &reading{}
		w := openWith(t, r.execute, nil)
		w.start()
		w.effect(abi.EffectHTTP)
		if got := w.answer(&abi.Abort{Op: abi.OpAbort, Turn: 1, Context: 9}); len(got) != 0 {
			t.Errorf("the abort of an unknown context is answered with %v", got)
		}
		got := w.answer(&abi.Abort{Op: abi.OpAbort, Turn: 1, Context: context})
		if len(got) == 0 || got[0] != abi.OpCancel || got[len(got)-1] != abi.OpEnd {
			t.Errorf("frames %v, want Cancel … End", got)
		}
		r.want(t, "error the context was aborted")
		w.want("turnStart dispatchStart iterationStart iterationEnd(2) dispatchEnd(2,1) turnEnd(2)")
		w.clean()
	}
	// A request from an aborted context is not sent.
	r := &reading{}
	w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
		if _, err := task.Await(&runtime.CallExecutor{Context: d.Number()}); err != nil {
			return err
		}
		return r.execute(task, d)
	}, nil)
	w.start()
	e := w.effect(abi.EffectExecutor)
	w.step(&abi.Abort{Op: abi.OpAbort, Turn: 1})
	w.result(e)
	if len(w.effects) != 0 || len(w.ends) != 1 || w.ends[0].Status != abi.StatusAborted {
		t.Errorf("effects %+v, ends %+v", w.effects, w.ends)
	}
}

// A stream still open at the end of the turn is cancelled before End.
func TestEndCancels(t *testing.T) {
	w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
		if _, err := task.Request(&runtime.HTTPRequest{Context: d.Number(), URL: "http://x"}); err != nil {
			return err
		}
		return d.Ack()
	}, nil)
	batch := (&abi.StartTurn{Op: abi.OpStartTurn, Turn: 1, Runner: 1, Seed: make([]byte, 16), ID: "T"}).Append(nil)
	out := w.in.Step(batch)
	if got := ops(t, out); got[len(got)-2] != abi.OpCancel || got[len(got)-1] != abi.OpEnd {
		t.Errorf("frames %v, want Cancel, End", got)
	}
	w.take(out)
	w.clean()
}

func TestRequestThatIsTooLarge(t *testing.T) {
	w := openWith(t, func(task runtime.Task, d *runtime.Dispatch) error {
		_, err := task.Request(&runtime.HTTPRequest{Context: d.Number(), URL: "http://x", Body: make([]byte, abi.MaxFrame)})
		return err
	}, nil)
	w.start()
	if len(w.ends) != 1 || w.ends[0].Error.Cause == nil || w.ends[0].Error.Cause.Code != abi.CodeABILimitExceeded {
		t.Errorf("ends %+v", w.ends)
	}
}
