package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

const corpus = "../../runtime/testdata/conformance"

// logsTo names the environment variable with a folder that the logs are written to, for other hosts' to be compared with.
const logsTo = "TURNCORE_CONFORMANCE_TO"

func load(t testing.TB) []*conformance.File {
	t.Helper()
	files, err := conformance.Load(os.DirFS(corpus))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// named gives an engine another name in logs.
type named struct {
	host.Engine
	name string
}

func (e named) Name() string { return e.name }

// engines are those of the tests, and wazero's interpreter.
func engines(t *testing.T) []host.Engine {
	all := hosttest.Engines(t)
	module, ok := full.Module()
	if !ok {
		return all
	}
	e, err := wazero.New(t.Context(), module, wazero.WithInterpreter())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return append(all, named{e, "wazero-interpreter"})
}

// Every engine plays every scenario as the corpus says, and writes the same log as the first.
func TestCorpus(t *testing.T) {
	files := load(t)
	first := map[string]string{}
	for _, engine := range engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			passed := 0
			var logs strings.Builder
			for _, file := range files {
				player := conformance.NewPlayer(conformance.Options{Engine: engine})
				for _, s := range file.Scenarios {
					if !s.Playable(conformance.Features()...) {
						continue
					}
					if t.Run(s.ID, func(t *testing.T) { play(t, player, s, first, &logs) }) {
						passed++
					}
				}
				if err := player.Close(); err != nil {
					t.Error(err)
				}
			}
			t.Logf("%s: %d passed", engine.Name(), passed)
			if passed == 0 {
				t.Error("nothing was played")
			}
			if folder := os.Getenv(logsTo); folder != "" {
				name := strings.ReplaceAll(engine.Name(), " ", "-") + ".log"
				if err := os.WriteFile(filepath.Join(folder, name), []byte(logs.String()), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func play(t *testing.T, player *conformance.Player, s *conformance.Scenario, first map[string]string, logs *strings.Builder) {
	log, err := player.Play(s)
	if err == nil {
		err = s.Check(log)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if want, there := first[s.ID]; there && want != text {
		t.Errorf("the log differs from the first engine's:\n%s\nwant:\n%s", text, want)
	}
	first[s.ID] = text
	if len(s.Needs) == 0 {
		logs.WriteString("# " + s.ID + "\n" + text)
	}
}
