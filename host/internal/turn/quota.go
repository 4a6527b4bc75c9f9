package turn

import (
	"encoding/json"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/wire"
)

// exceeded is why the turn may not go on, nil while it may. The caller holds t.mu.
func (t *Turn) exceeded() error {
	g := t.core.Guard
	if g == nil || t.limit != nil {
		return t.limit
	}
	t.limit = t.used.Exceeded(&g.Quota)
	return t.limit
}

// enforce aborts a turn that has used more than its quota, and ends the instance of one that goes on nevertheless. The
// caller holds t.mu.
func (t *Turn) enforce(a *actor) error {
	cause := t.exceeded()
	if cause == nil || t.closed {
		return nil
	}
	if !t.root.aborted {
		t.root.abort(cause)
		reason := t.errors.keep(cause, describe(cause, cause))
		if err := t.feed(a, abi.Append(nil, &abi.Abort{Turn: t.number, Elapsed: t.tick(), Reason: reason})); err != nil {
			return err
		}
	}
	if name := t.used.Ignored(&t.core.Guard.Quota); name != "" && !t.closed {
		return t.lose(fmt.Errorf("the turn was aborted for its quota of %s, and goes on beyond twice that", name))
	}
	return nil
}

// count counts what came out of a step, all of it before anything of it has an effect: where a step exceeds the quota,
// none of what it asks for starts. cut tells that it was to end the turn as if it had kept to the quota: the turn is
// aborted, and nothing of the step is told but what begins and ends. The caller holds t.mu.
func (t *Turn) count(out []byte) (cut bool) {
	if t.core.Guard == nil {
		return false
	}
	before, status := t.limit, abi.StatusRefused
	t.used.Steps++
	t.used.Bytes += int64(len(out))
	limits := t.core.Greeting().Limits
	for len(out) > 0 {
		op, frame, rest, err := abi.Next(out, limits)
		if err != nil {
			return false // the one who reads it says so
		}
		out = rest
		t.used.Frames++
		switch op {
		case abi.OpEffect:
			t.used.Effects++
		case abi.OpEvent:
			t.countTokens(frame)
		case abi.OpEnd:
			if f, err := abi.Decode[abi.End](frame); err == nil && f.Turn == t.number {
				status = f.Status
			}
		}
	}
	if status == abi.StatusRefused {
		return false
	}
	cause := t.exceeded()
	if cause == nil || before != nil && status != abi.StatusAck && t.used.Ignored(&t.core.Guard.Quota) == "" {
		return false
	}
	t.root.abort(cause)
	return true
}

// abridge returns what a step that is cut tells of a frame, nil for nothing: what has begun and ends, as aborted.
func (t *Turn) abridge(op abi.Op, frame []byte) ([]byte, error) {
	switch op {
	case abi.OpEvent:
		f := &t.space.event
		if err := abi.DecodeTo(frame, f); err != nil {
			return nil, err
		}
		var err error
		switch event.Kind(f.Kind) {
		case event.KindTurnStart, event.KindDispatchStart, event.KindIterationStart:
			return frame, nil
		case event.KindTurnEnd:
			var p abi.TurnEndEvent
			err = p.Unmarshal(f.Payload)
			p.Status, p.Error = abi.StatusAborted, nil
			f.Payload = p.Append(nil)
		case event.KindDispatchEnd:
			var p abi.DispatchEndEvent
			err = p.Unmarshal(f.Payload)
			p.Status, p.Error = abi.StatusAborted, nil
			f.Payload = p.Append(nil)
		case event.KindIterationEnd:
			var p abi.IterationEndEvent
			err = p.Unmarshal(f.Payload)
			p.Status, p.Discarded = abi.StatusAborted, nil
			f.Payload = p.Append(nil)
		default:
			return nil, nil
		}
		return abi.Append(nil, f), err
	case abi.OpSync:
		var f abi.Sync
		if err := abi.DecodeTo(frame, &f); err != nil || f.Sync == abi.SyncSignal {
			return nil, err
		}
	case abi.OpReply, abi.OpEffect:
		return nil, nil
	case abi.OpEnd:
		var f abi.End
		if err := abi.DecodeTo(frame, &f); err != nil {
			return nil, err
		}
		f.Status, f.Error = abi.StatusAborted, nil
		return abi.Append(nil, &f), nil
	}
	return frame, nil
}

// refuse has an effect fail that the turn may not have any more, and tells whether it does. What ends an iteration runs
// in any case. The caller holds t.mu.
func (t *Turn) refuse(e *Effect) bool {
	cause := t.exceeded()
	if cause == nil || e.Kind == abi.EffectDiscard {
		return false
	}
	e.Perform = func() (abi.Raw, error) { return nil, cause }
	return true
}

// UseTokens counts tokens of a model's answer that the host has seen itself: as many as in all of the answer so far.
func (e *Effect) UseTokens(n int) {
	t := e.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if more := int64(n) - e.tokens; more > 0 {
		e.tokens += more
		t.seen += more
		t.used.Tokens = max(t.used.Tokens, t.seen)
	}
}

// countTokens counts tokens that an event of the core reports, if it does. The caller holds t.mu.
func (t *Turn) countTokens(frame []byte) {
	f := &t.space.event
	var reported abi.StatsEvent
	if abi.DecodeTo(frame, f) != nil || event.Kind(f.Kind) != event.KindGenerationStats || reported.Unmarshal(f.Payload) != nil {
		return
	}
	text, err := wire.JSON(reported.Stats)
	var stats struct{ PromptTokens, CompletionTokens float64 }
	if err != nil || json.Unmarshal(text, &stats) != nil {
		return // they are no numbers
	}
	for _, n := range [...]float64{stats.PromptTokens, stats.CompletionTokens} {
		t.told += int64(min(max(n, 0), maxTokens))
	}
	t.used.Tokens = max(t.used.Tokens, t.told)
}

// cutLog counts an event of the log, of so many bytes. cut tells that it is the first one for which there is no room:
// it stands for those that follow and are dropped. The caller holds t.mu.
func (t *Turn) cutLog(f *abi.Event, size int) (cut, dropped bool) {
	g := t.core.Guard
	if g == nil || event.Kind(f.Kind) != event.KindLog {
		return false, false
	}
	full := t.logged > g.Log
	t.logged += int64(size)
	return !full && t.logged > g.Log, full
}

// cutNote is the message of an event that stands for those that were dropped.
func (t *Turn) cutNote() string {
	return fmt.Sprintf("the log of this turn is cut: its grant allows %d bytes", t.core.Guard.Log)
}

// maxTokens is what counts at most of a number of tokens that is reported.
const maxTokens = 1 << 50
