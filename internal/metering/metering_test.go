package metering_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/turncore/turncore/internal/metering"
	"github.com/turncore/turncore/internal/wasmfile"
)

// module is a module with one memory of a page and one global, an i64, which exports its functions as f0, f1, ….
type module struct {
	bodies [][]byte // of functions without parameters and results
	start  int      // the start function, -1 for none
	extra  []byte   // a further export
}

func of(bodies ...[]byte) module { return module{bodies: bodies, start: -1} }

func (m module) encode() []byte {
	section := func(out []byte, id byte, parts ...[]byte) []byte {
		return wasmfile.AppendSized(append(out, id), bytes.Join(append([][]byte{{byte(len(parts))}}, parts...), nil))
	}
	var functions, exports, codes [][]byte
	for n, body := range m.bodies {
		functions = append(functions, []byte{0})
		exports = append(exports, append(wasmfile.AppendSized(nil, []byte{'f', byte('0' + n)}), 0, byte(n)))
		codes = append(codes, wasmfile.AppendSized(nil, append(append([]byte{1, 1, 0x7f}, body...), 0x0b))) // a local: i32
	}
	if m.extra != nil {
		exports = append(exports, m.extra)
	}
	out := section([]byte(wasmfile.Header), wasmfile.Type, []byte{0x60, 0, 0})
	out = section(out, wasmfile.Function, functions...)
	out = section(out, wasmfile.Memory, []byte{0, 1})
	out = section(out, wasmfile.Global, []byte{0x7e, 1, 0x42, 0, 0x0b})
	out = section(out, wasmfile.Export, exports...)
	if m.start >= 0 {
		out = append(out, wasmfile.Start, 1, byte(m.start))
	}
	return section(out, wasmfile.Code, codes...)
}

