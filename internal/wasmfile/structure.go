package wasmfile

import (
	"errors"
	"fmt"
)

// ErrMalformed is the error of a file or section that is malformed.
var ErrMalformed = errors.New("the module is malformed")

// Scope is how much there is that a file names by an index.
type Scope struct{ Functions, Types, Globals uint32 }

// Count reads how many entries follow, of a byte each at least.
func (r *Reader) Count() uint32 {
	n := r.Uint()
	if uint64(n) > uint64(len(r.Rest)) {
		r.fail()
		return 0
	}
	return n
}

// Index reads the index of one of so many.
func (r *Reader) Index(count uint32) uint32 {
	n := r.Uint()
	if n >= count {
		r.fail()
		return 0
	}
	return n
}

// Limits reads the size of a memory or table, and its maximum if it has one.
func (r *Reader) Limits() {
	flags := r.Byte()
	r.Uint()
	if flags&1 != 0 {
		r.Uint()
	}
}

// Types reads the section of types and returns how many parameters and results each has.
func (r *Reader) Types(each func(params, results uint32)) error {
	for n := r.Count(); n > 0 && !r.Failed; n-- {
		if kind := r.Byte(); kind != TypeFunction && !r.Failed {
			return fmt.Errorf("it has a type of kind %#x, which is no function", kind)
		}
		params := r.Uint()
		r.Bytes(params)
		results := r.Uint()
		r.Bytes(results)
		if !r.Failed {
			each(params, results)
		}
	}
	return nil
}

// TypeFunction is what the type of a function begins with.
const TypeFunction = 0x60

// Kinds of imports and exports.
const (
	KindFunction = iota
	KindTable
	KindMemory
	KindGlobal
)

// Imports reads the section of imports and adds to the scope what it has.
func (s *Scope) Imports(r *Reader) error {
	for n := r.Count(); n > 0 && !r.Failed; n-- {
		module, name := r.Name(), r.Name()
		switch kind := r.Byte(); kind {
		case KindFunction:
			r.Uint()
			s.Functions++
		case KindTable:
			r.Byte()
			r.Limits()
		case KindMemory:
			r.Limits()
		case KindGlobal:
			r.Bytes(2)
			s.Globals++
		default:
			if !r.Failed {
				return fmt.Errorf("the module imports %s of %s, which is of kind %d", name, module, kind)
			}
		}
	}
	return nil
}

// Elements reads the section of elements. The lowest bits of a segment's flags say that it is not for a table at once,
// that it names a table or what it is for, and that it has expressions.
func (s *Scope) Elements(r *Reader) error {
	for n := r.Count(); n > 0 && !r.Failed; n-- {
		flags := r.Uint()
		if flags > 7 {
			return fmt.Errorf("it has elements of kind %d", flags)
		}
		if flags&1 == 0 {
			if flags&2 != 0 {
				r.Uint()
			}
			s.Expression(r)
		}
		if flags&3 != 0 {
			r.Byte()
		}
		for entries := r.Count(); entries > 0 && !r.Failed; entries-- {
			if flags&4 != 0 {
				s.Expression(r)
			} else {
				r.Index(s.Functions)
			}
		}
	}
	return nil
}

// Data reads the section of data.
func (s *Scope) Data(r *Reader) {
	for n := r.Count(); n > 0 && !r.Failed; n-- {
		flags := r.Uint()
		if flags == 2 {
			r.Uint()
		}
		if flags != 1 {
			s.Expression(r)
		}
		r.Bytes(r.Uint())
	}
}

// Expression reads a constant expression. Of the instructions that the standard allows in one it knows all but those of
// types that are collected.
func (s *Scope) Expression(r *Reader) {
	for !r.Failed {
		switch r.Byte() {
		case 0x0b: // end
			return
		case 0x23: // global.get
			r.Index(s.Globals)
		case 0x41, 0x42: // i32.const, i64.const
			r.Int()
		case 0x43: // f32.const
			r.Bytes(4)
		case 0x44: // f64.const
			r.Bytes(8)
		case 0xd0: // ref.null
			r.Byte()
		case 0xd2: // ref.func
			r.Index(s.Functions)
		case 0xfd: // v128.const
			if r.Uint() != 12 {
				r.fail()
			}
			r.Bytes(16)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // sums, differences and products
		default:
			r.fail()
		}
	}
}

// Locals reads what locals a function has besides its parameters: how many, and in how many groups of one type.
func (r *Reader) Locals() (locals uint64, groups uint32) {
	groups = r.Count()
	for n := groups; n > 0 && !r.Failed; n-- {
		locals += uint64(r.Uint())
		r.Byte()
	}
	return locals, groups
}

// MaxLocals is how many locals a function may have, with its parameters. Browsers have the same bound.
const MaxLocals = 50_000

// Structure reads a section and compares the numbers in it with the bytes that it has, since engines reserve what a
// file says. It reads no code, and fails with [ErrMalformed].
func (s *Scope) Structure(id byte, body []byte) error {
	r := &Reader{Rest: body}
	var err error
	switch id {
	case Custom:
		if name := r.Name(); name == "name" {
			names(r)
		}
		if r.Failed {
			return ErrMalformed
		}
		return nil
	case Type:
		err = r.Types(func(_, _ uint32) { s.Types++ })
	case Import:
		err = s.Imports(r)
	case Function:
		for n := r.Count(); n > 0 && !r.Failed; n-- {
			r.Index(s.Types)
			s.Functions++
		}
	case Table, Memory:
		for n := r.Count(); n > 0 && !r.Failed; n-- {
			if id == Table {
				r.Byte()
			}
			r.Limits()
		}
	case Global:
		for n := r.Count(); n > 0 && !r.Failed; n-- {
			r.Bytes(2)
			s.Expression(r)
			s.Globals++
		}
	case Export:
		for n := r.Count(); n > 0 && !r.Failed; n-- {
			r.Name()
			r.Byte()
			r.Uint()
		}
	case Start, DataCount:
		r.Uint()
	case Element:
		err = s.Elements(r)
	case Code:
		err = code(r)
	case Data:
		s.Data(r)
	default:
		err = fmt.Errorf("it has a section of kind %d", id)
	}
	if err == nil && (r.Failed || len(r.Rest) > 0) {
		err = ErrMalformed
	}
	return err
}

// code reads the locals of all functions.
func code(r *Reader) error {
	for n := r.Count(); n > 0 && !r.Failed; n-- {
		f := Reader{Rest: r.Bytes(r.Uint())}
		if locals, _ := f.Locals(); locals > MaxLocals && !f.Failed {
			return fmt.Errorf("it has a function of %d locals, more than %d", locals, MaxLocals)
		}
		r.Failed = r.Failed || f.Failed
	}
	return nil
}

// names reads the names of functions and locals.
func names(r *Reader) {
	for len(r.Rest) > 0 {
		id := r.Byte()
		part := Reader{Rest: r.Bytes(r.Uint())}
		switch id {
		case 0:
			part.Name()
		case 1:
			part.named()
		case 2:
			for n := part.Count(); n > 0 && !part.Failed; n-- {
				part.Uint()
				part.named()
			}
		default:
			continue
		}
		r.Failed = r.Failed || part.Failed || len(part.Rest) > 0
	}
}

// named reads names of numbers.
func (r *Reader) named() {
	for n := r.Count(); n > 0 && !r.Failed; n-- {
		r.Uint()
		r.Bytes(r.Uint())
	}
}
