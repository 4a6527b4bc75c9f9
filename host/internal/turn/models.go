package turn

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
)

// modelCall is a call of a model that observers have heard the start of.
type modelCall struct {
	effect  uint32
	named   event.ModelCall
	context *Context
	started uint64
	first   uint64 // when something of the answer was first told
	begun   bool   // first is set
	usage   *event.TokenUsage
	end     *event.ModelCallEnd // nil until it has ended
}

// watched tells whether anybody asks for the calls of models. That an event is asked for by its kind decides, so that
// who listens to everything gets no more than before.
func (t *Turn) watched() bool {
	return t.Bus.Asks(event.KindModelCallStart) || t.Bus.Asks(event.KindModelCallEnd)
}

// beginModel tells that a call of a model begins. The caller holds t.mu.
func (t *Turn) beginModel(e *Effect) {
	if e.Model == nil || e.Context.number == 0 || !t.watched() {
		return
	}
	c := &modelCall{effect: e.Number, named: *e.Model, context: e.Context, started: t.tick()}
	t.models = append(t.models, c)
	t.make(&event.ModelCallStart{Head: t.ownHead(e.Context), ModelCall: c.named}, e.Context)
}

// endModel tells that the call of a model has ended that an effect is, if any. status is that of its answer, 0 for
// none. The caller holds t.mu.
func (t *Turn) endModel(effect uint32, status int, err error) {
	for _, c := range t.models {
		if c.effect != effect || c.end != nil {
			continue
		}
		c.end = &event.ModelCallEnd{
			Head: t.ownHead(c.context), ModelCall: c.named, Status: event.CallOK, HTTPStatus: status, StartedAt: t.at(c.started),
			Usage: c.usage,
		}
		if c.begun {
			c.end.FirstTokenAt = t.at(c.first)
		}
		switch {
		case errors.Is(err, context.Canceled):
			c.end.Status, c.end.HTTPStatus = event.CallAborted, 0
		case err != nil:
			c.end.Status, c.end.Err = event.CallError, err
		case status >= 400:
			c.end.Status = event.CallError
		}
		t.make(c.end, c.context)
	}
}

// forgetModels lets go of the calls that have ended: what they cost has been said. The caller holds t.mu.
func (t *Turn) forgetModels() {
	t.models = slices.DeleteFunc(t.models, func(c *modelCall) bool { return c.end != nil })
}

// endModelsOf ends the calls of a dispatch that are still open; of all dispatches if it is 0. The caller holds t.mu.
func (t *Turn) endModelsOf(dispatch uint32, err error) {
	for _, c := range t.models {
		if dispatch == 0 || c.context.number == dispatch {
			t.endModel(c.effect, 0, err)
		}
	}
	t.forgetModels()
}

// noteModel takes note of what an event says about the open call of its dispatch. The caller holds t.mu.
func (t *Turn) noteModel(f *abi.Event, ev event.Event) {
	for _, c := range t.models {
		if c.context.number != f.Dispatch {
			continue
		}
		switch ev := ev.(type) {
		case *event.Message, *event.Thought, *event.ToolCall:
			if !c.begun {
				c.begun, c.first = true, f.Elapsed
				if c.end != nil { // its answer was a call of a tool, which is told when it is whole
					c.end.FirstTokenAt = t.at(c.first)
				}
			}
		case *event.GenerationStats:
			u := Usage{}
			if json.Unmarshal(ev.Stats, &u) != nil || u == (Usage{}) {
				continue
			}
			if u.TotalTokens == 0 { // some APIs do not say
				u.TotalTokens = u.PromptTokens + u.CompletionTokens
			}
			usage := event.TokenUsage(u)
			if c.end != nil {
				c.end.Usage = &usage
			} else {
				c.usage = &usage
			}
		}
	}
}

// ownHead is the head of an event of a context that the host makes while the core lives: the core's later events count
// it.
func (t *Turn) ownHead(c *Context) event.Head {
	t.made++
	t.seq++
	return t.headOf(&abi.Event{Seq: t.seq, Elapsed: t.tick(), Dispatch: c.number, Iteration: c.iteration})
}

// make delivers an event of a dispatch that the host makes.
func (t *Turn) make(ev event.Event, c *Context) {
	t.announce(ev, abi.ScopeTurn|abi.ScopeDispatch, c.number)
}
