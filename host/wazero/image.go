package wazero

import (
	"bytes"
	"errors"
	"os"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/turncore/turncore/internal/image"
)

// memoryImage is the memory that instances begin with. Where the system can map a file privately, they share its pages until
// they write to them; elsewhere each has a copy.
type memoryImage struct {
	file  *os.File // nil for a copy
	bytes []byte   // of the copy
	size  uint64
}

// hostPage is the part of memory that is left out of a file where it is empty.
const hostPage = 4096

// withoutData takes the data out of a module for instances to begin with. It returns the given module if that cannot be
// done, or is not wanted.
func (e *Engine) withoutData(module []byte) []byte {
	if e.config.copies {
		return module
	}
	bare, memory, ok := image.Split(module)
	if !ok {
		return module
	}
	p := &memoryImage{bytes: memory, size: uint64(len(memory))}
	if !e.config.heap {
		if file, err := imageFile(memory); err == nil {
			p.file, p.bytes = file, nil
		}
	}
	e.image = p
	return bare
}

// writeImage writes memory into a fresh file, without its empty pages.
func writeImage(file *os.File, memory []byte) error {
	if err := file.Truncate(int64(len(memory))); err != nil {
		return err
	}
	var empty [hostPage]byte
	for at := 0; at < len(memory); {
		start := at
		for at < len(memory) && !bytes.Equal(memory[at:at+hostPage], empty[:]) {
			at += hostPage
		}
		if at == start {
			at += hostPage
			continue
		}
		if _, err := file.WriteAt(memory[start:at], int64(start)); err != nil {
			return err
		}
	}
	return nil
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
