package abi

import (
	"math"
	"strconv"
)

// Raw is one encoded value that is passed on unchanged. An empty Raw is nil on the wire.
type Raw []byte

// Value is a [Raw] that holds user code's data: arguments, results, options, payloads. Other Raws hold tuples of this
// package, or values whose type another field determines.
type Value = Raw

// MarshalMsg appends the value.
func (r Raw) MarshalMsg(b []byte) ([]byte, error) { return appendRaw(b, r), nil }

func appendRaw(b []byte, r Raw) []byte {
	if len(r) == 0 {
		return append(b, 0xc0)
	}
	return append(b, r...)
}

// appendUint is two functions, so that the compiler inlines the usual case, a small number.
func appendUint(b []byte, n uint64) []byte {
	if n < 1<<7 {
		return append(b, byte(n))
	}
	return appendWideUint(b, n)
}

func appendWideUint(b []byte, n uint64) []byte {
	switch {
	case n < 1<<8:
		return append(b, 0xcc, byte(n))
	case n < 1<<16:
		return append(b, 0xcd, byte(n>>8), byte(n))
	case n < 1<<32:
		return append(b, 0xce, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append64(append(b, 0xcf), n)
}

func appendInt(b []byte, n int64) []byte {
	switch {
	case n >= 0:
		return appendUint(b, uint64(n))
	case n >= -32:
		return append(b, byte(n))
	case n >= math.MinInt8:
		return append(b, 0xd0, byte(n))
	case n >= math.MinInt16:
		return append(b, 0xd1, byte(n>>8), byte(n))
	case n >= math.MinInt32:
		return append(b, 0xd2, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append64(append(b, 0xd3), uint64(n))
}

func append64(b []byte, n uint64) []byte {
	return append(b, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func appendFloat(b []byte, f float64) []byte { return append64(append(b, 0xcb), math.Float64bits(f)) }

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0xc3)
	}
	return append(b, 0xc2)
}

func appendHead(b []byte, fix, fixMax byte, wide [3]byte, n int) []byte {
	switch {
	case n <= int(fixMax):
		return append(b, fix|byte(n))
	case n < 1<<8 && wide[0] != 0:
		return append(b, wide[0], byte(n))
	case n < 1<<16:
		return append(b, wide[1], byte(n>>8), byte(n))
	}
	return append(b, wide[2], byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func appendText[T string | []byte](b []byte, s T) []byte {
	if len(s) < 32 {
		return append(append(b, 0xa0|byte(len(s))), s...)
	}
	return append(appendHead(b, 0xa0, 31, [3]byte{0xd9, 0xda, 0xdb}, len(s)), s...)
}

func appendBytes(b, s []byte) []byte {
	n := len(s)
	switch {
	case n < 1<<8:
		b = append(b, 0xc4, byte(n))
	case n < 1<<16:
		b = append(b, 0xc5, byte(n>>8), byte(n))
	default:
		b = append(b, 0xc6, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(b, s...)
}

func appendArray(b []byte, n int) []byte {
	if n < 16 {
		return append(b, 0x90|byte(n))
	}
	return appendHead(b, 0x90, 15, [3]byte{0, 0xdc, 0xdd}, n)
}

func appendTexts(b []byte, list []string) []byte {
	b = appendArray(b, len(list))
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

// head reads the first byte of an element and the number that it and the following bytes hold.
func (r *Reader) head() (c byte, n uint64) {
	if r.i >= len(r.b) {
		r.fail("truncated")
		return 0xc1, 0
	}
	c = r.b[r.i]
	switch {
	case c < 0x80:
		n = uint64(c)
	case c < 0xa0:
		n = uint64(c & 15)
	case c < 0xc0:
		n = uint64(c & 31)
	case c >= 0xe0:
		n = uint64(int64(int8(c)))
	default:
		w := int(widths[c-0xc0])
		if w == 0xff || len(r.b)-r.i-1 < w {
			r.fail("truncated, or no value")
			return 0xc1, 0
		}
		for _, x := range r.b[r.i+1 : r.i+1+w] {
			n = n<<8 | uint64(x)
		}
		r.i += w
	}
	r.i++
	return c, n
}

// Array reads the head of an array and returns its length.
func (r *Reader) Array() int {
	c, n := r.head()
	if c&0xf0 != 0x90 && c != 0xdc && c != 0xdd || n > uint64(len(r.b)-r.i) {
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

// Int reads an integer from -max-1 to max that is within ±[MaxInt].
func (r *Reader) Int(max int64) int64 {
	c, n := r.head()
	v := int64(n)
	switch {
	case c < 0x80 || c >= 0xcc && c <= 0xce || c >= 0xe0 || c == 0xd3:
	case c == 0xcf && n <= MaxInt:
	case c == 0xd0:
		v = int64(int8(n))
	case c == 0xd1:
		v = int64(int16(n))
	case c == 0xd2:
		v = int64(int32(n))
	default:
		r.fail("an integer is expected")
		return 0
	}
	if v > max || v > MaxInt || v < -max-1 || v < -MaxInt {
		r.fail("the integer is out of range")
		return 0
	}
	return v
}

// Uint reads an integer from 0 to max, which is 127 or more.
func (r *Reader) Uint(max uint64) uint64 {
	if r.i < len(r.b) && r.b[r.i] < 0x80 {
		r.i++
		return uint64(r.b[r.i-1])
	}
	return r.wideUint(max)
}

func (r *Reader) wideUint(max uint64) uint64 {
	v := r.Int(MaxInt)
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

// Bool reads a truth value.
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
	c, n := r.head()
	if c&0xe0 != 0xa0 && (c < 0xd9 || c > 0xdb) {
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
	c, n := r.head()
	if c < 0xc4 || c > 0xc6 {
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

// nil reads a nil, if there is one. After an error everything is nil, so that decoding ends.
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

// peek returns the first byte of the next element, 0 at the end.
func (r *Reader) peek() byte {
	if r.i < len(r.b) {
		return r.b[r.i]
	}
	return 0
}

// raw reads one value of any kind into dst and reuses its space; the result is empty for nil.
func (r *Reader) raw(dst Raw) Raw {
	if r.err != nil || r.nil() {
		return dst[:0]
	}
	n := 1
	if c := r.peek(); c >= 0x80 && c < 0xe0 {
		var err *FrameError
		if n, err = scan(r.b[r.i:], &rawLimits); err != nil {
			err.Offset += r.i
			r.i, r.err = len(r.b), err
			return nil
		}
	} else if r.i >= len(r.b) {
		r.fail("truncated")
		return nil
	}
	v := r.b[r.i : r.i+n : r.i+n]
	r.i += n
	if r.alias {
		return v
	}
	return append(dst[:0], v...)
}

func (r *Reader) texts() []string {
	n := r.list(1, MaxArray)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = string(r.Text())
	}
	return list
}

// rest ends the decoding of a value of the named type.
func (r *Reader) rest(name string) ([]byte, error) {
	if r.err != nil {
		r.err.Reason = name + ": " + r.err.Reason
		return nil, r.err
	}
	return r.b[r.i:], nil
}
