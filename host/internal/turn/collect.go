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

// Collector gathers what an outcome says while events pass.
type Collector struct {
	text      string
	open      bool // the message is not complete
	broken    bool // it was broken off
	toolCalls []*event.ToolCall
	usage     Usage
}

// Observe takes note of an event.
func (c *Collector) Observe(ev event.Event) {
	switch ev := ev.(type) {
	case *event.Message:
		c.text, c.open, c.broken = ev.Full, !ev.IsComplete, ev.IsInterrupted
	case *event.ToolCall:
		if ev.IsComplete {
			c.toolCalls = append(c.toolCalls, ev)
		}
	case *event.GenerationStats:
		var u Usage
		if json.Unmarshal(ev.Stats, &u) == nil {
			if u.TotalTokens == 0 { // some APIs do not say
				u.TotalTokens = u.PromptTokens + u.CompletionTokens
			}
			c.usage.PromptTokens += u.PromptTokens
			c.usage.CompletionTokens += u.CompletionTokens
			c.usage.TotalTokens += u.TotalTokens
		}
	}
}

// Outcome is what the events say of how a turn went that ended with a status.
func (c *Collector) Outcome(status event.Status) Outcome {
	return Outcome{
		Ended: true, Status: status, Text: c.text, Interrupted: c.broken || c.open && status != event.Ack,
		ToolCalls: c.toolCalls, Usage: c.usage,
	}
}

// outcome is how the turn went, once it has ended.
func (t *Turn) outcome() Outcome {
	o := t.collect.Outcome(t.end.status)
	o.ID, o.Iterations, o.Err = t.ID, t.end.iterations, t.end.err
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

// ended is what the program is told of a turn that has ended: nothing of one whose input was refused. The caller holds
// t.mu.
func (t *Turn) ended() (Outcome, error) {
	if t.end.refused {
		return Outcome{}, t.end.err
	}
	return t.outcome(), t.journal.close()
}
