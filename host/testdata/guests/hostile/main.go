//go:build wasip1

// Command hostile is a guest for tests of hosts: every step does what its input says, and most of that is what a guest
// must never do.
package main

import (
	"bytes"
	"os"
	"time"
	"unsafe"
)

var (
	inbox   []byte
	outbox  []byte
	hoard   [][]byte
	garbage []byte
)

//go:wasmexport turncore_abi
func version() int32 { return 2 << 16 }

//go:wasmexport turncore_inbox
func open(size int32) int32 {
	switch {
	case bytes.HasPrefix(inbox, []byte("inbox out of range")):
		return -16
	case bytes.HasPrefix(inbox, []byte("inbox panic")):
		panic("no inbox today")
	case size > 16<<20:
		return 0
	}
	if cap(inbox) <= int(size) {
		inbox = make([]byte, size+4096)
	}
	inbox = inbox[:size+1]
	return pointer(inbox)
}

//go:wasmexport turncore_step
func step(size int32) int64 {
	in := inbox[:size]
	if size == 0 || in[0] == 0 { // an echo of what follows, at no cost that a benchmark would see
		outbox = append(outbox[:0], in[min(size, 1):]...)
		inbox[size] = 0
		return int64(pointer(outbox))<<32 | int64(len(outbox))
	}
	switch string(in) {
	case "panic":
		println("about to fall")
		panic("the floor is gone")
	case "exit":
		os.Exit(3)
	case "deadlock":
		<-make(chan struct{})
	case "spin":
		for {
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "16 naps":
		napOften(16)
	case "17 naps":
		napOften(17)
	case "overflow":
		outbox = []byte{byte(recurse(make([]byte, 64)))}
	case "hoard":
		for {
			hoard = append(hoard, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "churn":
		for range 1000 {
			garbage = bytes.Repeat([]byte{1}, 64<<10)
		}
	case "flood":
		for range 10_000 {
			println("the same line again and again")
		}
		println("the last line")
	case "flood panic":
		for range 10_000 {
			println("the same line again and again")
		}
		panic("drowned")
	case "outbox out of range":
		inbox[size] = 0
		return -1<<32 | 16 // at 0xffffffff
	case "outbox too long":
		inbox[size] = 0
		return int64(pointer(inbox))<<32 | 0xffffffff
	case "outbox too large":
		if cap(outbox) < 48<<20+1 {
			outbox = make([]byte, 48<<20+1)
		}
		outbox = outbox[:48<<20+1]
	case "no mark":
		return 0
	case "half mark":
		inbox[size] = 1
		return 0
	case "garbage":
		outbox = []byte{0xc1, 0xff, 0x93}
	case "inbox out of range", "inbox panic":
		outbox = outbox[:0]
	default:
		panic("unknown command")
	}
	inbox[size] = 0
	return int64(pointer(outbox))<<32 | int64(len(outbox))
}

//go:wasmimport wasi_snapshot_preview1 poll_oneoff
func poll(in, out unsafe.Pointer, subscriptions uint32, events unsafe.Pointer) uint32

// napOften asks the host for half a millisecond, so many times. time.Sleep would ask as often as its clock makes it.
func napOften(times int) {
	subscription := [6]uint64{2: 1, 3: 500_000} // of the monotonic clock, ns from the call on
	var event [4]uint64
	var events uint32
	for range times {
		if poll(unsafe.Pointer(&subscription), unsafe.Pointer(&event), 1, unsafe.Pointer(&events)) != 0 || events != 1 {
			panic("no nap")
		}
	}
}

func recurse(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	var frame [256]byte
	copy(frame[:], b)
	return recurse(frame[:64]) + int(frame[1])
}

func pointer(b []byte) int32 { return int32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func main() {}
