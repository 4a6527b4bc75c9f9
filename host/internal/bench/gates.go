package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// question is what turns wait with.
var question = turns.Gate{
	ID: "g", Reason: "Delete the file?", Payload: map[string]any{"path": "/a"}, CreatedAt: instant, Schema: `{"type":"boolean"}`,
}

// measureGates has many turns wait at gates at the same time, in turn middleware and in a tool's handler, and measures
// what each of them keeps in memory and how long it takes to let it go.
func measureGates(p pace, e host.Engine) ([]figure.Row, error) {
	inTurn, _, few, took, err := waitTogether(p, e, func(config *turns.TurnRunnerConfig) {
		config.TurnInputPipeline = []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			_, err := ctx.WaitFor(context.Background(), question)
			next()
			return err
		}}
	})
	if err != nil {
		return nil, err
	}
	tool := &turns.Tool{Name: "remove", Description: "Removes a file.", InputSchema: `{"type":"object"}`}
	tool.Handler = func(ctx *turns.DispatchContext, _ turns.Args) (any, error) {
		return ctx.WaitFor(context.Background(), question)
	}
	inTool, heap, moreFew, more, err := waitTogether(p, e, func(config *turns.TurnRunnerConfig) {
		config.Tools = []*turns.Tool{tool}
		config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if _, err := tool.Executor(ctx)(nil); err != nil {
				return err
			}
			return ctx.Ack()
		}
	})
	if err != nil {
		return nil, err
	}
	few, took = append(few, moreFew...), append(took, more...)
	row := func(id, unit string, v float64) figure.Row { return single(e, id, unit, v) }
	rows := []figure.Row{
		row(figure.WaitHost, figure.KiB, heap),
		row(figure.SettleRatio, figure.Times, figure.Median(took)/figure.Median(few)),
		row(figure.SettleLate, figure.Millis, figure.Quantile(took, 0.99)/1e6),
		row(figure.SettleWorst, figure.Millis, slices.Max(took)/1e6),
	}
	if e.Name() != native.Name {
		rows = append(rows, row(figure.WaitTurn, figure.KiB, inTurn), row(figure.WaitTool, figure.KiB, inTool))
	}
	return rows, nil
}

// waitTogether returns the KiB that a waiting turn takes in the module and in the program, and what it took to resolve
// each gate, in nanoseconds, among few turns and among all.
func waitTogether(p pace, e host.Engine, change func(*turns.TurnRunnerConfig)) (guest, heap float64, few, took []float64, err error) {
	engine := &watched{Engine: e}
	c, err := newConversation(engine, 0, func(config *turns.TurnRunnerConfig) {
		config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
		change(config)
	})
	if err != nil {
		return 0, 0, nil, nil, err
	}
	defer c.close()
	opened, failures := make(chan event.OpenGate, p.gates), make(chan error, p.gates)
	turns.Listen(c.runner, func(ev *event.TurnGateOpen) { opened <- ev.Gate })
	var running sync.WaitGroup
	start := func(count int) (gates []event.OpenGate) {
		for range count {
			running.Go(func() { failures <- c.other() })
			gates = append(gates, <-opened)
		}
		return gates
	}
	finish := func(gates []event.OpenGate, took []float64) ([]float64, error) {
		for _, g := range gates {
			begun := time.Now()
			if err := g.Resolve(true); err != nil {
				return nil, err
			}
			took = append(took, float64(time.Since(begun)))
		}
		for range gates {
			if err := <-failures; err != nil {
				return nil, err
			}
		}
		running.Wait()
		return took, nil
	}
	for range 2 { // the first time warms up
		if few, err = finish(start(p.gates/20), nil); err != nil {
			return 0, 0, nil, nil, err
		}
	}
	inst := engine.last.Load()
	memory, before := inst.MemoryBytes(), liveHeap()
	gates := start(p.gates)
	each := 1 / float64(p.gates)
	guest = float64(inst.MemoryBytes()-memory) / 1024 * each
	heap = (liveHeap() - before) * 1024 * each
	took, err = finish(gates, nil)
	if err == nil && engine.last.Load() != inst {
		err = fmt.Errorf("another instance was opened: %w", errUnexpected)
	}
	return guest, heap, few, took, err
}
