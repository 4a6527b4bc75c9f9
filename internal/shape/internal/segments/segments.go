// Package segments writes the data section of what Go's linker makes for WebAssembly anew, so that less of it crosses
// the network.
//
// The linker cuts data at every run of zeros that is longer than a segment's head: tens of thousands of segments, whose
// heads compress badly, while zeros compress to next to nothing. And half of the tables for stack traces says which
// line of which file an instruction comes from, where a function keeps its arguments, and where it can be interrupted,
// which WebAssembly has no way to do. Without them a trace names functions, with "?" for the lines and nothing for
// arguments. And a third of a module says which function a program counter is in: 320 bytes for each function, whose
// number the counter has in it.
package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// gap is how many zeros part two segments. Fewer would make a file shorter, and longer after compression: brotli takes
// a file for text of which three quarters are UTF-8 other than zeros, and needs a hundredth more for it then.
const gap = 2048

// maxMemory is more than a module's data take.
const maxMemory = 64 << 20

var errMalformed = errors.New("segments: the data section is malformed")

// Rewrite returns a file with the same data in fewer segments, but for the tables about source text, which are zeros.
func Rewrite(file []byte) ([]byte, error) { return rewrite(file, true) }

func rewrite(file []byte, dropSource bool) ([]byte, error) {
	if !bytes.HasPrefix(file, []byte(wasmfile.Header)) {
		return nil, errors.New("segments: not a WebAssembly file of version 1")
	}
	out := append(make([]byte, 0, len(file)+len(file)/8), wasmfile.Header...)
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		start := len(file) - len(r.Rest)
		id, section := r.Section()
		if r.Failed {
			return nil, errMalformed
		}
		if id != wasmfile.Data {
			out = append(out, file[start:len(file)-len(r.Rest)]...)
			continue
		}
		memory, err := load(section)
		if err != nil {
			return nil, err
		}
		if dropSource {
			if err := clearSource(memory); err != nil {
				return nil, err
			}
		}
		out = wasmfile.AppendSized(append(out, id), store(memory))
	}
	return out, nil
}

// load returns the memory that the segments of a section make.
func load(section []byte) ([]byte, error) {
	r := wasmfile.Reader{Rest: section}
	var memory []byte
	for range r.Uint() {
		// Mode 0 is an active segment of memory 0; its offset is `i32.const`, `end`.
		mode, constant, at, end := r.Byte(), r.Byte(), r.Int(), r.Byte()
		data := r.Bytes(r.Uint())
		if r.Failed || mode != 0 || constant != 0x41 || at < 0 || at > maxMemory || end != 0x0b {
			return nil, errMalformed
		}
		if end := int(at) + len(data); end > len(memory) {
			memory = append(memory, make([]byte, end-len(memory))...)
		}
		copy(memory[at:], data)
	}
	if r.Failed || len(r.Rest) != 0 {
		return nil, errMalformed
	}
	return memory, nil
}

// store returns a section that makes the memory.
func store(memory []byte) []byte {
	type segment struct{ start, end int }
	var list []segment
	for i, b := range memory {
		switch last := len(list) - 1; {
		case b == 0:
		case last >= 0 && i-list[last].end < gap:
			list[last].end = i + 1
		default:
			list = append(list, segment{i, i + 1})
		}
	}
	out := binary.AppendUvarint(make([]byte, 0, len(memory)), uint64(len(list)))
	for _, s := range list {
		out = append(wasmfile.AppendInt(append(out, 0, 0x41), int64(s.start)), 0x0b)
		out = wasmfile.AppendSized(out, memory[s.start:s.end])
	}
	return out
}

// Layout of Go's table of functions (runtime/symtab.go of the release that go.mod pins): pcHeader and _func.
const (
	headerFunctions = 8  // number of functions
	headerNames     = 32 // offset of their names
	headerUnits     = 40 // offset of the packages' lists of files, which the files' names follow
	headerTables    = 56 // offset of the tables that a program counter is looked up in
	headerEntries   = 64 // offset of the entries, one for each function

	funcStack  = 16 // offset of the table of stack depths
	funcFile   = 20 // of files
	funcLine   = 24 // of lines
	funcCount  = 28 // number of further tables
	funcUnit   = 32 // place of the package in the list of files
	funcStart  = 36 // line of the function
	funcFacts  = 43 // number of facts about the whole function
	funcTables = 44 // the offsets of its further tables, and then those of the facts
)

