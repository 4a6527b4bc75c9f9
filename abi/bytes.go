package abi

import "github.com/turncore/turncore/abi/value"

// Bytes wraps b as the byte string that fields named Data, Block and Body hold; nil stands for none. They stay
// encoded, so that a reader that passes them on copies nothing.
func Bytes(b []byte) Raw {
	if b == nil {
		return nil
	}
	return value.AppendBytes(make([]byte, 0, len(b)+5), b)
}

// BytesRoom is how many bytes [BytesIn] needs in front of what it wraps.
const BytesRoom = 5

// BytesIn is [Bytes] of what follows the first BytesRoom bytes of room, without a copy: the result lies in room, whose
// first bytes it changes.
func BytesIn(room []byte) Raw {
	body := room[BytesRoom:]
	var head [BytesRoom]byte
	n := len(value.AppendBytesHeader(head[:0], len(body)))
	raw := room[BytesRoom-n:]
	copy(raw, head[:n])
	return raw
}

// BytesOf returns the bytes in a field made by Bytes, without a copy; nil for none.
func BytesOf(raw Raw) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	r := Reader{b: raw}
	b := r.Bytes()
	if r.err == nil && r.i != len(raw) {
		r.fail("bytes follow the byte string")
	}
	return b, r.Err()
}
