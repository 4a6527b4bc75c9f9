package metering

import (
	"fmt"

	"github.com/turncore/turncore/internal/wasmfile"
)

// count reads how many entries follow, of a byte each at least.
func count(r *wasmfile.Reader) uint32 {
	n := r.Uint()
	if uint64(n) > uint64(len(r.Rest)) {
		r.Rest, r.Failed = nil, true
		return 0
	}
	return n
}

// elements reads the section of elements. The lowest bits of a segment's flags say that it is not for a table at once,
// that it names a table or what it is for, and that it has expressions.
func elements(r *wasmfile.Reader) error {
	for n := count(r); n > 0 && !r.Failed; n-- {
		flags := r.Uint()
		if flags > 7 {
			return fmt.Errorf("it has elements of kind %d", flags)
		}
		if flags&1 == 0 {
			if flags&2 != 0 {
				r.Uint()
			}
			expression(r)
		}
		if flags&3 != 0 {
			r.Byte()
		}
		for entries := count(r); entries > 0 && !r.Failed; entries-- {
			if flags&4 != 0 {
				expression(r)
			} else {
				r.Uint()
			}
		}
	}
	return nil
}

// data reads the section of data.
func data(r *wasmfile.Reader) {
	for n := count(r); n > 0 && !r.Failed; n-- {
		flags := r.Uint()
		if flags == 2 {
			r.Uint()
		}
		if flags != 1 {
			expression(r)
		}
		r.Bytes(r.Uint())
	}
}

// expression reads a constant expression.
func expression(r *wasmfile.Reader) {
	for !r.Failed {
		switch i, _, err := next(r); {
		case err != nil:
			r.Rest, r.Failed = nil, true
		case i.does == closes:
			return
		}
	}
}
