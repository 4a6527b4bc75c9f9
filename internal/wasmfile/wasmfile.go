// Package wasmfile reads and writes the binary format of WebAssembly: the sections of a file, and what they consist of.
package wasmfile

import "encoding/binary"

// Header is what a file of version 1 begins with; sections follow it.
const Header = "\x00asm\x01\x00\x00\x00"

// Sections.
const (
	Custom = iota
	Type
	Import
	Function
	Table
	Memory
	Global
	Export
	Start   // the function to start with
	Element // elements of tables
	Code
	Data
	DataCount
)

// Reader reads from front to back. What is malformed or missing reads as zero and ends it: nothing is left then.
type Reader struct {
	Rest   []byte
	Failed bool
}

func (r *Reader) fail() { r.Rest, r.Failed = nil, true }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// Bytes reads n bytes, without a copy.
func (r *Reader) Bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.Rest)) {
		r.fail()
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// Uint reads an unsigned number.
func (r *Reader) Uint() uint32 {
	n, size := binary.Uvarint(r.Rest)
	if size <= 0 || size > 5 || n > 1<<32-1 {
		r.fail()
		return 0
	}
	r.Rest = r.Rest[size:]
	return uint32(n)
}

// Int reads a signed number.
func (r *Reader) Int() (v int64) {
	for shift := 0; shift < 70; shift += 7 {
		x := r.Byte()
		v |= int64(x&0x7f) << shift
		if x&0x80 == 0 {
			if shift < 57 && x&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail()
	return 0
}

// Name reads a text.
func (r *Reader) Name() string { return string(r.Bytes(r.Uint())) }

// Section reads a section.
func (r *Reader) Section() (id byte, body []byte) {
	id = r.Byte()
	return id, r.Bytes(r.Uint())
}

// AppendInt appends a signed number.
func AppendInt(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// AppendSized appends bytes behind their number, as sections and functions are.
func AppendSized(b, sized []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(sized))), sized...)
}
