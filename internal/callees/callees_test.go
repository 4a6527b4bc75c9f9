package callees_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/turncore/turncore/internal/callees"
	"github.com/turncore/turncore/internal/wasmfile"
)

// number is an unsigned number in LEB128.
func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// signed is a signed one.
func signed(n int) []byte { return wasmfile.AppendInt(nil, int64(n)) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// list is a section of entries, or nothing without any.
func list(id byte, entries ...[]byte) []byte {
	if entries == nil {
		return nil
	}
	return wasmfile.AppendSized([]byte{id}, join(append([][]byte{number(len(entries))}, entries...)...))
}

// segment are functions of table 0 from a place on.
func segment(at int, functions ...int) []byte {
	out := join([]byte{0, 0x41}, signed(at), []byte{0x0b}, number(len(functions)))
	for _, f := range functions {
		out = append(out, number(f)...)
	}
	return out
}

// body is a function without locals of its own.
func body(code ...byte) []byte {
	return wasmfile.AppendSized(nil, join([]byte{0}, code, []byte{0x0b}))
}

// Functions of the module below: the first are in the table, and add their numbers to what they are given.
const (
	adders = 300
	answer = adders     // gives 42, and has another type; it is in the table
	call   = adders + 1 // calls what is at a place, with a number
	again  = adders + 2 // the same by a type that equals the other
	long   = adders + 3 // the same by a call whose numbers are longer than they need be
	other  = adders + 4 // calls what is at a place, by the type of answer
)

// parts of a module, which tests replace.
type parts map[byte][]byte

// first is where the table begins.
const first = 4096

// sample is a module whose table has the adders, but for one, and the function of the other type among them.
func sample() parts {
	types := [][]byte{{0x60, 1, 0x7f, 1, 0x7f}, {0x60, 1, 0x7f, 1, 0x7f}, {0x60, 0, 1, 0x7f}, {0x60, 2, 0x7f, 0x7f, 1, 0x7f}}
	var functions, code [][]byte
	var front, back []int
	for n := range adders {
		functions = append(functions, number(n%2)) // of both types
		code = append(code, body(join([]byte{0x20, 0, 0x41}, signed(n), []byte{0x6a})...))
		if n < 100 {
			front = append(front, n)
		} else {
			back = append(back, n)
		}
	}
	functions = append(functions, number(2), number(3), number(3), number(3), number(0))
	code = append(
		code, body(0x41, 42), body(0x20, 0, 0x20, 1, 0x11, 0, 0), body(0x20, 0, 0x20, 1, 0x11, 1, 0),
		body(0x20, 0, 0x20, 1, 0x11, 0x80, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0), body(0x20, 0, 0x11, 2, 0),
	)
	export := func(name string, function int) []byte {
		return join(wasmfile.AppendSized(nil, []byte(name)), []byte{0}, number(function))
	}
	return parts{
		wasmfile.Type:     list(wasmfile.Type, types...),
		wasmfile.Function: list(wasmfile.Function, functions...),
		wasmfile.Table:    list(wasmfile.Table, join([]byte{0x70, 1}, number(first+500), number(first+500))),
		wasmfile.Export:   list(wasmfile.Export, export("call", call), export("again", again), export("long", long), export("other", other)),
		wasmfile.Element:  list(wasmfile.Element, segment(first, front...), segment(first+101, append(back, answer)...)),
		wasmfile.Code:     list(wasmfile.Code, code...),
	}
}

// with is the module with a part replaced.
func (p parts) with(id byte, section []byte) parts {
	p[id] = section
	return p
}

func (p parts) module() []byte {
	out := []byte(wasmfile.Header)
	for id := range byte(wasmfile.DataCount) {
		out = append(out, p[id]...)
	}
	return out
}

// The module does what it did: an indirect call finds the same function, or none.
func TestInCode(t *testing.T) {
	ctx := context.Background()
	plain := sample().module()
	rewritten := callees.InCode(plain)
	if bytes.Equal(rewritten, plain) {
		t.Fatal("the module stays as it is")
	}
	for name, config := range map[string]wazero.RuntimeConfig{
		"default": wazero.NewRuntimeConfig(), "interpreter": wazero.NewRuntimeConfigInterpreter(),
	} {
		t.Run(name, func(t *testing.T) {
			r := wazero.NewRuntimeWithConfig(ctx, config)
			defer r.Close(ctx)
			say := func(module []byte) (said []string) {
				i, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
				if err != nil {
					t.Fatal(err)
				}
				places := []uint64{0, 1, adders, 1 << 31, 1<<32 - 1}
				for at := range uint64(520) {
					places = append(places, first-10+at)
				}
				for _, at := range places {
					for _, name := range []string{"call", "again", "long"} {
						result, err := i.ExportedFunction(name).Call(ctx, 1000, at)
						said = append(said, fmt.Sprint(name, at, result, err != nil))
					}
					result, err := i.ExportedFunction("other").Call(ctx, at)
					said = append(said, fmt.Sprint("other", at, result, err != nil))
				}
				return said
			}
			want, got := say(plain), say(rewritten)
			if !slices.Contains(want, fmt.Sprint("long", first+adders, []uint64{1000 + adders - 1}, false)) ||
				!slices.Contains(want, fmt.Sprint("other", first+101+adders-100, []uint64{42}, false)) {
				t.Fatal("the module as it is does not find its functions")
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s instead of %s", got[i], want[i])
				}
			}
		})
	}
}

