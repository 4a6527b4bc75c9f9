package runtime

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// scenario is a conformance scenario, named by its number, and by a decision that changes it.
type scenario struct {
	name   string
	play   play
	in     Input
	want   string
	status Status
	check  func(t *testing.T, p *play)
}

func (c *scenario) test(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		p := &c.play
		p.t = t
		in := c.in
		in.ID, in.Now = "T", 1000
		status, iterations, err := p.start(in)
		p.want(c.want)
		if status != c.status {
			t.Errorf("status %s, want %s", statuses[status], statuses[c.status])
		}
		if ended := status == StatusNack || status == StatusFailed; ended != (err != nil) {
			t.Errorf("a turn that is %s ends with the error %v", statuses[status], err)
		}
		if n := strings.Count(c.want, "iS("); iterations != n {
			t.Errorf("%d iterations, want %d", iterations, n)
		}
		if c.check != nil {
			c.check(t, p)
		}
	})
}

const (
	began = "tS dS iS(0) "
	acked = "iE(0,ack) dE(ack,1) tE(ack)"
)

func through(_ *seam, next func()) error { next(); return nil }
func stop(*seam, func()) error           { return nil }
func failX(*seam, func()) error          { return errX }

// never is an executor that must not run.
func never(s *seam) error {
	s.t.Error("the executor ran")
	return nil
}

