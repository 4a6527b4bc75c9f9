package turns_test

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// A turn with a large message leaves no garbage of the message's size: that would have the collector run all the time,
// and slow down the turns of others.
func TestLargeMessageIsNoGarbage(t *testing.T) {
	const size = 7_000_000
	text := strings.Repeat("x", size)
	t.Setenv(hosttest.RecordTo, "") // what is recorded is kept
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			runner := newRunner(t, turns.TurnRunnerConfig{
				Host:     turns.NewHost(turns.HostOptions{Engine: engine}),
				Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() },
			})
			// The collector may run between two turns, and free what the next would have used: the best turn counts.
			least := uint64(math.MaxUint64)
			for range 20 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				result, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "Answer briefly.", Text: text})
				if err != nil || result.Status != event.Ack {
					t.Fatalf("%+v, %v", result, err)
				}
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			}
			most := uint64(size / 10)
			if engine.Name() == native.Name {
				most += size // the core's own record is on the same heap
			}
			if least > most {
				t.Errorf("a turn with a message of %d bytes allocates %d, at most %d expected", size, least, most)
			}
		})
	}
}
