package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
)

// maxText bounds a string of the header.
const maxText = 4096

var errFormat = errors.New("malformed")

// why is the fault of a journal.
func why(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "it breaks off"
	}
	return err.Error()
}

// Reader reads a journal. It is not safe for concurrent use.
type Reader struct {
	// Header is the journal's header.
	Header Header

	r       *bufio.Reader
	entries int // so far
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	j := &Reader{r: bufio.NewReader(r)}
	if err := j.header(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, host.NewError(host.CodeInvalidJournal, "the header: "+why(err), err)
	}
	return j, nil
}

func (j *Reader) header() error {
	first, err := j.r.ReadByte()
	if err != nil {
		return err
	}
	if first < 0x80 || first > 0x8f {
		return errFormat
	}
	texts, numbers := map[string]string{}, map[string]uint64{}
	for range first & 0x0f {
		key, err := j.text()
		if err != nil {
			return err
		}
		next, err := j.r.Peek(1)
		if err != nil {
			return err
		}
		if isText(next[0]) {
			texts[key], err = j.text()
		} else {
			numbers[key], err = j.uint()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if texts["turncore"] != "journal" {
		return errFormat
	}
	if numbers["version"] != Version {
		return fmt.Errorf("its format has version %d, this program reads %d", numbers["version"], Version)
	}
	for _, key := range []string{"abi", "features", "turn"} {
		if _, ok := numbers[key]; !ok {
			return errFormat
		}
	}
	for _, key := range []string{"module", "engine"} {
		if _, ok := texts[key]; !ok {
			return errFormat
		}
	}
	if numbers["abi"] > math.MaxUint32 || numbers["turn"] > math.MaxUint32 {
		return errFormat
	}
	j.Header = Header{
		ABI: uint32(numbers["abi"]), Features: numbers["features"],
		Module: texts["module"], Engine: texts["engine"], Turn: uint32(numbers["turn"]),
	}
	return nil
}

// Next returns the next step, or [io.EOF] after the last. Damage gives [host.CodeInvalidJournal]; if a journal breaks
// off within an entry, as after a crash, that error wraps [io.ErrUnexpectedEOF].
func (j *Reader) Next() (Entry, error) {
	e, err := j.entry()
	switch {
	case err == nil:
		j.entries++
	case !errors.Is(err, io.EOF):
		err = host.NewError(host.CodeInvalidJournal, fmt.Sprintf("entry %d: %s", j.entries, why(err)), err)
	}
	return e, err
}

func (j *Reader) entry() (Entry, error) {
	first, err := j.r.ReadByte()
	if err != nil {
		return Entry{}, err
	}
	if first != 0x92 {
		return Entry{}, errFormat
	}
	var e Entry
	if e.In, err = j.bytes(); err == nil {
		e.Out, err = j.bytes()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return e, err
}

// take reads n bytes. Memory grows with the bytes that really come, not with a damaged length.
func (j *Reader) take(n uint64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, j.r, int64(n)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (j *Reader) bytes() ([]byte, error) {
	first, err := j.r.ReadByte()
	if err != nil {
		return nil, err
	}
	if first < 0xc4 || first > 0xc6 {
		return nil, errFormat
	}
	size, err := j.number(1 << (first - 0xc4))
	if err != nil {
		return nil, err
	}
	return j.take(size)
}

func isText(first byte) bool { return first >= 0xa0 && first <= 0xbf || first >= 0xd9 && first <= 0xdb }

func (j *Reader) text() (string, error) {
	first, err := j.r.ReadByte()
	if err != nil {
		return "", err
	}
	size := uint64(first & 0x1f)
	switch {
	case !isText(first):
		return "", errFormat
	case first >= 0xd9:
		if size, err = j.number(1 << (first - 0xd9)); err != nil {
			return "", err
		}
	}
	if size > maxText {
		return "", errFormat
	}
	text, err := j.take(size)
	if err == nil && !utf8.Valid(text) {
		err = errFormat
	}
	return string(text), err
}

func (j *Reader) uint() (uint64, error) {
	first, err := j.r.ReadByte()
	switch {
	case err != nil:
		return 0, err
	case first < 0x80:
		return uint64(first), nil
	case first < 0xcc || first > 0xcf:
		return 0, errFormat
	}
	return j.number(1 << (first - 0xcc))
}

// number reads a big-endian number of size bytes.
func (j *Reader) number(size int) (uint64, error) {
	var b [8]byte
	if _, err := io.ReadFull(j.r, b[8-size:]); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(b[:]), nil
}
