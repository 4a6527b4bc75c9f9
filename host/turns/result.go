package turns

import (
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/turn"
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

// resultOf is what the program is told of how a turn went.
func resultOf(o *turn.Outcome) *Result {
	if !o.Ended {
		return nil
	}
	return &Result{
		TurnID: o.ID, Status: o.Status, Iterations: o.Iterations, Err: o.Err,
		Text: o.Text, Interrupted: o.Interrupted, ToolCalls: o.ToolCalls, Usage: Usage(o.Usage),
	}
}
