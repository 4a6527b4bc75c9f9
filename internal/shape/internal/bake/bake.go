// Package bake starts a module of Go's for WASI while it is built, and writes down what the start has made: the memory
// and the globals of the file that it returns are those of an initialised instance. A host calls _initialize as it does
// for every module; here the function does nothing.
//
// The bytes depend on the file alone. The start sees no arguments, no environment, clocks that stand at their lowest
// reading, and the same random bytes each time. No host's clock shows less, so that no time lies before the start.
// Everybody knows the random bytes: a program that is baked must draw others before it takes input.
package bake

import (
	"context"
	"crypto/sha256"
)

// entropy are the random bytes that a start sees.
var entropy = sha256.Sum256([]byte("turncore"))

// Module returns a file whose instances begin as those of the given one are after _initialize. Its data are one
// segment.
func Module(ctx context.Context, file []byte) ([]byte, error) {
	m, err := parse(file)
	if err != nil {
		return nil, err
	}
	made, err := m.start(ctx)
	if err != nil {
		return nil, err
	}
	return m.encode(made), nil
}
