package bake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/turncore/turncore/internal/wasmfile"
)

// initialize is the function that starts a reactor.
const initialize = "_initialize"

// pageSize is the unit of a memory's size.
const pageSize = 1 << 16

// Opcodes of constants, and the types of values that they are for.
const (
	opEnd      = 0x0b
	opI32Const = 0x41
	opI64Const = 0x42

	typeI32 = 0x7f
	typeI64 = 0x7e
)

// Kinds of imports and exports.
const (
	kindFunction = 0
	kindGlobal   = 3
)

var errMalformed = errors.New("bake: the file is malformed")

// module is a file, and what is known of it.
type module struct {
	sections []section
	globals  []global
	imported int // functions that the module imports
	begin    int // number of the function _initialize, -1 for none
}

type section struct {
	id   byte
	body []byte
}

type global struct{ kind, mutable byte }

// parse reads a file.
func parse(file []byte) (*module, error) {
	if !bytes.HasPrefix(file, []byte(wasmfile.Header)) {
		return nil, errors.New("bake: not a WebAssembly file of version 1")
	}
	m := &module{begin: -1}
	has := map[byte]bool{}
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		id, body := r.Section()
		if r.Failed {
			return nil, errMalformed
		}
		m.sections = append(m.sections, section{id, body})
		has[id] = true
		if err := m.take(id, body); err != nil {
			return nil, err
		}
	}
	for _, id := range []byte{wasmfile.Memory, wasmfile.Global, wasmfile.Code, wasmfile.Data} {
		if !has[id] {
			return nil, fmt.Errorf("bake: the file has no section %d", id)
		}
	}
	if m.begin < m.imported {
		return nil, fmt.Errorf("bake: the file has no function %s", initialize)
	}
	return m, nil
}

// take reads what start and encode need of a section.
func (m *module) take(id byte, body []byte) error {
	r := &wasmfile.Reader{Rest: body}
	switch id {
	case wasmfile.Import:
		if err := m.takeImports(r); err != nil {
			return err
		}
	case wasmfile.Global:
		if err := m.takeGlobals(r); err != nil {
			return err
		}
	case wasmfile.Export:
		for range min(r.Uint(), uint32(len(body))) {
			name, kind, index := r.Name(), r.Byte(), r.Uint()
			if name == initialize && kind == kindFunction {
				m.begin = int(index)
			}
		}
	case wasmfile.Start, wasmfile.DataCount:
		// The one runs before the memory is there, the other counts segments for instructions that Go does not use.
		return fmt.Errorf("bake: the file has a section %d, which Go's linker does not write", id)
	}
	if r.Failed {
		return errMalformed
	}
	return nil
}

func (m *module) takeImports(r *wasmfile.Reader) error {
	for range min(r.Uint(), uint32(len(r.Rest))) {
		from, name, kind := r.Name(), r.Name(), r.Byte()
		if r.Uint(); kind != kindFunction && !r.Failed {
			return fmt.Errorf("bake: the module imports %s.%s, which is no function", from, name)
		}
		m.imported++
	}
	return nil
}

func (m *module) takeGlobals(r *wasmfile.Reader) error {
	for range min(r.Uint(), uint32(len(r.Rest))) {
		g := global{r.Byte(), r.Byte()}
		opcode := r.Byte()
		r.Int()
		if end := r.Byte(); !r.Failed && (end != opEnd || opcode != constOf(g.kind)) {
			return fmt.Errorf("bake: global %d has type %#x, or does not begin with a constant", len(m.globals), g.kind)
		}
		m.globals = append(m.globals, g)
	}
	return nil
}

// constOf is the instruction that makes a constant of a type, 0 for a type that Go's linker does not use.
func constOf(kind byte) byte {
	switch kind {
	case typeI32:
		return opI32Const
	case typeI64:
		return opI64Const
	}
	return 0
}

// transparent returns a file that exports its globals too.
func (m *module) transparent() []byte {
	return m.rewrite(func(id byte, body []byte) []byte {
		if id != wasmfile.Export {
			return body
		}
		r := wasmfile.Reader{Rest: body}
		out := binary.AppendUvarint(nil, uint64(r.Uint())+uint64(len(m.globals)))
		out = append(out, r.Rest...)
		for i := range m.globals {
			out = append(wasmfile.AppendSized(out, []byte(exportOf(i))), kindGlobal)
			out = binary.AppendUvarint(out, uint64(i))
		}
		return out
	})
}

// exportOf is the name that a global is exported by.
func exportOf(i int) string { return "global " + strconv.Itoa(i) }

// encode returns a file whose instances begin with an image.
func (m *module) encode(made *image) []byte {
	return m.rewrite(func(id byte, body []byte) []byte {
		switch id {
		case wasmfile.Memory:
			return memorySection(body, len(made.memory)/pageSize)
		case wasmfile.Global:
			return m.globalSection(made.globals)
		case wasmfile.Code:
			return m.codeSection(body)
		case wasmfile.Data:
			return dataSection(made.memory)
		}
		return body
	})
}

// rewrite returns a file whose sections have the bodies that become gives them.
func (m *module) rewrite(become func(id byte, body []byte) []byte) []byte {
	out := []byte(wasmfile.Header)
	for _, s := range m.sections {
		out = wasmfile.AppendSized(append(out, s.id), become(s.id, s.body))
	}
	return out
}

// memorySection is the section of a memory that begins with so many pages.
func memorySection(body []byte, pages int) []byte {
	r := wasmfile.Reader{Rest: body}
	r.Uint() // one memory
	flags := r.Byte()
	r.Uint() // its size before
	out := binary.AppendUvarint([]byte{1, flags}, uint64(pages))
	return append(out, r.Rest...)
}

func (m *module) globalSection(values []uint64) []byte {
	out := binary.AppendUvarint(nil, uint64(len(m.globals)))
	for i, g := range m.globals {
		value := int64(values[i])
		if g.kind == typeI32 {
			value = int64(int32(values[i]))
		}
		out = wasmfile.AppendInt(append(out, g.kind, g.mutable, constOf(g.kind)), value)
		out = append(out, opEnd)
	}
	return out
}

// codeSection is the section with an _initialize that does nothing.
func (m *module) codeSection(body []byte) []byte {
	r := wasmfile.Reader{Rest: body}
	count := r.Uint()
	out := binary.AppendUvarint(make([]byte, 0, len(body)), uint64(count))
	for i := range count {
		code := r.Bytes(r.Uint())
		if m.imported+int(i) == m.begin {
			code = []byte{0, opEnd} // no locals
		}
		out = wasmfile.AppendSized(out, code)
	}
	return out
}

// dataSection is the section of one segment that makes the memory.
func dataSection(memory []byte) []byte {
	memory = bytes.TrimRight(memory, "\x00")
	at := len(memory) - len(bytes.TrimLeft(memory, "\x00"))
	out := wasmfile.AppendInt([]byte{1, 0, opI32Const}, int64(at))
	return wasmfile.AppendSized(append(out, opEnd), memory[at:])
}
