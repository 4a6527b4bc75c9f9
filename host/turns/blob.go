package turns

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Blob is bytes in memory. It is a MediaReader and a SpoolReader.
type Blob struct {
	data  []byte
	lines func() []string
}

var (
	_ MediaReader = (*Blob)(nil)
	_ SpoolReader = (*Blob)(nil)
)

// NewBlob returns a blob of data, which must not be changed afterwards.
func NewBlob(data []byte) *Blob {
	return &Blob{data: data, lines: sync.OnceValue(func() []string {
		if len(data) == 0 {
			return nil
		}
		return strings.Split(string(data), "\n")
	})}
}

// Open implements MediaReader.
func (b *Blob) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.data)), nil }

// Line implements SpoolReader.
func (b *Blob) Line(n int) (string, error) {
	lines := b.lines()
	if n < 0 || n >= len(lines) {
		return "", fmt.Errorf("line %d of %d", n, len(lines))
	}
	return strings.TrimSuffix(lines[n], "\r"), nil
}

// ReadAll implements SpoolReader.
func (b *Blob) ReadAll() (string, error) { return string(b.data), nil }

// LineCount implements SpoolReader.
func (b *Blob) LineCount() (int, error) { return len(b.lines()), nil }

// ByteLength implements MediaReader and SpoolReader.
func (b *Blob) ByteLength() (n int64, known bool) { return int64(len(b.data)), true }
