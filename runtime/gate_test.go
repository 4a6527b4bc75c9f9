package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

func encoded(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asked is a valid gate.
func asked(t testing.TB) GateInput {
	return GateInput{ID: "g", Reason: "delete?", Payload: encoded(t, `{"path":"/a"}`), CreatedAt: 1000}
}

// waited is the answer to somebody who waits for a gate.
type waited struct {
	value string
	err   error
	times int
}

// gates is a turn in its input middleware, where gates can be opened.
func gates(t *testing.T, in Input, body func(p *play)) *play {
	p := &play{t: t, executor: func(s *seam) error { return s.d.Ack() }}
	p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
		body(p)
		next()
		return nil
	}}
	if _, _, err := p.start(in); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *play) gate(in GateInput) (*Gate, *waited) {
	p.t.Helper()
	w := &waited{}
	err := p.turn.OpenGate(nil, in, func(v []byte, err error) {
		text, _ := value.AppendJSON(nil, v)
		w.value, w.err = string(text), err
		w.times++
	})
	if err != nil {
		p.t.Fatal(err)
	}
	g, known := p.turn.Gate(uint32(len(p.turn.settled)))
	if !known {
		p.t.Fatal("the gate is not known")
	}
	return g, w
}

// tick is the requested tick.
func (p *play) tick() {
	p.due = 0
	p.turn.Tick()
}

func (p *play) resolve(g *Gate, text string) error {
	v, err := g.Accept(encoded(p.t, text), "")
	if err == nil {
		p.turn.ResolveGate(g, v)
	}
	return err
}

// E1 and E3.
func TestTheFirstToSettleAGateWins(t *testing.T) {
	p := gates(t, Input{ID: "T"}, func(p *play) {
		g, w := p.gate(asked(p.t))
		if g.Settled() || w.times != 0 {
			t.Error("the gate is settled when it opens")
		}
		if err := p.resolve(g, `"approved"`); err != nil || !g.Settled() {
			t.Errorf("resolve: %v, settled %t", err, g.Settled())
		}
		if err := p.resolve(g, `"again"`); err != nil {
			t.Error(err)
		}
		p.turn.RejectGate(g, errX)
		p.turn.AbortGate(g)
		if *w != (waited{value: `"approved"`, times: 1}) {
			t.Errorf("who waits was told %+v", *w)
		}
		if g, known := p.turn.Gate(1); g != nil || !known {
			t.Error("a gate that is settled is not found, but known")
		}
		if err := p.turn.GateSettled(1); !fault.Is(err, fault.TurnGateSettled) || err.Error() != "E_TURN_GATE_SETTLED: The gate is already settled: resolved" {
			t.Error(err)
		}
		if _, known := p.turn.Gate(2); known {
			t.Error("gate 2 is known")
		}
	})
	p.want("tS gO gC(resolved) dS iS(0) iE(0,ack) dE(ack,1) tE(ack)")
}

// E2.
func TestAResolutionMustKeepTheSchema(t *testing.T) {
	gates(t, Input{ID: "T"}, func(p *play) {
		in := asked(p.t)
		in.Schema = encoded(p.t, `{"type":"object","properties":{"ok":{"type":"boolean"},"note":{"type":"string","default":"none"}},"required":["ok"]}`)
		g, w := p.gate(in)
		err := p.resolve(g, `{"ok":"true","note":1}`) // nothing is converted
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidTurnGateResolution {
			t.Fatalf("error %v", err)
		}
		details, _ := value.AppendJSON(nil, f.Details)
		for _, part := range []string{`"path":"/ok"`, `"path":"/note"`, `"keyword":"type"`} {
			if !strings.Contains(string(details), part) {
				t.Errorf("details %s have no %s", details, part)
			}
		}
		if g.Settled() || w.times != 0 {
			t.Error("the gate is settled by a value that it refuses")
		}
		if err := p.resolve(g, `{"ok":true}`); err != nil || w.value != `{"ok":true,"note":"none"}` {
			t.Errorf("resolve: %v, %s", err, w.value)
		}
	})
}

