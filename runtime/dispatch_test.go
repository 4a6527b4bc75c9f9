package runtime

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// ackFrom is middleware that acks from an iteration on and records every iteration it sees.
func ackFrom(n int, seen *[]int) middleware {
	return func(s *seam, next func()) error {
		*seen = append(*seen, s.n)
		if s.n >= n && !s.d.Signalled() {
			s.must(s.ack())
		}
		next()
		return nil
	}
}

func quiet(*seam) error { return nil }

func TestDispatchScenarios(t *testing.T) {
	var a, b []int
	seen := func(want ...[]int) func(*testing.T, *play) {
		return func(t *testing.T, _ *play) {
			if !slices.Equal(a, want[0]) || len(want) > 1 && !slices.Equal(b, want[1]) {
				t.Errorf("called in iterations %v, %v, want %v", a, b, want)
			}
			a, b = nil, nil
		}
	}
	two := "tS dS iS(0) iE(0,continue) iS(1) iE(1,ack) dE(ack,2) tE(ack)"
	for _, c := range []scenario{
		{
			name: "B1 B4 output middleware acks in iteration 1, decision 4", want: two, check: seen([]int{0, 1}),
			play: play{executor: quiet, pipelines: [4][]middleware{DispatchOutput: {ackFrom(1, &a)}}},
		},
		{
			name: "B2 input middleware sees each iteration", check: seen([]int{0, 1, 2}),
			want: "tS dS iS(0) iE(0,continue) iS(1) iE(1,continue) iS(2) iE(2,ack) dE(ack,3) tE(ack)",
			play: play{executor: quiet, pipelines: [4][]middleware{
				DispatchInput:  {func(s *seam, next func()) error { a = append(a, s.n); next(); return nil }},
				DispatchOutput: {ackFrom(2, &b)},
			}},
		},
		{
			name: "B3 two output middleware", want: two, check: seen([]int{0, 1}, []int{0, 1}),
			play: play{executor: quiet, pipelines: [4][]middleware{DispatchOutput: {ackFrom(9, &a), ackFrom(1, &b)}}},
		},
		{
			name: "B5 the output pipeline runs after the executor's ack, decision 1", want: began + acked, check: seen([]int{0}),
			play: play{executor: ackOnce, pipelines: [4][]middleware{DispatchOutput: {ackFrom(9, &a)}}},
		},
		{
			name: "B6 input middleware acks, decision 1", want: began + acked, check: seen([]int{0}, nil),
			play: play{executor: never, pipelines: [4][]middleware{
				DispatchInput: {
					func(s *seam, next func()) error {
						s.must(s.store(record.Messages, "m", ""))
						s.must(s.ack())
						next()
						return nil
					},
					ackFrom(9, &a),
				},
				DispatchOutput: {ackFrom(9, &b)},
				TurnOutput: {func(s *seam, next func()) error {
					s.holds(0, record.Messages, "m")
					next()
					return nil
				}},
			}},
		},
		{
			name: "B7 input middleware acks without next", want: began + acked,
			play: play{executor: never, pipelines: [4][]middleware{DispatchInput: {func(s *seam, _ func()) error { return s.ack() }}}},
		},
		{
			name: "input middleware nacks", status: StatusNack, want: began + "iE(0,nack) derr(X) dE(nack,1,X) err(X) tE(nack)",
			play: play{executor: never, pipelines: [4][]middleware{DispatchInput: {func(s *seam, _ func()) error { return s.d.Nack(errX) }}}},
		},
		{
			name: "B20 the executor acks, then fails", status: StatusNack,
			play: play{executor: func(s *seam) error { s.must(s.ack()); return errX }},
			want: began + "derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)",
		},
		{
			name: "the executor nacks, then fails: the failure wins", status: StatusNack,
			play: play{executor: func(s *seam) error { s.must(s.d.Nack(errY)); return errX }},
			want: began + "derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)",
		},
		{
			name: "B21 nack without an error", status: StatusNack,
			play: play{executor: func(s *seam) error { return s.d.Nack(nil) }},
			want: began + "iE(0,nack) derr(the dispatch was nacked without an error) dE(nack,1,the dispatch was nacked without an error) err(the dispatch was nacked without an error) tE(nack)",
		},
		{
			name: "B23 dispatch input fails", status: StatusFailed,
			play: play{executor: never, pipelines: [4][]middleware{DispatchInput: {failX}}},
			want: began + "derr(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)",
			check: func(t *testing.T, p *play) {
				if e := p.events[3].payload.(*ErrorEvent).Err; errors.Unwrap(e) != error(errX) {
					t.Errorf("error %v", e)
				}
			},
		},
		{
			name: "dispatch output fails after the executor's ack", status: StatusFailed,
			play: play{executor: ackOnce, pipelines: [4][]middleware{DispatchOutput: {failX}}},
			want: began + "derr(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)",
		},
		{
			name: "B24 dispatch output without next", status: StatusFailed,
			play: play{executor: quiet, pipelines: [4][]middleware{DispatchOutput: {stop}}},
			want: began + "derr(E_PIPELINE_SHORT_CIRCUITED) iE(0,nack) dE(nack,1,E_PIPELINE_SHORT_CIRCUITED) err(E_PIPELINE_SHORT_CIRCUITED) tE(failed,E_PIPELINE_SHORT_CIRCUITED)",
			check: func(t *testing.T, p *play) {
				if e := p.events[3].payload.(*ErrorEvent).Err; !strings.Contains(e.Error(), "dispatch-output") {
					t.Errorf("%v does not name the pipeline", e)
				}
			},
		},
		{
			name: "B25 dispatch output acks without next", want: began + acked,
			play: play{executor: quiet, pipelines: [4][]middleware{DispatchOutput: {func(s *seam, _ func()) error { return s.ack() }}}},
		},
		{
			name: "B26 dispatch output nacks, decision 2", status: StatusNack,
			want: began + "iE(0,nack,-store message m) derr(X) dE(nack,1,X) err(X) tE(nack)",
			play: play{
				executor:  func(s *seam) error { return s.store(record.Messages, "m", "") },
				pipelines: [4][]middleware{DispatchOutput: {func(s *seam, next func()) error { s.must(s.d.Nack(errX)); next(); return nil }}},
			},
			check: func(_ *testing.T, p *play) { p.holds(0, record.Messages, ""); p.saved() },
		},
		{
			name: "an executor error out of a nested dispatch is a failure of its middleware", status: StatusFailed,
			want: began + "dS#2 iS#2(0) derr#2(E_LLM_EXECUTION_EXECUTOR_ERROR) iE#2(0,nack) dE#2(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR) " +
				"derr(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)",
			play: play{
				executor: func(*seam) error { return errX },
				pipelines: [4][]middleware{DispatchInput: {func(s *seam, _ func()) error {
					_, err := s.turn.Dispatch(s.task, s.d, &Config{})
					return err
				}}},
			},
		},
	} {
		c.test(t)
	}
}

