package wazero

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// imageFile returns a file in memory that holds the image.
func imageFile(memory []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("turncore", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "turncore")
	if err := writeImage(file, memory); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
