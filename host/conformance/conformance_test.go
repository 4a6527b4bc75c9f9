package conformance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/hosttest"
)

const corpus = "../../runtime/testdata/conformance"

func load(t testing.TB) []*conformance.File {
	t.Helper()
	files, err := conformance.Load(os.DirFS(corpus))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every engine plays every scenario as the corpus says, and writes the same log as the first.
func TestCorpus(t *testing.T) {
	files := load(t)
	first := map[string]string{}
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			passed := 0
			for _, file := range files {
				player := conformance.NewPlayer(conformance.Options{Engine: engine})
				defer player.Close()
				for _, s := range file.Scenarios {
					if !s.Playable(conformance.Features()...) {
						continue
					}
					ok := t.Run(s.ID, func(t *testing.T) {
						log, err := player.Play(s)
						if err == nil {
							err = s.Check(log)
						}
						if err != nil {
							t.Fatal(err)
						}
						if os.Getenv("SHOW") != "" {
							for _, l := range log {
								t.Log(l.Summary(), "   ", l)
							}
						}
						if want, there := first[s.ID]; there && want != log.String() {
							t.Errorf("the log differs from the first engine's:\n%s\nwant:\n%s", log, want)
						}
						first[s.ID] = log.String()
					})
					if ok {
						passed++
					}
				}
			}
			t.Logf("%s: %d passed", engine.Name(), passed)
		})
	}
	_ = filepath.Join
}