// Decision 1: a second signal from output middleware is caught after the executor's ack, and nowhere else.
func TestSecondSignal(t *testing.T) {
	second := map[string]func(d *Dispatch) error{
		"ack": func(d *Dispatch) error { return d.Ack() }, "nack": func(d *Dispatch) error { return d.Nack(errY) },
	}
	for name, signal := range second {
		ran := false
		signalling := func(s *seam, next func()) error { return signal(s.d) }
		rest := func(_ *seam, next func()) error { ran = true; next(); return nil }
		t.Run("output "+name, func(t *testing.T) {
			p := &play{t: t, executor: ackOnce, pipelines: [4][]middleware{DispatchOutput: {through, signalling, rest}}}
			p.run()
			p.want(began + "warn(already-signalled) " + acked)
			if !ran {
				t.Error("the rest of the pipeline did not run")
			}
			w := p.events[3].payload.(*WarningEvent)
			if !w.FromDispatch || !strings.Contains(w.Message, "dispatch-output middleware 1 ") || !errors.Is(w.Err, fault.LLMExecutionAlreadySignalled) {
				t.Errorf("warning %+v", w)
			}
		})
		t.Run("output after next "+name, func(t *testing.T) {
			runs := 0
			p := &play{t: t, executor: ackOnce, pipelines: [4][]middleware{DispatchOutput: {
				func(s *seam, next func()) error { next(); return signal(s.d) },
				func(_ *seam, next func()) error { runs++; next(); return nil },
			}}}
			p.run()
			p.want(began + "warn(already-signalled) " + acked)
			if runs != 1 {
				t.Errorf("the rest of the pipeline ran %d times", runs)
			}
		})
		t.Run("last output "+name, func(t *testing.T) {
			p := &play{t: t, executor: ackOnce, pipelines: [4][]middleware{DispatchOutput: {signalling}}}
			p.run()
			p.want(began + "warn(already-signalled) " + acked)
		})
		t.Run("B10 executor "+name, func(t *testing.T) {
			p := &play{t: t, executor: func(s *seam) error {
				s.must(s.ack())
				err := signal(s.d)
				if !errors.Is(err, fault.LLMExecutionAlreadySignalled) {
					t.Errorf("second signal: %v", err)
				}
				return err
			}}
			if status, _, _ := p.run(); status != StatusNack {
				t.Errorf("status %s", statuses[status])
			}
		})
		t.Run("B10 after nack "+name, func(t *testing.T) {
			p := &play{t: t, executor: func(s *seam) error {
				s.must(s.d.Nack(errX))
				if err := signal(s.d); !errors.Is(err, fault.LLMExecutionAlreadySignalled) {
					t.Errorf("second signal: %v", err)
				}
				return nil
			}}
			_, _, err := p.run()
			if err != error(errX) {
				t.Errorf("the first nack became %v", err)
			}
		})
		t.Run("input "+name, func(t *testing.T) {
			p := &play{t: t, executor: never, pipelines: [4][]middleware{DispatchInput: {
				func(s *seam, next func()) error { s.must(s.ack()); next(); return nil }, signalling,
			}}}
			p.run()
			p.want(began + "derr(E_DISPATCH_PIPELINE_ERROR) iE(0,nack) dE(nack,1,E_DISPATCH_PIPELINE_ERROR) err(E_DISPATCH_PIPELINE_ERROR) tE(failed,E_DISPATCH_PIPELINE_ERROR)")
		})
	}
}

