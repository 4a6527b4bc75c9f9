//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package wazero

import (
	"unsafe"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// mapping is a linear memory that reserves addresses for its maximum once: growing never copies, and pages that the
// guest does not touch cost nothing.
type mapping struct {
	reserved []byte
	size     uint64
}

// newMemory reserves limit bytes, which begin with the image; nil for an empty memory. If the system refuses, the
// memory is on Go's heap.
func newMemory(p *memoryImage, size, limit uint64) experimental.LinearMemory {
	if limit == 0 || limit != uint64(int(limit)) || p != nil && p.file == nil {
		return newHeapMemory(p, size, limit)
	}
	reserved, err := unix.Mmap(-1, 0, int(limit), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return newHeapMemory(p, size, limit)
	}
	m := &mapping{reserved: reserved}
	if p != nil {
		// In the place of its beginning: pages are the file's until they are written to.
		_, err := unix.MmapPtr(int(p.file.Fd()), 0, unsafe.Pointer(&reserved[0]), uintptr(p.size), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_FIXED)
		if err != nil {
			m.Free()
			return newHeapMemory(p, size, limit)
		}
		m.size = p.size
	}
	return m
}

// Reallocate makes the first size bytes usable. nil tells the guest that memory is exhausted.
func (m *mapping) Reallocate(size uint64) []byte {
	if size > uint64(len(m.reserved)) {
		return nil
	}
	if size > m.size {
		// From the start, so that the kernel keeps it as one area.
		if unix.Mprotect(m.reserved[:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
			return nil
		}
		m.size = size
	}
	return m.reserved[:size:size]
}

// Free releases the addresses.
func (m *mapping) Free() {
	if m.reserved != nil {
		_ = unix.Munmap(m.reserved) // fails only for addresses that are not mapped
		m.reserved, m.size = nil, 0
	}
}
