// Package journal records the frames between one turn, or one invocation, and its instance. It plays them back into
// another instance, of any engine, to check that the answers are the same.
//
// A journal is a file of consecutive msgpack values: a map, the [Header], then an array of two byte strings for every
// step with frames of the turn: the inbound frames and the outbound ones. The first entry also holds the frames that
// the turn depends on: Hello, its runners and histories, and the answers to them.
package journal

import (
	"fmt"

	"github.com/turncore/turncore/abi"
)

// Version of the format.
const Version = 1

// Header describes a recording.
type Header struct {
	ABI      uint32       // the host's ABI version, major in the high 16 bits
	Features abi.Features // in force
	Module   string       // SHA-256 of the module in hex, or "native"
	Engine   string       // "wazero", "native", "node", …
	Turn     uint32       // the turn's number in its instance
}

// Entry is one step.
type Entry struct {
	In, Out []byte
}

// Filter appends the frames of a batch that belong to a turn to dst. It omits frames that belong to no turn, such as
// those about runners and histories.
func Filter(dst, batch []byte, turn uint32) ([]byte, error) {
	for len(batch) > 0 {
		op, frame, rest, err := abi.Next(batch, abi.Limits{})
		if err != nil {
			return dst, fmt.Errorf("journal: %w", err)
		}
		if of, ok := turnOf(op, frame); ok && of == turn {
			dst = append(dst, frame...)
		}
		batch = rest
	}
	return dst, nil
}

// turnOf returns the turn of a frame, which is always its second element.
func turnOf(op abi.Op, frame []byte) (turn uint32, ok bool) {
	switch {
	case op >= abi.OpStartTurn && op <= abi.OpTick, op == abi.OpStartInvocation, op >= abi.OpReply && op <= abi.OpFault:
	default:
		return 0, false
	}
	at := 2 // after the array's first byte and the op
	switch frame[0] {
	case 0xdc:
		at += 2
	case 0xdd:
		at += 4
	}
	if at >= len(frame) {
		return 0, false
	}
	size := 0
	switch first := frame[at]; first {
	case 0xcc, 0xcd, 0xce:
		size = 1 << (first - 0xcc)
	default:
		return uint32(first), first < 0x80
	}
	for _, b := range frame[at+1:][:size] { // the scan has checked that they exist
		turn = turn<<8 | uint32(b)
	}
	return turn, true
}
