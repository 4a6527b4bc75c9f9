package record

import (
	"context"
	"errors"
	"io"
)

// MediaReader reads the stored bytes of a medium.
type MediaReader interface {
	// Open returns the bytes from the beginning; it may be called again.
	Open() (io.ReadCloser, error)
	// ByteLength is the number of bytes, if it is known.
	ByteLength() (n int64, known bool)
}

// SpoolReader reads a stored text by lines. Line feeds separate lines, so "a\n" has two lines, and an empty text has
// none. A text does not change while its reader is in use. The methods may be called from many goroutines.
//
// A reader that reads many lines faster than one by one is also a LinesReader.
type SpoolReader interface {
	// Line returns the n-th line, from 0, without its line feed; io.EOF beyond the last.
	Line(ctx context.Context, n int) (string, error)
	// ReadAll returns the whole text.
	ReadAll(ctx context.Context) (string, error)
	// LineCount is the number of lines.
	LineCount(ctx context.Context) (int, error)
	// ByteLength is the number of bytes of UTF-8, if known. Otherwise it is counted, which reads the whole text.
	ByteLength() (n int64, known bool)
}

// LinesReader is a SpoolReader that reads consecutive lines. The core reads artifacts with it in batches.
type LinesReader interface {
	SpoolReader
	// ReadLines calls yield for the lines from a start on, in order, without their line feeds, until yield returns false
	// or there are no more. A line is valid during its call only.
	ReadLines(ctx context.Context, from int, yield func(line []byte) bool) error
}

// ReadLines calls yield for the lines from one on, with what a reader has for it. A line is valid during its call only.
func ReadLines(ctx context.Context, r SpoolReader, from int, yield func(line []byte) bool) error {
	if all, ok := r.(LinesReader); ok {
		return all.ReadLines(ctx, from, yield)
	}
	count, err := r.LineCount(ctx)
	for n := from; n < count && err == nil; n++ {
		var line string
		if err = ctx.Err(); err != nil {
			break
		}
		if line, err = r.Line(ctx, n); err == nil && !yield([]byte(line)) {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		return nil // there are fewer than it said
	}
	return err
}
