package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
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

// skipLimits passes over the limits of a memory or table type.
func skipLimits(r *wasmfile.Reader) {
	if r.Byte()&1 != 0 {
		r.Uint()
	}
	r.Uint()
}

// inspect reads the parts of a WebAssembly file that binaryInfo holds.
func inspect(file []byte) (*binaryInfo, error) {
	if !bytes.HasPrefix(file, []byte(wasmfile.Header)) {
		return nil, errors.New("not a WebAssembly file of version 1")
	}
	info := &binaryInfo{}
	var importedFuncs int
	names := map[int]string{}
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		id, body := r.Section()
		if r.Failed {
			return nil, errTruncated
		}
		section := &wasmfile.Reader{Rest: body}
		switch id {
		case wasmfile.Import:
			importedFuncs = info.readImports(section)
		case wasmfile.Export:
			info.readExports(section)
		case wasmfile.Code:
			info.readCode(section)
		case wasmfile.Data:
			info.dataBytes = len(body)
		case wasmfile.Custom:
			if section.Name() == "name" {
				readFunctionNames(section, names)
			}
		}
		if section.Failed {
			return nil, fmt.Errorf("section %d: %w", id, errTruncated)
		}
	}
	for i := range info.functions {
		info.functions[i].name = names[importedFuncs+i]
	}
	return info, nil
}

// readImports returns how many of the imports are functions.
func (info *binaryInfo) readImports(r *wasmfile.Reader) int {
	funcs := 0
	for range r.Uint() {
		if r.Failed {
			return 0
		}
		name := r.Name() + "." + r.Name()
		kind := r.Byte()
		switch kind {
		case 0:
			r.Uint()
			funcs++
		case 1:
			r.Byte()
			skipLimits(r)
		case 2:
			skipLimits(r)
		case 3:
			r.Bytes(2)
		}
		info.imports = append(info.imports, name+" "+kindName(kind))
	}
	return funcs
}

func (info *binaryInfo) readExports(r *wasmfile.Reader) {
	for range r.Uint() {
		if r.Failed {
			return
		}
		name := r.Name()
		kind := r.Byte()
		r.Uint()
		info.exports = append(info.exports, name+" "+kindName(kind))
	}
}

func (info *binaryInfo) readCode(r *wasmfile.Reader) {
	for range r.Uint() {
		if r.Failed {
			return
		}
		body := r.Bytes(r.Uint())
		info.functions = append(info.functions, functionSize{size: len(body)})
	}
}

// readFunctionNames fills names from the name section's list of functions,
// keyed by function index (imports count first).
func readFunctionNames(r *wasmfile.Reader, names map[int]string) {
	for len(r.Rest) > 0 {
		kind := r.Byte()
		sub := &wasmfile.Reader{Rest: r.Bytes(r.Uint())}
		if kind != 1 {
			continue
		}
		for range sub.Uint() {
			if sub.Failed {
				break
			}
			index := int(sub.Uint())
			names[index] = sub.Name()
		}
		if sub.Failed {
			r.Failed = true
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
