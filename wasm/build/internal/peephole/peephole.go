// Package peephole makes what the Go compiler writes for WebAssembly faster: the same functions, calls and data, with
// less to do between them. It knows these habits of the compiler.
//
//   - A jump sets a local and goes through a table at the head of its function. Most of them can be plain branches.
//   - An address is computed anew for each access to memory. Engines that compare every address with the size of the
//     memory then do so each time.
//   - Structures are copied and zeroed by instructions meant for whole ranges of memory, truth values are compared with
//     zero again and again, and a check for nil goes on behind its panic.
//
// Nothing here depends on what the code means, and what is not understood stays as it is. Return addresses, the places
// where a function is resumed and the frames on Go's stack are untouched, so that goroutines and stack traces work as
// before.
package peephole

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Sections of a file.
const (
	sectionType     = 1
	sectionFunction = 3
	sectionCode     = 10
)

// Types of values.
const (
	typeI32 = 0x7f
	typeI64 = 0x7e
)

// maxLocals is more than a function of Go's has.
const maxLocals = 1 << 16

// Rewrite returns a file that does the same and runs faster.
func Rewrite(file []byte) ([]byte, error) {
	const magic = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(file, []byte(magic)) {
		return nil, errors.New("peephole: not a WebAssembly file of version 1")
	}
	out := append(make([]byte, 0, len(file)), magic...)
	var params [][]byte  // types, of each type
	var functions []byte // section of that name
	c := cursor{b: file, at: len(magic)}
	for c.at < len(file) {
		start := c.at
		id := c.byte()
		section := c.skip(c.unsigned())
		if c.bad {
			return nil, errTruncated
		}
		switch id {
		case sectionType:
			var err error
			if params, err = readTypes(section); err != nil {
				return nil, err
			}
		case sectionFunction:
			functions = section
		case sectionCode:
			code, err := rewriteCode(section, functions, params)
			if err != nil {
				return nil, err
			}
			out = append(out, id)
			out = append(binary.AppendUvarint(out, uint64(len(code))), code...)
			continue
		}
		out = append(out, file[start:c.at]...)
	}
	return out, nil
}

// readTypes returns the parameters of the function types.
func readTypes(section []byte) ([][]byte, error) {
	c := cursor{b: section}
	var params [][]byte
	for range min(c.unsigned(), uint64(len(section))) {
		if form := c.byte(); form != 0x60 {
			return nil, fmt.Errorf("peephole: a type of form %#x", form)
		}
		params = append(params, c.skip(c.unsigned()))
		c.skip(c.unsigned())
	}
	if c.bad {
		return nil, errTruncated
	}
	return params, nil
}

func rewriteCode(section, functions []byte, params [][]byte) ([]byte, error) {
	c, types := cursor{b: section}, cursor{b: functions}
	count := c.unsigned()
	if types.unsigned() != count {
		return nil, errors.New("peephole: functions without code")
	}
	out := binary.AppendUvarint(make([]byte, 0, len(section)), count)
	for n := range count {
		of := types.unsigned()
		body := c.skip(c.unsigned())
		if c.bad || types.bad || of >= uint64(len(params)) {
			return nil, errTruncated
		}
		body, err := rewriteFunction(body, params[of])
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", n, err)
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	}
	return out, nil
}

// rewriteFunction rewrites one function: its locals and its instructions.
func rewriteFunction(body, params []byte) ([]byte, error) {
	c := cursor{b: body}
	groups := c.unsigned()
	start := c.at
	types := slices.Clone(params)
	for range min(groups, uint64(len(body))) {
		n := c.unsigned()
		if n > maxLocals {
			return nil, errTruncated
		}
		types = append(types, bytes.Repeat([]byte{c.byte()}, int(n))...)
	}
	if c.bad {
		return nil, errTruncated
	}
	declared := body[start:c.at]
	code, err := decode(body[c.at:])
	if err != nil {
		return nil, err
	}
	had := len(types)
	code, types = shorten(code, types)
	code, types = plainBlocks(shareAddresses(directBranches(code), types))
	if len(types) > had {
		groups++
	}
	out := append(binary.AppendUvarint(make([]byte, 0, len(body)), groups), declared...)
	if more := len(types) - had; more > 0 { // all of them i32
		out = append(binary.AppendUvarint(out, uint64(more)), typeI32)
	}
	return encode(out, code), nil
}
