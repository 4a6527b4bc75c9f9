package segments

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/internal/wasmfile"
)

// compiled returns the program of testdata as Go's linker writes it.
func compiled(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", path, "./testdata/program")
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

// run returns what a program prints, and its last words.
func run(t *testing.T, file []byte, gc int) (out, said string) {
	t.Helper()
	ctx := t.Context()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	var stdout, stderr bytes.Buffer
	config := wazero.NewModuleConfig().WithStdout(&stdout).WithStderr(&stderr).WithSysNanotime().WithSysNanosleep().WithEnv("GOGC", strconv.Itoa(gc))
	if _, err := r.InstantiateWithConfig(ctx, file, config); err == nil {
		t.Fatal("it did not panic")
	}
	return stdout.String(), stderr.String()
}

// section returns the data section of a file.
func section(t *testing.T, file []byte) []byte {
	t.Helper()
	for rest := file[8:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		if rest[0] == wasmfile.Data {
			return rest[1+n:][:size]
		}
		rest = rest[1+n+int(size):]
	}
	t.Fatal("no data")
	return nil
}

func TestProgramDoesTheSame(t *testing.T) {
	file := compiled(t)
	rewritten, err := Rewrite(file)
	if err != nil {
		t.Fatal(err)
	}
	want, trace := run(t, file, 100)
	if !strings.HasSuffix(want, " main.main true\n") || !strings.Contains(trace, "main.go:35") {
		t.Fatalf("the program prints %q and %q", want, trace)
	}
	for _, gc := range []int{100, 1} {
		got, trace := run(t, rewritten, gc)
		if got != strings.Replace(want, "true", "false", 1) {
			t.Errorf("GOGC=%d: got %q, want %q but for the line", gc, got, want)
		}
		for _, say := range []string{"panic: the end", "goroutine 1", "main.deep()", "main.main()"} {
			if !strings.Contains(trace, say) {
				t.Errorf("GOGC=%d: the trace lacks %q:\n%s", gc, say, trace)
			}
		}
		if strings.Contains(trace, ".go:") {
			t.Errorf("GOGC=%d: the trace names lines:\n%s", gc, trace)
		}
	}
}

func TestMemoryIsTheSame(t *testing.T) {
	file := compiled(t)
	rewritten, err := rewrite(file, false)
	if err != nil {
		t.Fatal(err)
	}
	before, err := load(section(t, file))
	if err != nil {
		t.Fatal(err)
	}
	after, err := load(section(t, rewritten))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the data differ")
	}
	count, _ := binary.Uvarint(section(t, rewritten))
	if had, _ := binary.Uvarint(section(t, file)); count*20 > had {
		t.Errorf("%d segments became %d", had, count)
	}
}

func TestBucketsAreCleared(t *testing.T) {
	memory, err := load(section(t, compiled(t)))
	if err != nil {
		t.Fatal(err)
	}
	start := bytes.Index(memory, header)
	functions := int(binary.LittleEndian.Uint64(memory[start+headerFunctions:]))
	zeros := bytes.Count(memory, []byte{0})
	if err := clearBuckets(memory, start); err != nil {
		t.Fatal(err)
	}
	// Each of a function's 16 buckets has its number.
	if cleared := bytes.Count(memory, []byte{0}) - zeros; functions < 1000 || cleared < 16*(functions-1) {
		t.Errorf("%d bytes are cleared for %d functions", cleared, functions)
	}
	const want = "segments: nothing says where the table of functions is: Go's layout has changed"
	if err := clearBuckets(memory[:start+headerEntries], start); err == nil || err.Error() != want {
		t.Errorf("without a program's data: %v, want %s", err, want)
	}
}

func TestRefusals(t *testing.T) {
	const head = "\x00asm\x01\x00\x00\x00"
	for name, c := range map[string]struct{ file, want string }{
		"no module":          {"module", "segments: not a WebAssembly file of version 1"},
		"half a section":     {head + "\x0b\x09\x01", errMalformed.Error()},
		"a passive segment":  {head + "\x0b\x04\x01\x01\x01a", errMalformed.Error()},
		"a negative offset":  {head + "\x0b\x07\x01\x00\x41\x7f\x0b\x01a", errMalformed.Error()},
		"a segment cut off":  {head + "\x0b\x07\x01\x00\x41\x00\x0b\x09a", errMalformed.Error()},
		"bytes at the end":   {head + "\x0b\x08\x01\x00\x41\x00\x0b\x01ab", errMalformed.Error()},
		"no Go program":      {head + "\x0b\x07\x01\x00\x41\x00\x0b\x01a", "segments: no table of functions, or several: Go's layout has changed"},
		"a table of nothing": {head + "\x0b\x0e\x01\x00\x41\x00\x0b\x08" + string(header), "segments: the table of functions is malformed: "},
	} {
		if _, err := Rewrite([]byte(c.file)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if out, err := Rewrite([]byte(head + "\x00\x02\x01a")); err != nil || string(out) != head+"\x00\x02\x01a" {
		t.Errorf("a file without data: %q, %v", out, err)
	}
}
