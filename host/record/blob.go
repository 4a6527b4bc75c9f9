package record

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// Blob is bytes in memory. It is a MediaReader and a SpoolReader.
type Blob struct {
	data   []byte
	starts func() []int // where each line begins
}

var (
	_ MediaReader = (*Blob)(nil)
	_ LinesReader = (*Blob)(nil)
)

// NewBlob returns a blob of data, which must not be changed afterwards.
func NewBlob(data []byte) *Blob {
	return &Blob{data: data, starts: sync.OnceValue(func() []int {
		if len(data) == 0 {
			return nil
		}
		starts := append(make([]int, 0, bytes.Count(data, []byte{'\n'})+1), 0)
		for i, c := range data {
			if c == '\n' {
				starts = append(starts, i+1)
			}
		}
		return starts
	})}
}

// Open implements MediaReader.
func (b *Blob) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.data)), nil }

// line returns the n-th line, which is there.
func (b *Blob) line(n int) []byte {
	starts := b.starts()
	if n+1 < len(starts) {
		return b.data[starts[n] : starts[n+1]-1]
	}
	return b.data[starts[n]:]
}

// Line implements SpoolReader.
func (b *Blob) Line(_ context.Context, n int) (string, error) {
	if n < 0 || n >= len(b.starts()) {
		return "", io.EOF
	}
	return string(b.line(n)), nil
}

// ReadLines implements LinesReader.
func (b *Blob) ReadLines(_ context.Context, from int, yield func(line []byte) bool) error {
	for n := max(from, 0); n < len(b.starts()); n++ {
		if !yield(b.line(n)) {
			break
		}
	}
	return nil
}

// ReadAll implements SpoolReader.
func (b *Blob) ReadAll(context.Context) (string, error) { return string(b.data), nil }

// LineCount implements SpoolReader.
func (b *Blob) LineCount(context.Context) (int, error) { return len(b.starts()), nil }

// ByteLength implements MediaReader and SpoolReader.
func (b *Blob) ByteLength() (n int64, known bool) { return int64(len(b.data)), true }
