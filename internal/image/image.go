// Package image takes the memory that a WebAssembly module begins with out of its file, so that a host can map it into
// each instance instead of copying it.
package image

import (
	"encoding/binary"

	"github.com/turncore/turncore/internal/wasmfile"
)

// pageSize is the size of a page of a WebAssembly memory.
const pageSize = 1 << 16

// maxBytes bounds the memory of an image: its beginning is in the host's memory while it is made.
const maxBytes = 64 << 20

// The instructions of offsets.
const (
	opEnd      = 0x0b
	opI32Const = 0x41
)

// flagsActive are the flags of a segment of memory 0 that is copied when an instance starts.
const flagsActive = 0

// Split returns a module without the data that an instance begins with, and the memory that these data make, up to the
// last page that is not empty. An instance of that module whose memory begins with these bytes is one of the given
// module.
//
// ok is false for a module that is malformed, or whose first memory depends on anything but the file, and for one without
// data: it is to be started as it is.
func Split(module []byte) (bare, memory []byte, ok bool) {
	s := splitter{out: append(make([]byte, 0, len(module)), wasmfile.Header...)}
	r := wasmfile.Reader{Rest: module}
	if string(r.Bytes(uint32(len(wasmfile.Header)))) != wasmfile.Header {
		return nil, nil, false
	}
	for len(r.Rest) > 0 {
		if !s.section(r.Section()) || r.Failed {
			return nil, nil, false
		}
	}
	if s.end == 0 {
		return nil, nil, false
	}
	return s.out, s.memory[:(s.end+pageSize-1)/pageSize*pageSize], true
}

// splitter is a module on its way.
type splitter struct {
	out     []byte
	size    uint64 // of the memory at first
	counted bool   // code may name segments: they stay, empty
	memory  []byte
	end     uint64 // of the data
}

// section takes a section over. ok is false if the module cannot be split.
func (s *splitter) section(id byte, body []byte) (ok bool) {
	r := wasmfile.Reader{Rest: body}
	switch id {
	case wasmfile.Memory:
		if n, flags := r.Uint(), r.Byte(); n != 1 || flags > 1 { // shared, or of 64 bits
			return false
		}
		s.size = uint64(r.Uint()) * pageSize
	case wasmfile.DataCount:
		s.counted = true
	case wasmfile.Data:
		var left []byte
		if left, ok = s.data(&r); !ok {
			return false
		}
		if !s.counted {
			return true
		}
		body = left
	}
	s.out = wasmfile.AppendSized(append(s.out, id), body)
	return !r.Failed
}

// data copies the data to their places, and returns the section with empty segments.
func (s *splitter) data(r *wasmfile.Reader) (left []byte, ok bool) {
	n := r.Uint()
	left = binary.AppendUvarint(nil, uint64(n))
	for ; n > 0 && !r.Failed; n-- {
		start := r.Rest
		if r.Uint() != flagsActive || r.Byte() != opI32Const {
			return nil, false
		}
		at := uint64(uint32(r.Int()))
		if r.Byte() != opEnd {
			return nil, false
		}
		left = append(append(left, start[:len(start)-len(r.Rest)]...), 0)
		bytes := r.Bytes(r.Uint())
		end := at + uint64(len(bytes))
		if end > min(s.size, maxBytes) {
			return nil, false
		}
		if end > s.end && len(bytes) > 0 {
			s.end = end
			if pages := (end + pageSize - 1) / pageSize * pageSize; pages > uint64(len(s.memory)) {
				s.memory = append(s.memory, make([]byte, pages-uint64(len(s.memory)))...)
			}
		}
		copy(s.memory[min(at, uint64(len(s.memory))):], bytes)
	}
	return left, !r.Failed && len(r.Rest) == 0
}