// B15 to B19: the message of the error that wraps an executor's error.
func TestExecutorErrorMessage(t *testing.T) {
	static := fault.LLMExecutionExecutorError.Error()
	long := strings.TrimSuffix(static, ".") + ": "
	for text, want := range map[string]string{
		"RET_CHECK failure: model produced no output": long + "RET_CHECK failure: model produced no output",
		"": static, static: static, "  spaces ": long + "spaces",
	} {
		cause := &fault.Error{Name: "Error", Message: text, Handle: 5}
		p := &play{t: t, executor: func(*seam) error { return cause }}
		_, _, err := p.run()
		if fault.MessageOf(err) != want || errors.Unwrap(err) != error(cause) {
			t.Errorf("%q became %q", text, fault.MessageOf(err))
		}
	}
}

// B22 and the rest of §2.9: a dispatch without a turn.
func TestStandalone(t *testing.T) {
	for name, c := range map[string]struct {
		executor   executor
		want       string
		status     Status
		iterations int
		code       string
	}{
		"ack":      {ackOnce, "dS iS(0) iE(0,ack) dE(ack,1)", StatusAck, 1, ""},
		"B22 nack": {func(s *seam) error { return s.d.Nack(errX) }, "dS iS(0) iE(0,nack) derr(X) dE(nack,1,X)", StatusNack, 1, "X"},
		"throw": {
			func(*seam) error { return errX },
			"dS iS(0) derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(0,nack) dE(nack,1,E_LLM_EXECUTION_EXECUTOR_ERROR)",
			StatusNack, 1, "E_LLM_EXECUTION_EXECUTOR_ERROR",
		},
		"abort": {func(s *seam) error { s.abort(); return abortion }, "dS iS(0) iE(0,aborted) dE(aborted,1)", StatusAborted, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &play{t: t, executor: c.executor}
			status, iterations, err := p.standalone(Input{ID: "T"})
			p.want(c.want)
			if status != c.status || iterations != c.iterations || err != nil && codeOf(err) != c.code || err == nil && c.code != "" {
				t.Errorf("%s, %d iterations, %v", statuses[status], iterations, err)
			}
		})
	}
	p := &play{t: t, executor: never}
	if status, n, err := p.standalone(Input{ID: "T", Aborted: true}); status != StatusAborted || n != 0 || err != nil {
		t.Errorf("aborted before: %s, %d iterations, %v", statuses[status], n, err)
	}
	p.want("dS dE(aborted,0)")
}

// Decision 9: the queue of a dispatch without a turn goes only to storage.
func TestStandaloneCommits(t *testing.T) {
	p := &play{t: t}
	p.prepare = func(p *play) {
		p.add(0, record.Messages, p.record(record.Messages, "old", ""))
	}
	p.executor = func(s *seam) error {
		s.holds(1, record.Messages, "old")
		s.must(s.store(record.Messages, "m", ""))
		return s.ack()
	}
	p.standalone(Input{ID: "T"})
	p.saved("store message m")
	p.holds(1, record.Messages, "old m")
	p.holds(0, record.Messages, "old")
}

