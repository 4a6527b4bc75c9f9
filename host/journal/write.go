package journal

import (
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
	header := value.AppendMapHeader(nil, 7)
	header = value.AppendString(value.AppendString(header, "turncore"), "journal")
	header = value.AppendInt(value.AppendString(header, "version"), Version)
	header = value.AppendInt(value.AppendString(header, "abi"), int64(h.ABI))
	header = value.AppendInt(value.AppendString(header, "features"), int64(h.Features))
	header = value.AppendString(value.AppendString(header, "module"), h.Module)
	header = value.AppendString(value.AppendString(header, "engine"), h.Engine)
	header = value.AppendInt(value.AppendString(header, "turn"), int64(h.Turn))
	if err := write(w, header); err != nil {
		return nil, err
	}
	return &Writer{w: w}, nil
}

// Write adds a step, in one write to the underlying writer. A short one is an io.ErrShortWrite.
func (w *Writer) Write(e Entry) error {
	w.buf = value.AppendListHeader(w.buf[:0], 2)
	w.buf = value.AppendBytes(w.buf, e.In)
	w.buf = value.AppendBytes(w.buf, e.Out)
	return write(w.w, w.buf)
}

// write writes all of data. A writer that takes less without an error has failed with io.ErrShortWrite.
func write(w io.Writer, data []byte) error {
	n, err := w.Write(data)
	if err == nil && n != len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}
