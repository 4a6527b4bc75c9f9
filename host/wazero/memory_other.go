//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package wazero

import "github.com/tetratelabs/wazero/experimental"

// newMemory keeps the memory on Go's heap, as this system's way to reserve addresses is not known here.
func newMemory(size, limit uint64) experimental.LinearMemory { return newHeapMemory(size, limit) }
