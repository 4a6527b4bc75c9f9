//go:build wasip1 || js

// Package reactor has the three exports of the ABI: a module that links it is package guest behind them.
package reactor

import (
	"unsafe"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/internal/guest"
)

var instance *guest.Instance

// fronts opens what the full module has beside turns; nil in the core.
var fronts func(*guest.Instance)

// Serve makes g what the exports run. It is called once, before the module has started.
func Serve(g *guest.Instance) {
	instance = g
	if fronts != nil {
		fronts(g)
	}
	g.RunOn(guest.Platform{Reseed: reseed, SetGCPercent: func(percent int32) { setGCPercent(percent) }})
}

// setGCPercent is debug.SetGCPercent without what else runtime/debug links.
//
//go:linkname setGCPercent runtime/debug.setGCPercent
func setGCPercent(percent int32) (before int32)

// inbox is the buffer that the last turncore_inbox gave.
var inbox []byte

// markDone is what a step that completes leaves in the byte behind its input, where the host has put another.
const markDone = 0x00

//go:wasmexport turncore_abi
func turncoreABI() int32 { return abi.Version }

//go:wasmexport turncore_inbox
func turncoreInbox(size int32) int32 {
	inbox = instance.Inbox(uint32(size))
	if inbox == nil {
		return 0
	}
	return int32(uintptr(unsafe.Pointer(unsafe.SliceData(inbox))))
}

//go:wasmexport turncore_step
func turncoreStep(size int32) int64 {
	if size < 0 || int(size) >= len(inbox) {
		panic("turncore_step: more bytes than the inbox has")
	}
	out := instance.Step(inbox[:size])
	inbox[size] = markDone
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(out))))<<32 | int64(len(out))
}
