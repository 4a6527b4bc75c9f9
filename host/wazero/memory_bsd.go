//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package wazero

import (
	"errors"
	"os"

	"github.com/turncore/turncore/internal/image"
)

// imageFile returns a file without a name that holds the image.
func imageFile(i *image.Image) (*os.File, error) {
	file, err := os.CreateTemp("", "turncore")
	if err != nil {
		return nil, err
	}
	memory := make([]byte, i.Size) // a mapping of the file would end the program where the disk is full
	i.Fill(memory)
	_, err = file.Write(memory)
	if err = errors.Join(err, os.Remove(file.Name())); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
