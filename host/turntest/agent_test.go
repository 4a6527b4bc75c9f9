package turntest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
	"github.com/turncore/turncore/internal/carried"
	_ "github.com/turncore/turncore/wasm/full"
)

func TestLoad(t *testing.T) {
	module, err := carried.Module()
	if err != nil {
		t.Fatal(err)
	}
	file, err := agents.WithManifest(module, &agents.Manifest{
		Name: "answers", Version: "1.0.0", Asks: agents.Asks{Log: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "agent.wasm")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	script := turntest.NewScript(t, turntest.Text("Hello!"))
	agent := turntest.Load(t, path, agents.Options{
		Grant: &agents.Grant{Agent: "answers", Log: &agents.GrantLog{BytesPerTurn: 100}},
	})
	config := agent.Config()
	config.Executor = script.Executor()
	runner, err := turns.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	if result, err := runner.Run(t.Context(), turns.Input{Message: "Hi"}); err != nil || result.Text != "Hello!" {
		t.Errorf("the answer is %+v, %v", result, err)
	}

	for _, c := range []struct {
		path, says string
	}{{filepath.Join(t.TempDir(), "none.wasm"), "no such file"}, {path, "E_AGENT_NOT_GRANTED"}} {
		if said := reported(func(f *fakeT) { turntest.Load(f, c.path, agents.Options{}) }); !strings.Contains(said, c.says) {
			t.Errorf("%s: the test was told %q, want %q", c.path, said, c.says)
		}
	}
}
