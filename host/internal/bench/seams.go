package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/turns"
)

// seams are how many of them a turn has whose cost is looked for, so that the difference is well above the noise.
const seams = 10

// measureSeams measures what a seam costs beyond the user's own function: a middleware, a dispatch inside a dispatch, a
// gate that a listener settles at once.
func measureSeams(p pace, e host.Engine) ([]figure.Row, error) {
	ack := func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
	pass := func(_ *turns.DispatchContext, next func()) error { next(); return nil }
	var subjects []*subject
	for _, v := range []struct {
		id     string
		change func(*turns.TurnRunnerConfig)
	}{
		{"none", func(c *turns.TurnRunnerConfig) { c.Executor = ack }},
		{figure.Middleware, func(c *turns.TurnRunnerConfig) {
			c.Executor = ack
			c.DispatchInputPipeline = slices.Repeat([]turns.DispatchMiddleware{pass}, seams)
		}},
		{figure.Nested, func(c *turns.TurnRunnerConfig) {
			c.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				for range seams {
					if _, err := turns.Dispatch(ctx, turns.DispatchInput{Source: ctx, Executor: ack}); err != nil {
						return err
					}
				}
				return ctx.Ack()
			}
		}},
		{figure.OpenGate, func(c *turns.TurnRunnerConfig) {
			c.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				for range seams {
					if _, err := ctx.WaitFor(context.Background(), question); err != nil {
						return err
					}
				}
				return ctx.Ack()
			}
		}},
	} {
		c, err := newConversation(e, 0, v.change)
		if err != nil {
			return nil, err
		}
		turns.Listen(c.runner, func(ev *event.TurnGateOpen) { _ = ev.Gate.Resolve(true) })
		defer c.close()
		subjects = append(subjects, timed(v.id, c.other))
	}
	if err := p.measure(subjects...); err != nil {
		return nil, err
	}
	each := func(many, none float64) float64 { return max(many-none, 0) / seams / 1000 }
	return []figure.Row{
		paired(figure.Middleware, e.Name(), figure.Micros, subjects[1], subjects[0], each),
		paired(figure.Nested, e.Name(), figure.Micros, subjects[2], subjects[0], each),
		paired(figure.OpenGate, e.Name(), figure.Micros, subjects[3], subjects[0], each),
	}, nil
}

// other runs a turn whose events are not those of a conversation.
func (c *conversation) other() error {
	result, err := c.runner.Run(context.Background(), c.input)
	if err == nil && result.Status != event.Ack {
		err = fmt.Errorf("the turn ended %s: %w", result.Status, errUnexpected)
	}
	return err
}