// What only traces with lines and arguments need, by number (internal/abi/symtab.go), and what only interrupts do.
const (
	tableUnsafePoint = 0
	tableLiveArgs    = 3
	factArgs         = 5
	factLiveArgs     = 6
)

// header is how the table begins: magic number, padding, quantum 1 (of WebAssembly), pointers of 8 bytes.
var header = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// clearSource makes zeros of the tables that only say which line an instruction comes from and the like, and makes
// functions have none.
func clearSource(memory []byte) (err error) {
	start := bytes.Index(memory, header)
	if start < 0 || bytes.Contains(memory[start+1:], header) {
		return errors.New("segments: no table of functions, or several: Go's layout has changed")
	}
	defer func() {
		if r := recover(); r != nil { // an offset that leads out of the memory
			err = fmt.Errorf("segments: the table of functions is malformed: %v", r)
		}
	}()
	table := memory[start:]
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(table[at:]) }
	tables, entries := table[word(headerTables):word(headerEntries)], table[word(headerEntries):]
	dropped, kept := map[uint32]bool{}, map[uint32]bool{}
	for i := range int(word(headerFunctions)) {
		function(entries[half(entries, 8*i+4):]).clearSource(dropped, kept)
	}
	for offset := range dropped {
		if offset != 0 && !kept[offset] {
			t := tables[offset:]
			clear(t[:tableSize(t)])
		}
	}
	clear(table[word(headerUnits):word(headerTables)])
	return clearBuckets(memory, start)
}

// Layout of what Go's linker says of a program (runtime/symtab.go): moduledata.
const (
	programNames   = 8   // address of the functions' names
	programBuckets = 152 // address of the buckets, which say which function a program counter is in
	programFirst   = 160 // lowest program counter
	programLast    = 168 // highest one
	programSize    = 176 // up to here
)

// A bucket is for 4096 program counters (runtime/symtab.go, findfuncbucket).
const (
	bucketCounters = 1 << 12
	bucketSize     = 20
)

// clearBuckets makes zeros of the table that a program counter is looked up in. The runtime then searches from the
// first function on, or finds it by its number, as package shape has it do. start is the address of the table of
// functions.
func clearBuckets(memory []byte, start int) error {
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(memory[at:]) }
	names := uint64(start) + word(start+headerNames)
	for at := 0; at+programSize <= len(memory); at += 8 {
		if word(at) != uint64(start) || word(at+programNames) != names {
			continue
		}
		counters := word(at+programLast) - word(at+programFirst)
		buckets := memory[word(at+programBuckets):]
		clear(buckets[:(counters+bucketCounters-1)/bucketCounters*bucketSize])
		return nil
	}
	return errors.New("segments: nothing says where the table of functions is: Go's layout has changed")
}

// function is what Go's table has of one, and what follows.
type function []byte

func half(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// clearSource makes the function have no tables but those that the program runs by. It notes the offsets of both kinds.
func (f function) clearSource(dropped, kept map[uint32]bool) {
	drop := func(at int) {
		dropped[half(f, at)] = true
		clear(f[at : at+4])
	}
	drop(funcFile)
	drop(funcLine)
	clear(f[funcUnit : funcStart+4])
	kept[half(f, funcStack)] = true
	count := int(half(f, funcCount))
	for k := range count {
		if at := funcTables + 4*k; k == tableUnsafePoint || k == tableLiveArgs {
			drop(at)
		} else {
			kept[half(f, at)] = true
		}
	}
	for _, k := range [...]int{factArgs, factLiveArgs} {
		if k < int(f[funcFacts]) {
			binary.LittleEndian.PutUint32(f[funcTables+4*(count+k):], none)
		}
	}
}

// none is the offset of a fact that a function does not have.
const none = 1<<32 - 1

// tableSize is the length of a table: pairs of numbers up to a zero where a pair would begin, the first pair aside.
func tableSize(t []byte) (size int) {
	for first := true; first || t[size] != 0; first = false {
		for range 2 {
			_, n := binary.Uvarint(t[size:])
			if n <= 0 {
				panic("a number that does not end")
			}
			size += n
		}
	}
	return size + 1
}
