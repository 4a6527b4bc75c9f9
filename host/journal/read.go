package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/host"
)

// maxText bounds a string of the header.
const maxText = 4096

var errFormat = errors.New("malformed")

// why is the fault of a journal.
func why(err error) string {
	var wrong msgp.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it breaks off"
	case errors.As(err, &wrong):
		return errFormat.Error()
	}
	return err.Error()
}

// Reader reads a journal. It is not safe for concurrent use.
type Reader struct {
	// Header is the journal's header.
	Header Header

	r       *msgp.Reader
	entries int // so far
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	j := &Reader{r: msgp.NewReader(r)}
	if err := j.header(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, host.NewError(host.CodeInvalidJournal, "the header: "+why(err), err)
	}
	return j, nil
}

func (j *Reader) header() error {
	n, err := j.r.ReadMapHeader()
	if err != nil {
		return err
	}
	if n > 15 {
		return errFormat
	}
	texts, numbers := map[string]string{}, map[string]uint64{}
	for range n {
		key, err := j.text()
		if err != nil {
			return err
		}
		kind, err := j.r.NextType()
		switch {
		case err != nil:
			return err
		case kind == msgp.StrType:
			texts[key], err = j.text()
		default:
			numbers[key], err = j.r.ReadUint64()
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
	n, err := j.r.ReadArrayHeader()
	if err != nil {
		return Entry{}, err
	}
	if n != 2 {
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
func (j *Reader) take(n uint32) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, j.r, int64(n)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (j *Reader) bytes() ([]byte, error) {
	size, err := j.r.ReadBytesHeader()
	if err != nil {
		return nil, err
	}
	return j.take(size)
}

func (j *Reader) text() (string, error) {
	size, err := j.r.ReadStringHeader()
	if err != nil {
		return "", err
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
