package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Decision 6: storage first, then the parent; one call with the whole batch if the host has a commit callback.
func TestCommitOrder(t *testing.T) {
	p := &play{t: t}
	p.committed = func(_ Task, deltas []Delta) error {
		p.holds(0, record.Messages, "")
		var words []string
		for _, d := range deltas {
			words = append(words, p.deltaWord(d))
		}
		p.storage = append(p.storage, strings.Join(words, ", "))
		return nil
	}
	p.executor = func(s *seam) error {
		s.must(s.store(record.Messages, "m", ""))
		s.must(s.store(record.Thoughts, "t", ""))
		s.must(s.mutate(record.Messages, "m", "new"))
		return s.ack()
	}
	p.run()
	p.saved("store message m, store thought t, mutate message m:new")
	p.holds(0, record.Messages, "m:new")
}

// B32 as changed by decision 6.
func TestCommitFails(t *testing.T) {
	for at, want := range []string{"", "a", "a b"} {
		p := &play{t: t}
		n := 0
		p.stored = func(Task, string) error {
			if n++; n > at {
				return errX
			}
			return nil
		}
		p.executor = func(s *seam) error {
			for _, id := range []string{"a", "b", "c"} {
				s.must(s.store(record.Messages, id, ""))
			}
			return s.ack()
		}
		status, _, err := p.run()
		var f *fault.Error
		if status != StatusFailed || !errors.As(err, &f) || f.Code != fault.StorageCommitError || f.Fatal || f.Status != 500 || !errors.Is(errors.Unwrap(f.Cause), errX) {
			t.Errorf("%s, %v", statuses[status], err)
		}
		if applied := appliedOf(f.Details); applied != at {
			t.Errorf("%d applied, want %d", applied, at)
		}
		// The turn sees the same records as storage.
		p.holds(0, record.Messages, want)
		lost := "store message " + strings.Join(strings.Fields("a b c")[at:], ",-store message ")
		p.want(began + "derr(E_STORAGE_COMMIT_ERROR) iE(0,nack,-" + lost + ") dE(nack,1,E_STORAGE_COMMIT_ERROR) err(E_STORAGE_COMMIT_ERROR) tE(failed,E_STORAGE_COMMIT_ERROR)")
	}
}

