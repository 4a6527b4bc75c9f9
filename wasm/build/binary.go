package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Section numbers of the WebAssembly binary format.
const (
	sectionCustom = 0
	sectionImport = 2
	sectionExport = 7
	sectionCode   = 10
	sectionData   = 11
)

var errTruncated = errors.New("wasm file is truncated")

// A binaryInfo is what the build wants to know of a WebAssembly file.
type binaryInfo struct {
	imports   []string       // "module.name kind", in file order
	exports   []string       // "name kind", in file order
	functions []functionSize // functions with a body; names only in an unstripped file
	dataBytes int            // size of the data section
}

type functionSize struct {
	name string
	size int
}

// reader walks over bytes and keeps the first error, so that parsing code
// reads as a list of fields.
type reader struct {
	data []byte
	err  error
}

func (r *reader) uint() int {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return int(v)
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.fail()
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) name() string { return string(r.bytes(r.uint())) }

// skipLimits passes over the limits of a memory or table type.
func (r *reader) skipLimits() {
	if r.byte()&1 != 0 {
		r.uint()
	}
	r.uint()
}

func (r *reader) fail() {
	r.err = errTruncated
	r.data = nil
}

// inspect reads the parts of a WebAssembly file that binaryInfo holds.
func inspect(file []byte) (*binaryInfo, error) {
	if !bytes.HasPrefix(file, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errors.New("not a WebAssembly file of version 1")
	}
	info := &binaryInfo{}
	var importedFuncs int
	names := map[int]string{}
	for r := (&reader{data: file[8:]}); len(r.data) > 0; {
		id := r.byte()
		section := &reader{data: r.bytes(r.uint())}
		if r.err != nil {
			return nil, r.err
		}
		switch id {
		case sectionImport:
			importedFuncs = info.readImports(section)
		case sectionExport:
			info.readExports(section)
		case sectionCode:
			info.readCode(section)
		case sectionData:
			info.dataBytes = len(section.data)
		case sectionCustom:
			if section.name() == "name" {
				readFunctionNames(section, names)
			}
		}
		if section.err != nil {
			return nil, fmt.Errorf("section %d: %w", id, section.err)
		}
	}
	for i := range info.functions {
		info.functions[i].name = names[importedFuncs+i]
	}
	return info, nil
}

// readImports returns how many of the imports are functions.
func (info *binaryInfo) readImports(r *reader) int {
	funcs := 0
	for range r.uint() {
		if r.err != nil {
			return 0
		}
		name := r.name() + "." + r.name()
		kind := r.byte()
		switch kind {
		case 0:
			r.uint()
			funcs++
		case 1:
			r.byte()
			r.skipLimits()
		case 2:
			r.skipLimits()
		case 3:
			r.bytes(2)
		}
		info.imports = append(info.imports, name+" "+kindName(kind))
	}
	return funcs
}

func (info *binaryInfo) readExports(r *reader) {
	for range r.uint() {
		if r.err != nil {
			return
		}
		name := r.name()
		kind := r.byte()
		r.uint()
		info.exports = append(info.exports, name+" "+kindName(kind))
	}
}

func (info *binaryInfo) readCode(r *reader) {
	for range r.uint() {
		if r.err != nil {
			return
		}
		body := r.bytes(r.uint())
		info.functions = append(info.functions, functionSize{size: len(body)})
	}
}

// readFunctionNames fills names from the name section's list of functions,
// keyed by function index (imports count first).
func readFunctionNames(r *reader, names map[int]string) {
	for len(r.data) > 0 {
		kind := r.byte()
		sub := &reader{data: r.bytes(r.uint())}
		if kind != 1 {
			continue
		}
		for range sub.uint() {
			if sub.err != nil {
				break
			}
			index := sub.uint()
			names[index] = sub.name()
		}
		if sub.err != nil {
			r.err = sub.err
		}
	}
}

func kindName(kind byte) string {
	kinds := []string{"func", "table", "memory", "global"}
	if int(kind) < len(kinds) {
		return kinds[kind]
	}
	return fmt.Sprintf("kind(%d)", kind)
}
