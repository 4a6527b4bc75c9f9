package record

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
)

// indexStep is how many lines lie between two offsets that a FileReader remembers.
const indexStep = 1024

// FileReader reads a text that is too large for memory: a file, or any other source with offsets. From the first
// request for a line or the line count on, it remembers the start of every 1,024th line.
type FileReader struct {
	source io.ReaderAt
	size   int64

	mu      sync.Mutex
	indexed bool
	starts  []int64 // of the lines 0, indexStep, 2*indexStep …
	count   int
}

var (
	_ LinesReader = (*FileReader)(nil)
	_ MediaReader = (*FileReader)(nil)
)

// NewFileReader returns a reader of the first size bytes of source, which must not change. The caller closes source
// when it is no longer read.
func NewFileReader(source io.ReaderAt, size int64) *FileReader {
	return &FileReader{source: source, size: size}
}

// Open implements MediaReader.
func (f *FileReader) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(f.source, 0, f.size)), nil
}

// ByteLength implements SpoolReader.
func (f *FileReader) ByteLength() (n int64, known bool) { return f.size, true }

// index finds the lines, in one pass.
func (f *FileReader) index(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.indexed || f.size == 0 {
		f.indexed = true
		return nil
	}
	starts, count := []int64{0}, 1
	buffer := make([]byte, 64<<10)
	for at := int64(0); at < f.size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunk := buffer[:min(int64(len(buffer)), f.size-at)]
		if n, err := f.source.ReadAt(chunk, at); n < len(chunk) {
			return shortRead(err)
		}
		for i := 0; ; {
			n := bytes.IndexByte(chunk[i:], '\n')
			if n < 0 {
				break
			}
			if i += n + 1; count%indexStep == 0 {
				starts = append(starts, at+int64(i))
			}
			count++
		}
		at += int64(len(chunk))
	}
	f.starts, f.count, f.indexed = starts, count, true
	return nil
}

func shortRead(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// LineCount implements SpoolReader.
func (f *FileReader) LineCount(ctx context.Context) (int, error) {
	err := f.index(ctx)
	return f.count, err
}

// ReadLines implements LinesReader.
func (f *FileReader) ReadLines(ctx context.Context, from int, yield func(line []byte) bool) error {
	if err := f.index(ctx); err != nil {
		return err
	}
	if from = max(from, 0); from >= f.count {
		return nil
	}
	start := f.starts[from/indexStep]
	in := bufio.NewReaderSize(io.NewSectionReader(f.source, start, f.size-start), 64<<10)
	var long []byte // a line that is longer than the buffer
	for n := from - from%indexStep; n < f.count; {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if n >= from {
				long = append(long, line...)
			}
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if n < from {
			n++
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if !yield(bytes.TrimSuffix(line, []byte{'\n'})) {
			return nil
		}
		long = long[:0]
		n++
	}
	return nil
}

// Line implements SpoolReader.
func (f *FileReader) Line(ctx context.Context, n int) (line string, err error) {
	found := false
	if n >= 0 {
		err = f.ReadLines(ctx, n, func(l []byte) bool {
			line, found = string(l), true
			return false
		})
	}
	if err == nil && !found {
		err = io.EOF
	}
	return line, err
}

// ReadAll implements SpoolReader.
func (f *FileReader) ReadAll(context.Context) (string, error) {
	var text strings.Builder
	text.Grow(int(f.size))
	n, err := io.Copy(&text, io.NewSectionReader(f.source, 0, f.size))
	if err == nil && n < f.size {
		err = io.ErrUnexpectedEOF
	}
	return text.String(), err
}