// Decision 28.
func TestMaxIterations(t *testing.T) {
	for _, n := range []int{1, 3} {
		stored := 0
		p := &play{t: t, config: Config{DispatchInput: []Middleware{{Builtin: MaxIterations(n)}}}}
		p.executor = func(s *seam) error { stored++; return s.store(record.Messages, string(rune('a'+s.n)), "") }
		status, iterations, err := p.run()
		if status != StatusNack || iterations != n+1 || !errors.Is(err, fault.MaxIterations) {
			t.Errorf("%d: %s after %d iterations, %v", n, statuses[status], iterations, err)
		}
		if stored != n || len(p.storage) != n {
			t.Errorf("%d: the executor ran %d times, storage saw %v", n, stored, p.storage)
		}
	}
	// It does nothing after an earlier signal.
	p := &play{t: t, config: Config{DispatchInput: []Middleware{{Index: 0}, {Builtin: MaxIterations(1)}}}}
	p.pipelines[DispatchInput] = []middleware{func(s *seam, next func()) error {
		if s.n == 1 {
			s.must(s.ack())
		}
		next()
		return nil
	}}
	p.executor = quiet
	if status, _, err := p.run(); status != StatusAck || err != nil {
		t.Errorf("%s, %v", statuses[status], err)
	}
}

// An error of built-in middleware ends its pipeline, like the host's.
func TestBuiltinFails(t *testing.T) {
	p := &play{t: t, executor: never, config: Config{DispatchInput: []Middleware{{Index: 0}, {Builtin: func(Task, *Dispatch) error { return errX }}}}}
	post := false
	p.pipelines[DispatchInput] = []middleware{func(_ *seam, next func()) error { next(); post = true; return nil }}
	if status, _, err := p.run(); status != StatusFailed || !errors.Is(err, fault.DispatchPipelineError) || !post {
		t.Errorf("%s, %v, post-step %t", statuses[status], err, post)
	}
}

// An interrupted stream is sealed like any other, and marked.
func TestInterrupt(t *testing.T) {
	p := &play{t: t}
	p.executor = func(s *seam) error {
		s.must(s.d.Report(MessageStream, []byte("a"), []byte("He"), false))
		s.must(s.d.Interrupt(MessageStream, []byte("a"), []byte("l")))
		s.must(s.d.Interrupt(ThoughtStream, []byte("a"), nil))
		for _, err := range []error{s.d.Report(MessageStream, []byte("a"), nil, true), s.d.Interrupt(ThoughtStream, []byte("a"), nil)} {
			if !isSealed(err) {
				t.Errorf("of a sealed stream: %v", err)
			}
		}
		return s.d.Ack()
	}
	p.run()
	p.want(began + "msg msg th iE(0,ack) dE(ack,1) tE(ack)")
	first, last, thought := p.events[3].payload.(StreamEvent), p.events[4].payload.(StreamEvent), p.events[5].payload.(StreamEvent)
	if first.Interrupted || !last.Complete || !last.Interrupted || last.Length != 3 || !thought.Complete || !thought.Interrupted {
		t.Errorf("%+v, %+v, %+v", first, last, thought)
	}
}

// C1 to C4 and C8: streams live as long as the dispatch.
func TestStreams(t *testing.T) {
	p := &play{t: t}
	p.executor = func(s *seam) error {
		s.d.Log(0, "k", "m", nil)
		if s.n == 0 {
			s.turn.SetElapsed(4)
			s.must(s.d.Report(MessageStream, []byte("a"), []byte("Hé"), false))
			s.must(s.d.Report(ThoughtStream, []byte("a"), nil, true))
			s.turn.SetElapsed(9)
			return nil
		}
		s.must(s.d.Report(MessageStream, []byte("a"), []byte("llo"), true))
		if err := s.d.Report(MessageStream, []byte("a"), []byte("x"), false); !isSealed(err) {
			t.Errorf("a report on a sealed stream: %v", err)
		} else {
			return err // C2: not caught
		}
		return nil
	}
	p.run()
	p.want(began + "log(0) msg th iE(0,continue) iS(1) log(0) msg derr(E_LLM_EXECUTION_EXECUTOR_ERROR) iE(1,nack) dE(nack,2,E_LLM_EXECUTION_EXECUTOR_ERROR) err(E_LLM_EXECUTION_EXECUTOR_ERROR) tE(nack)")
	first, thought, last := p.events[4].payload.(StreamEvent), p.events[5].payload.(StreamEvent), p.events[9].payload.(StreamEvent)
	if first.Created != 4 || last.Created != 4 || first.Length != 3 || last.Length != 6 || first.Complete || !last.Complete || thought.Length != 0 || !thought.Complete {
		t.Errorf("%+v, %+v, %+v", first, thought, last)
	}
	if p.events[3].Iteration != 0 || p.events[8].Iteration != 1 || p.events[9].Elapsed != 9 {
		t.Errorf("%+v, %+v", p.events[8].Head, p.events[9].Head)
	}
	d := p.turn.DispatchContext(1)
	if err := d.Interrupt(MessageStream, []byte("z"), nil); !errors.Is(err, fault.CallAfterEnd) {
		t.Errorf("an interrupt after the dispatch: %v", err)
	}
	if err := d.Report(MessageStream, []byte("z"), nil, false); !errors.Is(err, fault.CallAfterEnd) {
		t.Errorf("a report after the dispatch: %v", err)
	}
	if err := d.ReportToolCall("z", ToolCallReport{}); !errors.Is(err, fault.CallAfterEnd) {
		t.Errorf("a report after the dispatch: %v", err)
	}
}

