package testmodule

import (
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/engine"
)

// A Text describes a small module, which [Text.Encode] writes in WebAssembly's binary format.
type Text struct {
	Imports  [][2]string // functions without parameters and results
	Exports  []Export
	Tables   [][]byte // types
	Globals  int
	NoMemory bool
}

// Export is a function that returns one constant, or nothing, or does what its code says.
type Export struct {
	Name   string
	Params []byte
	Result byte // its type, 0 for none
	Value  uint64
	Code   []byte // instructions without the last end, nil for the constant
}

// Types of values.
const (
	I32 = 0x7f
	I64 = 0x7e
)

// Fine are exports that make a module pass.
func Fine() []Export {
	return []Export{
		{Name: engine.ExportInitialize},
		{Name: abi.ExportABI, Result: I32, Value: abi.Version},
		{Name: abi.ExportInbox, Params: []byte{I32}, Result: I32, Value: 1024},
		{Name: abi.ExportStep, Params: []byte{I32}, Result: I64},
	}
}

// Without returns Fine's exports less the one of that name.
func Without(name string) []Export {
	return slices.DeleteFunc(Fine(), func(e Export) bool { return e.Name == name })
}

// Changed returns Fine's exports with one of them changed.
func Changed(name string, change func(*Export)) []Export {
	list := Fine()
	change(&list[slices.IndexFunc(list, func(e Export) bool { return e.Name == name })])
	return list
}

// Encode writes the module.
func (m Text) Encode() []byte {
	section := func(out []byte, id byte, entries [][]byte) []byte {
		body := leb(nil, uint64(len(entries)))
		for _, entry := range entries {
			body = append(body, entry...)
		}
		return append(leb(append(out, id), uint64(len(body))), body...)
	}
	var types, imports, functions, exports, codes [][]byte
	for _, from := range m.Imports {
		imports = append(imports, append(leb(text(text(nil, from[0]), from[1]), 0), leb(nil, uint64(len(types)))...))
		types = append(types, []byte{0x60, 0, 0})
	}
	for i, e := range m.Exports {
		kind := append([]byte{0x60, byte(len(e.Params))}, e.Params...)
		code := []byte{0}
		switch e.Result {
		case 0:
			kind = append(kind, 0)
		case I32:
			kind, code = append(kind, 1, I32), sleb(append(code, 0x41), int64(e.Value))
		case I64:
			kind, code = append(kind, 1, I64), sleb(append(code, 0x42), int64(e.Value))
		}
		if e.Code != nil {
			code = append([]byte{0}, e.Code...)
		}
		code = append(code, 0x0b)
		functions = append(functions, leb(nil, uint64(len(types))))
		types = append(types, kind)
		codes = append(codes, append(leb(nil, uint64(len(code))), code...))
		exports = append(exports, append(text(nil, e.Name), 0, byte(len(imports)+i)))
	}
	memories := [][]byte{{0, 1}}
	exports = append(exports, append(text(nil, engine.ExportMemory), 2, 0))
	if m.NoMemory {
		exports = exports[:len(exports)-1]
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = section(out, 1, types)
	out = section(out, 2, imports)
	out = section(out, 3, functions)
	if len(m.Tables) > 0 {
		out = section(out, 4, m.Tables)
	}
	out = section(out, 5, memories)
	if m.Globals > 0 {
		out = section(out, 6, slices.Repeat([][]byte{{I32, 1, 0x41, 0, 0x0b}}, m.Globals))
	}
	out = section(out, 7, exports)
	return section(out, 10, codes)
}

func text(out []byte, s string) []byte { return append(leb(out, uint64(len(s))), s...) }

// leb writes a number in LEB128.
func leb(out []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

// sleb writes a number in signed LEB128.
func sleb(out []byte, n int64) []byte {
	for ; n < -64 || n > 63; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n)&0x7f)
}
