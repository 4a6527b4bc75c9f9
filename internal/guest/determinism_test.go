package guest_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/native"
)

const turns = 50

// openInstance starts an instance with the players' runners and history.
func openInstance(t testing.TB, e host.Engine) host.Instance {
	t.Helper()
	return openLimited(t, e, abi.Limits{})
}

func openLimited(t testing.TB, e host.Engine, limits abi.Limits) host.Instance {
	t.Helper()
	inst, err := e.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inst.Close(context.Background()) })
	if _, err := host.Greet(inst, abi.Hello{Features: 1<<53 - 1, Limits: limits}); err != nil {
		t.Fatal(err)
	}
	if _, err := inst.Step(nil, opening()); err != nil {
		t.Fatal(err)
	}
	return inst
}

// playAlone plays one turn to its end in an instance of its own.
func playAlone(t testing.TB, inst host.Instance, p *player) {
	t.Helper()
	for steps := 0; !p.ended; steps++ {
		if steps > 5000 {
			t.Fatalf("turn %d does not end; outstanding: %+v", p.turn, p.effects)
		}
		out, err := inst.Step(nil, p.next())
		if err != nil {
			t.Fatal(err)
		}
		p.take(out)
	}
}

// Each of 50 turns gives the same bytes alone and interleaved with the others, whenever garbage is collected.
func TestTurnsDoNotSeeEachOther(t *testing.T) {
	e := native.New()
	var alone []*player
	for i := range uint32(turns) {
		p := newPlayer(t, i+1, uint64(i))
		playAlone(t, openInstance(t, e), p)
		alone = append(alone, p)
	}
	statuses := map[uint8]int{}
	steps := 0
	for _, p := range alone {
		statuses[p.status]++
		steps += len(p.in)
	}
	t.Logf("%d steps, turns by status %v", steps, statuses)
	if len(statuses) < 4 {
		t.Errorf("the turns end too much alike: %v", statuses)
	}

	inst := openInstance(t, e)
	random := rand.New(rand.NewPCG(1, 1))
	var running []*player
	for i := range uint32(turns) {
		running = append(running, newPlayer(t, i+1, uint64(i)))
	}
	all := slices.Clone(running)
	for len(running) > 0 {
		if random.IntN(50) == 0 {
			runtime.GC()
		}
		// Some turns get frames in this step, in any order.
		random.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
		some := running[:1+random.IntN(min(4, len(running)))]
		var batch []byte
		for _, p := range some {
			batch = append(batch, p.next()...)
		}
		out, err := inst.Step(nil, batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range some {
			mine, err := journal.Filter(nil, out, p.turn)
			if err != nil {
				t.Fatal(err)
			}
			p.take(mine)
		}
		running = slices.DeleteFunc(running, func(p *player) bool { return p.ended })
	}
	for i, p := range all {
		if !slices.EqualFunc(p.in, alone[i].in, bytes.Equal) || !slices.EqualFunc(p.out, alone[i].out, bytes.Equal) {
			t.Errorf("turn %d differs", p.turn)
		}
	}
}

// Every engine answers a recording of the native engine with the same bytes.
func TestEnginesGiveTheSameBytes(t *testing.T) {
	var all []*player
	for i := range uint32(turns) {
		p := newPlayer(t, i+1, 100+uint64(i))
		playAlone(t, openInstance(t, native.New()), p)
		all = append(all, p)
	}
	for _, e := range hosttest.Engines(t) {
		t.Run(e.Name(), func(t *testing.T) {
			inst := openInstance(t, e)
			for _, p := range all {
				for i, in := range p.in {
					out, err := inst.Step(nil, in)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(out, p.out[i]) {
						t.Fatalf("turn %d, step %d:\n%s\n%s", p.turn, i, texts(p.out[i]), texts(out))
					}
				}
			}
		})
	}
}

// texts formats a batch, one frame per line.
func texts(batch []byte) string {
	var lines []string
	for len(batch) > 0 {
		_, frame, rest, err := abi.Next(batch, abi.Limits{})
		if err != nil {
			return err.Error()
		}
		lines, batch = append(lines, "  "+string(journal.AppendJSON(nil, frame))), rest
	}
	return strings.Join(lines, "\n")
}
