package journal_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// TestReplayFolder replays every journal of a folder on the native engine, with a collection forced before steps chosen
// at random, and on wazero with a guest that collects all the time. The folder holds what test suites have recorded
// (see hosttest.RecordTo); without one the test records a conversation itself.
func TestReplayFolder(t *testing.T) {
	folder := os.Getenv("TURNCORE_REPLAY_FROM")
	if folder == "" {
		folder = t.TempDir()
		recordConversation(t, folder)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.journal"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no journal in %s: %v", folder, err)
	}
	engines := []host.Engine{collecting{native.New()}}
	if module, ok := full.Module(); ok {
		e, err := wazero.New(context.Background(), module, wazero.WithGCPercent(1))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close(context.Background())
		engines = append(engines, e)
	} else if os.Getenv("CI") == "true" {
		t.Fatal("this build carries no module")
	}
	steps := 0
	for _, name := range files {
		for _, e := range engines {
			steps += replay(t, e, name)
		}
	}
	if !t.Failed() {
		t.Logf("%d journals on %d engines, %d steps, all the same bytes", len(files), len(engines), steps)
	}
}

func replay(t *testing.T, e host.Engine, name string) int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		t.Errorf("%s: %v", filepath.Base(name), err)
		return 0
	}
	entries, err := journal.Replay(context.Background(), e, r)
	if err != nil {
		t.Errorf("%s on %s, after %d entries: %v", filepath.Base(name), e.Name(), entries, err)
	}
	return entries
}

func recordConversation(t *testing.T, folder string) {
	t.Helper()
	inst, err := hosttest.Record(native.New(), folder).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Greet(inst, abi.Hello{Features: abi.FeatureHistory}); err != nil {
		t.Fatal(err)
	}
	for _, batch := range hosttest.Conversation() {
		if _, err := inst.Step(nil, batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := inst.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// collecting is an engine that collects garbage before some steps.
type collecting struct{ host.Engine }

// Open implements host.Engine.
func (e collecting) Open(ctx context.Context) (host.Instance, error) {
	inst, err := e.Engine.Open(ctx)
	return &collectingInstance{inst, rand.New(rand.NewPCG(1, 2))}, err
}

type collectingInstance struct {
	host.Instance
	random *rand.Rand
}

// Step implements host.Instance.
func (i *collectingInstance) Step(dst, in []byte) ([]byte, error) {
	if i.random.IntN(64) == 0 {
		runtime.GC()
	}
	return i.Instance.Step(dst, in)
}
