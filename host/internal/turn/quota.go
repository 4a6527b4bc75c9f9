package turn

import (
	"encoding/json"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
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

// refuse has an effect fail that the turn may not have any more. What ends an iteration runs in any case. The caller holds
// t.mu.
func (t *Turn) refuse(e *Effect) {
	t.used.Effects++
	if cause := t.exceeded(); cause != nil && e.Kind != abi.EffectDiscard {
		e.Perform = func() (abi.Raw, error) { return nil, cause }
	}
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

// countTokens counts tokens that the core reports. The caller holds t.mu.
func (t *Turn) countTokens(text json.RawMessage) {
	if t.core.Guard == nil {
		return
	}
	var stats struct{ PromptTokens, CompletionTokens float64 }
	if json.Unmarshal(text, &stats) != nil {
		return // they are no numbers
	}
	for _, n := range [...]float64{stats.PromptTokens, stats.CompletionTokens} {
		t.told += int64(min(max(n, 0), maxTokens))
	}
	t.used.Tokens = max(t.used.Tokens, t.told)
}

// cutLog counts an event of the log, of so many bytes. cut tells that it is the first one for which there is no room: it
// stands for those that follow and are dropped. The caller holds t.mu.
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
