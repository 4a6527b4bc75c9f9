package abi

// Frame is a frame of either direction: a pointer to one of this package's types that have an Op.
type Frame interface {
	Append(b []byte) []byte
	stamp()
}

// Append encodes a frame behind dst, after setting its Op. The frame escapes to the heap: to send many, keep one and
// refill it.
func Append(dst []byte, f Frame) []byte {
	f.stamp()
	return f.Append(dst)
}
