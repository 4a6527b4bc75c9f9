package turntest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/host/agents"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
	"github.com/turncore/turncore/internal/carried"
	_ "github.com/turncore/turncore/wasm/full"
)

// agentFile writes a file of the module with a manifest.
func agentFile(t *testing.T, name string) string {
	t.Helper()
	module, err := carried.Module()
	if err != nil {
		t.Fatal(err)
	}
	file, err := agents.WithManifest(module, &agents.Manifest{Name: name, Version: "1.0.0", Asks: agents.Asks{Log: 100}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "agent.wasm")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	path := agentFile(t, "answers")
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

	said := reported(func(f *fakeT) { turntest.LoadBytes(f, []byte("no agent"), agents.Options{}) })
	if !strings.Contains(said, "load the agent: E_") {
		t.Errorf("bytes that are no agent: the test was told %q", said)
	}
	for _, c := range []struct {
		path, says string
	}{{filepath.Join(t.TempDir(), "none.wasm"), "no such file"}, {path, "E_AGENT_NOT_GRANTED"}} {
		if said := reported(func(f *fakeT) { turntest.Load(f, c.path, agents.Options{}) }); !strings.Contains(said, c.says) {
			t.Errorf("%s: the test was told %q, want %q", c.path, said, c.says)
		}
	}
}

// Tests share the compiled code of a file: one in a bubble comes first, those behind it run at once and grant something
// else each.
func TestLoadInManyTests(t *testing.T) {
	path := agentFile(t, "many")
	turn := func(t *testing.T, log int64) {
		script := turntest.NewScript(t, turntest.Pause(time.Millisecond).And(turntest.Text("Hello!")))
		agent := turntest.Load(t, path, agents.Options{
			Grant: &agents.Grant{Agent: "many", Log: &agents.GrantLog{BytesPerTurn: log}},
		})
		if got := agent.Grant().Log.BytesPerTurn; got != log {
			t.Errorf("the grant has %d bytes, want %d", got, log)
		}
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
	}
	synctest.Test(t, func(t *testing.T) { turn(t, 100) })
	for n := range 8 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			if n%2 == 0 {
				turn(t, int64(101+n))
				return
			}
			synctest.Test(t, func(t *testing.T) { turn(t, int64(101+n)) })
		})
	}
}
