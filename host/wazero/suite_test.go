package wazero_test

import (
	"context"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/wazero"
)

func TestEngine(t *testing.T) {
	cache := t.TempDir()
	for name, options := range map[string][]wazero.Option{
		"compiler": {wazero.WithCacheDir(cache)}, "interpreter": {wazero.WithInterpreter()},
	} {
		t.Run(name, func(t *testing.T) {
			hosttest.TestEngine(t, func(ctx context.Context, module []byte) (host.Engine, error) {
				return wazero.New(ctx, module, options...)
			})
		})
	}
}
