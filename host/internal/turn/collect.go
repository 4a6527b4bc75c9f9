package turn

import (
	"encoding/json"

	"github.com/turncore/turncore/host/event"
)

// Outcome is how a turn went.
type Outcome struct {
	Ended      bool // false for a turn whose input was refused, of which nothing is told
	ID         string
	Status     event.Status
	Iterations int
	Err        error
	Text       string
	// Interrupted says that the message was broken off, or never completed in a turn that did not ack.
	Interrupted bool
	ToolCalls   []*event.ToolCall
	Usage       Usage
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
	TotalTokens      int `json:"totalTokens"`
}

// collector gathers what an outcome says while events pass.
type collector struct {
	text      string
	open      bool // the message is not complete
	broken    bool // it was broken off
	toolCalls []*event.ToolCall
	usage     Usage
}

// observe takes note of an event that is about to be delivered. The caller holds t.mu.
func (t *Turn) observe(ev event.Event) {
	switch ev := ev.(type) {
	case *event.Message:
		t.collect.text, t.collect.open, t.collect.broken = ev.Full, !ev.IsComplete, ev.IsInterrupted
	case *event.ToolCall:
		if ev.IsComplete {
			t.collect.toolCalls = append(t.collect.toolCalls, ev)
		}
	case *event.GenerationStats:
		var u Usage
		if json.Unmarshal(ev.Stats, &u) == nil {
			if u.TotalTokens == 0 { // some APIs do not say
				u.TotalTokens = u.PromptTokens + u.CompletionTokens
			}
			t.collect.usage.PromptTokens += u.PromptTokens
			t.collect.usage.CompletionTokens += u.CompletionTokens
			t.collect.usage.TotalTokens += u.TotalTokens
		}
	}
}

// outcome is how the turn went, once it has ended.
func (t *Turn) outcome() Outcome {
	o := Outcome{
		Ended: true, ID: t.ID, Status: t.end.status, Iterations: t.end.iterations, Err: t.end.err,
		Text: t.collect.text, Interrupted: t.collect.broken || t.collect.open && t.end.status != event.Ack,
		ToolCalls: t.collect.toolCalls, Usage: t.collect.usage,
	}
	if o.Status == event.Aborted && o.Err == nil {
		for _, c := range t.contexts {
			if o.Err == nil {
				o.Err = c.cause
			}
		}
	}
	return o
}

// Outcome waits for the turn's end and tells how it went.
func (t *Turn) Outcome() (Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.done {
		t.waiting++
		t.wake.Wait()
		t.waiting--
	}
	return t.ended()
}

// ended is what the program is told of a turn that has ended: nothing of one whose input was refused. The caller holds t.mu.
func (t *Turn) ended() (Outcome, error) {
	if t.end.refused {
		return Outcome{}, t.end.err
	}
	return t.outcome(), t.journal.close()
}
