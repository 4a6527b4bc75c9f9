package callees

import (
	"github.com/turncore/turncore/internal/metering"
	"github.com/turncore/turncore/internal/wasmfile"
)

// Opcodes and types.
const (
	opNop          = 0x01
	opBlock        = 0x02
	opEnd          = 0x0b
	opBranchTable  = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opTableGet     = 0x25
	opTableSet     = 0x26
	opI32Const     = 0x41
	opI32Sub       = 0x6b
	opRefFunc      = 0xd2
	prefixNumeric  = 0xfc

	typeFuncRef = 0x70
	noResult    = 0x40
)

// What begins with prefixNumeric and is about tables: table.init, elem.drop, table.copy, table.grow, table.size,
// table.fill.
const (
	firstOfTables = 12
	lastOfTables  = 17
)

// class says how the operands of an instruction are passed over.
type class uint8

const (
	slow      class = iota // as metering does it
	plain                  // there are none
	oneNumber              // in LEB128
	twoNumbers
	fourBytes
	eightBytes
	indirect // a call
	refused
)

// classes are those of instructions without a prefix.
var classes = func() (list [256]class) {
	of := map[string]class{
		"": plain, "u": oneNumber, "i": oneNumber, "b": oneNumber, "f": oneNumber, "g": oneNumber, "y": oneNumber,
		"uu": twoNumbers, "4": fourBytes, "8": eightBytes,
	}
	for code := range list {
		operands, known := metering.Operands(byte(code))
		if list[code] = of[operands]; !known && code != prefixNumeric && code != prefixVector {
			list[code] = refused
		}
	}
	list[prefixNumeric], list[prefixVector] = slow, slow
	list[opCallIndirect] = indirect
	list[opTableGet], list[opTableSet], list[opRefFunc] = refused, refused, refused
	return list
}()

const prefixVector = 0xfd

// scanner looks for indirect calls in functions.
type scanner struct {
	has    wasmfile.Scope
	code   []byte
	calls  []indirectCall
	failed bool // a function is malformed, or does something else with a table
}

type indirectCall struct {
	site
	of uint32 // the type
}

// function scans a function.
func (s *scanner) function(from, to int) {
	code := s.code[:to]
	r := wasmfile.Reader{Rest: code[from:]}
	if r.Locals(); r.Failed || len(r.Rest) == 0 || code[to-1] != opEnd {
		s.failed = true // behind a number there is a byte
		return
	}
	at := to - len(r.Rest)
	for at < to && !s.failed {
		op := code[at]
		at++
		switch classes[op] {
		case plain:
		case twoNumbers:
			at = pastNumber(code, pastNumber(code, at))
		case oneNumber:
			at = pastNumber(code, at)
		case fourBytes:
			at += 4
		case eightBytes:
			at += 8
		case indirect:
			s.indirect(at-1, to)
			at = pastNumber(code, pastNumber(code, at))
		case slow:
			r := wasmfile.Reader{Rest: code[at-1:]}
			if op == prefixNumeric {
				r.Byte()
				if n := r.Uint(); n >= firstOfTables && n <= lastOfTables {
					s.failed = true
				}
				r = wasmfile.Reader{Rest: code[at-1:]}
			}
			if metering.Pass(&r, &s.has) != nil {
				s.failed = true
			}
			at = to - len(r.Rest)
		default:
			s.failed = true
		}
	}
	s.failed = s.failed || at != to
}

// pastNumber is where a number ends that begins at a place. The last byte of the code ends one.
func pastNumber(code []byte, at int) int {
	for at < len(code) && code[at] >= 0x80 {
		at++
	}
	return at + 1
}

// indirect notes an indirect call.
func (s *scanner) indirect(at, to int) {
	r := wasmfile.Reader{Rest: s.code[at+1 : to]}
	of := r.Index(s.has.Types)
	if table := r.Uint(); r.Failed || table != 0 {
		s.failed = true
		return
	}
	s.calls = append(s.calls, indirectCall{site{at, to - len(r.Rest)}, of})
}
