package turns_test

import (
	"context"
	"errors"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// spinning is an engine whose instances run out of fuel in the step that starts a turn. meanwhile runs before they do.
type spinning struct {
	host.Engine
	meanwhile func()
}

func (e spinning) Open(ctx context.Context) (host.Instance, error) {
	i, err := e.Engine.Open(ctx)
	return spinner{i, e.meanwhile}, err
}

type spinner struct {
	host.Instance
	meanwhile func()
}

func (i spinner) Step(dst, in []byte) ([]byte, error) {
	if op, _, _, err := abi.Next(in, abi.Limits{}.Effective()); err != nil || op != abi.OpStartTurn && op != abi.OpStartInvocation {
		return i.Instance.Step(dst, in)
	}
	i.meanwhile()
	return dst, i.Retire(&engine.FuelError{Units: 1, Limit: "Step"})
}

// Whoever cancels a turn finds the cause in its error, also when the instance dies before it has ended the turn.
func TestCauseOfATurnWhoseInstanceDies(t *testing.T) {
	cause := errors.New("enough")
	wants := func(err error, aborted bool) {
		t.Helper()
		var spent *engine.FuelError
		if !errors.Is(err, host.CodeInstanceFailed) || !errors.As(err, &spent) || errors.Is(err, cause) != aborted {
			t.Errorf("aborted: %t: %v", aborted, err)
		}
	}
	for _, aborted := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		e := spinning{native.New(), func() {
			if aborted {
				cancel(cause)
			}
		}}
		r, err := turns.New(t.Context(), turns.Config{Engine: e, Executor: acks})
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Run(ctx, turns.Input{Message: "Hi!"})
		wants(err, aborted)
		if result == nil || result.Status != event.Failed || !errors.Is(result.Err, host.CodeInstanceFailed) {
			t.Errorf("%+v", result)
		}
		agent := &sessions.CustomAgent{Name: "a", Run: func(*sessions.Context, func(*sessions.Event) error) error { return nil }}
		if ctx.Err() != nil {
			ctx, cancel = context.WithCancelCause(t.Context())
		}
		runner, err := sessions.New(t.Context(), sessions.Config{App: "app", Agent: agent, Engine: e})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := runner.Sessions().Create(t.Context(), "u", "s", nil); err != nil {
			t.Fatal(err)
		}
		_, err = runner.Collect(ctx, sessions.Input{User: "u", Session: "s"})
		wants(err, aborted)
		cancel(nil)
		if err := errors.Join(r.Close(), runner.Close()); err != nil {
			t.Error(err)
		}
	}
}
