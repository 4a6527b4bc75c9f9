package abi

import (
	"math"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// Raw is one encoded value that is passed on unchanged. An empty Raw is nil on the wire.
type Raw []byte

// Value is a [Raw] that holds user code's data: arguments, results, options, payloads. Other Raws hold tuples of this
// package, or values whose type another field determines.
type Value = Raw

// Append appends the value.
func (r Raw) Append(b []byte) []byte { return appendRaw(b, r) }

func appendRaw(b []byte, r Raw) []byte {
	if len(r) == 0 {
		return value.AppendNil(b)
	}
	return append(b, r...)
}

// Text is a string that few readers of a frame need: a decoder reuses its space, as that of a [Raw].
type Text []byte

// Append appends the string.
func (t Text) Append(b []byte) []byte { return value.AppendText(b, t) }

// Decode reads the string into the space of the one before.
func (t *Text) Decode(r *Reader) { *t = append((*t)[:0], r.Text()...) }

// appendText appends text unchanged.
func appendText(b []byte, s string) []byte {
	return append(value.AppendStringHeader(b, len(s)), s...)
}

func appendTexts(b []byte, list []string) []byte {
	b = value.AppendListHeader(b, len(list))
	for _, s := range list {
		b = appendText(b, s)
	}
	return b
}

// Reader reads msgpack elements from front to back. It remembers the first element of the wrong kind: later reads
// return zero, and Err returns the reason. It allocates no more than the available bytes can fill.
type Reader struct {
	b     []byte
	i     int
	err   *FrameError
	alias bool
}

// NewReader returns a reader of b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// NewAliasReader returns a reader of b that lets decoded Raw fields be parts of b instead of copies.
func NewAliasReader(b []byte) Reader { return Reader{b: b, alias: true} }

// Err returns the first error, a [*FrameError], or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// OK reports whether there was no error so far.
func (r *Reader) OK() bool { return r.err == nil }

// Rest returns the unread bytes, nil after an error.
func (r *Reader) Rest() []byte { return r.b[r.i:] }

func (r *Reader) fail(reason string) {
	if r.err == nil {
		r.err = malformed(r.i, reason)
	}
	r.i = len(r.b)
}

// head reads the head of an element, as [value.Head] does.
func (r *Reader) head() (kind value.Kind, n uint64) {
	kind, size, n := value.Head(r.b, r.i)
	if size == 0 {
		r.fail("truncated, or no value")
	}
	r.i += size
	return kind, n
}

// Array reads the head of an array and returns its length.
func (r *Reader) Array() int {
	kind, n := r.head()
	if kind != value.KindList || n > uint64(len(r.b)-r.i) {
		r.fail("an array is expected")
		return 0
	}
	return int(n)
}

// fields reads the head of a tuple.
func (r *Reader) fields(want int) {
	if want < 16 && r.i < len(r.b) && r.b[r.i] == 0x90|byte(want) {
		r.i++
		return
	}
	if n := r.Array(); n != want && r.err == nil {
		r.fail("a tuple of " + strconv.Itoa(want) + " elements is expected, there are " + strconv.Itoa(n))
	}
}

// list reads the head of a list of at most limit elements that take at least size bytes each.
func (r *Reader) list(size, limit int) int {
	n := r.Array()
	if n > limit || n*size > len(r.b)-r.i {
		r.fail("the list is longer than its bytes")
		return 0
	}
	return n
}

// Int reads an integer from -max-1 to max, which is 127 or more, that is within ±[MaxInt].
func (r *Reader) Int(max int64) int64 {
	if i := r.i; i < len(r.b) && r.b[i] < 0x80 {
		r.i = i + 1
		return int64(r.b[i])
	}
	kind, n := r.head()
	if kind != value.KindInt {
		r.fail("an integer is expected")
		return 0
	}
	v := int64(n)
	if v > max || v < -max-1 {
		r.fail("the integer is out of range")
		return 0
	}
	return v
}

// Uint reads an integer from 0 to max, which is 127 or more.
func (r *Reader) Uint(max uint64) uint64 {
	if i := r.i; i < len(r.b) && r.b[i] < 0x80 {
		r.i = i + 1
		return uint64(r.b[i])
	}
	return r.wideUint(max)
}

func (r *Reader) wideUint(max uint64) uint64 {
	if kind, size, n := value.Head(r.b, r.i); kind == value.KindInt && n <= max {
		r.i += size
		return n
	}
	v := r.Int(MaxInt) // again, for the reason why not
	if v < 0 || uint64(v) > max {
		r.fail("the integer is out of range")
		return 0
	}
	return uint64(v)
}

// Float reads a number.
func (r *Reader) Float() float64 {
	if r.i < len(r.b) && r.b[r.i] == 0xcb {
		_, n := r.head()
		return math.Float64frombits(n)
	}
	return float64(r.Int(MaxInt))
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	if r.i >= len(r.b) || r.b[r.i]|1 != 0xc3 {
		r.fail("true or false is expected")
		return false
	}
	r.i++
	return r.b[r.i-1] == 0xc3
}

// Text reads a string without a copy.
func (r *Reader) Text() []byte {
	if i := r.i + 1; i <= len(r.b) && r.b[r.i]&0xe0 == 0xa0 {
		if end := i + int(r.b[r.i]&31); end <= len(r.b) {
			r.i = end
			return r.b[i:end:end]
		}
	}
	kind, n := r.head()
	if kind != value.KindString {
		r.fail("a string is expected")
		return nil
	}
	return r.take(n)
}

// Bytes reads a byte string without a copy; nil stands for none.
func (r *Reader) Bytes() []byte {
	if r.nil() {
		return nil
	}
	kind, n := r.head()
	if kind != value.KindBytes {
		r.fail("a byte string is expected")
		return nil
	}
	return r.take(n)
}

func (r *Reader) take(n uint64) []byte {
	if n > uint64(len(r.b)-r.i) {
		r.fail("truncated")
		return nil
	}
	s := r.b[r.i : r.i+int(n) : r.i+int(n)]
	r.i += int(n)
	return s
}

// nil reads a nil, if there is one. After an error it always returns true, so that decoding ends.
func (r *Reader) nil() bool {
	if r.err != nil {
		return true
	}
	if r.i < len(r.b) && r.b[r.i] == 0xc0 {
		r.i++
		return true
	}
	return false
}

// rawLimits are the limits of a value in a frame, or in another tuple: one level is the tuple itself.
var rawLimits = func() Limits {
	l := DefaultLimits()
	l.Depth--
	return l
}()

// raw reads one value of any kind into dst and reuses its space; the result is empty for nil.
func (r *Reader) raw(dst Raw) Raw {
	if r.err != nil || r.nil() {
		return dst[:0]
	}
	if r.i >= len(r.b) {
		r.fail("truncated")
		return nil
	}
	n := 1
	if c := r.b[r.i]; c >= 0x80 && c < 0xe0 {
		var err *FrameError
		if n = r.leaf(); n == 0 {
			if n, err = scan(r.b[r.i:], &rawLimits); err != nil {
				err.Offset += r.i
				r.i, r.err = len(r.b), err
				return nil
			}
		}
	}
	v := r.b[r.i : r.i+n : r.i+n]
	r.i += n
	if r.alias {
		return v
	}
	return append(dst[:0], v...)
}

// leaf returns the length of the next value if it is within the limits and neither an array nor a map; 0 if scan must
// decide.
func (r *Reader) leaf() int {
	kind, size, n := value.Head(r.b, r.i)
	switch {
	case kind > value.KindBytes:
		return 0
	case kind >= value.KindString:
		if n > uint64(rawLimits.String) || n > uint64(min(len(r.b)-r.i, int(rawLimits.Frame))-size) {
			return 0
		}
		return size + int(n)
	}
	return size
}

// texts reads a list of strings. They are parts of one, so that a list costs two allocations however long it is.
func (r *Reader) texts() []string {
	n := r.list(1, MaxArray)
	if n == 0 {
		return nil
	}
	begin := r.i
	for range n {
		r.Text()
	}
	whole := string(r.b[begin:r.i])
	list := make([]string, n)
	r.i = begin
	for i := range list {
		size := len(r.Text())
		list[i] = whole[r.i-begin-size : r.i-begin]
	}
	return list
}

// end ends the decoding of a tuple of the named type, which must be all of the input.
func (r *Reader) end(name string) error {
	switch {
	case r.err != nil:
		r.err.Reason = name + ": " + r.err.Reason
		return r.err
	case r.i != len(r.b):
		return malformed(r.i, "bytes after the value")
	}
	return nil
}
