//go:build wasip1

// Command guest is an Extism plugin that asks its host for something, 1 KiB each way, and reads the answer. The imports
// are those of Extism's kernel, by name.
package main

import (
	"encoding/binary"
	"unsafe"
)

//go:wasmimport extism:host/env alloc
func extismAlloc(length uint64) uint64

//go:wasmimport extism:host/env free
func extismFree(offset uint64)

//go:wasmimport extism:host/env length
func extismLength(offset uint64) uint64

//go:wasmimport extism:host/env load_u64
func extismLoad(offset uint64) uint64

//go:wasmimport extism:host/env store_u64
func extismStore(offset, v uint64)

//go:wasmimport extism:host/env input_load_u64
func extismInput(offset uint64) uint64

//go:wasmimport extism:host/user effect
func effect(request uint64) uint64

// message is a multiple of eight bytes, so that the kernel's words suffice.
var message, answer [1024]byte

func main() {}

// effects asks as often as the first eight bytes of the input say.
//
//go:wasmexport effects
func effects() int32 {
	for range extismInput(0) {
		request := extismAlloc(uint64(len(message)))
		for at := 0; at < len(message); at += 8 {
			extismStore(request+uint64(at), binary.LittleEndian.Uint64(message[at:]))
		}
		result := effect(request)
		if extismLength(result) != uint64(unsafe.Sizeof(answer)) {
			return 1
		}
		for at := 0; at < len(answer); at += 8 {
			binary.LittleEndian.PutUint64(answer[at:], extismLoad(result+uint64(at)))
		}
		extismFree(request)
		extismFree(result)
	}
	return 0
}