// The table keeps what is called by another type, alone.
func TestTheTableKeepsWhatOtherCallsFind(t *testing.T) {
	var table, elements []byte
	r := wasmfile.Reader{Rest: callees.InCode(sample().module())[len(wasmfile.Header):]}
	for len(r.Rest) > 0 {
		switch id, section := r.Section(); id {
		case wasmfile.Table:
			table = section
		case wasmfile.Element:
			elements = section
		}
	}
	at := first + 101 + adders - 100
	if want := join([]byte{1, 0x70, 1}, number(at+1), number(first+500)); !bytes.Equal(table, want) {
		t.Errorf("the table is %x instead of %x", table, want)
	}
	if want := list(wasmfile.Element, segment(at, answer))[2:]; !bytes.Equal(elements, want) {
		t.Errorf("its elements are %x instead of %x", elements, want)
	}
}

// A module stays as it is if its table may be read or changed, or if it is malformed.
func TestInCodeLeavesModulesAlone(t *testing.T) {
	table := []byte{0x70, 0, 0x80, 0x28}
	code := func(last []byte) []byte {
		old := wasmfile.Reader{Rest: sample()[wasmfile.Code]}
		_, section := old.Section()
		r := wasmfile.Reader{Rest: section}
		var bodies [][]byte
		for n := r.Count(); n > 1; n-- {
			bodies = append(bodies, wasmfile.AppendSized(nil, r.Bytes(r.Uint())))
		}
		return list(wasmfile.Code, append(bodies, last)...)
	}
	few := make([]int, 255)
	for name, p := range map[string]parts{
		"no table":                  sample().with(wasmfile.Table, nil),
		"two tables":                sample().with(wasmfile.Table, list(wasmfile.Table, table, table)),
		"an imported table":         sample().with(wasmfile.Import, list(wasmfile.Import, []byte{1, 'm', 1, 't', 1, 0x70, 0, 1})),
		"an exported table":         sample().with(wasmfile.Export, list(wasmfile.Export, []byte{1, 't', 1, 0})),
		"a table of other things":   sample().with(wasmfile.Table, list(wasmfile.Table, []byte{0x6f, 0, 0x80, 0x28})),
		"a huge table":              sample().with(wasmfile.Table, list(wasmfile.Table, []byte{0x70, 0, 0x81, 0x80, 0x04})),
		"a small table":             sample().with(wasmfile.Table, list(wasmfile.Table, []byte{0x70, 0, 1})),
		"few functions":             sample().with(wasmfile.Element, list(wasmfile.Element, segment(0, few...))),
		"no elements":               sample().with(wasmfile.Element, nil),
		"passive elements":          sample().with(wasmfile.Element, list(wasmfile.Element, segment(first, make([]int, 300)...), []byte{1, 0, 1, 0})),
		"elements of expressions":   sample().with(wasmfile.Element, list(wasmfile.Element, []byte{4, 0x41, 0, 0x0b, 1, 0xd2, 0, 0x0b})),
		"elements at a global":      sample().with(wasmfile.Element, list(wasmfile.Element, []byte{0, 0x23, 0, 0x0b, 1, 0})).with(wasmfile.Global, list(wasmfile.Global, []byte{0x7f, 0, 0x41, 0, 0x0b})),
		"a global with a function":  sample().with(wasmfile.Global, list(wasmfile.Global, []byte{0x70, 0, 0xd0, 0x70, 0x0b})),
		"functions far apart":       sample().with(wasmfile.Table, list(wasmfile.Table, []byte{0x70, 0, 0x80, 0x80, 0x02})).with(wasmfile.Element, list(wasmfile.Element, segment(0, make([]int, 300)...), segment(9000, 1))),
		"table.get beside a call":   sample().with(wasmfile.Code, code(body(0x20, 0, 0x25, 0, 0x1a, 0x20, 0, 0x11, 2, 0))),
		"table.fill beside a call":  sample().with(wasmfile.Code, code(body(0x41, 0, 0xd0, 0x70, 0x41, 0, 0xfc, 17, 0, 0x20, 0, 0x11, 2, 0))),
		"ref.func beside a call":    sample().with(wasmfile.Code, code(body(0xd2, 0, 0x1a, 0x20, 0, 0x11, 2, 0))),
		"an unknown instruction":    sample().with(wasmfile.Code, code(body(0xfe, 0x03, 0, 0x20, 0, 0x11, 2, 0))),
		"a function without an end": sample().with(wasmfile.Code, code([]byte{6, 0, 0x20, 0, 0x11, 2, 0})),
		"a missing function":        sample().with(wasmfile.Code, list(wasmfile.Code, body(0x41, 42))),
	} {
		t.Run(name, func(t *testing.T) {
			if module := p.module(); !bytes.Equal(callees.InCode(module), module) {
				t.Error("the module is another one")
			}
		})
	}
	module := sample().module()
	for n := range module {
		if cut := module[:n:n]; !bytes.Equal(callees.InCode(cut), cut) {
			t.Errorf("the first %d bytes are another module", n)
		}
	}
}

