package metering

import (
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// Opcodes that are written.
const (
	opUnreachable   = 0x00
	opIf            = 0x04
	opElse          = 0x05
	opEnd           = 0x0b
	opCall          = 0x10
	opLocalGet      = 0x20
	opLocalTee      = 0x22
	opGlobalGet     = 0x23
	opGlobalSet     = 0x24
	opI64Const      = 0x42
	opI64LtS        = 0x53
	opI64GeS        = 0x59
	opI64Sub        = 0x7d
	opI64Shl        = 0x86
	opI64ShrU       = 0x88
	opI64ExtendI32U = 0xad
)

// What instructions of two numbers begin with.
const (
	prefixNumeric = 0xfc
	prefixVector  = 0xfd
)

const (
	typeI32  = 0x7f
	typeI64  = 0x7e
	noResult = 0x40
)

// deed is what metering does with an instruction.
type deed uint8

const (
	nothing deed = iota
	opensBlock
	opensLoop
	closes
	callsFunction
	worksInBulk
)

// instruction is what metering needs to know of an instruction.
type instruction struct {
	known    bool
	operands string // see gen
	does     deed
	jumps    bool  // the next instruction may not be reached, or only later
	more     uint8 // instructions that it counts as besides: it takes long
	shift    int8  // of one that works in bulk, as in place
}

//go:generate go run ./gen

// Operands returns the operands of an instruction without a prefix, in the letters that gen explains. known is false
// for one that metering refuses.
func Operands(code byte) (operands string, known bool) {
	return plain[code].operands, plain[code].known
}

// Pass reads over the instruction that r begins with. It fails for one that metering refuses.
func Pass(r *wasmfile.Reader, has *wasmfile.Scope) error {
	_, _, err := next(r, has)
	return err
}

// next reads an instruction, which names nothing but what is there. labels is how many a branch table has.
func next(r *wasmfile.Reader, has *wasmfile.Scope) (i *instruction, labels int, err error) {
	op := uint32(r.Byte())
	table := &plain
	switch op {
	case prefixNumeric:
		table, op = &numeric, r.Uint()
	case prefixVector:
		table, op = &vector, r.Uint()
	}
	if op < uint32(len(table)) {
		i = &table[op]
	}
	switch {
	case r.Failed:
		return nil, 0, ErrMalformed
	case i == nil || !i.known:
		return nil, 0, unknown(table, op)
	}
	for k := range len(i.operands) {
		switch operand := i.operands[k]; operand {
		case 'u':
			r.Uint()
		case 'f':
			r.Index(has.Functions)
		case 'g':
			r.Index(has.Globals)
		case 'y':
			r.Index(has.Types)
		case 'b':
			if r.Int() >= int64(has.Types) { // a negative number is a type of its own
				return nil, 0, ErrMalformed
			}
		case 'i':
			r.Int()
		case 'v':
			r.Bytes(16)
		case 's':
			r.Bytes(r.Uint())
		case 't':
			for n := uint64(r.Uint()) + 1; n > 0 && !r.Failed; n-- { // the default comes last
				r.Uint()
				labels++
			}
		default:
			r.Bytes(uint32(operand - '0'))
		}
	}
	if r.Failed {
		return nil, 0, ErrMalformed
	}
	return i, labels, nil
}

func unknown(table *[256]instruction, op uint32) error {
	switch table {
	case &numeric:
		return fmt.Errorf("it has the instruction %#x %d, which cannot be metered", prefixNumeric, op)
	case &vector:
		return fmt.Errorf("it has the instruction %#x %d, which cannot be metered", prefixVector, op)
	}
	return fmt.Errorf("it has the instruction %#x, which cannot be metered", op)
}
