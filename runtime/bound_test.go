package runtime

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Decision 28: a call may be repeated n times. In the output pipeline the next repetition discards its iteration, in
// the input pipeline that iteration is kept.
func TestMaxRepeats(t *testing.T) {
	for _, c := range []struct {
		pipeline   Pipeline
		iterations int
		stored     int
	}{
		{DispatchOutput, 3, 2},
		{DispatchInput, 4, 3},
	} {
		p := &play{t: t}
		list := []Middleware{{Builtin: MaxRepeats(2)}}
		if c.pipeline == DispatchInput {
			p.config.DispatchInput = list
		} else {
			p.config.DispatchOutput = list
		}
		// Calls from before the dispatch, other calls and changed ones do not count.
		p.prepare = func(p *play) {
			for _, id := range []string{"x", "y", "z"} {
				p.add(0, record.ToolCalls, p.record(record.ToolCalls, id, "same"))
			}
		}
		p.executor = func(s *seam) error {
			id := string(rune('a' + s.n))
			s.must(s.store(record.ToolCalls, "other"+id, "sum"+id))
			s.must(s.store(record.ToolCalls, id, "same"))
			return s.mutate(record.ToolCalls, id, "same")
		}
		status, iterations, err := p.run()
		if status != StatusNack || iterations != c.iterations || !errors.Is(err, fault.MaxRepeats) || !strings.Contains(err.Error(), "calc was called 3 times") {
			t.Errorf("%s: %s after %d iterations, %v", c.pipeline, statuses[status], iterations, err)
		}
		if len(p.storage) != 3*c.stored {
			t.Errorf("%s: storage saw %q", c.pipeline, p.storage)
		}
	}
}

func TestAckOnNoToolCalls(t *testing.T) {
	bound := []Middleware{{Builtin: AckOnNoToolCalls()}}
	p := &play{t: t, config: Config{DispatchOutput: bound}}
	p.executor = func(s *seam) error {
		switch s.n {
		case 0: // a message beside a call
			s.must(s.store(record.Messages, "m0", ""))
			s.must(s.store(record.ToolCalls, "c", ""))
			return s.d.Commit(s.task) // committed writes count, too
		case 1: // nothing at all
			return nil
		case 2:
			return s.store(record.Thoughts, "t", "")
		}
		return s.store(record.Messages, "m1", "")
	}
	if status, iterations, err := p.run(); status != StatusAck || iterations != 4 || err != nil {
		t.Errorf("%s after %d iterations, %v", statuses[status], iterations, err)
	}
	// A signal of the executor stands.
	p = &play{t: t, config: Config{DispatchOutput: bound}}
	p.executor = func(s *seam) error { s.must(s.store(record.Messages, "m", "")); return s.ack() }
	if status, _, err := p.run(); status != StatusAck || err != nil || len(p.storage) != 1 {
		t.Errorf("%s, %v, %q", statuses[status], err, p.storage)
	}
}

