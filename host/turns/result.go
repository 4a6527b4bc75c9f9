package turns

import (
	"encoding/json"

	"github.com/turncore/turncore/host/event"
)

// Result is the result of a turn.
type Result struct {
	TurnID     string
	Status     event.Status
	Iterations int
	// Err says why the turn did not end with Ack: the same error value as in Nack, or an error with a code. After
	// Aborted it is the abort's cause. Run returns it too.
	Err error
	// Text is the last message that was reported to listeners: the answer.
	Text string
	// Interrupted says that this message was interrupted, so Text is incomplete: its last event has IsInterrupted, or it
	// was never completed and the turn did not ack.
	Interrupted bool
	// ToolCalls are the tool calls that were reported complete, in order.
	ToolCalls []*event.ToolCall
	// Usage is the sum of the model calls' costs.
	Usage Usage
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
	TotalTokens      int `json:"totalTokens"`
}

// collector gathers what a result says while events pass.
type collector struct {
	text      string
	open      bool // the message is not complete
	broken    bool // it was broken off
	toolCalls []*event.ToolCall
	usage     Usage
}

// observe takes note of an event that is about to be delivered. The caller holds t.mu.
func (t *turn) observe(ev event.Event) {
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

// result is how the turn went, once it has ended.
func (t *turn) result() *Result {
	r := &Result{
		TurnID: t.id, Status: t.end.status, Iterations: t.end.iterations, Err: t.end.err,
		Text: t.collect.text, Interrupted: t.collect.broken || t.collect.open && t.end.status != event.Ack,
		ToolCalls: t.collect.toolCalls, Usage: t.collect.usage,
	}
	if r.Status == event.Aborted && r.Err == nil {
		r.Err = t.contexts[0].state.cause
		for _, c := range t.contexts[1:] {
			if r.Err == nil {
				r.Err = c.state.cause
			}
		}
	}
	return r
}
