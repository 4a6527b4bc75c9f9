package peephole

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/turncore/turncore/internal/wasmfile"
)

// Count returns a file that counts what it executes: for the function with index N the global "calls N" has how often
// it was called, and "instructions N" how many of its own instructions have run, without those that only mark blocks.
// Both are exported. The counts depend on nothing but what the module is given, unlike the time that it takes.
func Count(file []byte) ([]byte, error) {
	if !bytes.HasPrefix(file, []byte(wasmfile.Header)) {
		return nil, errors.New("peephole: not a WebAssembly file of version 1")
	}
	has := map[byte][]byte{} // sections
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		id, section := r.Section()
		if r.Failed {
			return nil, errTruncated
		}
		has[id] = section
	}
	var imported wasmfile.Scope
	if section := has[wasmfile.Import]; section != nil {
		if err := imported.Imports(&wasmfile.Reader{Rest: section}); err != nil {
			return nil, err
		}
	}
	first := func(id byte) uint32 { return (&wasmfile.Reader{Rest: has[id]}).Uint() }
	c := counter{
		function: imported.Functions, functions: first(wasmfile.Code), global: imported.Globals + first(wasmfile.Global),
	}
	out := append(make([]byte, 0, 2*len(file)), wasmfile.Header...)
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		id, section := r.Section()
		var err error
		switch id {
		case wasmfile.Global:
			section = c.more(section, c.globals)
		case wasmfile.Export:
			section = c.more(section, c.exports)
		case wasmfile.Code:
			section, err = c.code(section)
		}
		if err != nil {
			return nil, err
		}
		out = wasmfile.AppendSized(append(out, id), section)
	}
	return out, nil
}

// counter has the index of the first function that has code, how many there are, and the index of the first global that
// counts: two for each function.
type counter struct{ function, functions, global uint32 }

// more returns a section with two more entries for each function.
func (c *counter) more(section []byte, entries func(b []byte, n uint32) []byte) []byte {
	r := wasmfile.Reader{Rest: section}
	count := r.Uint()
	b := append(binary.AppendUvarint(nil, uint64(count+2*c.functions)), r.Rest...)
	for n := range c.functions {
		b = entries(b, n)
	}
	return b
}

func (c *counter) globals(b []byte, _ uint32) []byte {
	const zero = "\x7e\x01\x42\x00\x0b" // a variable i64
	return append(b, zero+zero...)
}

func (c *counter) exports(b []byte, n uint32) []byte {
	for k, name := range []string{"calls ", "instructions "} {
		name += strconv.FormatUint(uint64(c.function+n), 10)
		b = append(wasmfile.AppendSized(b, []byte(name)), wasmfile.KindGlobal)
		b = binary.AppendUvarint(b, uint64(c.global+2*n)+uint64(k))
	}
	return b
}

func (c *counter) code(section []byte) ([]byte, error) {
	r := wasmfile.Reader{Rest: section}
	b := binary.AppendUvarint(nil, uint64(r.Uint()))
	for n := range c.functions {
		body := r.Bytes(r.Uint())
		in := wasmfile.Reader{Rest: body}
		for range min(in.Uint(), uint32(len(body))) {
			in.Uint()
			in.Byte()
		}
		locals := body[:len(body)-len(in.Rest)]
		if r.Failed || in.Failed {
			return nil, errTruncated
		}
		code, err := decode(in.Rest)
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", n, err)
		}
		b = wasmfile.AppendSized(b, encode(bytes.Clone(locals), c.count(code, int64(c.global+2*n))))
	}
	return b, nil
}

// count returns the code of a function with what adds to its globals: before each instruction that may leave the way to
// the next one, and where ways meet.
func (c *counter) count(code []instruction, global int64) []instruction {
	out := add(make([]instruction, 0, 2*len(code)), global, 1)
	ran := int64(0)
	for _, i := range code {
		marks := i.op == opBlock || i.op == opLoop || i.op == opElse || i.op == opEnd
		if !marks {
			ran++
		}
		if marks || i.op == opIf || i.op >= opBr && i.op <= opReturn || i.op == opUnreachable {
			out = add(out, global+1, ran)
			ran = 0
		}
		out = append(out, i)
	}
	return out
}

// add appends what adds to a global.
func add(code []instruction, global, n int64) []instruction {
	if n == 0 {
		return code
	}
	return append(code, instruction{op: opGlobalGet, x: global}, instruction{op: opI64Const, x: n},
		instruction{op: opI64Add}, instruction{op: opGlobalSet, x: global})
}