// repeated is some instructions again and again.
func repeated(n int, code ...byte) []byte { return bytes.Repeat(code, n) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// Instructions.
var (
	nop  = []byte{0x01}
	loop = []byte{0x03, 0x40}
	end  = []byte{0x0b}
	drop = []byte{0x1a}
)

func number(n int32) []byte { return wasmfile.AppendInt([]byte{0x41}, int64(n)) }
func call(f byte) []byte    { return []byte{0x10, f} }

// counted runs a round n times, with the local.
func counted(n int32, round ...byte) []byte {
	return join(number(n), []byte{0x21, 0}, loop, round, []byte{0x20, 0}, number(1), []byte{0x6b, 0x22, 0, 0x0d, 0}, end)
}

// run meters a module and calls a function with some fuel. It returns what is left.
func run(t *testing.T, m module, name string, fuel int64) (left int64, err error) {
	t.Helper()
	file, err := metering.Module(m.encode())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	instance, err := r.Instantiate(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	global := instance.ExportedGlobal(metering.Fuel).(api.MutableGlobal)
	if got := int64(global.Get()); got != 0 {
		t.Fatalf("it starts with %d units", got)
	}
	global.Set(uint64(fuel))
	_, err = instance.ExportedFunction(name).Call(ctx)
	return int64(global.Get()), err
}

func TestPrices(t *testing.T) {
	const most = 1 << 40
	for name, c := range map[string]struct {
		m     module
		units int64
	}{
		"a short function":           {of(repeated(15, nop...)), 0},
		"a longer one":               {of(repeated(16, nop...)), 1},
		"a unit's instructions":      {of(repeated(30, nop...)), 1},
		"one more":                   {of(repeated(31, nop...)), 2},
		"a thousand":                 {of(repeated(999, nop...)), 1 + 1000/32},
		"a call of a short function": {of(call(1), nop), 1},
		"a call of another":          {of(call(1), repeated(31, nop...)), 3},
		"ten calls":                  {of(repeated(10, call(1)...), nop), 1 + (10*17+1)/32},
		"a round each":               {of(counted(1000)), 1000},
		"rounds behind a call":       {of(join(call(1), counted(1000)), nop), 1001},
		"a round of 90 instructions": {of(counted(1000, repeated(84, nop...)...)), 1000 * (1 + 90/32)},
		"rounds in rounds": {
			of(join(loop, counted(10), end), nop), 1 + 10,
		},
		"4 KiB that are filled":     {of(join(number(0), number(0), number(4096), []byte{0xfc, 11, 0})), 1 + 16},
		"4 KiB that are copied":     {of(join(number(0), number(64), number(4096), []byte{0xfc, 10, 0, 0})), 1 + 16},
		"255 bytes":                 {of(join(number(0), number(0), number(255), []byte{0xfc, 11, 0})), 1},
		"a page":                    {of(join(number(1), []byte{0x40, 0}, drop)), 3 + 256},
		"pages beyond the maximum":  {of(join(number(1<<20), []byte{0x40, 0}, drop)), 3 + 256<<20},
		"a reference of a function": {of(join([]byte{0xd2, 0}, drop)), 1 + 130/32},
		"a branch that is not taken": {
			of(join(number(0), []byte{0x04, 0x40}, repeated(64, nop...), end)), 1 + 68/32,
		},
	} {
		t.Run(name, func(t *testing.T) {
			left, err := run(t, c.m, "f0", most)
			if err != nil {
				t.Fatal(err)
			}
			if got := most - left; got != c.units {
				t.Errorf("it took %d units, want %d", got, c.units)
			}
			if c.units == 0 {
				return
			}
			if left, err := run(t, c.m, "f0", c.units); left != 0 || err != nil {
				t.Errorf("with just enough: %d left, %v", left, err)
			}
			if left, err := run(t, c.m, "f0", c.units-1); left >= 0 || err == nil {
				t.Errorf("with a unit less: %d left, %v", left, err)
			}
		})
	}
}

func TestWhatNeverEndsEnds(t *testing.T) {
	for name, m := range map[string]module{
		"a loop":                 of(join(loop, []byte{0x0c, 0}, end)),
		"a loop in a block":      of(join([]byte{0x02, 0x40}, loop, []byte{0x0c, 0}, end, end)),
		"a loop behind a branch": of(join(number(1), []byte{0x04, 0x40}, loop, []byte{0x0c, 0}, end, end)),
		"loops in a loop":        of(join(loop, loop, []byte{0x0c, 1}, end, end)),
		"a branch table":         of(join(loop, number(7), []byte{0x0e, 2, 0, 0, 0}, end)),
		"recursion":              of(join(loop, call(0), []byte{0x0c, 0}, end)),
		"filling":                of(join(loop, number(0), number(0), number(65536), []byte{0xfc, 11, 0}, []byte{0x0c, 0}, end)),
		"growing":                of(join(loop, number(0), []byte{0x40, 0}, drop, []byte{0x0c, 0}, end)),
		"a loop around calls":    of(join(loop, call(1), []byte{0x0c, 0}, end), nop),
	} {
		t.Run(name, func(t *testing.T) {
			left, err := run(t, m, "f0", 100_000)
			if left >= 0 && !strings.Contains(err.Error(), "stack overflow") || err == nil {
				t.Errorf("%d left, %v", left, err)
			}
		})
	}
}

func TestStartIsAnExport(t *testing.T) {
	m := of(join(loop, []byte{0x0c, 0}, end))
	m.start = 0
	left, err := run(t, m, metering.Start, 100_000) // to instantiate it runs nothing
	if left >= 0 || err == nil {
		t.Errorf("%d left, %v", left, err)
	}
}

func TestModulesWithoutGlobalsAndExports(t *testing.T) {
	file := []byte(wasmfile.Header)
	file = append(file, wasmfile.Type, 4, 1, 0x60, 0, 0, wasmfile.Function, 2, 1, 0, wasmfile.Code, 4, 1, 2, 0, 0x0b)
	for name, file := range map[string][]byte{"a function": file, "nothing": []byte(wasmfile.Header)} {
		metered, err := metering.Module(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctx := context.Background()
		r := wazero.NewRuntime(ctx)
		instance, err := r.Instantiate(ctx, metered)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if instance.ExportedGlobal(metering.Fuel) == nil {
			t.Errorf("%s: no fuel", name)
		}
		_ = r.Close(ctx)
	}
}

func TestRefused(t *testing.T) {
	export := func(name string, kind, index byte) module {
		m := of(nop)
		m.extra = append(wasmfile.AppendSized(nil, []byte(name)), kind, index)
		return m
	}
	fine := of(nop).encode()
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"no module":          {[]byte("\x7fELF"), "malformed"},
		"empty":              {nil, "malformed"},
		"truncated":          {fine[:len(fine)-1], "malformed"},
		"a section twice":    {append(slices.Clip(fine), wasmfile.Code, 1, 0), "malformed"},
		"an unknown section": {append(slices.Clip(fine), 14, 1, 0), "a section of kind 14"},
		"an exception":       {of([]byte{0x08, 0}).encode(), "the instruction 0x8"},
		"a tail call":        {of([]byte{0x12, 0}).encode(), "the instruction 0x12"},
		"threads":            {of([]byte{0xfe, 0, 2, 0}).encode(), "the instruction 0xfe"},
		"relaxed vectors":    {of([]byte{0xfd, 0x80, 2}).encode(), "the instruction 0xfd 256"},
		"an unknown prefix":  {of([]byte{0xfc, 18}).encode(), "the instruction 0xfc 18"},
		"the fuel set":       {of([]byte{0x42, 0, 0x24, 1}).encode(), "malformed"},
		"the fuel read":      {of([]byte{0x23, 1, 0x1a}).encode(), "malformed"},
		"the fuel exported":  {export("mine", 3, 1).encode(), "malformed"},
		"the fuel's name":    {export(metering.Fuel, 0, 0).encode(), "metered already"},
		"the start's name":   {export(metering.Start, 0, 0).encode(), "metered already"},
		"more locals than bytes": {
			append([]byte(wasmfile.Header), wasmfile.Type, 4, 1, 0x60, 0, 0, wasmfile.Function, 2, 1, 0,
				wasmfile.Code, 10, 1, 8, 1, 0xff, 0xff, 0xff, 0xff, 7, 0x7f, 0x0b), "2147483647 locals, more than 50000",
		},
		"more data than bytes":   {append(slices.Clip(fine), wasmfile.Data, 5, 0xff, 0xff, 0xff, 0xff, 7), "malformed"},
		"longer data than bytes": {append(slices.Clip(fine), wasmfile.Data, 9, 1, 1, 0xff, 0xff, 0xff, 0xff, 7, 0, 0), "malformed"},
		"more elements than bytes": {
			append([]byte(wasmfile.Header), wasmfile.Element, 6, 1, 1, 0, 0xff, 0xff, 7), "malformed",
		},
		"a name longer than the file": {
			append([]byte(wasmfile.Header), wasmfile.Export, 6, 1, 0xff, 0xff, 0xff, 0x7f, 0), "malformed",
		},
		"an end too many": {of(end).encode(), "malformed"},
		"an end too few":  {of(loop).encode(), "malformed"},
		"a type that is an array": {
			append([]byte(wasmfile.Header), wasmfile.Type, 4, 1, 0x5e, 0x7f, 0), "a type of kind 0x5e",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := metering.Module(c.file)
			if err == nil || !strings.Contains(err.Error(), c.says) || out != nil {
				t.Errorf("%d bytes, %v, want an error with %q", len(out), err, c.says)
			}
			if c.says == "malformed" && !errors.Is(err, metering.ErrMalformed) {
				t.Errorf("%v is not ErrMalformed", err)
			}
		})
	}
	metered, err := metering.Module(fine)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := metering.Module(metered); err == nil || !strings.Contains(err.Error(), "metered already") {
		t.Errorf("metered twice: %v", err)
	}
}

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

// vector is a file and what metering makes of it, in hexadecimal digits.
type vector struct {
	Name, File string
	Metered    string `json:",omitempty"`
	Error      string `json:",omitempty"`
}

// The vectors are what the host in JavaScript is held to.
func TestVectors(t *testing.T) {
	started := of(nop)
	started.start = 0
	fine := of(nop).encode()
	code := []byte{wasmfile.Code, 7, 1, 5, 1, 1, 0x7f, 0x01, 0x0b} // the last section of fine
	section := func(id byte, body ...byte) []byte {
		file := append(slices.Clip(fine[:len(fine)-len(code)]), id)
		return append(wasmfile.AppendSized(file, body), code...)
	}
	files := []struct {
		name string
		file []byte
	}{
		{"nothing", []byte(wasmfile.Header)},
		{"no module", []byte("\x7fELF")},
		{"a short function", of(nop).encode()},
		{"a start function", started.encode()},
		{"a long function", of(repeated(1000, nop...)).encode()},
		{"rounds", of(counted(1000), join(call(0), counted(3, repeated(90, nop...)...))).encode()},
		{"rounds in rounds", of(join(loop, counted(10), end), nop).encode()},
		{"bytes", of(join(number(0), number(0), number(4096), []byte{0xfc, 11, 0}), join(number(1), []byte{0x40, 0}, drop)).encode()},
		{"a branch table", of(join(loop, number(7), []byte{0x0e, 2, 0, 0, 0}, end)).encode()},
		{"vectors", of(join([]byte{0xfd, 12}, repeated(16, 7), []byte{0xfd, 21, 3}, drop)).encode()},
		{"an exception", of([]byte{0x08, 0}).encode()},
		{"relaxed vectors", of([]byte{0xfd, 0x80, 2}).encode()},
		{"the fuel set", of([]byte{0x42, 0, 0x24, 1}).encode()},
		{"a section too many", append(slices.Clip(of(nop).encode()), wasmfile.Code, 1, 0)},
		{"the function that refuels called", of(call(1)).encode()},
		{"a type that is not there called", of([]byte{0x11, 1, 0}).encode()},
		{"a block of a type that is not there", of([]byte{0x02, 1, 0x0b}).encode()},
		{"a block with a result", of(join([]byte{0x02, 0x7f}, number(1), end, drop)).encode()},
		{"a start function that is not there", append(slices.Clip(fine[:len(fine)-len(code)]), append([]byte{wasmfile.Start, 1, 1}, code...)...)},
		{"elements", section(wasmfile.Element, 1, 1, 0, 1, 0)},
		{"elements that are expressions", section(wasmfile.Element, 1, 5, 0x70, 2, 0xd2, 0, 0x0b, 0xd0, 0x70, 0x0b)},
		{"elements that are not there", section(wasmfile.Element, 1, 1, 0, 1, 1)},
		{"elements of an unknown kind", section(wasmfile.Element, 1, 8)},
		{"more elements than bytes", section(wasmfile.Element, 1, 1, 0, 0xff, 0xff, 7)},
		{"data", append(slices.Clip(fine), wasmfile.Data, 8, 1, 0, 0x41, 3, 0x0b, 2, 5, 6)},
		{"more data than bytes", append(slices.Clip(fine), wasmfile.Data, 8, 1, 0, 0x41, 3, 0x0b, 0xff, 0x7f, 6)},
		{"an unknown instruction of data", append(slices.Clip(fine), wasmfile.Data, 5, 1, 0, 0x20, 0, 0x0b)},
		{"results longer than bytes", append([]byte(wasmfile.Header), append([]byte{wasmfile.Type, 36, 1, 0x60, 0, 33}, repeated(32, 0x7f)...)...)},
		{"too many results", append([]byte(wasmfile.Header), append([]byte{wasmfile.Type, 37, 1, 0x60, 0, 33}, repeated(33, 0x7f)...)...)},
	}
	var vectors []vector
	for _, f := range files {
		v := vector{Name: f.name, File: hex.EncodeToString(f.file)}
		if metered, err := metering.Module(f.file); err != nil {
			v.Error = err.Error()
		} else {
			v.Metered = hex.EncodeToString(metered)
		}
		vectors = append(vectors, v)
	}
	got, err := json.MarshalIndent(vectors, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const path = "testdata/vectors.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs: run the test with -update if that is meant (%v)", path, err)
	}
}