func TestAResolutionMayBeBoundToWhatWasShown(t *testing.T) {
	p := &play{t: t}
	var digest string
	p.listen = func(payload any) {
		if e, ok := payload.(*GateOpenEvent); ok {
			digest = e.Digest
		}
	}
	p.executor = func(s *seam) error { return s.d.Ack() }
	p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
		in := asked(t)
		in.Payload = encoded(t, `{"z":1,"a":"ä"}`)
		g, w := p.gate(in)
		sum := sha256.Sum256([]byte(`{"id":"g","payload":{"a":"ä","z":1},"reason":"delete?"}`))
		if digest != hex.EncodeToString(sum[:]) {
			t.Errorf("digest %s", digest)
		}
		if _, err := g.Accept(encoded(t, "true"), strings.ToUpper(digest)); !fault.Is(err, fault.InvalidTurnGateResolution) || g.Settled() {
			t.Errorf("another digest: %v", err)
		}
		v, err := g.Accept(nil, digest)
		if err != nil {
			t.Fatal(err)
		}
		if p.turn.ResolveGate(g, v); w.value != "null" {
			t.Errorf("no value resolves with %s", w.value)
		}
		next()
		return nil
	}}
	if _, _, err := p.start(Input{ID: "T"}); err != nil {
		t.Fatal(err)
	}
}

// E4 and E5.
func TestGatesAreRejectedAndAborted(t *testing.T) {
	p := gates(t, Input{ID: "T"}, func(p *play) {
		g, w := p.gate(asked(p.t))
		p.turn.RejectGate(g, errX)
		if w.err != errX {
			t.Errorf("rejected with %v", w.err)
		}
		g, w = p.gate(asked(p.t))
		p.turn.RejectGate(g, nil)
		if w.err == nil {
			t.Error("rejected without an error")
		}
		g, w = p.gate(asked(p.t))
		p.turn.AbortGate(g)
		if !fault.Is(w.err, fault.TurnGateAborted) || w.err.(*fault.Error).Status != 499 {
			t.Errorf("aborted with %v", w.err)
		}
	})
	p.want("tS gO gC(rejected) gO gC(rejected) gO gC(aborted) dS iS(0) iE(0,ack) dE(ack,1) tE(ack)")
}

// E6.
func TestTheTurnsAbortSettlesGates(t *testing.T) {
	p := gates(t, Input{ID: "T"}, func(p *play) {
		_, w := p.gate(asked(p.t))
		_, second := p.gate(asked(p.t))
		p.turn.Abort(abortion)
		if !fault.Is(w.err, fault.TurnGateAborted) || !errors.Is(w.err, abortion) || second.times != 1 {
			t.Errorf("told %v", w.err)
		}
		// Opened after the abort: announced, and aborted by the tick that it requests.
		_, w = p.gate(asked(p.t))
		if p.due != 1 || w.times != 0 {
			t.Errorf("tick at %d, told %d times", p.due, w.times)
		}
		settled, own := p.gate(asked(p.t))
		if err := p.resolve(settled, "1"); err != nil || own.value != "1" {
			t.Errorf("resolve in time: %v %s", err, own.value)
		}
		p.tick()
		if !fault.Is(w.err, fault.TurnGateAborted) || own.err != nil || p.due != 0 {
			t.Errorf("after the tick: %v, %v, due %d", w.err, own.err, p.due)
		}
	})
	p.want("tS gO gO gC(aborted) gC(aborted) gO gO gC(resolved) gC(aborted) tE(aborted)")
}

// E7.
func TestGatesTimeOut(t *testing.T) {
	gates(t, Input{ID: "T"}, func(p *play) {
		in := asked(p.t)
		in.Timeout = 25
		p.turn.SetElapsed(5)
		_, w := p.gate(in)
		in.Timeout = 10
		quick, other := p.gate(in)
		if p.due != 15 {
			t.Errorf("tick at %d", p.due)
		}
		if err := p.resolve(quick, "true"); err != nil || p.due != 30 {
			t.Errorf("resolve before it: %v, then tick at %d", err, p.due)
		}
		p.turn.SetElapsed(29)
		if p.tick(); w.times != 0 || p.due != 30 {
			t.Errorf("told %d times before its time, tick at %d", w.times, p.due)
		}
		p.turn.SetElapsed(30)
		if p.tick(); !fault.Is(w.err, fault.TurnGateTimeout) || w.err.(*fault.Error).Status != 408 || p.due != 0 {
			t.Errorf("told %v, tick at %d", w.err, p.due)
		}
		if other.times != 1 || other.err != nil {
			t.Errorf("the other one: %+v", other)
		}
	})
}

