package wazero_test

import (
	"context"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/wazero"
)

func TestEngine(t *testing.T) {
	for name, options := range map[string][]wazero.Option{
		"compiler": nil, "interpreter": {wazero.WithInterpreter()}, "metered": {wazero.WithFuel(engine.Fuel{})},
	} {
		t.Run(name, func(t *testing.T) {
			hosttest.TestEngine(t, func(ctx context.Context, module []byte) (host.Engine, error) {
				return wazero.New(ctx, module, options...)
			})
		})
	}
}
