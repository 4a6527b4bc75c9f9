package wasmtime_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/wasmtime"
	"github.com/turncore/turncore/wasm/full"
)

// Every scenario of the conformance corpus is played as it says, and has the log that it has natively. With bounds on
// what the module does it has the same.
func TestCorpus(t *testing.T) {
	module, ok := full.Module()
	if !ok {
		t.Fatal("this build carries no module, `make wasm` builds it")
	}
	files, err := conformance.Load(os.DirFS(filepath.FromSlash("../../runtime/testdata/conformance")))
	if err != nil {
		t.Fatal(err)
	}
	bounds := []wasmtime.Option{wasmtime.WithFuel(engine.Fuel{}), wasmtime.WithStepTimeout(10 * time.Minute)}
	engines := []host.Engine{native.New(), newEngine(t, module), newEngine(t, module, bounds...)}
	played := 0
	for _, file := range files {
		players := make([]*conformance.Player, len(engines))
		for n, e := range engines {
			players[n] = conformance.NewPlayer(conformance.Options{Engine: e})
		}
		for _, s := range file.Scenarios {
			if s.Playable(conformance.Features()...) && t.Run(s.ID, func(t *testing.T) { play(t, players, s) }) {
				played++
			}
		}
		for _, p := range players {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if t.Logf("wasmtime: %d passed", played); played == 0 {
		t.Error("nothing was played")
	}
}

// play plays a scenario, and each with a failing store that follows from it, on all players.
func play(t *testing.T, players []*conformance.Player, s *conformance.Scenario) {
	first := map[string]string{}
	same := func(s *conformance.Scenario, log conformance.Log) {
		if want, there := first[s.ID]; there && log.String() != want {
			t.Errorf("%s: the log differs from the native one:\n%s\nwant:\n%s", s.ID, log, want)
		}
		first[s.ID] = log.String()
	}
	for _, p := range players {
		log, err := p.Play(s)
		if err := errors.Join(err, s.Check(log)); err != nil {
			t.Fatal(err)
		}
		same(s, log)
		for _, one := range s.Failing(log) {
			log, err := p.Play(one)
			if err := errors.Join(err, one.CheckStorage(log)); err != nil {
				t.Fatal(err)
			}
			same(one, log)
		}
	}
}
