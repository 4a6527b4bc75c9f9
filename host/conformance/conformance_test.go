package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/agents/build"
	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/conformance/invocations"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/internal/shard"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

const (
	corpus            = "../../runtime/testdata/conformance"
	invocationsCorpus = "../../runtime/testdata/invocations"
)

// logsTo names the environment variable with a folder that logs of the whole corpus are written to, for other hosts' to
// be compared with.
const logsTo = "TURNCORE_CONFORMANCE_TO"

// shardFrom names the environment variable with the part that those play who play no whole: 2/4 is the second of four,
// to which each file gives every fourth scenario. Without it they play the whole too.
const shardFrom = "CORPUS_SHARD"

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

// engines are those of the tests and, unless the race detector slows them further, wazero's interpreter, its compiler
// with metering, and with an agent in the module: they are more engines behind the same code of the host.
func engines(t *testing.T) []host.Engine {
	all := hosttest.Engines(t)
	module, ok := full.Module()
	if !ok || underRace {
		return all
	}
	add := func(name string, option wazero.Option) {
		e, err := wazero.New(t.Context(), module, option)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		all = append(all, named{e, name})
	}
	add("wazero-interpreter", wazero.WithInterpreter())
	add("wazero-metered", wazero.WithFuel(engine.Fuel{}))
	// An agent that adds nothing to the core.
	empty, err := build.Package(t.Context(), "../../wasm/agent/testdata/empty", build.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := wazero.New(t.Context(), empty.File)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	all = append(all, named{e, "wazero-agent"})
	return all
}

// hostOn is an engine, and how a host uses it.
type hostOn struct {
	host.Engine
	instances int         // as in turns.HostOptions
	part      shard.Shard // what it plays
}

// hosts are the engines, and those of the tests again with several instances, and wazero with one for each turn. Native
// and wazero's compiler, with one instance, play the whole corpus, unless the race detector watches. Each of the others
// plays the part of [shardFrom] that follows on that of the one before, so that four of them play four quarters. Short
// tests are native alone.
func hosts(t *testing.T) (all []hostOn) {
	if testing.Short() {
		return []hostOn{{native.New(), 1, shard.Whole}}
	}
	mine := shard.FromEnv(t, shardFrom)
	add := func(e host.Engine, instances int, whole bool) {
		if whole && !underRace {
			all = append(all, hostOn{e, instances, shard.Whole})
			return
		}
		all = append(all, hostOn{e, instances, mine})
		mine = mine.After(1)
	}
	for _, e := range engines(t) {
		add(e, 1, e.Name() == native.Name || e.Name() == wazero.Name)
	}
	for _, e := range hosttest.Engines(t) {
		add(named{e, e.Name() + "-pool"}, 4, false)
		if e.Name() == wazero.Name {
			add(named{e, e.Name() + "-per-turn"}, turns.PerTurn, false)
		}
	}
	return all
}

// Every engine plays each scenario of its part as the corpus says, and writes the same log as the first that played it,
// whichever instances its turns are in.
func TestCorpus(t *testing.T) {
	files := load(t)
	first := map[string]string{}
	for _, e := range hosts(t) {
		t.Run(e.Name(), func(t *testing.T) {
			passed := 0
			var common, full strings.Builder // what the core module plays too comes first
			for _, file := range files {
				player := conformance.NewPlayer(conformance.Options{Engine: e.Engine, Host: turns.HostOptions{Instances: e.instances}})
				for i, s := range file.Scenarios {
					if !e.part.Has(i) || !s.Playable(conformance.Features()...) {
						continue
					}
					if t.Run(s.ID, func(t *testing.T) { play(t, player, s, first, &common, &full) }) {
						passed++
					}
				}
				if err := player.Close(); err != nil {
					t.Error(err)
				}
			}
			passed += playInvocations(t, e, first, &full)
			t.Logf("%s: %d passed", e.Name(), passed)
			if passed == 0 {
				t.Error("nothing was played")
			}
			if folder := os.Getenv(logsTo); folder != "" && e.part.IsWhole() {
				name := strings.ReplaceAll(e.Name(), " ", "-") + ".log"
				if err := os.WriteFile(filepath.Join(folder, name), []byte(common.String()+full.String()), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Functions that panic where others return errors make no difference, but for what errors that hold such a one say.
// Under the race detector a part of the corpus shows that.
func TestPanics(t *testing.T) {
	engine := hosttest.Engines(t)[0]
	mine := shard.Whole
	if underRace {
		mine = shard.FromEnv(t, shardFrom)
	}
	played := 0
	for _, file := range load(t) {
		returning := conformance.NewPlayer(conformance.Options{Engine: engine})
		panicking := conformance.NewPlayer(conformance.Options{Engine: engine, Panics: true})
		for i, s := range file.Scenarios {
			if !mine.Has(i) || !s.Playable(conformance.Features()...) {
				continue
			}
			played++
			want, err := returning.Play(s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := panicking.Play(s)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := withoutMessages(got), withoutMessages(want); got != want {
				t.Errorf("%s: with panics:\n%s\nwithout:\n%s", s.ID, got, want)
			}
		}
		if err := errors.Join(returning.Close(), panicking.Close()); err != nil {
			t.Error(err)
		}
	}
	if played == 0 {
		t.Error("nothing was played")
	}
}

// withoutMessages is a log whose errors have no messages.
func withoutMessages(log conformance.Log) string {
	var drop func(v any)
	drop = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["code"] != nil {
				delete(v, "message")
			}
			for _, member := range v {
				drop(member)
			}
		case []any:
			for _, item := range v {
				drop(item)
			}
		}
	}
	for _, line := range log {
		drop(map[string]any(line))
	}
	return log.String()
}

func play(t *testing.T, player *conformance.Player, s *conformance.Scenario, first map[string]string, common, full *strings.Builder) {
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
	text = "# " + s.ID + "\n" + text
	for _, one := range s.Failing(log) {
		log, err := player.Play(one)
		if err == nil {
			err = one.CheckStorage(log)
		}
		if err != nil {
			t.Fatal(err)
		}
		text += "# " + one.ID + "\n" + log.String()
		if want, there := first[one.ID]; there && want != log.String() {
			t.Errorf("%s: the log differs from the first engine's:\n%s\nwant:\n%s", one.ID, log, want)
		}
		first[one.ID] = log.String()
	}
	logs := common
	for _, need := range s.Needs {
		if need != "full" {
			return // other hosts do not play it
		}
		logs = full
	}
	logs.WriteString(text)
}

// playInvocations plays the corpus of invocations and returns how many scenarios passed. All faults are played where
// the logs of hosts are compared, and otherwise on the native engine: they happen in the same code of the host.
func playInvocations(t *testing.T, e hostOn, first map[string]string, logs *strings.Builder) (passed int) {
	options := invocations.Options{Engine: e.Engine, Host: turns.HostOptions{Instances: e.instances}}
	// What is recorded is replayed later, with all else, and so are journals of faults, which are alike on every engine.
	recorded := os.Getenv(hosttest.RecordTo) != "" && (e.Name() == native.Name || e.Name() == wazero.Name)
	fault := false
	if e.instances == 1 && !recorded {
		options.Journal = func(written []byte) error {
			if fault {
				return nil
			}
			return replay(t.Context(), e.Engine, written)
		}
	}
	faults := os.Getenv(logsTo) != "" || e.Name() == native.Name
	player := invocations.NewPlayer(options)
	defer func() {
		if err := player.Close(); err != nil {
			t.Error(err)
		}
	}()
	play := func(t *testing.T, s *invocations.Scenario) conformance.Log {
		log, err := player.Play(s)
		if err == nil {
			err = s.Check(log)
		}
		if err != nil {
			t.Fatal(err)
		}
		if want, there := first[s.ID]; there && want != log.String() {
			t.Errorf("%s: the log differs from the first engine's:\n%s\nwant:\n%s", s.ID, log, want)
		}
		first[s.ID] = log.String()
		logs.WriteString("# " + s.ID + "\n" + log.String())
		return log
	}
	for _, file := range loadInvocations(t) {
		for i, s := range file.Scenarios {
			if !e.part.Has(i) {
				continue
			}
			if t.Run(s.ID, func(t *testing.T) {
				fault = false
				log := play(t, s)
				if !faults {
					return
				}
				fault = true
				for _, one := range s.Variants(log) {
					play(t, one)
				}
			}) {
				passed++
			}
		}
	}
	return passed
}

// replay plays a journal in a fresh instance.
func replay(ctx context.Context, e host.Engine, written []byte) error {
	r, err := journal.NewReader(bytes.NewReader(written))
	if err != nil {
		return err
	}
	if n, err := journal.Replay(ctx, e, r); err != nil || n < 2 {
		return fmt.Errorf("the replay, after %d entries: %w", n, err)
	}
	return nil
}

func loadInvocations(t testing.TB) []*invocations.File {
	t.Helper()
	files, err := invocations.Load(os.DirFS(invocationsCorpus))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The corpus of invocations covers all numbers of described behaviour, and no id is one of the corpus of turns.
func TestCoveredInvocations(t *testing.T) {
	ids := map[string]bool{}
	for _, file := range load(t) {
		for _, s := range file.Scenarios {
			ids[s.ID] = true
		}
	}
	covered := map[int]bool{}
	count := 0
	for _, file := range loadInvocations(t) {
		for _, s := range file.Scenarios {
			if ids[s.ID] {
				t.Errorf("%s is in both corpora", s.ID)
			}
			for _, n := range s.Covers {
				covered[n] = true
			}
			count++
		}
	}
	for n := 1; n <= 32; n++ {
		if !covered[n] {
			t.Errorf("no scenario covers %d", n)
		}
	}
	t.Logf("%d scenarios", count)
}
