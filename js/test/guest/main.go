//go:build wasip1 || js

// Command guest is a module for the tests of the JavaScript host. It answers hello, and does to its host what a frame
// asks for: echo it, or one of the ways in which a guest can go wrong.
package main

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// An order is the array [100, number]; what follows the orders in a step is echoed.
const (
	orderPanic = iota
	orderExit
	orderDeadlock
	orderSleep
	orderRecurse
	orderFlood
	orderPrint
	orderGrow
	orderFarOutbox
	orderLongOutbox
	orderGarbage
	orderKeepMarker
	orderEnv
	orderClock
	orderRandom
)

const inboxLimit = 1 << 20

var (
	inbox  []byte
	outbox []byte
	held   [][]byte
)

//go:wasmexport turncore_abi
func version() int32 { return 2 << 16 }

//go:wasmexport turncore_inbox
func room(size int32) int32 {
	if size > inboxLimit {
		return 0
	}
	if len(inbox) < int(size)+1 {
		inbox = make([]byte, size+1)
	}
	return int32(uintptr(unsafe.Pointer(&inbox[0])))
}

//go:wasmexport turncore_step
func step(size int32) int64 {
	in := inbox[:size]
	outbox = outbox[:0]
	ptr, keepMarker := int64(0), false
	switch {
	case len(in) > 1 && in[0] == 0x97 && in[1] == 1: // hello
		// welcome, with limits that leave the host's, but for frames of 1 MiB
		outbox = append(outbox, 0x98, 33, 2, 0, 0x0f, 0x96, 0xce, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x92, 0, 0, 0xa4, 't', 'e', 's', 't', 0x90)
	case len(in) == 3 && in[0] == 0x92 && in[1] == 100:
		ptr, keepMarker = obey(in[2])
	default:
		outbox = append(outbox, in...)
	}
	if !keepMarker {
		inbox[size] = 0
	}
	if ptr == 0 && len(outbox) > 0 {
		ptr = int64(uintptr(unsafe.Pointer(&outbox[0])))<<32 | int64(len(outbox))
	}
	return ptr
}

func obey(order byte) (ptr int64, keepMarker bool) {
	switch order {
	case orderPanic:
		panic("asked to panic")
	case orderExit:
		os.Exit(3)
	case orderDeadlock:
		select {}
	case orderSleep:
		time.Sleep(50 * time.Millisecond)
	case orderRecurse:
		println(recurse(1 << 30))
	case orderFlood:
		for {
			println("flood")
		}
	case orderPrint:
		println("first line")
		println("second line")
		os.Stderr.WriteString("half a ")
	case orderGrow:
		held = append(held, make([]byte, 8<<20))
		outbox = append(outbox, 0x91, 7)
	case orderFarOutbox:
		far := uint64(0xfffffff0)
		return int64(far<<32 | 4), false
	case orderLongOutbox:
		return 16<<32 | 0xffffffff, false
	case orderGarbage:
		outbox = append(outbox, 0xc1, 0xc1)
	case orderKeepMarker:
		outbox = append(outbox, 0x91, 7)
		return 0, true
	case orderEnv:
		outbox = append(outbox, 0x92, 7, byte(len(syscall.Environ())))
	case orderClock:
		// Two readings of both clocks, the way Go's runtime asks.
		a, b := time.Now(), time.Now()
		outbox = append(outbox, 0x94, 7, bit(!b.Before(a)), bit(b.Sub(a) >= 0), bit(a.Year() > 2020))
	case orderRandom:
		b := make([]byte, 200_000)
		random(unsafe.Pointer(&b[0]), uint32(len(b)))
		zeros := 0
		for _, c := range b[len(b)-1000:] {
			if c == 0 {
				zeros++
			}
		}
		outbox = append(outbox, 0x92, 7, bit(zeros < 100))
	}
	return 0, false
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

//go:noinline
func recurse(n int) int {
	if n == 0 {
		return 0
	}
	return recurse(n-1) + 1
}
