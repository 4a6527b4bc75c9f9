package turns_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
)

// Ten turns grow to 60 MiB each beside 100 open gates. Those for which the instance has no room fail, and nobody else:
// each gate is answered afterwards, and the turns that found room end well.
func TestTurnsBeyondTheQuotaFailAlone(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		h := turns.NewHost(turns.HostOptions{Engine: engine, Instances: 1})
		defer h.Close(context.Background())
		waiting := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if _, err := ctx.WaitFor(context.Background(), approval("g")); err != nil {
				return err
			}
			return ctx.Ack()
		}})
		var open, ended sync.WaitGroup
		open.Add(100)
		waiting.Observe(event.KindTurnGateOpen, func(event.Event) { open.Done() })
		for range 100 {
			ended.Go(func() {
				if result, err := waiting.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"}); err != nil || result.Status != event.Ack {
					t.Errorf("a turn at a gate: %+v, %v", result, err)
				}
			})
		}
		open.Wait()

		const turnsThatGrow, piece = 10, 6 << 20
		text := strings.Repeat("x", piece)
		var filled, begun sync.WaitGroup
		begun.Add(turnsThatGrow)
		filled.Add(turnsThatGrow)
		growing := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			begun.Done()
			begun.Wait()
			defer filled.Wait() // so that none makes room for another
			defer filled.Done()
			for n := range 10 {
				if err := ctx.StoreMessage(message(fmt.Sprint("m", n), text)); err != nil {
					return err
				}
			}
			return ctx.Ack()
		}})
		var mu sync.Mutex
		failed, fine := 0, 0
		var grown sync.WaitGroup
		for range turnsThatGrow {
			grown.Go(func() {
				result, err := growing.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && result.Status == event.Ack:
					fine++
				case result != nil && result.Status == event.Failed && errors.Is(err, host.Code(abi.CodeTurnQuotaExceeded)):
					failed++
				default:
					t.Errorf("a turn that grew: %+v, %v", result, err)
				}
			})
		}
		grown.Wait()
		if fine < 1 || failed < 1 || fine+failed != turnsThatGrow {
			t.Errorf("%d turns found room, %d did not", fine, failed)
		}

		gates := waiting.Gates()
		if len(gates) != 100 {
			t.Errorf("%d gates are open", len(gates))
		}
		for _, gate := range gates {
			if err := gate.Resolve(true); err != nil {
				t.Error(err)
			}
		}
		ended.Wait()
	}
}

// A turn of its own bound fails however much room the instance has.
func TestTurnBeyondItsQuota(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		h := turns.NewHost(turns.HostOptions{Engine: engine, Quota: abi.Quota{Turn: 10_000}, Verify: true})
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if err := ctx.StoreMessage(message("m", strings.Repeat("x", 9_000))); err != nil {
				return err
			}
			err := ctx.StoreMessage(message("n", strings.Repeat("x", 9_000)))
			if !errors.Is(err, host.Code(abi.CodeTurnQuotaExceeded)) {
				t.Errorf("the call: %v", err)
			}
			return ctx.Ack() // too late
		}})
		result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test"})
		if result == nil || result.Status != event.Failed || !errors.Is(err, host.Code(abi.CodeTurnQuotaExceeded)) {
			t.Errorf("%+v, %v", result, err)
		}
		_ = h.Close(context.Background())
	}
}
