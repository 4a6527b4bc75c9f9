package main

import "unsafe"

// main never runs: the module is a reactor.
func main() {}

//go:wasmimport wasi_snapshot_preview1 random_get
func random(at unsafe.Pointer, size uint32) uint32
