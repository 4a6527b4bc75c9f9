package journal

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/turncore/turncore/abi/value"
)

// Writer writes a journal. It is not safe for concurrent use.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter writes the header to w and returns a writer for the entries.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	header, err := value.Append(nil, value.Map{
		{Key: "turncore", Value: "journal"},
		{Key: "version", Value: Version},
		{Key: "abi", Value: h.ABI},
		{Key: "features", Value: h.Features},
		{Key: "module", Value: h.Module},
		{Key: "engine", Value: h.Engine},
		{Key: "turn", Value: h.Turn},
	}, "header")
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if _, err := w.Write(header); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Writer{w: w}, nil
}

// Write adds a step, in one write to the underlying writer.
func (w *Writer) Write(e Entry) error {
	w.buf = append(w.buf[:0], 0x92)
	w.buf = appendBytes(w.buf, e.In)
	w.buf = appendBytes(w.buf, e.Out)
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// appendBytes appends a byte string in its shortest form.
func appendBytes(b, data []byte) []byte {
	switch n := len(data); {
	case n < 1<<8:
		b = append(b, 0xc4, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0xc5), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(n))
	}
	return append(b, data...)
}
