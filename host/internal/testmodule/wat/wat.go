package wat

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

const (
	typeI32     = 0x7f
	typeI64     = 0x7e
	typeF64     = 0x7c
	typeFuncRef = 0x70
)

// assembler holds the sections of a module.
type assembler struct {
	types              [][]byte
	functions, globals map[string]uint64
	imported, defined  uint64
	sections           [wasmfile.DataCount + 1]section
	bodies             []body
	named              map[string][]byte
}

type section struct {
	count uint64
	bytes []byte
}

func (s *section) add(entry []byte) { s.count, s.bytes = s.count+1, append(s.bytes, entry...) }

type body struct {
	locals []byte // the types of its own
	names  map[string]uint64
	code   []node
}

// Assemble writes the module of a source: (module …), or (module binary "…"). Of the fields of a prelude it takes those
// whose name and export the module does not have itself. Bytes are what the source may name.
func Assemble(source, prelude string, named map[string][]byte) (file []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			f, ok := v.(fault)
			if !ok {
				panic(v)
			}
			file, err = nil, f.error
		}
	}()
	read := func(text string) []node {
		p := parser{rest: text, line: 1, bytes: named}
		list := p.forms(false)
		if len(list) != 1 || list[0].head() != "module" {
			return nil
		}
		return list[0].list[1:]
	}
	fields := read(source)
	if fields == nil {
		return nil, fmt.Errorf("it is not one module")
	}
	if len(fields) > 0 && fields[0].word == "binary" {
		return joined(fields[1:]), nil
	}
	taken := map[string]bool{}
	for _, f := range fields {
		for _, name := range names(f) {
			taken[name] = true
		}
	}
	for _, f := range read(prelude) {
		mine := false
		for _, name := range names(f) {
			mine = mine || taken[name]
		}
		if !mine {
			fields = append(fields, f)
		}
	}
	return assemble(fields, named), nil
}

// names are the name of a field and those that it is exported with.
func names(f node) (list []string) {
	for i, n := range f.list {
		switch {
		case n.head() == "export":
			list = append(list, string(n.list[1].text))
		case i == 1 && n.kind == 'w' && n.word[0] == '$':
			list = append(list, f.head()+n.word)
		}
	}
	return list
}

// joined are strings, one behind the other.
func joined(list []node) (out []byte) {
	for _, n := range list {
		if n.kind != 's' {
			n.fail("a string is missing")
		}
		out = append(out, n.text...)
	}
	return out
}

func assemble(fields []node, named map[string][]byte) []byte {
	a := &assembler{named: named, functions: map[string]uint64{}, globals: map[string]uint64{}}
	for _, f := range fields { // imports have the first numbers
		if f.head() == "import" {
			a.imports(f)
		}
	}
	a.defined = a.imported
	for _, f := range fields {
		switch f.head() {
		case "func":
			a.function(f)
		case "global":
			a.global(f)
		}
	}
	for _, f := range fields {
		a.field(f)
	}
	for _, b := range a.bodies {
		c := code{assembler: a, locals: b.names}
		c.sequence(b.code)
		var groups []byte
		n := uint64(0)
		for i := 0; i < len(b.locals); n++ {
			same := len(b.locals[i:]) - len(bytes.TrimLeft(b.locals[i:], string(b.locals[i:i+1])))
			groups = append(binary.AppendUvarint(groups, uint64(same)), b.locals[i])
			i += same
		}
		text := append(binary.AppendUvarint(nil, n), groups...)
		a.sections[wasmfile.Code].add(wasmfile.AppendSized(nil, append(append(text, c.out...), 0x0b)))
	}
	for _, t := range a.types {
		a.sections[wasmfile.Type].add(t)
	}
	out := []byte(wasmfile.Header)
	for _, id := range []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} {
		switch s := a.sections[id]; {
		case id == wasmfile.Start && s.count > 0:
			out = wasmfile.AppendSized(append(out, id), s.bytes)
		case s.count > 0:
			out = wasmfile.AppendSized(append(out, id), append(binary.AppendUvarint(nil, s.count), s.bytes...))
		}
	}
	return append(out, a.sections[0].bytes...)
}

