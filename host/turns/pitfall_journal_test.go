package turns_test

import (
	"errors"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/turns"
)

// fullDisk is a writer that fails from its n-th write on.
type fullDisk struct{ left int }

func (w *fullDisk) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errX
	}
	return len(p), nil
}

// A journal that cannot be written does not hold up its turn: Run returns an error with what the writer returned first,
// and how the turn ended.
func TestJournalThatCannotBeWritten(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		failed := 0
		for left := range 12 {
			log := &recorder{}
			r := newRunner(t, turns.TurnRunnerConfig{Host: h, Callbacks: noStorage(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				if err := ctx.StoreMessage(message("m", "x")); err != nil {
					return err
				}
				return ctx.Ack()
			}})
			r.OnAny(log.add)
			disk := &fullDisk{left: left}
			result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Journal: disk})
			if errors.Is(err, errX) != (disk.left < 0) {
				t.Errorf("write %d: %v", left, err)
			}
			if err != nil {
				failed++
			}
			// The header and the greeting are written before the turn begins.
			if result == nil && left > 1 || result != nil && result.Status != event.Ack {
				t.Errorf("write %d: %+v, %s", left, result, log.words())
			}
		}
		if failed < 5 {
			t.Errorf("%d writes failed", failed)
		}
	})
}
