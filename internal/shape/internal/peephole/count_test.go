package peephole

import (
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/turncore/turncore/internal/wasmfile"
)

func TestCount(t *testing.T) {
	// A function that counts its parameter down, and one that calls it with 3 and with 1.
	down := encode([]byte{0}, parse(t, "loop; get 0; i32.const 1; i32.sub; tee 0; br_if 0; end; end"))
	twice := encode([]byte{0}, parse(t, "i32.const 3; call 0; i32.const 1; if; i32.const 1; call 0; else; nop; end; end"))
	file := append([]byte(wasmfile.Header), "\x01\x08\x02\x60\x01\x7f\x00\x60\x00\x00"+"\x03\x03\x02\x00\x01"+
		"\x06\x06\x01\x7f\x01\x41\x00\x0b"+"\x07\x09\x01\x05twice\x00\x01"...)
	code := wasmfile.AppendSized(wasmfile.AppendSized([]byte{2}, down), twice)
	file = wasmfile.AppendSized(append(file, wasmfile.Code), code)
	counted, err := Count(file)
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntime(t.Context())
	defer r.Close(t.Context())
	m, err := r.Instantiate(t.Context(), counted)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.ExportedFunction("twice").Call(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint64{"calls 0": 2, "instructions 0": 20, "calls 1": 1, "instructions 1": 6} {
		if got := m.ExportedGlobal(name).Get(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestCountRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, file := range map[string]string{
		"no module":                 "module",
		"a section that ends early": wasmfile.Header + "\x0a\x09\x01",
		"an unknown instruction":    wasmfile.Header + "\x0a\x06\x01\x04\x00\xfd\x0c\x0b",
		"half a function":           wasmfile.Header + "\x0a\x03\x01\x05\x00",
	} {
		if _, err := Count([]byte(file)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
