package main

import (
	"context"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
)

// measureMetered compares a module that counts what it does with one that does not: by a turn, and by computing alone.
// The native engine has no module.
func measureMetered(ctx context.Context, p pace, e host.Engine, cache string) ([]figure.Row, error) {
	if e.Name() != wazero.Name {
		return nil, nil
	}
	module, err := moduleBytes(e.Name())
	if err != nil {
		return nil, err
	}
	counted, err := wazero.New(ctx, module, wazero.WithCacheDir(cache), wazero.WithFuel(engine.Fuel{}))
	if err != nil {
		return nil, err
	}
	defer counted.Close(ctx)
	var subjects [4]*subject
	for i, of := range []struct {
		engine host.Engine
		change func(*turns.TurnRunnerConfig)
	}{{e, nil}, {counted, nil}, {e, compute}, {counted, compute}} {
		c, err := newConversation(of.engine, 0, of.change)
		if err != nil {
			return nil, err
		}
		defer c.close()
		expected := func(more int) bool { return more == 0 }
		if of.change != nil {
			expected = func(more int) bool { return more == matchedEvents-quietEvents }
		}
		subjects[i] = timed(figure.Metered, func() error { return c.run(expected) })
	}
	if err := p.measure(subjects[:]...); err != nil {
		return nil, err
	}
	return []figure.Row{
		paired(figure.Metered, e.Name(), figure.Times, subjects[1], subjects[0], ratio),
		paired(figure.MeteredCompute, e.Name(), figure.Times, subjects[3], subjects[2], ratio),
	}, nil
}

// matchedEvents are those of a turn of compute: its dispatch has one iteration.
const matchedEvents = 8

// compute makes a runner whose turn is one call of a tool. Almost all of its time the module matches the argument
// against the pattern of the tool's schema.
func compute(config *turns.TurnRunnerConfig) {
	tool := &turns.Tool{
		Name: "match", Description: "Takes a text of words.",
		InputSchema: `{"type":"object","properties":{"text":{"type":"string","pattern":"^(?:[a-z]+ )+end$"}},"required":["text"]}`,
		Handler:     func(*turns.DispatchContext, turns.Args) (any, error) { return nil, nil },
	}
	words := strings.Repeat("some words of a text ", 1000) + "end" // some 20 KB
	config.Tools = []*turns.Tool{tool}
	config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		if _, err := tool.Executor(ctx)(map[string]any{"text": words}); err != nil {
			return err
		}
		return ctx.Ack()
	}
}
