package metering

import (
	"encoding/binary"
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// function meters one function after the other.
type function struct {
	file   []byte // as the file has it
	locals int    // the bytes of file that declare locals
	groups uint32 // of locals of one type
	spare  uint32 // the first local that the function does not have
	refuel uint32 // the function that is called when the fuel is used up
	global uint32 // the index of the fuel

	blocks  int // that it opens
	labels  int // of its branch tables
	list    []place
	costs   []uint64 // of regions: the function, without its loops, and each loop without the loops in it
	open    []int    // regions of the blocks around an instruction, from outside
	pays    bool     // at its beginning
	bulk    bool     // it needs a local to count with
	written []byte
}

// place is where something is paid.
type place struct {
	at     int // in the file
	region int // of the loop that begins there; 0 for an instruction that works on many bytes
	shift  int // how a unit counts what the instruction works on: to the right, or to the left if it is negative
}

// read reads a function with so many parameters. What metering adds comes behind what the module has.
func (f *function) read(file []byte, params uint32, has *wasmfile.Scope) error {
	*f = function{
		file: file, refuel: has.Functions, global: has.Globals, list: f.list[:0], costs: append(f.costs[:0], 0), open: append(f.open[:0], 0), written: f.written[:0],
	}
	if len(file) > MaxBody {
		return fmt.Errorf("it has %d bytes, more than %d", len(file), MaxBody)
	}
	r := wasmfile.Reader{Rest: file}
	locals, groups := r.Locals()
	locals += uint64(params)
	f.groups = groups
	switch {
	case r.Failed:
		return ErrMalformed
	case locals > MaxLocals:
		return fmt.Errorf("it has %d locals, more than %d", locals, MaxLocals)
	}
	f.spare, f.locals = uint32(locals), len(file)-len(r.Rest)
	first := true // the loop that comes next is reached whenever the function is entered
	calls := false
	for len(r.Rest) > 0 && len(f.open) > 0 {
		start := len(file) - len(r.Rest)
		i, labels, err := next(&r, has)
		if err != nil {
			return err
		}
		region := f.open[len(f.open)-1]
		f.costs[region] += 1 + uint64(i.more)
		f.labels += labels
		switch i.does {
		case opensBlock:
			f.blocks++
			f.open = append(f.open, region)
		case opensLoop:
			f.blocks++
			f.costs = append(f.costs, 0)
			region = len(f.costs) - 1
			f.open = append(f.open, region)
			f.list = append(f.list, place{at: len(file) - len(r.Rest), region: region})
			if first && region == 1 {
				f.pays = false
				first = false
			}
		case closes:
			f.open = f.open[:len(f.open)-1]
		case callsFunction:
			f.costs[region] += ShortFunction
			calls = true
		case worksInBulk:
			f.bulk = true
			f.list = append(f.list, place{at: start, shift: int(i.shift)})
		}
		if first && i.jumps {
			f.pays, first = true, false
		}
	}
	switch {
	case len(r.Rest) > 0 || len(f.open) > 0:
		return ErrMalformed
	case f.blocks > MaxBlocks:
		return fmt.Errorf("it has %d blocks, more than %d", f.blocks, MaxBlocks)
	case f.labels > MaxLabels:
		return fmt.Errorf("its branch tables have %d labels, more than %d", f.labels, MaxLabels)
	}
	switch loops := len(f.costs) > 1; {
	case !loops && !calls && !f.bulk && f.costs[0] <= ShortFunction:
		f.pays = false
	case !loops:
		f.pays = true
	case !f.pays: // the loop at the beginning pays for the function too
		f.costs[1] += f.costs[0]
	}
	return nil
}

// write returns the function with what it pays. The result is overwritten by the next function.
func (f *function) write() []byte {
	if f.bulk {
		before := wasmfile.Reader{Rest: f.file[:f.locals]}
		before.Uint()
		f.written = append(binary.AppendUvarint(f.written, uint64(f.groups)+1), before.Rest...)
		f.written = append(f.written, 1, typeI32)
	} else {
		f.written = append(f.written, f.file[:f.locals]...)
	}
	if f.pays {
		f.pay(f.costs[0])
	}
	at := f.locals
	for _, p := range f.list {
		f.written = append(f.written, f.file[at:p.at]...)
		at = p.at
		if p.region > 0 {
			f.pay(f.costs[p.region])
		} else {
			f.payForBulk(p.shift)
		}
	}
	return append(f.written, f.file[at:]...)
}

// pay writes the instructions that pay for a number of instructions.
func (f *function) pay(instructions uint64) {
	f.get()
	f.written = append(f.written, opI64Const)
	f.written = wasmfile.AppendInt(f.written, int64(1+instructions/InstructionsOfUnit))
	f.settle()
}

// payForBulk writes the instructions that pay for as many bytes as the operand on top of the stack says, and leave it
// there.
func (f *function) payForBulk(shift int) {
	f.written = binary.AppendUvarint(append(f.written, opLocalTee), uint64(f.spare))
	f.get()
	f.written = binary.AppendUvarint(append(f.written, opLocalGet), uint64(f.spare))
	f.written = append(f.written, opI64ExtendI32U, opI64Const)
	if shift >= 0 {
		f.written = append(wasmfile.AppendInt(f.written, int64(shift)), opI64ShrU)
	} else {
		f.written = append(wasmfile.AppendInt(f.written, int64(-shift)), opI64Shl)
	}
	f.settle()
}

// get writes the instruction that pushes the fuel.
func (f *function) get() {
	f.written = binary.AppendUvarint(append(f.written, opGlobalGet), uint64(f.global))
}

// settle writes the instructions that take the amount on top of the stack from the fuel below it, and ask for more if
// there was less. The call is where "if" is not: wazero then keeps what the function has in registers as long as there
// is enough.
func (f *function) settle() {
	f.written = append(f.written, opI64Sub, opGlobalSet)
	f.written = binary.AppendUvarint(f.written, uint64(f.global))
	f.get()
	f.written = append(f.written, opI64Const, 0, opI64GeS, opIf, noResult, opElse, opCall)
	f.written = append(binary.AppendUvarint(f.written, uint64(f.refuel)), opEnd)
}
