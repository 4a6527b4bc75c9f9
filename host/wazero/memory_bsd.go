//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package wazero

import (
	"errors"
	"os"
)

// imageFile returns a file without a name that holds the image.
func imageFile(memory []byte) (*os.File, error) {
	file, err := os.CreateTemp("", "turncore")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Remove(file.Name()), writeImage(file, memory)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
