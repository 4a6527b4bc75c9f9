package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/internal/shape"
	"github.com/turncore/turncore/wasm/build/internal/program"
)

// Random programs print the same in each form that the build can give them. TURNCORE_SEED is the seed of the first one,
// which differs from commit to commit; with TURNCORE_LONG there are many.
func TestTheBuildChangesNoProgram(t *testing.T) {
	first, count := uint64(1), 2
	if text := os.Getenv("TURNCORE_SEED"); text != "" {
		var err error
		if first, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("TURNCORE_SEED: %v", err)
		}
	}
	if os.Getenv("TURNCORE_LONG") != "" {
		count = 60
	}
	for i := range count {
		seed := first + uint64(i)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			source := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(source, program.Random(seed), 0o600); err != nil {
				t.Fatal(err)
			}
			want := printed(t, source, form{})
			if lines := strings.Count(want, "\n"); lines < 16 {
				t.Fatalf("it prints %d lines:\n%s", lines, want)
			}
			for name, f := range map[string]form{
				"rewritten": {Shape: shape.Shape{Rewrite: true}}, "baked": {Shape: shape.Shape{Bake: true}}, "both": shipped,
			} {
				if got := printed(t, source, f); got != want {
					t.Errorf("%s, it differs; again: TURNCORE_SEED=%d\n%s", name, seed, differingLine(got, want))
				}
			}
		})
	}
}

// Texts are compared by words: whatever their length, where they lie, and where they differ.
func TestTheBuildComparesTexts(t *testing.T) {
	const compare = `package main

//go:noinline
func same(a, b string) bool { return a == b }

//go:wasmexport work
func work() {
	wrong := 0
	for size := range 70 {
		for start := range 9 {
			a, b := make([]byte, 2+size+2), make([]byte, start+size+2)
			for i := range size {
				a[2+i], b[start+i] = byte(3*i), byte(3*i)
			}
			b[start+size] = 1 // behind the end
			if !same(string(a[2:2+size]), string(b[start:start+size])) {
				wrong++
			}
			for at := range size {
				b[start+at] ^= 0x80
				x, y := b[start:start+size], a[2:2+size]
				if same(string(x), string(y)) || string(x) == string(y) {
					wrong++
				}
				b[start+at] ^= 0x80
			}
		}
	}
	println("wrong:", wrong)
}

func main() {}
`
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(compare), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := printed(t, source, shipped); got != "wrong: 0\n" {
		t.Errorf("it prints %q", got)
	}
}

// printed returns what a program prints in a form.
func printed(t *testing.T, source string, f form) string {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "program.wasm")
	program := target{file: "program.wasm", goos: "wasip1", mode: reactor, source: source}
	if err := compile(ctx, testRoot(t), program, path, f); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	var said bytes.Buffer
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithStderr(&said).WithSysNanotime().WithSysNanosleep()
	instance, err := runtime.InstantiateWithConfig(ctx, file, config)
	if err != nil {
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
	if _, err := instance.ExportedFunction("work").Call(ctx); err != nil {
		t.Fatalf("%v\n%s", err, said.Bytes())
	}
	return said.String()
}

// differingLine shows where two texts part.
func differingLine(got, want string) string {
	is, should := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(is), len(should)) {
		if is[i] != should[i] {
			return fmt.Sprintf("line %d is %q, want %q", i+1, is[i], should[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(is), len(should))
}
