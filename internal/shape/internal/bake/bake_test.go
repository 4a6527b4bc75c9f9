package bake

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// compiled returns the reactor of testdata as Go's linker writes it.
func compiled(t *testing.T, fault string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reactor.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w -X main.fault="+fault, "-o", path, "./testdata/reactor")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// host is what a module runs in, and counts what the module asks for.
type host struct {
	now   int64 // what the clocks show, in nanoseconds
	asked int   // for times and random bytes
}

func (h *host) Read(p []byte) (int, error) {
	h.asked++
	for i := range p {
		p[i] = byte(31*i + 7*h.asked)
	}
	return len(p), nil
}

func (h *host) clock() int64 {
	h.asked++
	return h.now
}

// program is a compiled module.
type program struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

func compile(t *testing.T, file []byte) program {
	t.Helper()
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { runtime.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	module, err := runtime.CompileModule(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	return program{runtime, module}
}

// run calls the starting functions and then work, so many times, and returns what the program prints.
func (h *host) run(t *testing.T, p program, calls int, start ...string) string {
	t.Helper()
	ctx := context.Background()
	var said bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions(start...).WithStdout(&said).WithStderr(&said).
		WithNanotime(h.clock, 1).
		WithWalltime(func() (sec int64, nsec int32) { now := h.clock(); return now / 1e9, int32(now % 1e9) }, 1).
		WithRandSource(h)
	instance, err := p.runtime.InstantiateModule(ctx, p.module, config)
	if err != nil {
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
	defer instance.Close(ctx)
	for range calls {
		if _, err := instance.ExportedFunction("work").Call(ctx); err != nil {
			t.Fatalf("%v\n%s", err, said.Bytes())
		}
	}
	return said.String()
}

func TestBakedProgramDoesTheSame(t *testing.T) {
	file := compiled(t, "")
	baked, err := Module(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	const calls = 6
	want := (&host{now: 1e18}).run(t, compile(t, file), calls, initialize)
	if strings.Count(want, "true true\n") != calls || strings.Count(want, "\n") != 2*calls {
		t.Fatalf("the program prints %q", want)
	}
	program := compile(t, baked)
	for _, now := range []int64{monotonic, 1e9, 1e18} {
		for _, start := range [][]string{nil, {initialize}, {initialize, initialize}} {
			h := &host{now: now}
			if h.run(t, program, 0, start...); h.asked > 0 {
				t.Errorf("the start asks for %d times and random bytes", h.asked)
			}
			if got := h.run(t, program, calls, start...); got != want {
				t.Errorf("at %d, started by %q, it prints\n%s\nwant\n%s", now, start, got, want)
			}
		}
	}
	again, err := Module(t.Context(), file)
	if err != nil || !bytes.Equal(again, baked) {
		t.Errorf("a second time the bytes are others, %v", err)
	}
}

func TestStartsThatCannotBeKept(t *testing.T) {
	for fault, says := range map[string]string{
		"panic":  "bake: _initialize fails: panic: at the start",
		"write":  `_initialize writes "hello\n"`,
		"random": "failed to read random data",
		"sleep":  "the module sleeps at its start",
	} {
		t.Run(fault, func(t *testing.T) {
			if _, err := Module(t.Context(), compiled(t, fault)); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %s", err, says)
			}
		})
	}
}

func TestStartThatDoesNotEnd(t *testing.T) {
	file := compiled(t, "loop")
	ended, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := Module(ended, file); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	defer func(usual time.Duration) { patience = usual }(patience)
	patience = 100 * time.Millisecond
	const want = "bake: _initialize: it has not ended after 100ms: an init function or the value of a package variable may loop for ever"
	if _, err := Module(t.Context(), file); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestModuleRefusesWhatItDoesNotKnow(t *testing.T) {
	const (
		head = "\x00asm\x01\x00\x00\x00"
		rest = "\x05\x03\x01\x00\x01" + "\x06\x01\x00" + "\x07\x0f\x01\x0b_initialize\x00\x00" + "\x0a\x01\x00" + "\x0b\x01\x00"
	)
	for name, c := range map[string]struct{ file, want string }{
		"no module":               {"module", "bake: not a WebAssembly file of version 1"},
		"half a section":          {head + "\x0b\x09\x01", errMalformed.Error()},
		"half an import":          {head + "\x02\x04\x01\x01a\x01", errMalformed.Error()},
		"half an export":          {head + "\x07\x03\x01\x05a", errMalformed.Error()},
		"half a global":           {head + "\x06\x03\x01\x7f\x00", errMalformed.Error()},
		"nothing":                 {head, "bake: the file has no section 5"},
		"an imported memory":      {head + "\x02\x08\x01\x01a\x01b\x02\x00\x01", "bake: the module imports a.b, which is no function"},
		"a global of f64":         {head + "\x06\x06\x01\x7c\x00\x44\x00\x0b", "bake: global 0 has type 0x7c, or does not begin with a constant"},
		"a global that is gotten": {head + "\x06\x06\x01\x7f\x00\x23\x00\x0b", "bake: global 0 has type 0x7f, or does not begin with a constant"},
		"a start function":        {head + "\x08\x01\x00", "bake: the file has a section 8, which Go's linker does not write"},
		"a count of segments":     {head + "\x0c\x01\x00", "bake: the file has a section 12, which Go's linker does not write"},
		"another start":           {head + strings.Replace(rest, "_init", "-init", 1), "bake: the file has no function _initialize"},
	} {
		if _, err := Module(t.Context(), []byte(c.file)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// Go's hash of a text begins with the product of two numbers: one of the seed of its map, the other of the text's
// length and two words of the hash key, which are the first and the third that are drawn. A length that makes it zero
// would give texts a hash that depends on no seed. So it must be longer than a frame.
func TestNoLengthCancelsTheHashKey(t *testing.T) {
	const frame = 16 << 20
	drawn := rand.NewChaCha8(entropy)
	first, _, third := drawn.Uint64(), drawn.Uint64(), drawn.Uint64()
	if length := uint32(first ^ third); length <= frame {
		t.Errorf("texts of %d bytes have a hash that depends on no seed: take other bytes", length)
	}
}
