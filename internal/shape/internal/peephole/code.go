package peephole

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// Opcodes that the pass looks at. The others it only has to step over.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Load      = 0x28
	opI64Load      = 0x29
	opI32Load8U    = 0x2d
	opI64Load8U    = 0x31
	opI64Load16U   = 0x33
	opI64Load32U   = 0x35
	opI32Store     = 0x36
	opI64Store     = 0x37
	opI64Store8    = 0x3c
	opI64Store16   = 0x3d
	opI64Store32   = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32Ne        = 0x47
	opI32LtU       = 0x49
	opI32GeU       = 0x4f
	opI64Ne        = 0x52
	opI64Eqz       = 0x50
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32Or        = 0x72
	opI32Xor       = 0x73
	opI64Popcnt    = 0x7b
	opI64Add       = 0x7c
	opI64Shl       = 0x86
	opI32WrapI64   = 0xa7
	opI64ExtendI32 = 0xad // unsigned
	opPrefixFC     = 0xfc
)

// noResult is the type of a block that leaves nothing.
const noResult = -64

// instruction is one instruction of a function. Its meaning is in op and the operands; raw is how the file spells it,
// nil when the pass has changed or made it.
type instruction struct {
	op     byte
	raw    []byte
	x      int64  // index, depth, constant, alignment, or the number behind a prefix
	offset uint32 // of an access to memory
	table  []uint32
}

func (i *instruction) is(op byte, x int64) bool { return i.op == op && i.x == x }

func (i *instruction) isLoad() bool  { return i.op >= opI32Load && i.op <= opI64Load32U }
func (i *instruction) isLocal() bool { return i.op >= opLocalGet && i.op <= opLocalTee }
func (i *instruction) isStore() bool { return i.op >= opI32Store && i.op <= opI64Store32 }

// accessSizes are the bytes that the loads and stores from opI32Load on touch.
const accessSizes = "\x04\x08\x04\x08\x01\x01\x02\x02\x01\x01\x02\x02\x04\x04\x04\x08\x04\x08\x01\x02\x01\x02\x04"

// size is how many bytes a load or store touches.
func (i *instruction) size() uint32 { return uint32(accessSizes[i.op-opI32Load]) }

var errTruncated = errors.New("peephole: a function is truncated")

// decode reads the instructions of a function.
func decode(code []byte) ([]instruction, error) {
	var list []instruction
	for r := (wasmfile.Reader{Rest: code}); len(r.Rest) > 0; {
		start := len(code) - len(r.Rest)
		i, err := decodeOne(&r)
		if err != nil {
			return nil, err
		}
		i.raw = code[start : len(code)-len(r.Rest)]
		list = append(list, i)
	}
	return list, nil
}

func decodeOne(r *wasmfile.Reader) (i instruction, err error) {
	i.op = r.Byte()
	switch op := i.op; {
	case op == opUnreachable, op == opNop, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect,
		op >= opI32Eqz && op <= 0xc4:
	case op == opBlock, op == opLoop, op == opIf, op == opI32Const, op == opI64Const:
		i.x = r.Int()
	case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= opGlobalSet, op == opMemorySize, op == opMemoryGrow:
		i.x = int64(r.Uint())
	case op == opBrTable:
		for range min(r.Uint(), uint32(len(r.Rest))) + 1 { // the default comes last
			i.table = append(i.table, r.Uint())
		}
	case op == opCallIndirect:
		i.x = int64(r.Uint())
		r.Uint()
	case op >= opI32Load && op <= opI64Store32:
		i.x = int64(r.Uint())
		i.offset = r.Uint()
	case op == opF32Const:
		r.Bytes(4)
	case op == opF64Const:
		r.Bytes(8)
	case op == opPrefixFC:
		switch i.x = int64(r.Uint()); {
		case i.x <= 7: // conversions
		case i.x == 10: // memory.copy
			r.Bytes(2)
		case i.x == 11: // memory.fill
			r.Bytes(1)
		default:
			return i, fmt.Errorf("peephole: unknown instruction 0xfc %d", i.x)
		}
	default:
		return i, fmt.Errorf("peephole: unknown instruction %#x", op)
	}
	if r.Failed {
		return i, errTruncated
	}
	return i, nil
}

// encode appends the instructions as a file spells them.
func encode(b []byte, list []instruction) []byte {
	for k := range list {
		i := &list[k]
		if i.raw != nil {
			b = append(b, i.raw...)
			continue
		}
		b = append(b, i.op)
		switch op := i.op; {
		case op == opI32Const, op == opI64Const, op == opBlock, op == opLoop, op == opIf:
			b = wasmfile.AppendInt(b, i.x)
		case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= opGlobalSet:
			b = binary.AppendUvarint(b, uint64(i.x))
		case op >= opI32Load && op <= opI64Store32:
			b = binary.AppendUvarint(b, uint64(i.x))
			b = binary.AppendUvarint(b, uint64(i.offset))
		}
	}
	return b
}
