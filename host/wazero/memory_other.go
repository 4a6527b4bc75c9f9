//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package wazero

import "github.com/tetratelabs/wazero/experimental"

// newMemory keeps the memory on Go's heap: this file has no way to reserve addresses on this system.
func newMemory(size, limit uint64) experimental.LinearMemory { return newHeapMemory(size, limit) }
