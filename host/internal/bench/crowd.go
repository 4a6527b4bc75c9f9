package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/turns"
)

// crowdDeltas are the deltas of each turn.
const crowdDeltas = 50

// measureCrowd measures deltas of many turns that stream at the same time, one from each in turns, against those of a
// turn alone.
func measureCrowd(p pace, e host.Engine) ([]figure.Row, error) {
	var alone, together []float64
	if err := streamTogether(e, 1, crowdDeltas*p.crowd, new([]float64)); err != nil { // warms up
		return nil, err
	}
	for range 3 {
		if err := streamTogether(e, 1, crowdDeltas*p.crowd, &alone); err != nil {
			return nil, err
		}
		if err := streamTogether(e, p.crowd, crowdDeltas, &together); err != nil {
			return nil, err
		}
	}
	ratio := figure.Median(together) / figure.Median(alone)
	worst := figure.Quantile(together, 0.999) / 1e6
	return []figure.Row{
		single(e, figure.CrowdRatio, figure.Times, ratio),
		single(e, figure.CrowdWorst, figure.Millis, worst),
	}, nil
}

// streamTogether runs turns that all stream, and writes down what each delta took, in nanoseconds.
func streamTogether(e host.Engine, count, deltas int, samples *[]float64) error {
	helpers := make(chan *turns.Helpers, count)
	release := make(chan struct{})
	c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) {
		config.Executor = func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			helpers <- h
			<-release
			return ctx.Ack()
		}
	})
	if err != nil {
		return err
	}
	defer c.close()
	heard := 0
	turns.Listen(c.runner, func(*event.Message) { heard++ })
	failures := make(chan error, count)
	var running sync.WaitGroup
	for range count {
		running.Go(func() {
			result, err := c.runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "Answer briefly.", Text: "Go."})
			if err == nil && result.Status != event.Ack {
				err = fmt.Errorf("a turn ended %s: %w", result.Status, errUnexpected)
			}
			failures <- err
		})
	}
	all := make([]*turns.Helpers, count)
	for i := range all {
		all[i] = <-helpers
	}
	for range deltas {
		for _, h := range all {
			start := time.Now()
			if err := h.ReportMessage("m1", "a word ", false); err != nil {
				return err
			}
			*samples = append(*samples, float64(time.Since(start)))
		}
	}
	close(release)
	running.Wait()
	for range count {
		if err := <-failures; err != nil {
			return err
		}
	}
	if heard != count*deltas {
		return fmt.Errorf("%d deltas were heard: %w", heard, errUnexpected)
	}
	return nil
}