// E8.
func TestBadGatesAreRefused(t *testing.T) {
	gates(t, Input{ID: "T"}, func(p *play) {
		for _, c := range []struct {
			in   GateInput
			want []string
		}{
			{GateInput{}, []string{"`id`", "`reason`", "`payload`"}},
			{
				GateInput{ID: "g", Reason: "r", Payload: []byte{1, 2}, CreatedAt: maxStamp + 1, Schema: encoded(t, `{"type":7}`), Timeout: 1 << 60},
				[]string{"`payload`", "`createdAt`", "`schema`", "`timeout`"},
			},
			{GateInput{ID: "g", Reason: "r", Payload: append([]byte(strings.Repeat("\x91", 10_000)), 0xc0)}, []string{"`payload`"}},
		} {
			err := p.turn.OpenGate(nil, c.in, func([]byte, error) { t.Error("told") })
			if !fault.Is(err, fault.InvalidInitialTurnGateValue) {
				t.Fatalf("error %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q says nothing of %s", err, w)
				}
			}
		}
		if len(p.words) != 1 {
			t.Errorf("events %v", p.words)
		}
	})
}

// A gate may have any time that a record may have.
func TestTimesOfGates(t *testing.T) {
	gates(t, Input{ID: "T"}, func(p *play) {
		for _, at := range []int64{maxStamp, -maxStamp, 0} {
			in := GateInput{ID: "g", Reason: "r", Payload: value.AppendNil(nil), CreatedAt: at}
			if err := p.turn.OpenGate(nil, in, func([]byte, error) {}); err != nil {
				t.Errorf("%d: %v", at, err)
			}
		}
	})
}

