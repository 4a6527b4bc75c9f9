package wazero

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/turncore/turncore/internal/image"
)

// imageFile returns a file in memory that holds the image.
func imageFile(i *image.Image) (*os.File, error) {
	fd, err := unix.MemfdCreate("turncore", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "turncore")
	if err := fillFile(file, i); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// fillFile writes an image into an empty file. Its pages that are empty take no space.
func fillFile(file *os.File, i *image.Image) error {
	if err := file.Truncate(int64(i.Size)); err != nil {
		return err
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, i.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	i.Fill(memory)
	return unix.Munmap(memory)
}
