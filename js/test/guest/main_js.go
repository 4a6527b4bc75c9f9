package main

import "unsafe"

// main keeps the program alive, so that its exports can be called.
func main() { select {} }

// random is WASI's; here there is none.
func random(unsafe.Pointer, uint32) uint32 { return 0 }
