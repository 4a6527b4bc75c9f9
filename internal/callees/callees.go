// Package callees has a WebAssembly module find the functions of its indirect calls in its code instead of in a table,
// which each instance would have to fill.
//
// Go's linker puts every function into the table, some thousands. An engine may make an object of each entry: that is
// most of what wazero keeps for an instance of Turncore's core, and most of the time that one takes to start.
package callees

import (
	"bytes"
	"encoding/binary"

	"github.com/turncore/turncore/internal/metering"
	"github.com/turncore/turncore/internal/wasmfile"
)

// Bounds on the functions of a table: one of fewer is no burden, and engines take long to compile a branch with more
// labels than metering lets pass.
const (
	fewest = 256
	most   = metering.MaxLabels
)

// InCode returns a module that does what the given one does. Its indirect calls of the type that most functions of the
// table have are calls of one further function, which has a branch for each of them; the table keeps what other
// indirect calls may find. A call that finds no function, or one of another type, traps in both, but an engine may say
// of either what it says of the other.
//
// The module must be one of Go's linker, which knows no other instructions for tables: see [Linked]. One that only
// claims to be may find less in its table than it has put there, and nothing else. InCode returns the given module
// where it gains little or cannot be done: if the module is malformed, has another number of tables than one, or shares
// its table.
func InCode(module []byte) []byte {
	m := rewriter{module: module}
	if !m.read() || !m.choose() || !m.scan() {
		return module
	}
	return m.write()
}

// Linked tells whether Go's linker made a module, which then says so in its first section.
func Linked(module []byte) bool {
	r := wasmfile.Reader{Rest: module}
	r.Bytes(uint32(len(wasmfile.Header)))
	id, body := r.Section()
	custom := wasmfile.Reader{Rest: body}
	return id == wasmfile.Custom && custom.Name() == "go:buildid"
}

// section is a section of a module.
type section struct {
	id   byte
	body []byte
}

// rewriter is a module on its way.
type rewriter struct {
	module   []byte
	sections []section
	has      wasmfile.Scope

	types     [][]byte // as the file has them
	first     []uint32 // of each type, the first that equals it
	imported  uint32   // functions
	functions []uint32 // the types of functions that the module defines
	code      []byte   // the functions, without their number
	tables    int
	limits    wasmfile.Reader // of the table
	entries   []uint32        // the functions of the table

	called     uint32 // the type of calls that are rewritten
	parameters uint32 // of it
	from, to   int    // the entries with functions of that type, the last one included
	further    uint32 // the function that is called instead

	sites []site
	other map[uint32]bool // types of indirect calls that stay
}

// site is an indirect call.
type site struct{ at, end int } // in the code

// none is an entry without a function.
const none = 1<<32 - 1

// read reads all but the code. It reports false for a module that stays as it is.
func (m *rewriter) read() bool {
	r := wasmfile.Reader{Rest: m.module}
	if string(r.Bytes(uint32(len(wasmfile.Header)))) != wasmfile.Header {
		return false
	}
	var seen [wasmfile.DataCount + 1]bool
	for len(r.Rest) > 0 {
		id, body := r.Section()
		if r.Failed {
			return false
		}
		m.sections = append(m.sections, section{id, body})
		if id == wasmfile.Custom {
			continue // an engine ignores one that is malformed
		}
		if id > wasmfile.DataCount || seen[id] {
			return false
		}
		// Code and data are long, and nothing in them counts.
		if id != wasmfile.Code && id != wasmfile.Data && m.has.Structure(id, body) != nil {
			return false
		}
		if !m.section(id, &wasmfile.Reader{Rest: body}) {
			return false
		}
		if seen[id] = true; id == wasmfile.Import {
			m.imported = m.has.Functions
		}
	}
	return m.tables == 1 && m.code != nil
}

// section takes in a section that is well-formed.
func (m *rewriter) section(id byte, r *wasmfile.Reader) bool {
	n := uint32(0)
	if id != wasmfile.Start && id != wasmfile.DataCount {
		n = r.Count() // of entries
	}
	switch id {
	case wasmfile.Type:
		known := map[string]uint32{}
		for i := range n {
			start := r.Rest
			r.Byte()
			r.Bytes(r.Uint())
			r.Bytes(r.Uint())
			t := start[:len(start)-len(r.Rest)]
			if _, twice := known[string(t)]; !twice {
				known[string(t)] = i
			}
			m.types, m.first = append(m.types, t), append(m.first, known[string(t)])
		}
	case wasmfile.Import:
		for range n {
			r.Name()
			r.Name()
			switch kind := r.Byte(); kind {
			case wasmfile.KindFunction:
				r.Uint()
			case wasmfile.KindMemory:
				r.Limits()
			case wasmfile.KindGlobal:
				r.Bytes(2)
			default:
				return false
			}
		}
	case wasmfile.Function:
		for range n {
			m.functions = append(m.functions, r.Uint())
		}
	case wasmfile.Table:
		return n == 1 && m.oneTable(r)
	case wasmfile.Global:
		for range n {
			if r.Byte() == typeFuncRef {
				return false
			}
			r.Byte()
			m.has.Expression(r)
		}
	case wasmfile.Export:
		for range n {
			r.Name()
			kind := r.Byte()
			if r.Uint(); kind == wasmfile.KindTable {
				return false
			}
		}
	case wasmfile.Element:
		return m.elements(n, r)
	case wasmfile.Code:
		m.code = r.Rest
		return int(n) == len(m.functions)
	}
	return !r.Failed
}

