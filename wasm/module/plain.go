//go:build (wasip1 || js) && !baked

package main

// The host gives random bytes at the start.
var reseed func(seed []byte)
