package abi

import "github.com/tinylib/msgp/msgp"

// Bytes wraps b as the byte string that fields named Data, Block and Body hold.
func Bytes(b []byte) msgp.Raw {
	if b == nil {
		return nil
	}
	return msgp.AppendBytes(make([]byte, 0, len(b)+5), b)
}

// BytesOf returns the bytes in a field made by Bytes, without a copy; nil for none.
func BytesOf(raw msgp.Raw) ([]byte, error) {
	if len(raw) == 0 || msgp.NextType(raw) == msgp.NilType {
		return nil, nil
	}
	b, rest, err := msgp.ReadBytesZC(raw)
	if err == nil && len(rest) != 0 {
		err = msgp.ErrShortBytes
	}
	return b, err
}