// InCode takes any bytes, and what it has made of them.
func TestInCodeOfDamagedModules(t *testing.T) {
	module := sample().module()
	for at := range module {
		for _, bit := range []byte{1, 0x40, 0x80} {
			damaged := bytes.Clone(module)
			damaged[at] ^= bit
			if out := callees.InCode(callees.InCode(damaged)); !bytes.HasPrefix(out, damaged[:len(wasmfile.Header)]) {
				t.Fatalf("byte %d with bit %#x: %x…", at, bit, out[:min(len(out), 8)])
			}
		}
	}
}

func TestLinked(t *testing.T) {
	custom := func(name string) []byte {
		return wasmfile.AppendSized([]byte{wasmfile.Custom}, wasmfile.AppendSized(nil, []byte(name)))
	}
	for name, c := range map[string]struct {
		module []byte
		want   bool
	}{
		"of Go's linker":     {join([]byte(wasmfile.Header), custom("go:buildid"), list(wasmfile.Type, []byte{0x60, 0, 0})), true},
		"of another":         {join([]byte(wasmfile.Header), custom("name"), custom("go:buildid")), false},
		"without a name":     {sample().module(), false},
		"without a section":  {[]byte(wasmfile.Header), false},
		"not a module":       {[]byte("go:buildid"), false},
		"a name that is cut": {join([]byte(wasmfile.Header), custom("go:buildid")[:9]), false},
	} {
		if got := callees.Linked(c.module); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