// Built-in middleware rejects pipelines where it does not belong, and invalid arguments.
func TestBoundOptions(t *testing.T) {
	const budget, spend = `{"encoding":"claude","limit":100,"reserve":20}`, `{"limit":0.5,"prices":{"m":{"input":1,"output":2,"cachedInput":0.1}}}`
	for _, c := range []struct {
		pipeline  Pipeline
		name, arg string
		want      string
	}{
		{DispatchInput, "maxIterations", `1`, ""},
		{DispatchOutput, "maxIterations", `1`, "no built-in middleware maxIterations for the pipeline dispatch-output"},
		{TurnInput, "maxIterations", `1`, "pipeline turn-input"},
		{DispatchInput, "maxIterations", `0`, "maxIterations must be a positive integer"},
		{DispatchInput, "maxRepeats", `2`, ""},
		{DispatchOutput, "maxRepeats", `2`, ""},
		{DispatchOutput, "maxRepeats", `"2"`, "maxRepeats must be"},
		{TurnOutput, "maxRepeats", `2`, "pipeline turn-output"},
		{DispatchOutput, "ackOnNoToolCalls", `null`, ""},
		{DispatchInput, "ackOnNoToolCalls", `null`, "pipeline dispatch-input"},
		{DispatchInput, "tokenBudget", budget, ""},
		{DispatchInput, "tokenBudget", `{"encoding":"claude","limit":100}`, ""},
		{DispatchOutput, "tokenBudget", budget, "pipeline dispatch-output"},
		{DispatchInput, "tokenBudget", `7`, "tokenBudget.encoding"},
		{DispatchInput, "tokenBudget", `{"encoding":"","limit":100}`, "tokenBudget.encoding"},
		{DispatchInput, "tokenBudget", `{"encoding":"x","limit":1.5}`, "tokenBudget.limit"},
		{DispatchInput, "tokenBudget", `{"encoding":"x","limit":5,"reserve":5}`, "tokenBudget.reserve"},
		{DispatchInput, "spendLimit", spend, ""},
		{DispatchOutput, "spendLimit", spend, "pipeline dispatch-output"},
		{DispatchInput, "spendLimit", `{"limit":0,"prices":{"m":{"input":1,"output":2}}}`, "spendLimit.limit"},
		{DispatchInput, "spendLimit", `{"limit":1,"prices":{}}`, "spendLimit.prices must name"},
		{DispatchInput, "spendLimit", `{"limit":1}`, "spendLimit.prices must name"},
		{DispatchInput, "spendLimit", `{"limit":1,"prices":{"m":{"input":1}}}`, "spendLimit.prices.m"},
		{DispatchInput, "spendLimit", `{"limit":1,"prices":{"m":{"input":1,"output":2,"cachedInput":-1}}}`, "spendLimit.prices.m"},
		{DispatchInput, "sleep", `1`, "no built-in middleware sleep"},
	} {
		bound, err := NewBound(c.pipeline, c.name, valueFrom(c.arg))
		switch {
		case c.want == "" && (err != nil || bound == nil):
			t.Errorf("%s %s: %v", c.name, c.arg, err)
		case c.want != "" && (!errors.Is(err, fault.InvalidOptions) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: %v, want %q", c.name, c.arg, err, c.want)
		}
	}
}

// A Tick after the deadline nacks the dispatch and aborts everything that runs in it, including inner dispatches.
// Without a Tick, the deadline nacks before the next model call.
func TestDeadline(t *testing.T) {
	bound := []Middleware{{Builtin: Deadline(50)}}
	t.Run("while the executor runs", func(t *testing.T) {
		p := &play{t: t, config: Config{DispatchInput: bound}}
		p.executor = func(s *seam) error {
			s.must(s.store(record.Messages, "lost", ""))
			s.turn.SetElapsed(49)
			s.turn.Tick()
			if s.d.aborted || s.d.signalled() {
				t.Error("too early")
			}
			inner := &Config{Executor: running(func(d *Dispatch) error {
				s.turn.SetElapsed(60)
				s.turn.Tick()
				if !d.aborted || d.signalled() {
					t.Errorf("inside: aborted %t, signalled %t", d.aborted, d.signalled())
				}
				return abortion
			})}
			_, err := s.turn.Dispatch(s.task, s.d, inner)
			s.must(err)
			return abortion
		}
		status, iterations, err := p.run()
		if status != StatusNack || iterations != 1 || !errors.Is(err, fault.Deadline) || !strings.HasSuffix(err.Error(), "it has run for 60 ms") {
			t.Errorf("%s after %d iterations, %v", statuses[status], iterations, err)
		}
		p.want("tS dS iS(0) dS#2 iS#2(0) iE#2(0,aborted) dE#2(aborted,1) iE(0,nack,-store message lost) derr(E_DEADLINE) dE(nack,1,E_DEADLINE) err(E_DEADLINE) tE(nack)")
		if len(p.expired) != 2 || len(p.storage) != 0 {
			t.Errorf("contexts %v are aborted, storage saw %q", p.expired, p.storage)
		}
	})
	t.Run("of a dispatch in another", func(t *testing.T) {
		p := &play{t: t}
		p.executor = func(s *seam) error {
			inner := &Config{DispatchInput: bound, Executor: running(func(d *Dispatch) error {
				s.turn.SetElapsed(60)
				s.turn.Tick()
				return abortion
			})}
			if _, err := s.turn.Dispatch(s.task, s.d, inner); !errors.Is(err, fault.Deadline) || s.d.aborted {
				t.Errorf("the inner dispatch: %v; the outer is aborted: %t", err, s.d.aborted)
			}
			return s.ack()
		}
		if status, _, err := p.run(); status != StatusAck || err != nil || len(p.expired) != 1 {
			t.Errorf("%s, %v, contexts %v are aborted", statuses[status], err, p.expired)
		}
	})
	t.Run("between iterations", func(t *testing.T) {
		p := &play{t: t, config: Config{DispatchInput: bound}}
		p.executor = func(s *seam) error {
			s.turn.SetElapsed(uint64(s.n+1) * 30)
			return s.store(record.Messages, string(rune('a'+s.n)), "")
		}
		status, iterations, err := p.run()
		if status != StatusNack || iterations != 3 || !errors.Is(err, fault.Deadline) || len(p.storage) != 2 || len(p.expired) != 0 {
			t.Errorf("%s after %d iterations, %v, storage saw %q", statuses[status], iterations, err, p.storage)
		}
	})
	t.Run("after an ack", func(t *testing.T) {
		p := &play{t: t, config: Config{DispatchInput: bound, DispatchOutput: []Middleware{{Index: 0}}}}
		p.executor = func(s *seam) error { return s.ack() }
		p.pipelines[DispatchOutput] = []middleware{func(s *seam, next func()) error {
			s.turn.SetElapsed(99)
			s.turn.Tick()
			next()
			return nil
		}}
		if status, _, err := p.run(); status != StatusAck || err != nil || len(p.expired) != 0 {
			t.Errorf("%s, %v", statuses[status], err)
		}
	})
	t.Run("timers", func(t *testing.T) {
		p := &play{t: t, config: Config{DispatchInput: bound}}
		p.executor = func(s *seam) error {
			if s.n == 0 {
				s.turn.SetElapsed(10)
				return nil
			}
			return s.ack()
		}
		p.prepare = func(p *play) { p.turn.SetElapsed(5) }
		if status, _, err := p.run(); status != StatusAck || err != nil {
			t.Errorf("%s, %v", statuses[status], err)
		}
		if !slices.Equal(p.timers, []uint64{55, 0}) {
			t.Errorf("timers %v", p.timers)
		}
	})
}

// running is a compiled-in executor.
type running func(d *Dispatch) error

func (r running) Execute(_ Task, d *Dispatch) error { return r(d) }
