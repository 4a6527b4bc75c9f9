package runtime

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// A30, A31 and decision 8: a store on the turn spools, then writes, then adds.
func TestTurnSpools(t *testing.T) {
	p := &play{t: t, executor: ackOnce, library: library{texts: map[string]string{"r": "one\ntwo"}}}
	p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
		handle := s.body("r", held("r", false))
		stored, err := s.turn.Store(s.task, record.Retrievables, handle)
		if stored == handle || s.names[stored] != "r:spooled" || err != nil {
			t.Errorf("stored as %s, %v", s.names[stored], err)
		}
		part := record.Artifact(record.Retrievable(s.turn.records.body(stored)).Part())
		if part.Bytes() != 7 || part.Lines() != 2 { // F14
			t.Errorf("hints %d, %d", part.Bytes(), part.Lines())
		}
		s.holds(0, record.Retrievables, "r:spooled")
		again, err := s.turn.Mutate(s.task, record.Retrievables, s.body("r", held("r", false)), "")
		if again == stored || err != nil {
			t.Errorf("mutated to %d from %d, %v", again, stored, err)
		}
		s.holds(0, record.Retrievables, "r:spooled")
		if n := len(s.mirror[0][record.Retrievables]); n != 1 || s.mirror[0][record.Retrievables][0] != again {
			t.Errorf("the host has %v", s.mirror[0][record.Retrievables])
		}
		// F15: inline text, and a record that is already spooled.
		for id, body := range map[string][]byte{"i": held("i", true), "a": found("a", false)} {
			handle := s.body(id, body)
			if stored, err := s.turn.Store(s.task, record.Retrievables, handle); stored != handle || err != nil {
				t.Errorf("%s stored as %d, want %d, %v", id, stored, handle, err)
			}
		}
		s.must(s.store(record.ToolCalls, "x", ""))
		if _, err := s.turn.Store(s.task, record.Retrievables, s.body("x", held("x", false))); !errors.Is(err, fault.ArtifactIDCollision) {
			t.Errorf("collision: %v", err)
		}
		next()
		return nil
	}}
	p.run()
	if got := strings.Join(p.library.inOrder, ", "); got != "spool r, spool r" {
		t.Errorf("effects: %s", got)
	}
	if got := strings.Join(p.storage, ", "); !strings.HasPrefix(got, "store retrievable r:spooled, mutate retrievable r:spooled, ") {
		t.Errorf("storage saw %s", got)
	}
}

// Decision 7: in a dispatch the text is spooled at once; the record is queued.
func TestDispatchSpools(t *testing.T) {
	p := inDispatch(t, nil, func(s *seam) {
		handle := s.body("r", held("r", false))
		if !s.turn.Spools(record.Retrievables, handle) || s.turn.Spools(record.Retrievables, s.body("i", held("i", true))) || s.turn.Spools(record.Messages, handle) {
			t.Error("what has to be spooled")
		}
		stored, err := s.d.StoreSpooled(s.task, WriteStore, handle)
		s.must(err)
		s.holds(1, record.Retrievables, "r:spooled")
		s.holds(0, record.Retrievables, "")
		stored2, err := s.d.StoreSpooled(s.task, WriteMutate, s.body("r", held("r", false)))
		s.must(err)
		if stored2 == stored || len(s.mirror[1][record.Retrievables]) != 1 {
			t.Errorf("the host has %v", s.mirror[1][record.Retrievables])
		}
		s.must(s.store(record.ToolCalls, "x", ""))
		if _, err := s.d.StoreSpooled(s.task, WriteStore, s.body("x", held("x", false))); !errors.Is(err, fault.ArtifactIDCollision) {
			t.Errorf("collision: %v", err)
		}
		s.library.refuse = errX
		if _, err := s.d.StoreSpooled(s.task, WriteStore, s.body("y", held("y", false))); err != errX {
			t.Errorf("refused: %v", err)
		}
		s.holds(1, record.Retrievables, "r:spooled")
	})
	p.holds(0, record.Retrievables, "r:spooled")
	if got := strings.Join(p.library.inOrder, ", "); got != "spool r, spool r, spool y" {
		t.Errorf("effects: %s", got)
	}
}

// A document made by the guest is announced to the host, spooled, and stored as an artifact; its text is freed.
func TestGuestDocument(t *testing.T) {
	made := func(id string) []byte {
		return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Content: []byte("one\ntwo"), TrustTier: "third-party-public"})
	}
	p := inDispatch(t, nil, func(s *seam) {
		s.library.texts = map[string]string{"g": "one\ntwo"}
		s.must(s.d.StoreDocument(s.task, made("g")))
		s.holds(1, record.Retrievables, "g:spooled")
		s.holds(0, record.Retrievables, "")
		if body := record.Retrievable(s.turn.records.body(-1)); record.PartOf(body.Part()) != record.ArtifactPart {
			t.Errorf("the guest keeps %q", body)
		}
		s.must(s.store(record.ToolCalls, "x", ""))
		if err := s.d.StoreDocument(s.task, made("x")); !errors.Is(err, fault.ArtifactIDCollision) || s.turn.Known(-2) {
			t.Errorf("collision: %v", err)
		}
		s.library.refuse = errX
		if err := s.d.StoreDocument(s.task, made("y")); err != errX {
			t.Errorf("refused: %v", err)
		}
		s.library.refuse, s.library.keep = nil, true
		s.must(s.d.StoreDocument(s.task, made("kept")))
		s.must(s.d.StoreBody(record.Messages, bodyOf(record.Messages, "m", "")))
		s.d.closing = true
		if err := s.d.StoreDocument(s.task, made("late")); !errors.Is(err, fault.CallAfterEnd) || s.turn.Known(-5) {
			t.Errorf("late: %v", err)
		}
		s.d.closing = false
	})
	if got := strings.Join(p.library.inOrder, ", "); got != "spool g, spool y, spool kept" {
		t.Errorf("effects: %s", got)
	}
	if got := p.mirror[0][record.Retrievables]; len(got) != 2 || got[1] != -3 {
		t.Errorf("the host has %v", got)
	}
}

