package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tinylib/msgp/msgp"
)

// A frame of a log has
//
//	4 bytes  the length of its body
//	4 bytes  CRC-32 of these, and of the frame's offset in the log as 8 bytes before them
//	4 bytes  CRC-32 of the body
//	         the body: the kind of frame, and its tuples in MessagePack
//	4 bytes  the length again, not 0, by which the last frame is found
//
// Numbers are big-endian. A log is appended to by one write for each frame, so a frame that is not all there is the
// last.
const (
	frontSize = 12
	backSize  = 4
)

// maxBody is the most that a frame's body may have.
const maxBody = 1 << 30

// errTorn is the error of a frame that was not written to its end.
var errTorn = errors.New("a frame is not all there")

// appendFrame appends the frame for an offset of the log.
func appendFrame(dst []byte, offset int64, kind byte, parts ...msgp.Marshaler) ([]byte, error) {
	start := len(dst)
	dst = append(dst, make([]byte, frontSize)...)
	dst = append(dst, kind)
	for _, part := range parts {
		var err error
		if dst, err = part.MarshalMsg(dst); err != nil {
			return nil, err
		}
	}
	body := dst[start+frontSize:]
	if len(body) > maxBody {
		return nil, fmt.Errorf("a commit of %d bytes is too large", len(body))
	}
	front := dst[start : start+frontSize]
	binary.BigEndian.PutUint32(front, uint32(len(body)))
	binary.BigEndian.PutUint32(front[4:], frontSum(offset, front[:4]))
	binary.BigEndian.PutUint32(front[8:], crc32.ChecksumIEEE(body))
	return binary.BigEndian.AppendUint32(dst, uint32(len(body))), nil
}

func frontSum(offset int64, length []byte) uint32 {
	return crc32.ChecksumIEEE(append(binary.BigEndian.AppendUint64(make([]byte, 0, 12), uint64(offset)), length...))
}

// readFrame reads the frame at an offset of a log, of which data has all that follows, and returns the kind and the
// rest of its body, and its size. A frame that was not written to its end is errTorn.
func readFrame(data []byte, offset int64) (kind byte, body []byte, size int, err error) {
	if len(data) < frontSize {
		return 0, nil, 0, errTorn
	}
	length := int64(binary.BigEndian.Uint32(data))
	if binary.BigEndian.Uint32(data[4:]) != frontSum(offset, data[:4]) || length == 0 || length > maxBody {
		return 0, nil, 0, wrongSum(offset, data[frontSize:])
	}
	size = int(frontSize + length + backSize)
	if len(data) < size {
		return 0, nil, 0, errTorn
	}
	body = data[frontSize : frontSize+length]
	if binary.BigEndian.Uint32(data[8:]) != crc32.ChecksumIEEE(body) {
		return 0, nil, 0, wrongSum(offset, data[size-backSize:size])
	}
	return body[0], body[1:], size, nil
}

// wrongSum is the error of a frame with a wrong checksum. If what follows is blank, the frame was not written to its
// end.
func wrongSum(offset int64, behind []byte) error {
	if blank(behind) {
		return errTorn
	}
	return fmt.Errorf("the checksum at %d is wrong", offset)
}

// blank tells whether bytes are all zero, as what a disk has made room for and not written.
func blank(data []byte) bool {
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}

// lastFrame returns what readFrame returns for the last frame of a log, if nothing is wrong with it.
func lastFrame(data []byte, size int64) (kind byte, body []byte, ok bool) {
	if len(data) < frontSize+backSize+1 {
		return 0, nil, false
	}
	length := int(binary.BigEndian.Uint32(data[len(data)-backSize:]))
	start := len(data) - backSize - length - frontSize
	if length > maxBody || start < 0 {
		return 0, nil, false
	}
	kind, body, n, err := readFrame(data[start:], size-int64(len(data)-start))
	return kind, body, err == nil && n == len(data)-start
}