// A host's count of applied writes is checked.
func TestCommitDetails(t *testing.T) {
	for text, want := range map[string]int{`[1,3]`: 1, `[9,3]`: 9, `[-4]`: 0, `[]`: 0, `{}`: 0, `["1"]`: 0, `null`: 0, `[1.5]`: 0} {
		if got := appliedOf(valueFrom(text)); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
	p := &play{t: t, committed: func(Task, []Delta) error { return &fault.Error{Message: "odd", Details: valueFrom(`[99,1]`)} }}
	p.executor = func(s *seam) error { s.must(s.store(record.Messages, "m", "")); return s.ack() }
	p.run()
	if _, err := p.turn.Dispatch(hand{p}, nil, &p.config); !errors.Is(err, fault.StorageCommitError) {
		t.Error(err)
	}
}

// Decision 36: what ctx.commit() wrote stays, and a failed commit can be repeated.
func TestCommitInside(t *testing.T) {
	p := &play{t: t, executor: func(s *seam) error {
		s.must(s.store(record.Messages, "kept", ""))
		s.must(s.d.Commit(s.task))
		s.saved("store message kept")
		s.holds(0, record.Messages, "kept")
		s.must(s.d.Commit(s.task)) // nothing to do
		s.must(s.store(record.Messages, "lost", ""))
		return s.d.Nack(errX)
	}}
	p.run()
	p.saved("store message kept")
	p.holds(0, record.Messages, "kept")
	p.want(began + "iE(0,nack,-store message lost) derr(X) dE(nack,1,X) err(X) tE(nack)")

	p = &play{t: t, executor: func(s *seam) error {
		broken := true
		s.stored = func(_ Task, what string) error {
			if broken && what == "store message b" {
				return errX
			}
			return nil
		}
		s.must(s.store(record.Messages, "a", ""))
		s.must(s.store(record.Messages, "b", ""))
		if err := s.d.Commit(s.task); !errors.Is(err, fault.StorageCommitError) {
			t.Errorf("error %v", err)
		}
		broken = false
		return s.ack()
	}}
	p.run()
	p.saved("store message a", "store message b")
	p.holds(0, record.Messages, "a b")
	p.want(began + acked)
	if err := p.turn.DispatchContext(1).Commit(hand{p}); !errors.Is(err, fault.CallAfterEnd) {
		t.Errorf("a commit after the dispatch: %v", err)
	}
}

// Writes during the commit join it; writes during the discard callback are rejected.
func TestLateWrites(t *testing.T) {
	p := &play{t: t}
	p.committed = func(task Task, deltas []Delta) error {
		if len(p.storage) == 0 {
			s := &seam{play: p, task: task, d: p.turn.DispatchContext(1)}
			s.must(s.store(record.Messages, "late", ""))
		}
		p.storage = append(p.storage, p.deltaWord(deltas[0]))
		return nil
	}
	p.executor = func(s *seam) error { s.must(s.store(record.Messages, "m", "")); return s.ack() }
	p.run()
	p.saved("store message m", "store message late")
	p.want(began + acked)
	p.holds(0, record.Messages, "m late")

	p = &play{t: t, config: Config{OnDiscard: true}}
	p.discarded = func(task Task, _ *Discard) error {
		s := &seam{play: p, task: task, d: p.turn.DispatchContext(1)}
		err := s.store(record.Messages, "late", "")
		if !errors.Is(err, fault.CallAfterEnd) {
			t.Errorf("a write in the discard callback: %v", err)
		}
		return err
	}
	p.executor = func(s *seam) error { s.must(s.store(record.Messages, "m", "")); return s.d.Nack(errX) }
	p.run()
	p.want(began + "warn(discard-callback-failed) iE(0,nack,-store message m) derr(X) dE(nack,1,X) err(X) tE(nack)")
}

// An abort while storage is busy keeps what was written, and drops later writes.
func TestAbortDuringCommit(t *testing.T) {
	for _, late := range []bool{false, true} {
		p := &play{t: t}
		p.committed = func(task Task, deltas []Delta) error {
			p.storage = append(p.storage, p.deltaWord(deltas[0]))
			p.turn.Abort(nil)
			if late {
				s := &seam{play: p, task: task, d: p.turn.DispatchContext(1)}
				s.must(s.store(record.Messages, "late", ""))
			}
			return nil
		}
		p.executor = func(s *seam) error { s.must(s.store(record.Messages, "m", "")); return s.ack() }
		p.run()
		p.saved("store message m")
		p.holds(0, record.Messages, "m")
		if late {
			p.want(began + "iE(0,aborted,-store message late) dE(aborted,1) tE(aborted)")
		} else {
			p.want(began + "iE(0,ack) dE(aborted,1) tE(aborted)")
		}
	}
}

// If storage fails because it heeds the abort, the dispatch is aborted, not failed, and unwritten changes are dropped.
func TestCommitHeedsTheAbort(t *testing.T) {
	for at, want := range []string{"", "a"} {
		p := &play{t: t}
		n := 0
		p.stored = func(Task, string) error {
			if n++; n > at {
				p.turn.Abort(nil)
				return abortion
			}
			return nil
		}
		p.executor = func(s *seam) error {
			s.must(s.store(record.Messages, "a", ""))
			s.must(s.store(record.Messages, "b", ""))
			return s.ack()
		}
		status, _, err := p.run()
		if status != StatusAborted || err != nil {
			t.Errorf("%s, %v", statuses[status], err)
		}
		p.holds(0, record.Messages, want)
		lost := "store message " + strings.Join(strings.Fields("a b")[at:], ",-store message ")
		p.want(began + "iE(0,aborted,-" + lost + ") dE(aborted,1) tE(aborted)")
	}
	// The same error without an abort is a failure.
	p := &play{t: t, stored: func(Task, string) error { return abortion }}
	p.executor = func(s *seam) error { s.must(s.store(record.Messages, "a", "")); return s.ack() }
	if status, _, err := p.run(); status != StatusFailed || !errors.Is(err, fault.StorageCommitError) {
		t.Errorf("%s, %v", statuses[status], err)
	}
}
