//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package wazero

import (
	"errors"
	"os"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/turncore/turncore/internal/image"
)

// newMemory keeps the memory on Go's heap: this file has no way to reserve addresses on this system.
func newMemory(p *memoryImage, size, limit uint64) experimental.LinearMemory {
	return newHeapMemory(p, size, limit)
}

// imageFile fails: each instance copies the image.
func imageFile(*image.Image) (*os.File, error) { return nil, errors.ErrUnsupported }
