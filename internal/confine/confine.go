// Package confine bounds what a WebAssembly module can make its host hold. A module's memory is bounded by what it
// declares itself, and its tables, globals and objects lie outside of it: so a host reads the declarations before the
// engine does, and writes its own bounds in their place. Neither does it pass on a file that says of something that it
// is larger than the file itself: engines reserve what a file says.
package confine

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// MaxPages is the most memory that a module may have, in pages of 64 KiB: 4 GiB.
const MaxPages = 1 << 16

// BuiltPages is the maximum that the build writes into the module, in pages: 1 GiB, which hosts in JavaScript allow
// unless they are told otherwise. A module that holds the host's own bound need not be rewritten, and so can be
// compiled while it is downloaded.
const BuiltPages = 1 << 14

// What Go's linker makes is one table of as many entries as there are functions, and eight globals.
const (
	maxTable   = 1 << 18
	maxGlobals = 64
)

// typeFuncRef is the type of a table of functions.
const typeFuncRef = 0x70

// spare is how many bytes the bounds may add to a module.
const spare = 32

// Module returns a module whose memory can grow to so many pages and whose table cannot grow. It is the given slice if
// there is nothing to change. Bytes that are no WebAssembly stay as they are: the engine says what is wrong with them.
func Module(module []byte, pages uint32) ([]byte, error) {
	if !bytes.HasPrefix(module, []byte(wasmfile.Header)) {
		return module, nil
	}
	var out []byte // nil while nothing has changed
	var has wasmfile.Scope
	for r := (wasmfile.Reader{Rest: module[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		start := len(module) - len(r.Rest)
		id, body := r.Section()
		if r.Failed {
			return nil, wasmfile.ErrMalformed
		}
		want, err := confined(id, body, pages)
		if err == nil {
			err = has.Structure(id, body)
		}
		lies := id == wasmfile.Custom && err != nil // no fault of the module: it goes without
		switch {
		case err != nil && !lies:
			return nil, err
		case lies, want != nil && !bytes.Equal(want, body):
			if out == nil {
				out = append(make([]byte, 0, len(module)+spare), module[:start]...)
			}
			if !lies {
				out = wasmfile.AppendSized(append(out, id), want)
			}
		case out != nil:
			out = append(out, module[start:len(module)-len(r.Rest)]...)
		}
	}
	if out == nil {
		return module, nil
	}
	return out, nil
}

// confined returns the body that a section is to have, nil for the one that it has.
func confined(id byte, body []byte, pages uint32) ([]byte, error) {
	r := reader{wasmfile.Reader{Rest: body}}
	var want []byte
	var err error
	switch id {
	case wasmfile.Table:
		want, err = r.table()
	case wasmfile.Memory:
		want, err = r.memory(pages)
	case wasmfile.Global:
		if n := r.Uint(); n > maxGlobals {
			err = fmt.Errorf("it has %d globals, more than %d", n, maxGlobals)
		}
		r.Rest = nil
	default:
		return nil, nil
	}
	switch {
	case r.Failed, err == nil && len(r.Rest) > 0:
		return nil, wasmfile.ErrMalformed
	case err != nil:
		return nil, err
	}
	return want, nil
}

// reader reads sections that are to be confined.
type reader struct{ wasmfile.Reader }

// table returns the section with a table that cannot grow.
func (r *reader) table() ([]byte, error) {
	n := r.Uint()
	if n == 0 {
		return nil, nil
	}
	if n > 1 {
		return nil, fmt.Errorf("it has %d tables, more than one", n)
	}
	if kind := r.Byte(); kind != typeFuncRef {
		return nil, fmt.Errorf("it has a table of type %#x, which holds no functions", kind)
	}
	size, err := r.limits("table")
	switch {
	case err != nil:
		return nil, err
	case size > maxTable:
		return nil, fmt.Errorf("it has a table of %d entries, more than %d", size, maxTable)
	}
	body := binary.AppendUvarint([]byte{1, typeFuncRef, 1}, uint64(size))
	return binary.AppendUvarint(body, uint64(size)), nil
}

// memory returns the section with a memory that can grow to so many pages.
func (r *reader) memory(pages uint32) ([]byte, error) {
	n := r.Uint()
	if n == 0 {
		return nil, nil
	}
	if n > 1 {
		return nil, fmt.Errorf("it has %d memories, more than one", n)
	}
	size, err := r.limits("memory")
	switch {
	case err != nil:
		return nil, err
	case size > pages:
		return nil, fmt.Errorf("its memory begins with %d pages, more than %d", size, pages)
	}
	body := binary.AppendUvarint([]byte{1, 1}, uint64(size))
	return binary.AppendUvarint(body, uint64(pages)), nil
}

// limits reads how large something is at first.
func (r *reader) limits(of string) (uint32, error) {
	flags := r.Byte()
	if flags > 1 { // shared, or of 64 bits
		return 0, fmt.Errorf("it has a %s of kind %d", of, flags)
	}
	size := r.Uint()
	if flags == 1 {
		r.Uint()
	}
	return size, nil
}
