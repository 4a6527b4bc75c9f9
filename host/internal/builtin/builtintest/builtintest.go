// Package builtintest runs the middleware and the tools that come with the core in turns, on every engine.
package builtintest

import (
	"context"
	"testing"

	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// OnEngines runs a test on every engine, in a host that checks what the module says.
func OnEngines(t *testing.T, test func(t *testing.T, h *turns.Host)) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true})
			t.Cleanup(func() { _ = h.Close(context.Background()) })
			test(t, h)
		})
	}
}

// Run runs a turn in a session of its own and returns its result, also of a turn that failed. Without callbacks of its
// own the configuration gets those of a store in memory. Each listen function gets the runner before the turn starts.
func Run(
	t *testing.T, h *turns.Host, config turns.TurnRunnerConfig, prompt string, listen ...func(*turns.TurnRunner),
) *turns.Result {
	t.Helper()
	config.Host = h
	if config.FetchMemories == nil {
		config.Callbacks = turns.StoreCallbacks(store.NewInMemory())
	}
	r, err := turns.NewTurnRunner(config)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, l := range listen {
		l(r)
	}
	input := turns.TurnInput{SystemPrompt: prompt, Stash: map[string]any{turns.SessionKey: "s"}}
	result, err := r.Run(t.Context(), input)
	if result == nil {
		t.Fatal(err)
	}
	return result
}
