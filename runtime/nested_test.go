package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// nest runs an outer executor, and in it a dispatch from the outer one's context.
func nest(t *testing.T, config Config, outer func(s *seam, dispatch func() (*Dispatch, error)) error, inner executor) *play {
	p := &play{t: t, config: config}
	p.executor = func(s *seam) error {
		if s.d.Number() == 1 {
			return outer(s, func() (*Dispatch, error) { return s.turn.Dispatch(s.task, s.d, &config) })
		}
		return inner(s)
	}
	p.run()
	return p
}

// Decision 35: an inner dispatch commits into the outer one's queue and shares its fate.
func TestNestedDispatch(t *testing.T) {
	inner := func(s *seam) error {
		s.holds(2, record.Messages, "before")
		s.must(s.store(record.Messages, "within", ""))
		s.must(s.mutate(record.Messages, "before", "changed"))
		s.holds(1, record.Messages, "before")
		return s.ack()
	}
	for end, want := range map[string]string{
		"ack":  "iE(0,ack) dE(ack,1) tE(ack)",
		"nack": "iE(0,nack,-store message before,-store message within,-mutate message before:changed,-store message after) derr(X) dE(nack,1,X) err(X) tE(nack)",
	} {
		t.Run(end, func(t *testing.T) {
			p := nest(t, Config{}, func(s *seam, dispatch func() (*Dispatch, error)) error {
				s.must(s.store(record.Messages, "before", ""))
				d, err := dispatch()
				s.must(err)
				if d.Number() != 2 || d.Status() != StatusAck || d.Iterations() != 1 {
					t.Errorf("dispatch %d ended with %s after %d iterations", d.Number(), statuses[d.Status()], d.Iterations())
				}
				s.holds(1, record.Messages, "before:changed within")
				s.holds(0, record.Messages, "")
				s.saved()
				s.must(s.store(record.Messages, "after", ""))
				if end == "nack" {
					return s.d.Nack(errX)
				}
				return s.ack()
			}, inner)
			p.want(began + "dS#2 iS#2(0) iE#2(0,ack) dE#2(ack,1) " + want)
			if end == "ack" {
				p.saved("store message before", "store message within", "mutate message before:changed", "store message after")
				p.holds(0, record.Messages, "before:changed within after")
			} else {
				p.saved()
				p.holds(0, record.Messages, "")
			}
		})
	}
}

// The failure of an inner dispatch is its caller's responsibility.
func TestNestedDispatchFails(t *testing.T) {
	p := nest(t, Config{}, func(s *seam, dispatch func() (*Dispatch, error)) error {
		if d, err := dispatch(); err != error(errX) || d.Status() != StatusNack {
			t.Errorf("%+v, %v", d, err)
		}
		return s.ack()
	}, func(s *seam) error {
		s.must(s.store(record.Messages, "m", ""))
		return s.d.Nack(errX)
	})
	p.want(began + "dS#2 iS#2(0) iE#2(0,nack,-store message m) derr#2(X) dE#2(nack,1,X) " + acked)
	p.holds(1, record.Messages, "")
	p.saved()
}

// Decision 35: the turn's context cannot be a source while one of its iterations is open, nor can an ended one.
func TestSources(t *testing.T) {
	p := &play{t: t}
	dispatches := 0
	p.executor = func(s *seam) error {
		if s.d.Number() == 1 {
			for _, number := range []uint32{0} {
				d, err := s.turn.Dispatch(s.task, s.turn.DispatchContext(number), &p.config)
				var f *fault.Error
				if d != nil || !errors.As(err, &f) || f.Code != fault.InvalidLLMDispatchInput || f.Status != 529 {
					t.Errorf("source %d: %v, %v", number, d, err)
				}
			}
		}
		return s.ack()
	}
	twice := func(s *seam, next func()) error {
		dispatches++
		d, err := s.turn.Dispatch(s.task, nil, &p.config)
		s.must(err)
		if inner, err := s.turn.Dispatch(s.task, d, &p.config); inner != nil || !errors.Is(err, fault.InvalidLLMDispatchInput) {
			t.Errorf("a source that has ended: %v", err)
		}
		next()
		return nil
	}
	p.pipelines[TurnInput] = []middleware{twice}
	p.pipelines[TurnOutput] = []middleware{twice}
	if status, iterations, err := p.run(); status != StatusAck || iterations != 1 || dispatches != 2 {
		t.Errorf("%s, %d iterations, %v", statuses[status], iterations, err)
	}
	p.want("tS dS iS(0) iE(0,ack) dE(ack,1) dS#2 iS#2(0) iE#2(0,ack) dE#2(ack,1) dS#3 iS#3(0) iE#3(0,ack) dE#3(ack,1) tE(ack)")
}

// A dispatch begins with copies: neither side sees later changes of the other.
func TestContextsAreApart(t *testing.T) {
	p := &play{t: t}
	p.prepare = func(p *play) {
		p.turn.Stash(0).Set("k", value.AppendInt(nil, 1))
		p.add(0, record.Messages, p.record(record.Messages, "a", ""), p.record(record.Messages, "b", ""))
	}
	stash := func(context uint32) string {
		var text []string
		for _, key := range []string{"k", "outer", "inner"} {
			if v, ok := p.turn.Stash(context).Get(key); ok {
				text = append(text, key+string('0'+v[0]))
			}
		}
		return strings.Join(text, " ")
	}
	p.executor = func(s *seam) error {
		if s.d.Number() == 2 {
			if got := stash(2); got != "k2 outer3" {
				t.Errorf("stash %s", got)
			}
			s.turn.Stash(2).Unset("k")
			s.turn.Stash(2).Set("inner", value.AppendInt(nil, 4))
			s.turn.Remove(2, record.Messages, 1)
			s.mirror[2][record.Messages] = []int64{2}
			s.holds(2, record.Messages, "b")
			s.holds(1, record.Messages, "a b")
			return s.ack()
		}
		s.turn.Stash(1).Set("k", value.AppendInt(nil, 2))
		s.turn.Stash(1).Set("outer", value.AppendInt(nil, 3))
		_, err := s.turn.Dispatch(s.task, s.d, &p.config)
		s.must(err)
		s.add(1, record.Messages, s.record(record.Messages, "c", ""))
		s.holds(0, record.Messages, "a b")
		return s.ack()
	}
	p.run()
	for context, want := range []string{"k1", "k2 outer3", "outer3 inner4"} {
		if got := stash(uint32(context)); got != want {
			t.Errorf("context %d: stash %s, want %s", context, got, want)
		}
	}
	p.holds(0, record.Messages, "a b")
	p.holds(1, record.Messages, "a b c")
	p.holds(2, record.Messages, "b")
}

