package wasmtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/wasmtime"
)

func TestEngine(t *testing.T) {
	for name, options := range map[string][]wasmtime.Option{
		"plain":   nil,
		"bounded": {wasmtime.WithFuel(engine.Fuel{}), wasmtime.WithStepTimeout(10 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			hosttest.TestEngine(t, func(ctx context.Context, module []byte) (host.Engine, error) {
				return wasmtime.New(ctx, module, options...)
			})
		})
	}
}
