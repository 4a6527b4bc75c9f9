// Package peephole makes what the Go compiler writes for WebAssembly faster, and smaller after compression: the same
// functions, calls and data, with less to do between them. It knows these habits of the compiler.
//
//   - A jump sets a local and goes through a table at the head of its function. Most of them can be plain branches.
//   - An address is computed anew for each access to memory. Engines that compare every address with the size of the
//     memory then do so each time.
//   - Locals are set to values that nobody reads.
//   - Structures are copied and zeroed by instructions meant for whole ranges of memory, truth values are compared with
//     zero again and again, and a check for nil goes on behind its panic.
//   - Numbers differ from function to function that could be the same: those of locals, and of the places where a
//     function is resumed. Compressors find less that repeats.
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

	"github.com/turncore/turncore/internal/wasmfile"
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
	if !bytes.HasPrefix(file, []byte(wasmfile.Header)) {
		return nil, errors.New("peephole: not a WebAssembly file of version 1")
	}
	out := append(make([]byte, 0, len(file)), wasmfile.Header...)
	var params [][]byte  // types, of each type
	var functions []byte // section of that name
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		start := len(file) - len(r.Rest)
		id, section := r.Section()
		if r.Failed {
			return nil, errTruncated
		}
		switch id {
		case wasmfile.Type:
			var err error
			if params, err = readTypes(section); err != nil {
				return nil, err
			}
		case wasmfile.Function:
			functions = section
		case wasmfile.Code:
			code, err := rewriteCode(section, functions, params)
			if err != nil {
				return nil, err
			}
			out = wasmfile.AppendSized(append(out, id), code)
			continue
		}
		out = append(out, file[start:len(file)-len(r.Rest)]...)
	}
	return out, nil
}

// readTypes returns the parameters of the function types.
func readTypes(section []byte) ([][]byte, error) {
	r := wasmfile.Reader{Rest: section}
	var params [][]byte
	for range min(r.Uint(), uint32(len(section))) {
		if form := r.Byte(); form != 0x60 {
			return nil, fmt.Errorf("peephole: a type of form %#x", form)
		}
		params = append(params, r.Bytes(r.Uint()))
		r.Bytes(r.Uint())
	}
	if r.Failed {
		return nil, errTruncated
	}
	return params, nil
}

func rewriteCode(section, functions []byte, params [][]byte) ([]byte, error) {
	r, types := wasmfile.Reader{Rest: section}, wasmfile.Reader{Rest: functions}
	count := r.Uint()
	if types.Uint() != count {
		return nil, errors.New("peephole: functions without code")
	}
	out := binary.AppendUvarint(make([]byte, 0, len(section)), uint64(count))
	for n := range count {
		of := types.Uint()
		body := r.Bytes(r.Uint())
		if r.Failed || types.Failed || of >= uint32(len(params)) {
			return nil, errTruncated
		}
		body, err := rewriteFunction(body, params[of])
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", n, err)
		}
		out = wasmfile.AppendSized(out, body)
	}
	return out, nil
}

// rewriteFunction rewrites one function: its locals and its instructions.
func rewriteFunction(body, params []byte) ([]byte, error) {
	r := wasmfile.Reader{Rest: body}
	groups := r.Uint()
	types := slices.Clone(params)
	for range min(groups, uint32(len(body))) {
		n := r.Uint()
		if n > maxLocals {
			return nil, errTruncated
		}
		types = append(types, bytes.Repeat([]byte{r.Byte()}, int(n))...)
	}
	if r.Failed {
		return nil, errTruncated
	}
	code, err := decode(r.Rest)
	if err != nil {
		return nil, err
	}
	code, types = improve(code, types)
	return encode(declare(make([]byte, 0, len(body)), types[len(params):]), code), nil
}

// declare appends the declaration of locals: groups of one type each.
func declare(b, types []byte) []byte {
	var groups [][]byte
	for start, k := 0, 1; k <= len(types); k++ {
		if k == len(types) || types[k] != types[start] {
			groups = append(groups, types[start:k])
			start = k
		}
	}
	b = binary.AppendUvarint(b, uint64(len(groups)))
	for _, g := range groups {
		b = append(binary.AppendUvarint(b, uint64(len(g))), g[0])
	}
	return b
}

// improve returns a function's code after all passes, and the types of its locals.
func improve(code []instruction, types []byte) ([]instruction, []byte) {
	code, types = shorten(code, types)
	code, types = shareAddresses(directBranches(code), types)
	return singleSteps(withoutIdle(plainBlocks(code))), types
}
