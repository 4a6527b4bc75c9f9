// Package confine bounds what a WebAssembly module can make its host hold. A module's memory is bounded by what it
// declares itself, and its tables, globals and objects lie outside of it: so a host reads the declarations before the
// engine does, and writes its own bounds in their place.
package confine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxPages is the most memory that a module may have, in pages of 64 KiB: 4 GiB.
const MaxPages = 1 << 16

// BuiltPages is the maximum that the build writes into the module, in pages: 1 GiB, which hosts in JavaScript allow
// unless they are told otherwise. A module that holds the host's own bound need not be rewritten, and so can be compiled
// while it is downloaded.
const BuiltPages = 1 << 14

// What Go's linker makes is one table of as many entries as there are functions, and eight globals.
const (
	maxTable   = 1 << 18
	maxGlobals = 64
)

// Sections of the binary format.
const (
	sectionType   = 1
	sectionTable  = 4
	sectionMemory = 5
	sectionGlobal = 6
	sectionLast   = 12 // of those that bring nothing but code, data and tables
)

// Types.
const (
	typeFunction = 0x60
	typeFuncRef  = 0x70
)

// spare is how many bytes the bounds may add to a module.
const spare = 32

var header = []byte("\x00asm\x01\x00\x00\x00")

var errMalformed = errors.New("a section is malformed")

// Module returns a module whose memory can grow to so many pages and whose table cannot grow. It is the given slice if
// there is nothing to change. Bytes that are no WebAssembly stay as they are: the engine says what is wrong with them.
func Module(module []byte, pages uint32) ([]byte, error) {
	if !bytes.HasPrefix(module, header) {
		return module, nil
	}
	var out []byte // nil while nothing has changed
	for rest := module[len(header):]; len(rest) > 0; {
		before := module[:len(module)-len(rest)]
		section := reader{data: rest[1:]}
		body := section.bytes(section.uint())
		if section.failed {
			return nil, errMalformed
		}
		id, whole := rest[0], rest[:len(rest)-len(section.data)]
		rest = section.data
		want, err := confined(id, body, pages)
		switch {
		case err != nil:
			return nil, err
		case want != nil && !bytes.Equal(want, body):
			if out == nil {
				out = append(make([]byte, 0, len(module)+spare), before...)
			}
			out = binary.AppendUvarint(append(out, id), uint64(len(want)))
			out = append(out, want...)
		case out != nil:
			out = append(out, whole...)
		}
	}
	if out == nil {
		return module, nil
	}
	return out, nil
}

// confined returns the body that a section is to have, nil for the one that it has.
func confined(id byte, body []byte, pages uint32) ([]byte, error) {
	r := reader{data: body}
	var want []byte
	var err error
	switch {
	case id > sectionLast:
		return nil, fmt.Errorf("it has a section of kind %d", id)
	case id == sectionType:
		err = r.types()
	case id == sectionTable:
		want, err = r.table()
	case id == sectionMemory:
		want, err = r.memory(pages)
	case id == sectionGlobal:
		if n := r.uint(); n > maxGlobals {
			err = fmt.Errorf("it has %d globals, more than %d", n, maxGlobals)
		}
		r.data = nil
	default:
		return nil, nil
	}
	switch {
	case r.failed, err == nil && len(r.data) > 0:
		return nil, errMalformed
	case err != nil:
		return nil, err
	}
	return want, nil
}

// types reads the types: functions only, as the engine keeps objects of all others outside of the memory.
func (r *reader) types() error {
	for n := r.uint(); n > 0 && !r.failed; n-- {
		if kind := r.byte(); kind != typeFunction {
			return fmt.Errorf("it has a type of kind %#x, which is no function", kind)
		}
		r.bytes(r.uint())
		r.bytes(r.uint())
	}
	return nil
}

// table returns the section with a table that cannot grow.
func (r *reader) table() ([]byte, error) {
	n := r.uint()
	if n == 0 {
		return nil, nil
	}
	if n > 1 {
		return nil, fmt.Errorf("it has %d tables, more than one", n)
	}
	if kind := r.byte(); kind != typeFuncRef {
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
	n := r.uint()
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
	flags := r.byte()
	if flags > 1 { // shared, or of 64 bits
		return 0, fmt.Errorf("it has a %s of kind %d", of, flags)
	}
	size := r.uint()
	if flags == 1 {
		r.uint()
	}
	return size, nil
}

// reader walks over bytes and notes whether they were too few or malformed.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) uint() uint32 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || size > 5 || n > 1<<32-1 {
		r.fail()
		return 0
	}
	r.data = r.data[size:]
	return uint32(n)
}

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) fail() { r.data, r.failed = nil, true }
