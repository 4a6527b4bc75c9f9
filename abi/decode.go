package abi

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// FrameError says why bytes are not a frame, or not a frame of the expected type.
type FrameError struct {
	Code   string // CodeABIMalformedFrame, CodeABIUnknownFrame or CodeABILimitExceeded
	Offset int    // of the first wrong byte, from the start of the input
	Reason string
}

// Error returns the reason and the offset.
func (e *FrameError) Error() string {
	return "abi: " + e.Reason + " at byte " + strconv.Itoa(e.Offset)
}

func malformed(offset int, reason string) *FrameError {
	return &FrameError{CodeABIMalformedFrame, offset, reason}
}

func exceeded(offset int, limit string) *FrameError {
	return &FrameError{CodeABILimitExceeded, offset, "limit of " + limit + " exceeded"}
}

// Next splits the first frame off a non-empty batch. It reads the frame once from front to back, without allocating
// and without recursion. It rejects a frame that is truncated, nested too deep or larger than lim allows, so that
// decoding allocates no more than a small multiple of the frame's size. The frame and the rest are parts of batch.
//
// Next does not check that the op is known. An error is a [*FrameError]. Fields of lim that are zero or too large
// count as the defaults.
func Next(batch []byte, lim Limits) (op Op, frame, rest []byte, err error) {
	if len(batch) == 0 || batch[0] <= 0x90 || batch[0] >= 0xa0 {
		return 0, nil, nil, malformed(0, "a frame is an array of 1 to 15 elements")
	}
	lim = lim.Effective()
	end, e := scan(batch, &lim)
	if e != nil {
		return 0, nil, nil, e
	}
	if op = batch[1]; op == 0 || op >= 64 {
		return 0, nil, nil, malformed(1, "an op is an integer from 1 to 63, in one byte")
	}
	return op, batch[:end:end], batch[end:], nil
}

// Overflows reports whether a batch has more frames than a step may give. In a malformed batch it counts the frames
// before the error.
func Overflows(batch []byte, lim Limits) bool {
	if len(batch) <= 2*MaxStepFrames { // a frame has two bytes at least
		return false
	}
	for n := 0; len(batch) > 0; n++ {
		if n == MaxStepFrames {
			return true
		}
		_, _, rest, err := Next(batch, lim)
		if err != nil {
			return false
		}
		batch = rest
	}
	return false
}

// scan checks the array that b starts with and returns its end.
func scan(b []byte, lim *Limits) (end int, err *FrameError) {
	var (
		outer [MaxDepth]uint32 // values still to come in the containers around the current one
		maps  uint64           // bit n: the container at depth n+1 is a map
		depth uint32           // of the current container, 0 outside the frame
		left  = uint32(1)      // values still to come in it; map keys count as well
		isMap = false
		i     = 0
		size  = min(len(b), int(lim.Frame))
	)
	for {
		for left == 0 {
			if depth <= 1 {
				return i, nil
			}
			depth--
			left = outer[depth]
			isMap = maps&(1<<(depth-1)) != 0
		}
		if i >= size {
			return 0, short(b, size)
		}
		start, c := i, b[i]
		i++
		if isMap && left&1 == 0 && (c < 0xa0 || c >= 0xc0) && (c < 0xd9 || c > 0xdb) {
			return 0, malformed(start, "a map's key is not a string")
		}
		left--
		var n uint64 // length of a string, or count of a container
		switch {
		case c < 0x80 || c >= 0xe0: // small integers
			continue
		case c >= 0xa0 && c < 0xc0:
			n = uint64(c & 31)
		case c < 0xa0:
			n = uint64(c & 15)
		default:
			kind, w := value.Form(c)
			if kind == value.KindInvalid {
				return 0, malformed(start, "no value of a frame starts with byte 0x"+strconv.FormatUint(uint64(c), 16))
			}
			if size-i < w {
				return 0, short(b, size)
			}
			for _, x := range b[i : i+w] {
				n = n<<8 | uint64(x)
			}
			i += w
			switch {
			case c == 0xcf && n > MaxInt, c == 0xd3 && n+MaxInt > 2*MaxInt:
				return 0, malformed(start, "an integer is beyond 2^53-1")
			case kind < value.KindString:
				continue
			}
		}
		if c >= 0xa0 && c < 0xdc { // strings and byte strings
			if n > uint64(lim.String) {
				return 0, exceeded(start, strconv.Itoa(int(lim.String))+" bytes a string")
			}
			if n > uint64(size-i) {
				return 0, short(b, size)
			}
			i += int(n)
			continue
		}
		// arrays and maps
		if n > uint64(lim.Array) {
			return 0, exceeded(start, strconv.Itoa(int(lim.Array))+" elements an array or map")
		}
		if depth == lim.Depth {
			return 0, exceeded(start, strconv.Itoa(int(lim.Depth))+" nested arrays and maps")
		}
		if depth > 0 {
			outer[depth] = left
		}
		left, isMap = uint32(n), c < 0x90 || c > 0xdd
		maps &^= 1 << depth
		if isMap {
			left *= 2
			maps |= 1 << depth
		}
		depth++
		if left > uint32(size-i) {
			return 0, short(b, size)
		}
	}
}

// short is the error of a frame that goes on after size bytes of b.
func short(b []byte, size int) *FrameError {
	if size < len(b) {
		return exceeded(0, strconv.Itoa(size)+" bytes a frame")
	}
	return malformed(len(b), "truncated")
}

// Tuple is a pointer to one of this package's types.
type Tuple[T any] interface {
	*T
	Append(b []byte) []byte
	Decode(r *Reader)
	decode(r Reader) error // of all bytes in r
}

// Decode decodes a frame that [Next] returned, or the payload in one of its fields, into a T. The result shares no
// memory with b. An error is a [*FrameError].
func Decode[T any, P Tuple[T]](b []byte) (T, error) {
	var v T
	err := P(&v).decode(Reader{b: b})
	return v, err
}

// DecodeTo is [Decode] into v. It reuses the space of raw values that v held before: they must no longer be in use.
// After an error v holds parts of b.
func DecodeTo[T any, P Tuple[T]](b []byte, v P) error { return v.decode(Reader{b: b}) }

// DecodeInPlaceTo is [DecodeInPlace] into v.
func DecodeInPlaceTo[T any, P Tuple[T]](b []byte, v P) error { return v.decode(NewAliasReader(b)) }

// DecodeInPlace is [Decode], but raw values of the result are parts of b, which must not change.
func DecodeInPlace[T any, P Tuple[T]](b []byte) (T, error) {
	var v T
	err := P(&v).decode(NewAliasReader(b))
	return v, err
}
