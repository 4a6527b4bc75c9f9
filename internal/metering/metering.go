// Package metering makes a WebAssembly module count what it does, so that a host can end it.
//
// The module gets one more global, its fuel, which the host sets before each call. Functions pay at their beginning,
// loops at each round, and instructions that work on many bytes at once for the number of bytes. Who cannot pay ends
// with a trap. So every call ends, on every engine, whether or not it can interrupt code.
//
// Before the trap the module calls one more function, [Refuel], which traps if the fuel is negative still. A host whose
// engine tells it of the call can give the fuel in slices: the module then comes back to the host after each.
//
// # What is paid
//
// A unit pays for up to [InstructionsOfUnit] instructions of a function or of a loop, without the loops in it, each
// time it is entered: whether or not a branch leaves some out. A call counts as many instructions as a short function
// may have, since a function of at most [ShortFunction] instructions that neither calls nor loops pays nothing itself.
// memory.copy, memory.fill, memory.init and their like for tables pay a unit for every [BytesOfUnit] bytes, or 8
// entries, that they are asked for, memory.grow for every [BytesOfUnit] bytes. What engines leave the code for counts
// as many instructions: memory.grow, table.grow, ref.func.
//
// # What is refused
//
// What the package does not know it does not let pass: exceptions, tail calls, garbage-collected types, threads, 64-bit
// memories, relaxed SIMD. Neither does it pass on a file that says of something that it is larger than the file itself,
// or that a function has more than [MaxLocals] locals: engines reserve memory for what a file says. Custom sections are
// left out.
package metering

