// Package image takes the memory that a WebAssembly module begins with out of its file, so that a host can map it into
// each instance instead of copying it.
package image

import (
	"encoding/binary"

	"github.com/turncore/turncore/internal/wasmfile"
)

// pageSize is the size of a page of a WebAssembly memory.
const pageSize = 1 << 16

// maxBytes bounds the memory of an image.
const maxBytes = 64 << 20

// The instructions of offsets.
const (
	opEnd      = 0x0b
	opI32Const = 0x41
)

// flagsActive are the flags of a segment of memory 0 that is copied when an instance starts.
const flagsActive = 0

// Image is the memory that a module begins with, up to the last page that is not empty.
type Image struct {
	Size     int // in bytes, of whole pages
	segments []segment
}

// segment are bytes at a place.
type segment struct {
	at    uint64
	bytes []byte
}

// Fill writes the image into a memory of zeros of its size. The bytes are those of the module that was split.
func (i *Image) Fill(memory []byte) {
	for _, s := range i.segments {
		copy(memory[s.at:], s.bytes)
	}
}

// Split returns a module without the data that an instance begins with, and the memory that these data make. An
// instance of that module whose memory begins with the image is one of the given module. Both may share memory with the
// module.
//
// The image is nil for a module that is malformed, or whose first memory depends on anything but the file, and for one
// without data: it is to be started as it is.
func Split(module []byte) (bare []byte, i *Image) {
	r := wasmfile.Reader{Rest: module}
	if string(r.Bytes(uint32(len(wasmfile.Header)))) != wasmfile.Header {
		return nil, nil
	}
	s := splitter{module: module}
	for len(r.Rest) > 0 {
		s.start = len(module) - len(r.Rest)
		id, body := r.Section()
		s.next = len(module) - len(r.Rest)
		if r.Failed || !s.section(id, body) {
			return nil, nil
		}
	}
	if s.end == 0 {
		return nil, nil
	}
	s.image.Size = int((s.end + pageSize - 1) / pageSize * pageSize)
	return s.bare, &s.image
}

// splitter is a module on its way.
type splitter struct {
	module      []byte
	start, next int    // of the section and behind it
	bare        []byte // nil before the data

	size    uint64 // of the memory at first
	counted bool   // code may name segments: they stay, empty
	image   Image
	end     uint64 // of the data that are not empty
}

// section takes a section over. It reports false if the module cannot be split.
func (s *splitter) section(id byte, body []byte) bool {
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
		left, ok := s.data(&r)
		if !ok || s.bare != nil {
			return false
		}
		s.bare = s.module[:s.start:s.start]
		if s.counted {
			s.bare = wasmfile.AppendSized(append(s.bare, wasmfile.Data), left)
		}
		return true
	}
	// Custom sections behind the data tell an engine nothing.
	return !r.Failed && (s.bare == nil || id == wasmfile.Custom)
}

// data notes the segments, and returns the section with empty ones.
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
		if len(bytes) > 0 {
			s.end = max(s.end, end)
			s.image.segments = append(s.image.segments, segment{at, bytes})
		}
	}
	return left, !r.Failed && len(r.Rest) == 0
}
