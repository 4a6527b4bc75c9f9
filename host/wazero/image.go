package wazero

import (
	"errors"
	"os"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/turncore/turncore/internal/image"
)

// memoryImage is the memory that instances begin with. Where the system can map a file privately, they share its pages
// until they write to them; elsewhere each has a copy.
type memoryImage struct {
	file *os.File     // nil for a copy
	copy *image.Image // what is copied; nil for a file
	size uint64
}

// withoutData takes the data out of a module for instances to begin with, once fill has returned. It returns the given
// module if that cannot be done, or is not wanted.
func (e *Engine) withoutData(module []byte) (bare []byte, fill func()) {
	fill = func() {}
	if e.config.copies {
		return module, fill
	}
	bare, data := image.Split(module)
	if data == nil {
		return module, fill
	}
	e.image = &memoryImage{copy: data, size: uint64(data.Size)}
	if !e.config.heap {
		fill = func() {
			if file, err := imageFile(data); err == nil {
				e.image.file, e.image.copy = file, nil
			}
		}
	}
	return bare, fill
}

// allocate makes the memory of an instance.
func (e *Engine) allocate(size, limit uint64) experimental.LinearMemory {
	if e.config.heap {
		return newHeapMemory(e.image, size, limit)
	}
	return newMemory(e.image, size, limit)
}

// close frees what the image holds besides the memories of instances.
func (p *memoryImage) close() error {
	if p == nil || p.file == nil {
		return nil
	}
	if err := p.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