// field writes a field that is neither code nor import.
func (a *assembler) field(f node) {
	switch f.head() {
	case "import", "func", "global":
		return
	}
	rest := f.list[1:]
	for len(rest) > 1 && (rest[0].kind == 'w' && rest[0].word[0] == '$' || rest[0].head() == "export") {
		if rest[0].head() == "export" {
			a.export(string(rest[0].list[1].text), map[string]byte{"table": 1, "memory": 2}[f.head()], 0)
		}
		rest = rest[1:]
	}
	switch f.head() {
	case "table":
		a.sections[wasmfile.Table].add(append([]byte{typeFuncRef}, limits(rest)...))
	case "memory":
		a.sections[wasmfile.Memory].add(limits(rest))
	case "start":
		a.sections[wasmfile.Start].add(binary.AppendUvarint(nil, find(a.functions, rest[0])))
	case "elem":
		entry := binary.AppendUvarint(append([]byte{0}, a.constant(rest[:1])...), uint64(len(rest)-1))
		for _, n := range rest[1:] {
			entry = binary.AppendUvarint(entry, find(a.functions, n))
		}
		a.sections[wasmfile.Element].add(entry)
	case "data":
		a.sections[wasmfile.Data].add(append(append([]byte{0}, a.constant(rest[:1])...), wasmfile.AppendSized(nil, joined(rest[1:]))...))
	case "custom":
		a.sections[0].bytes = wasmfile.AppendSized(append(a.sections[0].bytes, 0), joined(rest))
	default:
		f.fail("the field %q is unknown", f.head())
	}
}

// limits are those of a table or memory.
func limits(list []node) []byte {
	var sizes []byte
	n := byte(0)
	for _, s := range list {
		if s.word[0] >= '0' && s.word[0] <= '9' {
			sizes = binary.AppendUvarint(sizes, number(s, s.word))
			n++
		}
	}
	return append([]byte{n - 1}, sizes...)
}

func (a *assembler) imports(f node) {
	sig := f.list[3].list[1:]
	a.name(a.functions, sig, a.imported)
	params, results, _, _ := signature(sig)
	entry := wasmfile.AppendSized(wasmfile.AppendSized(nil, f.list[1].text), f.list[2].text)
	a.sections[wasmfile.Import].add(binary.AppendUvarint(append(entry, 0), a.typeIndex(params, results)))
	a.imported++
}

// name notes the name that a list begins with, if it begins with one.
func (a *assembler) name(names map[string]uint64, list []node, index uint64) {
	if len(list) > 0 && list[0].kind == 'w' && list[0].word[0] == '$' {
		names[list[0].word] = index
	}
}

func (a *assembler) function(f node) {
	rest := f.list[1:]
	a.name(a.functions, rest, a.defined)
	for _, n := range rest {
		if n.head() == "export" {
			a.export(string(n.list[1].text), 0, a.defined)
		}
	}
	params, results, locals, names := signature(rest)
	for len(rest) > 0 {
		h := rest[0].head()
		if h != "export" && h != "param" && h != "result" && h != "local" && (rest[0].kind != 'w' || rest[0].word[0] != '$') {
			break
		}
		rest = rest[1:]
	}
	a.sections[wasmfile.Function].add(binary.AppendUvarint(nil, a.typeIndex(params, results)))
	a.bodies = append(a.bodies, body{locals, names, rest})
	a.defined++
}

func (a *assembler) global(f node) {
	rest := f.list[1:]
	a.name(a.globals, rest, a.sections[wasmfile.Global].count)
	if rest[0].kind == 'w' && rest[0].word[0] == '$' {
		rest = rest[1:]
	}
	t := rest[0]
	mutable := byte(0)
	if t.head() == "mut" {
		t, mutable = t.list[1], 1
	}
	a.sections[wasmfile.Global].add(append([]byte{typeOf(t), mutable}, a.constant(rest[1:])...))
}

func (a *assembler) constant(list []node) []byte {
	c := code{assembler: a}
	c.sequence(list)
	return append(c.out, 0x0b)
}

func (a *assembler) export(name string, kind byte, index uint64) {
	a.sections[wasmfile.Export].add(binary.AppendUvarint(append(wasmfile.AppendSized(nil, []byte(name)), kind), index))
}

// typeIndex is the number of a function's type.
func (a *assembler) typeIndex(params, results []byte) uint64 {
	want := wasmfile.AppendSized(wasmfile.AppendSized([]byte{0x60}, params), results)
	for i, t := range a.types {
		if bytes.Equal(t, want) {
			return uint64(i)
		}
	}
	a.types = append(a.types, want)
	return uint64(len(a.types) - 1)
}

// signature reads parameters, results and locals, and the names of the first and the last.
func signature(list []node) (params, results, locals []byte, names map[string]uint64) {
	names = map[string]uint64{}
	for _, n := range list {
		var to *[]byte
		switch n.head() {
		case "param":
			to = &params
		case "result":
			to = &results
		case "local":
			to = &locals
		default:
			continue
		}
		for _, t := range n.list[1:] {
			if t.word[0] == '$' {
				names[t.word] = uint64(len(params) + len(locals))
			} else {
				*to = append(*to, typeOf(t))
			}
		}
	}
	return params, results, locals, names
}

func typeOf(n node) byte {
	t, ok := map[string]byte{"i32": typeI32, "i64": typeI64, "f64": typeF64, "funcref": typeFuncRef}[n.word]
	if !ok {
		n.fail("the type %q is unknown", n.word)
	}
	return t
}