// An inner dispatch cannot grow the outer queue beyond its limit.
func TestNestedQueueIsBounded(t *testing.T) {
	p := nest(t, Config{Queue: 3}, func(s *seam, dispatch func() (*Dispatch, error)) error {
		s.must(s.store(record.Messages, "a", ""))
		s.must(s.store(record.Messages, "b", ""))
		if _, err := dispatch(); !errors.Is(err, fault.ABILimitExceeded) {
			t.Errorf("error %v", err)
		}
		return s.ack()
	}, func(s *seam) error {
		s.must(s.store(record.Messages, "c", ""))
		s.must(s.store(record.Messages, "d", ""))
		return s.ack()
	})
	p.saved("store message a", "store message b")
	p.want(began + "dS#2 iS#2(0) derr#2(E_ABI_LIMIT_EXCEEDED) iE#2(0,nack,-store message c,-store message d) dE#2(nack,1,E_ABI_LIMIT_EXCEEDED) " + acked)
}

// A dispatch that nobody awaits ends with the iteration it was started in, even though its executor still runs.
func TestDispatchThatNobodyAwaits(t *testing.T) {
	for _, handed := range []bool{false, true} {
		p := &play{t: t, config: Config{OnDiscard: handed}}
		discarded := 0
		p.discarded = func(_ Task, e *Discard) error {
			if discarded++; e.Context != 2 || e.Status != StatusAborted {
				t.Errorf("discard %+v", e)
			}
			return nil
		}
		p.executor = func(s *seam) error {
			if s.d.Number() == 1 {
				_, _ = s.turn.Dispatch(s.task, s.d, &p.config)
				return nil
			}
			s.must(s.store(record.Messages, "m", ""))
			// The outer iteration ends while this executor runs.
			s.must(p.turn.DispatchContext(1).Ack())
			p.turn.cutInside(s.task, p.turn.DispatchContext(1))
			if !s.d.Aborted() {
				t.Error("the dispatch was not aborted")
			}
			for name, err := range map[string]error{
				"store": s.store(record.Messages, "n", ""), "report": s.d.Report(MessageStream, []byte("m"), nil, true),
				"commit": s.d.Commit(s.task),
			} {
				if !errors.Is(err, fault.CallAfterEnd) {
					t.Errorf("%s: %v", name, err)
				}
			}
			return errX
		}
		p.run()
		p.want(began + "dS#2 iS#2(0) iE#2(0,aborted,-store message m) dE#2(aborted,1) " + acked)
		p.saved()
		if want := map[bool]int{true: 1}[handed]; discarded != want {
			t.Errorf("handed over %d times", discarded)
		}
	}
}

// Decision 4: a failed task closes everything that is open, innermost first.
func TestBreak(t *testing.T) {
	for _, c := range []struct {
		at   string
		want string
	}{
		{"input", "tS err(X) tE(failed,X)"},
		{"outer", began + "derr(X) iE(0,nack,-store message m) dE(nack,1,X) err(X) tE(failed,X)"},
		{"inner", began + "dS#2 iS#2(0) derr#2(X) iE#2(0,nack) dE#2(nack,1,X) derr(X) iE(0,nack,-store message m) dE(nack,1,X) err(X) tE(failed,X)"},
		{"output", began + "iE(0,ack) dE(ack,1) err(X) tE(failed,X)"},
	} {
		t.Run(c.at, func(t *testing.T) {
			p := &play{t: t}
			at := func(place string) {
				if place == c.at {
					panic(errX)
				}
			}
			p.pipelines[TurnInput] = []middleware{func(_ *seam, next func()) error { at("input"); next(); return nil }}
			p.pipelines[TurnOutput] = []middleware{func(_ *seam, next func()) error { at("output"); next(); return nil }}
			p.executor = func(s *seam) error {
				if s.d.Number() == 2 {
					at("inner")
					return s.ack()
				}
				s.must(s.store(record.Messages, "m", ""))
				at("outer")
				if c.at == "inner" {
					_, err := s.turn.Dispatch(s.task, s.d, &p.config)
					s.must(err)
				}
				return s.ack()
			}
			func() {
				defer func() { _ = recover() }()
				p.run()
			}()
			iterations := p.turn.Break(errX)
			if want := strings.Count(c.want, "iS("); iterations != want {
				t.Errorf("%d iterations, want %d", iterations, want)
			}
			p.turn.Break(errY) // too late
			p.want(c.want)
			p.finish()
		})
	}
	p := &play{t: t, executor: func(*seam) error { panic(errX) }}
	func() {
		defer func() { _ = recover() }()
		p.standalone(Input{ID: "T"})
	}()
	p.turn.Break(errX)
	p.want("dS iS(0) derr(X) iE(0,nack) dE(nack,1,X)")
}
