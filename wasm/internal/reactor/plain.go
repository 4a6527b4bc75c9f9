//go:build (wasip1 || js) && !baked

package reactor

// The host gives random bytes at the start.
var reseed func(seed []byte)