func TestTurnScenarios(t *testing.T) {
	var trace []string
	note := func(s string) { trace = append(trace, s) }
	traced := func(want ...string) func(*testing.T, *play) {
		return func(t *testing.T, _ *play) {
			if !slices.Equal(trace, want) {
				t.Errorf("ran %q, want %q", trace, want)
			}
			trace = nil
		}
	}
	hi := func(s *seam) error { s.say("m", "Hi."); return s.ack() }
	calc := func(s *seam) error {
		if s.n == 0 {
			return s.callTool("c", true)
		}
		return hi(s)
	}
	for _, c := range []scenario{
		{
			name: "A1 A2 A9 a message and ack, decision 4 and 5", want: began + "msg " + acked,
			play: play{executor: hi},
			check: func(t *testing.T, p *play) {
				m := p.events[3].payload.(StreamEvent)
				if string(m.ID) != "m" || string(m.Delta) != "Hi." || m.Length != 3 || !m.Complete || m.Created != 0 {
					t.Errorf("message %+v", m)
				}
			},
		},
		{
			name: "A3 A4 A5 a tool, then the answer", play: play{executor: calc},
			want: began + "tc(false) xS xE(false) tc(true) iE(0,continue) iS(1) msg iE(1,ack) dE(ack,2) tE(ack)",
		},
		{
			name: "A6 ids, iterations and times", want: began + "msg " + acked,
			play: play{executor: func(s *seam) error {
				s.turn.SetElapsed(7)
				defer s.turn.SetElapsed(3) // the clock never goes back
				return hi(s)
			}},
			check: func(t *testing.T, p *play) {
				for i, want := range []Head{
					{Dispatch: 0, Iteration: -1, Scope: ScopeTurn},
					{Dispatch: 1, Iteration: -1, Scope: ScopeTurn | ScopeDispatch},
					{Dispatch: 1, Iteration: 0, Scope: ScopeTurn | ScopeDispatch},
					{Dispatch: 1, Iteration: 0, Scope: ScopeTurn | ScopeDispatch, Elapsed: 7},
					{Dispatch: 1, Iteration: 0, Scope: ScopeTurn | ScopeDispatch, Elapsed: 7},
					{Dispatch: 1, Iteration: -1, Scope: ScopeTurn | ScopeDispatch, Elapsed: 7},
					{Dispatch: 0, Iteration: -1, Scope: ScopeTurn, Elapsed: 7},
				} {
					want.Seq, want.Kind = uint32(i+1), p.events[i].Kind
					if p.events[i].Head != want {
						t.Errorf("event %d: %+v, want %+v", i, p.events[i].Head, want)
					}
				}
				if e := p.events[6].payload.(*TurnEndEvent); e.Started != 0 || e.Err != nil {
					t.Errorf("turnEnd %+v", e)
				}
			},
		},
		{
			name: "A7 A8 nack, decision 4 and 11", status: StatusNack,
			play: play{executor: func(s *seam) error { return s.d.Nack(errX) }},
			want: began + "iE(0,nack) derr(X) dE(nack,1,X) err(X) tE(nack)",
			check: func(t *testing.T, p *play) {
				observed, end, reported := p.events[4].payload.(*ErrorEvent), p.events[5].payload.(*DispatchEndEvent), p.events[6].payload.(*ErrorEvent)
				if observed.Err != error(errX) || end.Err != error(errX) || reported.Err != error(errX) {
					t.Errorf("errors %v, %v, %v, want the nack's own", observed.Err, end.Err, reported.Err)
				}
			},
		},
		{
			name: "A10 turn input without next", status: StatusFailed,
			play: play{executor: never, pipelines: [4][]middleware{TurnInput: {stop}}},
			want: "tS err(E_PIPELINE_SHORT_CIRCUITED) tE(failed,E_PIPELINE_SHORT_CIRCUITED)",
			check: func(t *testing.T, p *play) {
				if err := p.events[1].payload.(*ErrorEvent).Err; !strings.Contains(err.Error(), "turn-input") {
					t.Errorf("%v does not name the pipeline", err)
				}
			},
		},
		{
			name: "A11 turn output without next", status: StatusFailed,
			play: play{executor: ackOnce, pipelines: [4][]middleware{TurnOutput: {stop}}},
			want: began + "iE(0,ack) dE(ack,1) err(E_PIPELINE_SHORT_CIRCUITED) tE(failed,E_PIPELINE_SHORT_CIRCUITED)",
		},
		{
			name: "A12 turn input aborts without next", status: StatusAborted, want: "tS tE(aborted)",
			play: play{executor: never, pipelines: [4][]middleware{TurnInput: {func(s *seam, _ func()) error { s.abort(); return nil }}}},
		},
		{
			name: "A13 A14 turn input aborts, then calls next", status: StatusAborted, want: "tS tE(aborted)",
			play: play{executor: never, pipelines: [4][]middleware{TurnInput: {
				func(s *seam, next func()) error { s.abort(); next(); note("post"); return nil },
				func(_ *seam, next func()) error { note("b"); next(); return nil },
			}}},
			check: traced("post"),
		},
		{
			name: "A15 middleware that passes on", want: began + acked,
			play: play{executor: ackOnce, pipelines: [4][]middleware{{through}, {through}, {through}, {through}}},
		},
		{
			name: "A16 aborted before the start", in: Input{Aborted: true}, status: StatusAborted, want: "tS tE(aborted)",
			play: play{executor: never, message: "hello", pipelines: [4][]middleware{TurnInput: {
				func(_ *seam, next func()) error { note("a"); next(); return nil },
			}}},
			check: func(t *testing.T, p *play) { traced()(t, p); p.saved() },
		},
		{
			name: "A17 abort in the executor, decision 3", status: StatusAborted, want: began + "iE(0,aborted) dE(aborted,1) tE(aborted)",
			play: play{executor: func(s *seam) error { s.abort(); return nil }, pipelines: [4][]middleware{TurnOutput: {failX}}},
		},
		{
			name: "A19 turn input fails", status: StatusFailed, want: "tS err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)",
			play: play{executor: never, pipelines: [4][]middleware{TurnInput: {failX}}},
			check: func(t *testing.T, p *play) {
				if e := p.events[1].payload.(*ErrorEvent).Err; errors.Unwrap(e) != error(errX) || !errors.Is(e, fault.InputPipelineError) {
					t.Errorf("error %v", e)
				}
			},
		},
		{
			name: "A20 turn output fails", status: StatusFailed,
			play: play{executor: ackOnce, pipelines: [4][]middleware{TurnOutput: {failX}}},
			want: began + "iE(0,ack) dE(ack,1) err(E_OUTPUT_PIPELINE_ERROR) tE(failed,E_OUTPUT_PIPELINE_ERROR)",
		},
		{
			name: "A21 the post-step runs after a failure further down", status: StatusFailed,
			want: "tS err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)",
			play: play{executor: never, pipelines: [4][]middleware{TurnInput: {
				func(_ *seam, next func()) error { next(); note("post"); return nil }, failX,
			}}},
			check: traced("post"),
		},
		{
			name: "A22 a failing post-step is suppressed in the first failure, decision 15", status: StatusFailed,
			want: "tS err(E_INPUT_PIPELINE_ERROR) tE(failed,E_INPUT_PIPELINE_ERROR)",
			play: play{executor: never, pipelines: [4][]middleware{TurnInput: {
				func(_ *seam, next func()) error { next(); return abortion }, // without an abort: an ordinary error
				func(_ *seam, next func()) error { next(); return errY }, failX,
			}}},
			check: func(t *testing.T, p *play) {
				e := p.events[1].payload.(*ErrorEvent).Err.(*fault.Error)
				if e.Cause != error(errX) || !slices.Equal(e.Suppressed, []error{errY, abortion}) || errX.Suppressed != nil {
					t.Errorf("cause %v, suppressed %v, in the cause %v", e.Cause, e.Suppressed, errX.Suppressed)
				}
			},
		},
		{
			name: "A23 next twice", want: began + acked,
			play: play{executor: ackOnce, pipelines: [4][]middleware{TurnInput: {
				func(_ *seam, next func()) error { next(); next(); return nil },
				func(_ *seam, next func()) error { note("b"); next(); return nil },
			}}},
			check: traced("b"),
		},
		{
			name: "A27 two tools with one name", status: StatusFailed, want: "refused(E_TOOL_ALREADY_REGISTERED)",
			play: play{config: Config{Tools: []*Tool{{Name: "x"}, {Name: "x"}}}, executor: never},
		},
		{
			name: "A34 the executor aborts its dispatch, decision 10", status: StatusAborted, want: began + "iE(0,aborted) dE(aborted,1) tE(aborted)",
			play: play{
				executor:  func(s *seam) error { s.d.Abort(abortion); return nil },
				pipelines: [4][]middleware{TurnOutput: {failX}},
			},
		},
		{
			name: "A35 B17 the executor fails", status: StatusNack,
			play: play{executor: func(*seam) error { return errX }},
			want: began + "derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)",
			check: func(t *testing.T, p *play) {
				w := p.events[3].payload.(*ErrorEvent).Err
				if p.events[5].payload.(*DispatchEndEvent).Err != w || p.events[6].payload.(*ErrorEvent).Err != w {
					t.Error("not one error object")
				}
				if errors.Unwrap(w) != error(errX) || !strings.HasSuffix(w.Error(), ": X") {
					t.Errorf("wrapper %v", w)
				}
			},
		},
		{
			name: "A36 two lines of log", want: began + "log(3) log(1) " + acked,
			play: play{executor: func(s *seam) error {
				s.d.Log(3, "k", "careful", value.AppendInt(nil, 5))
				s.d.Log(1, "k2", "fine", nil)
				return s.ack()
			}},
			check: func(t *testing.T, p *play) {
				a, b := p.events[3].payload.(*LogEvent), p.events[4].payload.(*LogEvent)
				if !a.HasPayload || string(a.Payload) != "\x05" || a.Message != "careful" || b.HasPayload || b.Kind != "k2" || p.events[3].Iteration != 0 {
					t.Errorf("log %+v, %+v", a, b)
				}
			},
		},
		{
			name: "A37 B44 three iterations over one stash", want: began + "th iE(0,continue) iS(1) th iE(1,continue) iS(2) msg iE(2,ack) dE(ack,3) tE(ack)",
			play: play{
				executor: func(s *seam) error {
					if s.n < 2 {
						return s.d.Report(ThoughtStream, []byte{byte('a' + s.n)}, []byte("hm"), true)
					}
					return hi(s)
				},
				pipelines: [4][]middleware{
					TurnOutput: {func(s *seam, next func()) error {
						if _, ok := s.turn.Stash(0).Get("n"); ok {
							s.t.Error("the dispatch's stash was copied back")
						}
						next()
						return nil
					}},
					DispatchInput: {func(s *seam, next func()) error {
						stash := s.turn.Stash(s.context())
						have, _ := stash.Get("n")
						if n, _ := value.Int(have); int(n) != s.n {
							s.t.Errorf("iteration %d sees %d", s.n, n)
						}
						stash.Set("n", value.AppendInt(nil, int64(s.n+1)))
						next()
						return nil
					}},
				},
			},
		},
		{
			name: "decision 37 the turn's own message", want: began + acked,
			play: play{message: "hello", executor: func(s *seam) error {
				s.holds(1, record.Messages, "own:hello")
				return s.ack()
			}},
			check: func(_ *testing.T, p *play) { p.saved("store message own:hello") },
		},
		{
			name: "decision 37 storing the message fails", status: StatusFailed, want: "tS err(X) tE(failed,X)",
			play: play{message: "hello", executor: never, stored: func(Task, string) error { return errX }},
		},
	} {
		c.test(t)
	}
}

