package value

import "math"

// KindOf returns the kind of v from its head, KindInvalid if there is none.
func KindOf(v []byte) Kind {
	kind, _, _ := shortHead(v, 0)
	if kind == KindInvalid {
		kind, _, _ = Head(v, 0)
	}
	return kind
}

// Len returns the number of members of a map or elements of a list, or the number of bytes of a string or bytes. It is
// 0 for every other kind.
func Len(v []byte) int {
	kind, _, n := shortHead(v, 0)
	if kind == KindInvalid {
		kind, _, n = Head(v, 0)
	}
	if kind < KindString {
		return 0
	}
	return int(n)
}

// String returns the text of a string. The result is a part of v.
func String(v []byte) ([]byte, bool) { return payload(v, KindString) }

// Bytes returns the contents of bytes. The result is a part of v.
func Bytes(v []byte) ([]byte, bool) { return payload(v, KindBytes) }

func payload(v []byte, want Kind) ([]byte, bool) {
	kind, size, n := shortHead(v, 0)
	if kind == KindInvalid {
		kind, size, n = Head(v, 0)
	}
	if kind != want || n > uint64(len(v)-size) {
		return nil, false
	}
	end := size + int(n)
	return v[size:end:end], true
}

// Int returns a number that is encoded as an integer, or 0.
func Int(v []byte) (int64, bool) {
	kind, _, n := Head(v, 0)
	if kind != KindInt {
		return 0, false
	}
	return int64(n), true
}

// Number returns a number in either encoding.
func Number(v []byte) (float64, bool) {
	kind, _, n := Head(v, 0)
	return number(kind, n), kind == KindInt || kind == KindFloat
}

func number(kind Kind, n uint64) float64 {
	switch kind {
	case KindInt:
		return float64(int64(n))
	case KindFloat:
		return math.Float64frombits(n)
	}
	return 0
}

// Bool returns a boolean.
func Bool(v []byte) (b, ok bool) {
	kind, _, n := Head(v, 0)
	return kind == KindBool && n == 1, kind == KindBool
}

// Get returns the value of a map's member, a part of m. It reads the members before it, and none after it. ok is false
// if m is not a map, has no such member, or is malformed before it.
func Get(m []byte, key string) (val []byte, ok bool) {
	var c Cursor
	if c.Over(m) != KindMap {
		return nil, false
	}
	for c.Next() {
		if string(c.Key) == key {
			return c.Value, true
		}
	}
	return nil, false
}

// GetString returns the text of a map's member, as [Get] finds it and [String] reads it.
func GetString(m []byte, key string) (text []byte, ok bool) {
	val, _ := Get(m, key)
	return String(val)
}

// Each calls fn for each member of a map, in order, until fn returns false. key and val are parts of m. Each checks a
// member before fn sees it; the error is that of the first malformed one.
func Each(m []byte, fn func(key, val []byte) bool) error {
	var c Cursor
	if kind := c.Over(m); kind != KindMap {
		return kindError(m, kind)
	}
	for c.Next() && fn(c.Key, c.Value) {
	}
	return c.err
}

// EachItem calls fn for each element of a list, in order, until fn returns false. val is a part of l. Errors are
// those of [Each].
func EachItem(l []byte, fn func(i int, val []byte) bool) error {
	var c Cursor
	if kind := c.Over(l); kind != KindList {
		return kindError(l, kind)
	}
	for i := 0; c.Next() && fn(i, c.Value); i++ {
	}
	return c.err
}

// A Cursor reads what a map or a list has, one after another:
//
//	var c value.Cursor
//	for c.Over(v); c.Next(); {
//
// It takes less code than a function for [Each] or [EachItem].
type Cursor struct {
	Key, Value []byte // what Next has read, parts of the map or list; an element has no key

	of    []byte
	at    int
	left  uint64
	keyed bool
	err   error // why it ended before its time
}

// Over sets the cursor in front of the first member or element, and returns the kind of v. Other kinds than maps and
// lists have none.
func (c *Cursor) Over(v []byte) Kind {
	kind, size, n := shortHead(v, 0)
	if kind == KindInvalid {
		kind, size, n = Head(v, 0)
	}
	if kind != KindMap && kind != KindList {
		n = 0
	}
	c.of, c.at, c.left, c.keyed = v, size, n, kind == KindMap
	return kind
}

// Next reads the next member or element. It returns false if there is none, or if it is malformed.
func (c *Cursor) Next() bool {
	if c.left == 0 {
		return false
	}
	c.left--
	v, start := c.of, c.at
	var err error
	if c.keyed {
		if size := Flat(v, start); size != 0 && v[start]-0xa0 < 0x20 { // a short key
			c.Key = v[start+1 : start+size : start+size]
			start += size
		} else if c.Key, start, err = KeyAt(v, start); err != nil {
			return c.fail(err)
		}
	}
	end := start + Flat(v, start)
	if end == start {
		if end, err = skip(v, start, MaxDepth); err != nil {
			return c.fail(err)
		}
	}
	c.Value, c.at = v[start:end:end], end
	return true
}

func (c *Cursor) fail(err error) bool {
	c.left, c.err = 0, err
	return false
}

// Append appends the member that Next has read.
func (c *Cursor) Append(dst []byte) []byte {
	return append(AppendText(dst, c.Key), c.Value...)
}

func kindError(v []byte, kind Kind) error {
	if kind == KindInvalid {
		return headError(v, 0)
	}
	return ErrKind
}
