package turntest

import (
	"context"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/turns"
)

// Engine returns wazero with the full module that this build carries. All tests of a process share it: it is compiled
// once, and nobody closes it. Without the module, as in a checkout of Turncore before `make wasm`, it is the native
// engine, and the test logs that; if the environment sets CI=true, the test fails instead. Ask for it before the first
// bubble of testing/synctest: what is made inside a bubble must not be used outside.
//
// Compiled code is kept between processes in the folder turncore below os.UserCacheDir, which is ~/.cache/turncore on
// Linux. A CI job that keeps the folder compiles only after Turncore, Go or the machine has changed: docs/testing.md
// has the key.
func Engine(t T) host.Engine {
	t.Helper()
	engines := hosttest.Engines(t)
	return engines[len(engines)-1] // wazero, if it is there
}

// Host returns a host that closes with the test, for turns whose events are the same each time. Where the options name
// none, it runs on [Engine], its clock stands still at [host.FixedTime], and its entropy is [host.SeededEntropy] with
// the seed 1, from which the ids of turns come.
//
// Runners with one host draw from one entropy: turns that start at the same time get their ids in no fixed order.
func Host(t T, options turns.HostOptions) *turns.Host {
	t.Helper()
	if options.Engine == nil {
		options.Engine = Engine(t)
	}
	if options.Clock == nil {
		options.Clock = host.FixedClock(host.FixedTime)
	}
	if options.Entropy == nil {
		options.Entropy = host.SeededEntropy(1)
	}
	h := turns.NewHost(options)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("turntest: close the host: %v", err)
		}
	})
	return h
}