// A18: the pipelines of a runner run anew in every turn.
func TestRunnerIsReused(t *testing.T) {
	counts := [4]int{}
	p := &play{t: t, executor: ackOnce}
	for i := range p.pipelines {
		p.pipelines[i] = []middleware{func(_ *seam, next func()) error { counts[i]++; next(); return nil }}
	}
	for n := range 3 {
		if status, _, err := p.run(); status != StatusAck || err != nil {
			t.Fatal(status, err)
		}
		if counts != [4]int{n + 1, n + 1, n + 1, n + 1} {
			t.Errorf("after %d turns: %v", n+1, counts)
		}
	}
}

// Decisions 3 and 4: an abort in any seam closes everything and reports nothing, even if the seam fails with it.
func TestAbortAnywhere(t *testing.T) {
	for _, c := range []struct {
		pipeline int // 4 the executor, 5 the commit, 6 the own message's callback
		want     string
	}{
		{int(TurnInput), "tS tE(aborted)"},
		{int(TurnOutput), began + "iE(0,ack) dE(ack,1) tE(aborted)"},
		{int(DispatchInput), began + "iE(0,aborted) dE(aborted,1) tE(aborted)"},
		{int(DispatchOutput), began + "iE(0,aborted,-store message m) dE(aborted,1) tE(aborted)"},
		{4, began + "iE(0,aborted,-store message m) dE(aborted,1) tE(aborted)"},
		{6, "tS tE(aborted)"},
	} {
		for name, result := range map[string]error{
			"returns": nil, "fails with the abort": abortion, "wraps the abort": fault.Wrap(fault.ToolDownstreamError, abortion),
			"fails with a gate's abort": fault.New(fault.TurnGateAborted),
		} {
			t.Run(c.want+" "+name, func(t *testing.T) {
				p := &play{t: t, message: "hello"}
				aborting := func(s *seam, next func()) error { s.abort(); next(); return result }
				p.executor = func(s *seam) error {
					s.must(s.store(record.Messages, "m", ""))
					if c.pipeline == 4 {
						return aborting(s, func() {})
					}
					return s.ack()
				}
				for i := range p.pipelines {
					p.pipelines[i] = []middleware{through}
					if i == c.pipeline {
						p.pipelines[i] = []middleware{through, aborting, failX}
					}
				}
				p.stored = func(_ Task, what string) error {
					if c.pipeline == 6 && what == "store message own:hello" {
						p.turn.Abort(nil)
						return result
					}
					return nil
				}
				status, _, err := p.run()
				if status != StatusAborted || err != nil {
					t.Errorf("%s, %v", statuses[status], err)
				}
				p.want(c.want)
				if strings.Contains(c.want, "-store") {
					p.holds(0, record.Messages, "own:hello")
				}
			})
		}
	}
}