// E9 to E13: where gates are opened, and the effects of failing ones. A listener settles the gates.
func TestPlacesOfGates(t *testing.T) {
	wait := func(p *play, task Task, d *Dispatch) error {
		v, err := p.turn.WaitFor(task, d, asked(p.t))
		if err == nil && string(v) != "\xc3" {
			p.t.Errorf("waited for %x", v)
		}
		return err
	}
	ack := func(s *seam) error {
		if s.d.signalled() {
			return nil
		}
		return s.d.Ack()
	}
	turnInput := func(p *play) {
		p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
			if err := wait(p, s.task, nil); err != nil {
				return err
			}
			next()
			return nil
		}}
	}
	dispatchInput := func(p *play) {
		p.pipelines[DispatchInput] = []middleware{func(s *seam, next func()) error {
			if err := wait(p, s.task, s.d); err != nil {
				return err
			}
			next()
			return nil
		}}
	}
	executor := func(p *play) {
		p.executor = func(s *seam) error {
			if err := wait(p, s.task, s.d); err != nil {
				return err
			}
			return ack(s)
		}
	}
	tool := func(p *play) {
		calc := &Tool{Number: 1, Name: "calc", InputSchema: encoded(p.t, `{"type":"object"}`)}
		if err := calc.Compile(); err != nil {
			p.t.Fatal(err)
		}
		p.config.Tools = []*Tool{calc}
		p.handler = func(s *seam, call *CallTool) ([]byte, error) { return nil, wait(p, s.task, s.d) }
		p.executor = func(s *seam) error {
			_, err := s.d.ExecuteTool(s.task, calc, encoded(p.t, "{}"), ToolRun{})
			if err != nil {
				return err
			}
			return ack(s)
		}
	}
	resolve := func(p *play, g *Gate) { p.turn.ResolveGate(g, []byte{0xc3}) }
	reject := func(p *play, g *Gate) { p.turn.RejectGate(g, errX) }
	abortGate := func(p *play, g *Gate) { p.turn.AbortGate(g) }
	abort := func(p *play, _ *Gate) { p.turn.Abort(abortion) }
	timeout := func(p *play, g *Gate) { p.turn.settleGate(g, GateTimeout, nil, fault.New(fault.TurnGateTimeout)) }
	for _, c := range []struct {
		name   string
		place  func(*play)
		settle func(*play, *Gate)
		want   string
	}{
		{"E9", turnInput, resolve, "tS gO gC(resolved) dS iS(0) iE(0,ack) dE(ack,1) tE(ack)"},
		{"E10", turnInput, reject, "tS gO gC(rejected) err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)"},
		{"gate aborted", turnInput, abortGate, "tS gO gC(aborted) err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)"},
		{"E11", turnInput, abort, "tS gO gC(aborted) tE(aborted)"},
		{"dispatch middleware", dispatchInput, resolve, "tS dS iS(0) gO gC(resolved) iE(0,ack) dE(ack,1) tE(ack)"},
		{"dispatch middleware, rejected", dispatchInput, reject, "tS dS iS(0) gO gC(rejected) derr(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)"},
		{"dispatch middleware, turn aborted", dispatchInput, abort, "tS dS iS(0) gO gC(aborted) iE(0,aborted) dE(aborted,1) tE(aborted)"},
		{"E13", executor, resolve, "tS dS iS(0) gO gC(resolved) iE(0,ack) dE(ack,1) tE(ack)"},
		{"executor, gate aborted", executor, abortGate, "tS dS iS(0) gO gC(aborted) derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)"},
		{"executor, turn aborted", executor, abort, "tS dS iS(0) gO gC(aborted) iE(0,aborted) dE(aborted,1) tE(aborted)"},
		{"tool", tool, resolve, "tS dS iS(0) xS gO gC(resolved) xE(false) iE(0,ack) dE(ack,1) tE(ack)"},
		{"E12", tool, timeout, "tS dS iS(0) xS gO gC(timeout) xE(true) derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)"},
		{"tool, turn aborted", tool, abort, "tS dS iS(0) xS gO gC(aborted) xE(true) iE(0,aborted) dE(aborted,1) tE(aborted)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &play{t: t, executor: ack}
			c.place(p)
			p.listen = func(payload any) {
				if e, ok := payload.(*GateOpenEvent); ok {
					g, _ := p.turn.Gate(e.Gate)
					c.settle(p, g)
				}
			}
			_, _, _ = p.run()
			p.want(c.want)
			if p.turn.OpenGates() != 0 {
				t.Error("a gate is open")
			}
		})
	}
}

func TestADispatchsAbortAndEndLeaveGatesOpen(t *testing.T) {
	p := &play{t: t}
	var w *waited
	p.executor = func(s *seam) error {
		w = &waited{}
		if err := p.turn.OpenGate(s.d, asked(t), func(_ []byte, err error) { w.err = err; w.times++ }); err != nil {
			t.Fatal(err)
		}
		p.turn.AbortDispatch(1, abortion)
		if w.times != 0 {
			t.Error("the dispatch's abort settled the gate")
		}
		return nil
	}
	_, _, _ = p.run()
	// Nobody can settle it after the turn's end, so it is closed before.
	p.want("tS dS iS(0) gO iE(0,aborted) dE(aborted,1) gC(aborted) tE(aborted)")
	if w.times != 1 || !fault.Is(w.err, fault.TurnGateAborted) {
		t.Errorf("told %+v", w)
	}
	if err := p.turn.OpenGate(nil, asked(t), nil); !fault.Is(err, fault.CallAfterEnd) {
		t.Errorf("a gate after the end: %v", err)
	}
}

func TestAStandaloneDispatchHasNoGates(t *testing.T) {
	p := &play{t: t, executor: func(s *seam) error {
		if err := s.turn.OpenGate(s.d, asked(t), nil); !fault.Is(err, fault.LLMExecutionGateNotSupported) {
			t.Errorf("error %v", err)
		}
		return s.d.Ack()
	}}
	_, _, _ = p.standalone(Input{ID: "T"})
}