// FuzzModule meters bytes: what an engine takes it takes with metering too.
func FuzzModule(f *testing.F) {
	f.Add(of(nop, counted(3)).encode())
	f.Add(of(join(loop, call(0), end), join(number(0), number(0), number(9), []byte{0xfc, 11, 0})).encode())
	started := of(nop)
	started.start = 0
	f.Add(started.encode())
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16))
	f.Fuzz(func(t *testing.T, file []byte) {
		metered, err := metering.Module(file)
		if err != nil {
			return
		}
		if most := 24*len(file) + 128; len(metered) > most {
			t.Errorf("%d bytes became %d", len(file), len(metered))
		}
		before, err := r.CompileModule(ctx, file)
		if err != nil {
			return
		}
		defer before.Close(ctx)
		after, err := r.CompileModule(ctx, metered)
		if err != nil {
			t.Fatalf("it does not compile with metering: %v", err)
		}
		defer after.Close(ctx)
		if len(after.ImportedFunctions()) != len(before.ImportedFunctions()) {
			t.Error("it imports something else")
		}
	})
}

// A number that takes five bytes is read like a shorter one.
func TestLongNumbers(t *testing.T) {
	long := binary.AppendUvarint(nil, 0) // a call of f0, written long
	long[0] |= 0x80
	body := join([]byte{0x10}, long, []byte{0x80, 0x80, 0x80, 0})
	if left, err := run(t, of(nop, body), "f1", 10); err != nil || left != 9 {
		t.Errorf("%d left, %v", left, err)
	}
}