// oneTable takes in the type of the table.
func (m *rewriter) oneTable(r *wasmfile.Reader) bool {
	m.tables++
	if r.Byte() != typeFuncRef {
		return false
	}
	m.limits = wasmfile.Reader{Rest: r.Rest}
	if r.Byte() > 1 { // of 64 bits
		return false
	}
	size := r.Uint()
	if size > maxTable {
		return false
	}
	m.entries = make([]uint32, size)
	for i := range m.entries {
		m.entries[i] = none
	}
	return true
}

// maxTable bounds the entries of a table, with or without functions. Those of Go begin at 4,096.
const maxTable = 1 << 16

// elements fills the table as the start of an instance does.
func (m *rewriter) elements(n uint32, r *wasmfile.Reader) bool {
	for range n {
		if r.Uint() != 0 || r.Byte() != opI32Const { // of table 0, at a number
			return false
		}
		at := uint32(r.Int())
		if r.Byte() != opEnd {
			return false
		}
		count := r.Count()
		if uint64(at)+uint64(count) > uint64(len(m.entries)) {
			return false
		}
		for i := range count {
			m.entries[at+i] = r.Uint()
		}
	}
	return !r.Failed
}

// typeOf is the first type that equals that of a function; of an imported one it is none.
func (m *rewriter) typeOf(function uint32) uint32 {
	if function == none || function < m.imported {
		return none
	}
	return m.first[m.functions[function-m.imported]]
}

// choose chooses the calls to rewrite. It reports false if that gains little, or would be too much.
func (m *rewriter) choose() bool {
	counts := make([]int, len(m.types))
	for _, f := range m.entries {
		if t := m.typeOf(f); t != none {
			counts[t]++
		}
	}
	best := 0
	for t, n := range counts {
		if n > counts[best] {
			best = t
		}
	}
	if len(counts) == 0 || counts[best] < fewest {
		return false
	}
	m.called, m.from = uint32(best), -1
	for i, f := range m.entries {
		if m.typeOf(f) == m.called {
			if m.to = i; m.from < 0 {
				m.from = i
			}
		}
	}
	r := wasmfile.Reader{Rest: m.types[best][1:]}
	m.parameters = r.Uint()
	m.further = m.has.Functions
	return m.to-m.from < most
}

// scan finds the indirect calls of all functions. It reports false if a function does anything else with the table, or
// there is no room for another call.
func (m *rewriter) scan() bool {
	found := scanner{has: m.has, code: m.code}
	r := wasmfile.Reader{Rest: m.code}
	for range m.functions {
		body := r.Bytes(r.Uint())
		if r.Failed {
			return false
		}
		if to := len(m.code) - len(r.Rest); m.mayCall(body) {
			found.function(to-len(body), to)
		}
	}
	if found.failed || len(r.Rest) > 0 {
		return false
	}
	m.other = map[uint32]bool{}
	for _, c := range found.calls {
		switch t := m.first[c.of]; {
		case t != m.called:
			m.other[t] = true
		case !fits(m.further, c.end-c.at-1):
			return false
		default:
			m.sites = append(m.sites, c.site)
		}
	}
	return true
}

// mayCall tells whether a function may have an indirect call: whether its bytes look like one somewhere.
func (m *rewriter) mayCall(body []byte) bool {
	for {
		at := bytes.IndexByte(body, opCallIndirect)
		if at < 0 {
			return false
		}
		body = body[at+1:]
		if of, size := binary.Uvarint(body); size > 0 && of < uint64(len(m.types)) {
			if table, size := binary.Uvarint(body[size:]); size > 0 && table == 0 {
				return true
			}
		}
	}
}

// longest is how many bytes a number has at most.
const longest = 5

// fits tells whether a number can be written in so many bytes.
func fits(n uint32, bytes int) bool { return bytes >= longest || n < 1<<(7*bytes) }