// B43: spooling at the start of a dispatch also changes its source.
func TestSpooledAtDispatchStart(t *testing.T) {
	p := &play{t: t, executor: ackOnce}
	var handles string
	p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
		for i := range 70 {
			id := fmt.Sprint("r", i)
			s.add(0, record.Retrievables, s.body(id, held(id, false)))
		}
		s.add(0, record.Retrievables, s.body("inline", held("inline", true)))
		d, err := s.turn.Dispatch(s.task, nil, &s.config)
		s.must(err)
		if d.Status() != StatusAck {
			t.Errorf("status %d", d.Status())
		}
		handles = fmt.Sprint(s.mirror[0][record.Retrievables], s.mirror[1][record.Retrievables])
		next()
		return nil
	}}
	p.run()
	if n := len(p.library.inOrder); n != 70 {
		t.Errorf("%d effects", n)
	}
	if got := p.list(0, record.Retrievables); !strings.HasPrefix(got, "r0:spooled r1:spooled ") || !strings.HasSuffix(got, "r69:spooled inline") {
		t.Errorf("the turn has %s", got)
	}
	if handles != fmt.Sprint(p.mirror[0][record.Retrievables], p.mirror[2][record.Retrievables]) {
		t.Error("the second dispatch has other records")
	}
}

// A failure before the loop fails the dispatch before any event.
func TestSpoolingFails(t *testing.T) {
	play := func() *play {
		p := &play{t: t, executor: ackOnce, library: library{refuse: errX}}
		p.prepare = func(p *play) { p.add(0, record.Retrievables, p.body("r", held("r", false))) }
		return p
	}
	p := play()
	if status, iterations, err := p.run(); status != StatusFailed || iterations != 0 || err != errX {
		t.Errorf("status %d after %d iterations, %v", status, iterations, err)
	}
	p.want("tS err(X) tE(failed,X)")
	p = play()
	if status, _, err := p.standalone(Input{ID: "T"}); status != StatusRefused || err != errX {
		t.Errorf("standalone: status %d, %v", status, err)
	}
	p.want("")
	// While the turn is aborted, such an error counts as the abort.
	p = play()
	p.library.refuse = abortion
	p.library.onSpool = func() { p.turn.Abort(abortion) }
	if status, _, err := p.run(); status != StatusAborted || err != nil {
		t.Errorf("aborted: status %d, %v", status, err)
	}
	p.want("tS dS dE(aborted,0) tE(aborted)")
}

// Records that user code adds to the collection itself are spooled at the start of the next iteration.
func TestAddedTextIsSpooled(t *testing.T) {
	p := &play{t: t}
	p.executor = func(s *seam) error {
		if s.n == 1 {
			s.holds(1, record.Retrievables, "r:spooled")
			if s.offered("artifact_cat") != "r" {
				t.Errorf("cat offers %s", s.offered("artifact_cat"))
			}
			return s.ack()
		}
		s.add(1, record.Retrievables, s.body("r", held("r", false)))
		return nil
	}
	p.run()
	p.holds(0, record.Retrievables, "")
}

// A document stored by itself is spooled at once and offered in the next iteration.
func TestStoredTextIsOffered(t *testing.T) {
	p := &play{t: t}
	p.executor = func(s *seam) error {
		if s.n == 1 {
			if s.offered("artifact_cat") != "r" {
				t.Errorf("cat offers %s", s.offered("artifact_cat"))
			}
			return s.ack()
		}
		_, err := s.d.StoreSpooled(s.task, WriteStore, s.body("r", held("r", false)))
		return err
	}
	p.run()
}

// A host's answer is checked. The host may leave a record unchanged.
func TestSpooledRecordIsChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		body []byte
		want error
	}{
		{"as it is", nil, nil},
		{"another id", found("other", false), fault.InvalidInitialRetrievableValue},
		{"still a text", held("r", false), fault.InvalidInitialRetrievableValue},
		{"malformed", []byte{0x90}, fault.InvalidInitialRetrievableValue},
	} {
		p := &play{t: t, library: library{keep: true}}
		p.executor = func(s *seam) error {
			handle := s.body("r", held("r", false))
			e := &Spool{Handle: handle}
			if c.body != nil {
				e.Into = s.body("into", c.body)
			}
			got, err := s.turn.spooled(e)
			if !errors.Is(err, c.want) || err == nil && got != handle {
				t.Errorf("%s: %d, %v", c.name, got, err)
			}
			stored, err := s.d.StoreSpooled(s.task, WriteStore, handle)
			if stored != handle || err != nil {
				t.Errorf("%s: stored as %d, %v", c.name, stored, err)
			}
			return s.ack()
		}
		p.run()
	}
}