import (
	"encoding/binary"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// Names of what a metered module exports besides.
const (
	// Fuel is a mutable global of type i64. It begins with 0, and is negative once the module could not pay.
	Fuel = "turncore_fuel"
	// Start is the module's start function, if it has one. It is no start function any more, so that the host can set the
	// fuel before it calls it, once, before all others.
	Start = "turncore_start"
	// Refuel is a function without parameters and results that the module calls once its fuel is negative. It traps if it
	// is so still.
	Refuel = "turncore_refuel"
)

// What a unit of fuel pays for.
const (
	InstructionsOfUnit = 32
	BytesOfUnit        = 256
)

// Bounds on what an engine has to compile. The time that wazero takes grows with the square of the blocks of a function
// and of the labels of its branch tables: 10,000 nested loops, 30 KB, took 6 s on a busy machine, and 100,000 nested
// blocks had not ended after 15 s. What Go's compiler makes has about a tenth of it or less.
const (
	MaxFile      = 64 << 20 // bytes
	MaxFunctions = 200_000  // 13 µs each
	MaxBody      = 1 << 20  // bytes of a function
	MaxBlocks    = 8_000    // of a function
	MaxLabels    = 8_000    // of the branch tables of a function
	MaxLocals    = wasmfile.MaxLocals
	MaxAllLocals = 4_000_000   // of all functions
	MaxParams    = 1_000       // of a type. Browsers have the same bound.
	MaxResults   = 32          // of a type: a call needs two bytes, whatever it returns
	MaxNesting   = 250_000_000 // the sum of the squares of the blocks and of the labels of each function
)

// ShortFunction is how many instructions a function may have that does not pay itself.
const ShortFunction = 16

// ErrMalformed is the error of a malformed module.
var ErrMalformed = wasmfile.ErrMalformed

// Module returns the module with metering. It must not be metered already.
func Module(file []byte) ([]byte, error) {
	r := wasmfile.Reader{Rest: file}
	if string(r.Bytes(uint32(len(wasmfile.Header)))) != wasmfile.Header {
		return nil, ErrMalformed
	}
	if len(file) > MaxFile {
		return nil, fmt.Errorf("the module has %d bytes, more than %d", len(file), MaxFile)
	}
	m := meter{out: make([]byte, 0, len(file)+len(file)/8)}
	if err := m.findStart(r); err != nil {
		return nil, err
	}
	m.out = append(m.out, wasmfile.Header...)
	for len(r.Rest) > 0 {
		if err := m.section(r.Section()); err != nil {
			return nil, err
		}
	}
	m.reach(len(order))
	return m.out, nil
}

// findStart finds the start function, and whether all sections are whole.
func (m *meter) findStart(r wasmfile.Reader) error {
	for len(r.Rest) > 0 {
		id, body := r.Section()
		if id == wasmfile.Start {
			start := wasmfile.Reader{Rest: body}
			m.start, m.starts = start.Uint(), true
			if start.Failed || len(start.Rest) > 0 {
				return ErrMalformed
			}
		}
	}
	if r.Failed {
		return ErrMalformed
	}
	return nil
}

// order is the order of sections in a file.
var order = []byte{
	wasmfile.Type, wasmfile.Import, wasmfile.Function, wasmfile.Table, wasmfile.Memory, wasmfile.Global, wasmfile.Export,
	wasmfile.Start, wasmfile.Element, wasmfile.DataCount, wasmfile.Code, wasmfile.Data,
}

// meter is a module on its way.
type meter struct {
	out    []byte
	next   int    // the place in order of the first section that may come
	start  uint32 // the start function
	starts bool   // there is one

	params    []uint32       // of each type
	functions []uint32       // the types of functions that the module defines
	locals    uint64         // of all functions
	nesting   uint64         // the sum of what [MaxNesting] bounds
	has       wasmfile.Scope // what there has been so far, imports included
}

// section takes a section over.
func (m *meter) section(id byte, body []byte) error {
	if id == wasmfile.Custom {
		return nil
	}
	place := placeOf(id)
	switch {
	case place < 0:
		return fmt.Errorf("the module has a section of kind %d", id)
	case place < m.next:
		return ErrMalformed
	}
	m.reach(place)
	m.next = place + 1
	r := &wasmfile.Reader{Rest: body}
	switch id {
	case wasmfile.Start: // findStart has read it
		if m.start >= m.has.Functions {
			return ErrMalformed
		}
		return nil
	case wasmfile.Export:
		return m.exports(r)
	case wasmfile.Code:
		return m.code(r)
	}
	if err := m.has.Structure(id, body); err != nil {
		return err
	}
	switch id {
	case wasmfile.Type:
		if err := m.types(&wasmfile.Reader{Rest: body}); err != nil {
			return err
		}
		m.extend(id, r.Uint(), r.Rest)
	case wasmfile.Function:
		n := r.Uint()
		m.extend(id, n, r.Rest)
		for range n {
			m.functions = append(m.functions, r.Uint())
		}
	case wasmfile.Global:
		m.extend(id, r.Uint(), r.Rest)
	default:
		m.out = wasmfile.AppendSized(append(m.out, id), body)
	}
	return nil
}

func placeOf(id byte) int {
	for place, other := range order {
		if other == id {
			return place
		}
	}
	return -1
}

// reach adds the sections before a place in the order that are needed and not there.
func (m *meter) reach(place int) {
	for ; m.next < place; m.next++ {
		switch id := order[m.next]; id {
		case wasmfile.Type, wasmfile.Function, wasmfile.Global, wasmfile.Code:
			m.extend(id, 0, nil)
		case wasmfile.Export:
			m.export(0, nil)
		}
	}
}

// extend writes a section of n entries, and one more behind them, which is metering's.
func (m *meter) extend(id byte, n uint32, entries []byte) {
	body := append(binary.AppendUvarint(nil, uint64(n)+1), entries...)
	switch id {
	case wasmfile.Type: // of the function below
		body = append(body, wasmfile.TypeFunction, 0, 0)
	case wasmfile.Function:
		body = binary.AppendUvarint(body, uint64(m.has.Types))
	case wasmfile.Global:
		body = append(body, typeI64, 1, opI64Const, 0, opEnd) // 1: mutable
	case wasmfile.Code:
		refuel := binary.AppendUvarint([]byte{0, opGlobalGet}, uint64(m.has.Globals)) // 0: locals
		refuel = append(refuel, opI64Const, 0, opI64LtS, opIf, noResult, opUnreachable, opEnd, opEnd)
		body = wasmfile.AppendSized(body, refuel)
	}
	m.out = wasmfile.AppendSized(append(m.out, id), body)
}

// types notes how many parameters functions of each type have.
func (m *meter) types(r *wasmfile.Reader) error {
	var err error
	_ = r.Types(func(params, results uint32) {
		if err == nil && (params > MaxParams || results > MaxResults) {
			err = fmt.Errorf("the module has a type of %d parameters and %d results, more than %d and %d",
				params, results, MaxParams, MaxResults)
		}
		m.params = append(m.params, params)
	})
	return err
}

// exports writes the section of exports. None may be the fuel.
func (m *meter) exports(r *wasmfile.Reader) error {
	n := r.Count()
	rest := r.Rest
	for range n {
		name, kind, index := r.Name(), r.Byte(), r.Uint()
		switch {
		case r.Failed:
			return ErrMalformed
		case name == Fuel, name == Start, name == Refuel:
			return fmt.Errorf("the module exports %s: it is metered already", name)
		case kind == wasmfile.KindFunction && index >= m.has.Functions, kind == wasmfile.KindGlobal && index >= m.has.Globals:
			return ErrMalformed
		}
	}
	if r.Failed || len(r.Rest) > 0 {
		return ErrMalformed
	}
	m.export(n, rest)
	return nil
}

// export writes the section of n exports, and those of metering behind them.
func (m *meter) export(n uint32, rest []byte) {
	count := uint64(n)
	var more []byte
	add := func(name string, kind byte, index uint32) {
		count++
		more = binary.AppendUvarint(append(wasmfile.AppendSized(more, []byte(name)), kind), uint64(index))
	}
	add(Fuel, wasmfile.KindGlobal, m.has.Globals)
	add(Refuel, wasmfile.KindFunction, m.has.Functions)
	if m.starts {
		add(Start, wasmfile.KindFunction, m.start)
	}
	body := append(append(binary.AppendUvarint(nil, count), rest...), more...)
	m.out = wasmfile.AppendSized(append(m.out, wasmfile.Export), body)
}

// code writes the section of code.
func (m *meter) code(r *wasmfile.Reader) error {
	n := r.Count()
	switch {
	case r.Failed || uint64(n) != uint64(len(m.functions)):
		return ErrMalformed
	case n > MaxFunctions:
		return fmt.Errorf("the module has %d functions, more than %d", n, MaxFunctions)
	}
	body := make([]byte, 0, len(r.Rest)+len(r.Rest)/8)
	var f function
	for k := range n {
		code := r.Bytes(r.Uint())
		if r.Failed {
			return ErrMalformed
		}
		if err := f.read(code, m.params[m.functions[k]], &m.has); err != nil {
			return fmt.Errorf("function %d of those that the module defines: %w", k, err)
		}
		m.locals += uint64(f.spare)
		m.nesting += uint64(f.blocks)*uint64(f.blocks) + uint64(f.labels)*uint64(f.labels)
		switch {
		case m.locals > MaxAllLocals:
			return fmt.Errorf("the module has %d locals, more than %d", m.locals, MaxAllLocals)
		case m.nesting > MaxNesting:
			return fmt.Errorf("the squares of the blocks and of the labels of each function come to more than %d", MaxNesting)
		}
		body = wasmfile.AppendSized(body, f.write())
	}
	if len(r.Rest) > 0 {
		return ErrMalformed
	}
	m.extend(wasmfile.Code, n, body)
	return nil
}