// The same error without an abort is an ordinary one.
func TestAbortErrorWithoutAbort(t *testing.T) {
	p := &play{t: t, executor: func(*seam) error { return abortion }}
	if status, _, _ := p.run(); status != StatusNack {
		t.Errorf("status %s", statuses[status])
	}
	p = &play{t: t, executor: ackOnce, pipelines: [4][]middleware{DispatchInput: {func(*seam, func()) error { return abortion }}}}
	p.run()
	p.want(began + "derr(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)")
}

// Aborting a turn reaches all its dispatches; aborting a dispatch reaches only inner ones.
func TestAbortReaches(t *testing.T) {
	inner := Config{}
	p := &play{t: t}
	p.executor = func(s *seam) error {
		switch s.d.Number() {
		case 1:
			if _, err := s.turn.Dispatch(s.task, s.d, &inner); err != nil {
				return err
			}
			if s.d.Aborted() {
				s.t.Error("the outer dispatch is aborted")
			}
			return s.ack()
		case 2:
			_, err := s.turn.Dispatch(s.task, s.d, &inner)
			return err
		}
		s.turn.AbortDispatch(2, abortion)
		s.turn.AbortDispatch(9, abortion) // no such dispatch
		return nil
	}
	p.run()
	p.want(began + "dS#2 iS#2(0) dS#3 iS#3(0) iE#3(0,aborted) dE#3(aborted,1) iE#2(0,aborted) dE#2(aborted,1) " + acked)
}
