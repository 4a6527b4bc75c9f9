package metering

import (
	"fmt"
	"math/bits"

	"github.com/turncore/turncore/internal/wasmfile"
)

// Opcodes that are looked at or written.
const (
	opUnreachable   = 0x00
	opBlock         = 0x02
	opLoop          = 0x03
	opIf            = 0x04
	opElse          = 0x05
	opEnd           = 0x0b
	opBr            = 0x0c
	opBrIf          = 0x0d
	opBrTable       = 0x0e
	opReturn        = 0x0f
	opCall          = 0x10
	opCallIndirect  = 0x11
	opDrop          = 0x1a
	opSelect        = 0x1b
	opSelectTyped   = 0x1c
	opLocalGet      = 0x20
	opLocalTee      = 0x22
	opGlobalGet     = 0x23
	opGlobalSet     = 0x24
	opTableGet      = 0x25
	opTableSet      = 0x26
	opFirstAccess   = 0x28
	opLastAccess    = 0x3e
	opMemorySize    = 0x3f
	opMemoryGrow    = 0x40
	opI32Const      = 0x41
	opI64Const      = 0x42
	opF32Const      = 0x43
	opF64Const      = 0x44
	opFirstNumeric  = 0x45
	opI64LtS        = 0x53
	opI64Sub        = 0x7d
	opI64Shl        = 0x86
	opI64ShrU       = 0x88
	opI64ExtendI32U = 0xad
	opLastNumeric   = 0xc4
	opRefNull       = 0xd0
	opRefIsNull     = 0xd1
	opRefFunc       = 0xd2
	opPrefix        = 0xfc
	opVector        = 0xfd
)

const (
	typeI32  = 0x7f
	typeI64  = 0x7e
	noResult = 0x40
)

// pageSize is what memory.grow adds for each page.
const pageSize = 64 << 10

// deed is what metering does with an instruction.
type deed uint8

const (
	nothing deed = iota
	opensBlock
	opensLoop
	closes
	usesGlobal
	callsFunction
	worksInBulk
)

// instruction is what metering needs of an instruction.
type instruction struct {
	does     deed
	straight bool // what follows it is reached, unless it traps
	index    uint32
	shift    int // of one that works in bulk, as in place
}

// next reads an instruction.
func next(r *wasmfile.Reader) (i instruction, err error) {
	op := r.Byte()
	i.straight = true
	switch {
	case op == opUnreachable, op == opReturn:
		i.straight = false
	case op == 0x01: // nop
	case op == opBlock:
		i.does = opensBlock
		r.Int()
	case op == opLoop:
		i.does = opensLoop
		r.Int()
	case op == opIf:
		i.does, i.straight = opensBlock, false
		r.Int()
	case op == opElse:
		i.straight = false
	case op == opEnd:
		i.does, i.straight = closes, false
	case op == opBr, op == opBrIf:
		i.straight = false
		r.Uint()
	case op == opBrTable:
		i.straight = false
		for n := uint64(r.Uint()) + 1; n > 0 && !r.Failed; n-- { // the default comes last
			r.Uint()
		}
	case op == opCall:
		i.does, i.straight = callsFunction, false
		r.Uint()
	case op == opCallIndirect:
		i.does, i.straight = callsFunction, false
		r.Uint()
		r.Uint()
	case op == opDrop, op == opSelect:
	case op == opSelectTyped:
		r.Bytes(r.Uint())
	case op >= opLocalGet && op <= opLocalTee, op == opTableGet, op == opTableSet, op == opRefFunc:
		r.Uint()
	case op == opGlobalGet, op == opGlobalSet:
		i.does, i.index = usesGlobal, r.Uint()
	case op >= opFirstAccess && op <= opLastAccess:
		access(r)
	case op == opMemorySize:
		r.Byte()
	case op == opMemoryGrow:
		i.does, i.straight, i.shift = worksInBulk, false, -bits.TrailingZeros(pageSize/BytesOfUnit)
		r.Byte()
	case op == opI32Const, op == opI64Const:
		r.Int()
	case op == opF32Const:
		r.Bytes(4)
	case op == opF64Const:
		r.Bytes(8)
	case op >= opFirstNumeric && op <= opLastNumeric, op == opRefIsNull:
	case op == opRefNull:
		r.Byte()
	case op == opPrefix:
		err = i.prefixed(r)
	case op == opVector:
		err = vector(r)
	default:
		err = fmt.Errorf("it has the instruction %#x, which cannot be metered", op)
	}
	if r.Failed {
		return i, ErrMalformed
	}
	return i, err
}

// access reads the operands of a load or store.
func access(r *wasmfile.Reader) {
	r.Uint()
	r.Uint()
}

// prefixed reads an instruction behind opPrefix: a conversion, or one on many bytes or entries.
func (i *instruction) prefixed(r *wasmfile.Reader) error {
	switch op := r.Uint(); {
	case op <= 7: // conversions
		return nil
	case op == 9, op == 13: // data.drop, elem.drop
		r.Uint()
		return nil
	case op == 8, op == 10: // memory.init, memory.copy
		r.Uint()
		r.Byte()
	case op == 11: // memory.fill
		r.Byte()
	case op == 12, op == 14: // table.init, table.copy
		r.Uint()
		r.Uint()
	case op == 15, op == 17: // table.grow, table.fill
		r.Uint()
	case op == 16: // table.size
		r.Uint()
		return nil
	default:
		return fmt.Errorf("it has the instruction %#x %d, which cannot be metered", opPrefix, op)
	}
	i.does, i.straight, i.shift = worksInBulk, false, bits.TrailingZeros(BytesOfUnit)
	return nil
}

// vector reads an instruction on vectors of 128 bits.
func vector(r *wasmfile.Reader) error {
	switch op := r.Uint(); {
	case op <= 11, op == 92, op == 93: // loads and stores
		access(r)
	case op == 12, op == 13: // v128.const, i8x16.shuffle
		r.Bytes(16)
	case op >= 21 && op <= 34: // of a lane
		r.Byte()
	case op >= 84 && op <= 91: // loads and stores of a lane
		access(r)
		r.Byte()
	case op >= 256:
		return fmt.Errorf("it has the instruction %#x %d, which cannot be metered", opVector, op)
	}
	return nil
}
