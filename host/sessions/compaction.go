package sessions

import (
	"errors"
	"log/slog"

	"github.com/turncore/turncore/host"
)

// Compaction says when a runner sums up a session. At the end of an invocation that passes a threshold it stores an
// event of the author "system", whose content stands for the events before it in what models see. The events stay. A
// call that waits for an answer, or has it outside, is shown in full. Each summary takes in the one before.
//
// The event is not delivered. An invocation that fails, waits for an answer, or whose caller has left, sums up nothing.
type Compaction struct {
	// Invocations is how many invocations without a summary make one due, besides those of Keep; 0 for any number.
	Invocations int
	// Tokens makes a summary due once a model was asked with so many; 0 for any number. What models say of their usage
	// counts. If they say nothing, 4 bytes are taken for one token.
	Tokens int
	// Overlap is how many invocations, which the summary before stands for, the next one is made of in full.
	Overlap int
	// Keep is how many of the latest invocations stay as they are.
	Keep int
	// Summarize makes a summary. Each part of events is a text, such as "[user] said: hello". nil lets the model of the
	// first LLM agent make it.
	Summarize func(ctx *CallbackContext, events *Content) (*Content, error)
	// OnError is told why there is no summary, or why it was not stored: the error of Summarize, of the executor or of the
	// store, or a [*host.Error] with a code. The invocation has ended well. nil logs it with [slog.Warn].
	OnError func(ctx *CallbackContext, err error)
}

// option is the compaction as the core gets it.
func (c *Compaction) option() (members, error) {
	var m members
	for _, of := range [...]struct {
		name string
		n    int
	}{{"invocations", c.Invocations}, {"tokens", c.Tokens}, {"overlap", c.Overlap}, {"keep", c.Keep}} {
		if of.n < 0 {
			return nil, invalid(host.CodeInvalidAgent, "compaction."+of.name, errors.New("must not be negative"))
		}
		m.number(of.name, of.n)
	}
	if c.Invocations+c.Tokens == 0 {
		return nil, invalid(host.CodeInvalidAgent, "compaction", errors.New("must have invocations or tokens"))
	}
	return m, nil
}

func (c *Compaction) summarize(v []byte) callback {
	return func(ctx *CallbackContext) (any, error) {
		events, err := decodeContent(v)
		if err != nil {
			return nil, err
		}
		summary, err := c.Summarize(ctx, events)
		if err != nil || summary == nil || summary.Text() == "" { // one without a text stands for no events
			return nil, err
		}
		return summary.form(), nil
	}
}

func (c *Compaction) failed(v []byte) callback {
	return func(ctx *CallbackContext) (any, error) {
		failure, err := ctx.state.of.ErrorOf(v)
		if err != nil {
			return nil, err
		}
		if c.OnError != nil {
			c.OnError(ctx, failure)
		} else {
			slog.Warn("turncore: a session was not summed up", "app", ctx.App(), "session", ctx.SessionID(), "error", failure)
		}
		return nil, nil
	}
}