func TestStatsAndEmit(t *testing.T) {
	p := &play{t: t, executor: func(s *seam) error {
		s.d.ReportStats([]byte{0x80})
		s.turn.Emit(1, EventLog, []byte{0x05})
		s.turn.Emit(0, EventWarning, nil)
		return s.ack()
	}}
	p.run()
	if e := p.events[3]; e.Kind != EventGenerationStats || string(e.payload.(*StatsEvent).Stats) != "\x80" || e.Scope != ScopeTurn|ScopeDispatch {
		t.Errorf("stats %+v", e)
	}
	if e := p.events[4]; e.Kind != EventLog || e.Dispatch != 1 || string(e.payload.(*RawEvent).Payload) != "\x05" {
		t.Errorf("emitted %+v", e)
	}
	if e := p.events[5]; e.Kind != EventWarning || e.Dispatch != 0 || e.Scope != ScopeTurn || e.Iteration != -1 {
		t.Errorf("emitted %+v", e)
	}
}

func TestStampsAndIDs(t *testing.T) {
	p := &play{t: t, executor: ackOnce}
	p.run()
	last := int64(999)
	for i := range uint64(50) {
		p.turn.SetElapsed(i / 10 * 20)
		stamp := p.turn.Stamp()
		if stamp <= last || stamp < 1000+int64(p.turn.Elapsed()) || stamp > 1000+int64(p.turn.Elapsed())+10 {
			t.Fatalf("stamp %d after %d at %d", stamp, last, p.turn.Elapsed())
		}
		last = stamp
	}
	if a, b := p.turn.NewID("m"), p.turn.NewID("t"); a != "T.m1" || b != "T.t1" || p.turn.NewID("m") != "T.m2" {
		t.Errorf("ids %s, %s", a, b)
	}
}

func isSealed(err error) bool {
	_, sealed := err.(*fault.StreamSealed)
	return sealed
}

// A second report on a completed stream or call says why the executor runs again.
func TestAReportOnWhatIsComplete(t *testing.T) {
	said := func(want string, err error) {
		t.Helper()
		if !isSealed(err) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	p := &play{t: t, executor: func(s *seam) error {
		if s.d.Iteration() == 0 {
			s.must(s.d.Report(MessageStream, []byte("m"), []byte("x"), true))
			said(`the message "m" takes no more reports: an earlier one has completed it`, s.d.Report(MessageStream, []byte("m"), []byte("x"), true))
			s.must(s.d.ReportToolCall("c", ToolCallReport{Complete: true}))
			return nil
		}
		const again = `takes no more reports: it was completed in iteration 0, and the executor runs again since nobody called ack or nack`
		said(`the message "m" `+again, s.d.Report(MessageStream, []byte("m"), []byte("x"), true))
		said(`the tool call "c" `+again, s.d.ReportToolCall("c", ToolCallReport{}))
		s.must(s.d.Report(ThoughtStream, []byte("m"), []byte("x"), true))
		said(`the thought "m" takes no more reports: an earlier one has completed it`, s.d.Interrupt(ThoughtStream, []byte("m"), nil))
		return s.ack()
	}}
	if status, _, err := p.run(); status != StatusAck || err != nil {
		t.Errorf("%v, %v", status, err)
	}
}
