package hosttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/wasm/full"
)

// T is what the tests of engines need of [testing.T].
type T[Self any] interface {
	TB
	Errorf(format string, args ...any)
	Cleanup(func())
	Run(name string, f func(Self)) bool
}

// TestEngine is what any engine that runs the module must pass. newEngine makes one for a module, of whose instances
// none may need more memory than 1 GiB; the test closes it.
//
//	func TestEngine(t *testing.T) {
//		hosttest.TestEngine(t, func(ctx context.Context, module []byte) (host.Engine, error) { return New(ctx, module) })
//	}
//
// It refuses modules that are none of this ABI, runs a hostile guest, which it builds with the go command, and then
// [TestCore] with the module that this build carries; a build without one is treated as in [Engines]. It does not test
// that a step which never ends is interrupted, because an engine need not do that.
func TestEngine[S T[S]](t S, newEngine func(ctx context.Context, module []byte) (host.Engine, error)) {
	t.Helper()
	suite := engineSuite[S]{newEngine}
	t.Run("modules", suite.modules)
	t.Run("small guests", suite.smallGuests)
	t.Run("hostile guest", suite.hostileGuest)
	t.Run("core", func(t S) {
		module, ok := full.Module()
		if !ok {
			withoutModule(t, "the core is not tested")
			return
		}
		TestCore(t, func(ctx context.Context) (host.Engine, error) {
			e, err := newEngine(ctx, module)
			if err == nil && e.ModuleHash() != hashOf(module) {
				t.Errorf("the module's hash is %s, want %s", e.ModuleHash(), hashOf(module))
			}
			return e, err
		})
	})
}

// hashOf is what [host.Engine.ModuleHash] says of a module.
func hashOf(module []byte) string {
	sum := sha256.Sum256(module)
	return hex.EncodeToString(sum[:])
}

// TestCore is what any engine must pass, also one that loads no module. newEngine makes an engine with the core of this
// build; the test closes it. Turns must come to the bytes that the native engine comes to.
func TestCore[S T[S]](t S, newEngine func(ctx context.Context) (host.Engine, error)) {
	t.Helper()
	suite := coreSuite[S]{newEngine, started(t, newEngine)}
	t.Run("greeting", suite.greeting)
	t.Run("turns", suite.turns)
	t.Run("limits", suite.limits)
	t.Run("garbage", suite.garbage)
	t.Run("slices", suite.slices)
	t.Run("retire", suite.retire)
	t.Run("close", suite.close)
	t.Run("close during steps", suite.closeDuringSteps)
	t.Run("close the engine", suite.closeEngine)
	t.Run("instances at once", suite.atOnce)
	t.Run("instances among others", suite.amongOthers)
}

// started returns an engine that ends with the test.
func started[S T[S]](t S, newEngine func(ctx context.Context) (host.Engine, error)) host.Engine {
	t.Helper()
	e, err := newEngine(context.Background())
	if err != nil {
		t.Fatalf("new engine: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("close the engine: %v", err)
		}
	})
	return e
}
