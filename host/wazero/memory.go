package wazero

import "github.com/tetratelabs/wazero/experimental"

// heapMemory is a linear memory on Go's heap.
type heapMemory struct {
	bytes []byte
	limit uint64
}

func newHeapMemory(size, limit uint64) experimental.LinearMemory {
	return &heapMemory{bytes: make([]byte, 0, size), limit: limit}
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
