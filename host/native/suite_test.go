package native_test

import (
	"context"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/native"
)

// The engine loads no module: of hosttest.TestEngine it has the part about the core.
func TestCore(t *testing.T) {
	hosttest.TestCore(t, func(context.Context) (host.Engine, error) { return native.New(), nil })
}
