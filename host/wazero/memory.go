package wazero

import (
	"io"

	"github.com/tetratelabs/wazero/experimental"
)

// heapMemory is a linear memory on Go's heap.
type heapMemory struct {
	bytes []byte
	limit uint64
}

// newHeapMemory returns a memory that begins with a copy of the image; nil for an empty one.
func newHeapMemory(p *memoryImage, size, limit uint64) experimental.LinearMemory {
	m := &heapMemory{bytes: make([]byte, size), limit: limit}
	switch {
	case p == nil:
	case p.copy != nil:
		p.copy.Fill(m.bytes)
	default:
		if _, err := io.ReadFull(io.NewSectionReader(p.file, 0, int64(p.size)), m.bytes[:p.size]); err != nil {
			panic(err) // ends the start of the instance
		}
	}
	m.bytes = m.bytes[:0]
	return m
}

// Reallocate copies the memory if its capacity does not suffice.
func (m *heapMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		return nil
	}
	if size > uint64(cap(m.bytes)) {
		grown := make([]byte, size, min(size+size/4, m.limit))
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes = m.bytes[:size]
	return m.bytes
}

// Free drops the memory.
func (m *heapMemory) Free() { m.bytes = nil }
