package peephole

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// compiled returns the program of testdata as the Go compiler writes it.
func compiled(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./testdata/program")
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

// run returns what a program prints.
func run(t *testing.T, file []byte, gc int) string {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	var out, said bytes.Buffer
	config := wazero.NewModuleConfig().WithStdout(&out).WithStderr(&said).WithSysNanotime().WithSysNanosleep().WithEnv("GOGC", strconv.Itoa(gc))
	if _, err := r.InstantiateWithConfig(ctx, file, config); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if out.Len() < 1000 || said.Len() > 0 {
		t.Fatalf("it printed %q, and %q", out.String(), said.String())
	}
	return out.String()
}

func TestRewrittenProgramDoesTheSame(t *testing.T) {
	file := compiled(t)
	want := run(t, file, 100)
	rewritten, err := Rewrite(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(rewritten, file) {
		t.Error("nothing was rewritten")
	}
	for _, gc := range []int{100, 1} {
		if got := run(t, rewritten, gc); got != want {
			t.Errorf("GOGC=%d: got\n%s\nwant\n%s", gc, got, want)
		}
	}
}

func TestRewriteRefusesWhatItDoesNotKnow(t *testing.T) {
	const head = "\x00asm\x01\x00\x00\x00"
	const types = "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00"
	for _, c := range []struct{ name, file, want string }{
		{"no module", "module", "peephole: not a WebAssembly file of version 1"},
		{"a section that ends early", head + "\x0a\x09\x01", "peephole: a function is truncated"},
		{"a type that is not a function's", head + "\x01\x02\x01\x5f", "peephole: a type of form 0x5f"},
		{"code without a type", head + "\x0a\x04\x01\x02\x00\x0b", "peephole: functions without code"},
		{"an opcode of an extension", head + types + "\x0a\x06\x01\x04\x00\xfd\x0c\x0b", "function 0: peephole: unknown instruction 0xfd"},
		{"a prefixed one", head + types + "\x0a\x06\x01\x04\x00\xfc\x0c\x0b", "function 0: peephole: unknown instruction 0xfc 12"},
		{"half an instruction", head + types + "\x0a\x05\x01\x03\x00\x41\x80", "function 0: peephole: a function is truncated"},
		{"a function without code", head + types + "\x0a\x04\x01\x02\x00\x0b", ""},
	} {
		out, err := Rewrite([]byte(c.file))
		switch {
		case c.want == "" && (err != nil || string(out) != c.file):
			t.Errorf("%s: %q, %v", c.name, out, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
