package turntest

import (
	"context"
	"os"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents"
)

// Load loads the agent in a file with a grant, closes it with the test, and ends the test if it is refused:
//
//	agent := turntest.Load(t, "agent.wasm", agents.Options{Grant: grant, Model: model})
//	runner, err := turns.New(t.Context(), agent.Config())
//
// A file is compiled once in a process: tests that load the same bytes share the compiled code and nothing else, also
// when they run in parallel, in bubbles of testing/synctest, and with other grants. options.Engine makes an engine for
// this test alone.
//
// The agent's events are the same each time: where options.Host names none, its clock stands still at [host.FixedTime],
// and its entropy is [host.SeededEntropy] with the seed 1.
func Load(t T, path string, options agents.Options) *agents.Agent {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("turntest: %v", err)
		return nil
	}
	return load(t, path, file, options)
}

// LoadBytes is [Load] for an agent that the tests have built themselves, with package agents/build:
//
//	var built = sync.OnceValues(func() (*build.Agent, error) {
//		return build.Package(context.Background(), ".", build.Options{})
//	})
func LoadBytes(t T, file []byte, options agents.Options) *agents.Agent {
	t.Helper()
	return load(t, "the agent", file, options)
}

func load(t T, name string, file []byte, options agents.Options) *agents.Agent {
	t.Helper()
	if options.Engine == nil {
		options.Engine = compileOnce
	}
	if options.Host.Clock == nil {
		options.Host.Clock = host.FixedClock(host.FixedTime)
	}
	if options.Host.Entropy == nil {
		options.Host.Entropy = host.SeededEntropy(1)
	}
	agent, err := agents.Load(context.Background(), file, options)
	if err != nil {
		t.Fatalf("turntest: load %s: %v", name, err)
		return nil
	}
	t.Cleanup(func() {
		if err := agent.Close(context.Background()); err != nil {
			t.Errorf("turntest: close %s: %v", name, err)
		}
	})
	return agent
}
