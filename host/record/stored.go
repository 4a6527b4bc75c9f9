package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/turncore/turncore/host"
)

// Reference is a reader of bytes that a store has under an id, as a SpoolReader or MediaReader may be. A record that is
// written down has the id in place of the reader. [Stored] is one.
type Reference interface {
	// BytesID is the id of the bytes, not empty.
	BytesID() string
}

// Opener returns the reader of the bytes that a store has under an id. size is their number as the record states it, -1
// if it does not. It reads nothing.
type Opener func(id string, size int64) *Stored

// Source opens stored bytes for reading and returns their number. It is called when they are first read, and again
// after an error.
type Source func(ctx context.Context) (content io.ReaderAt, size int64, err error)

// Stored reads the bytes that a store has under an id. It opens them when they are first read. It is a SpoolReader and
// a MediaReader, and may be used from many goroutines.
type Stored struct {
	id   string
	size int64 // -1 if unknown
	home any
	open Source

	mu     sync.Mutex
	opened *FileReader
}

var (
	_ LinesReader = (*Stored)(nil)
	_ MediaReader = (*Stored)(nil)
	_ Reference   = (*Stored)(nil)
)

// NewStored returns a reader of the bytes with an id, whose number is size, or -1 if that is not known yet. home names
// the store and session that have them, as a comparable value; see [Stored.Home]. Without a source every read is
// E_BYTES_NOT_FOUND.
func NewStored(id string, size int64, home any, source Source) *Stored {
	return &Stored{id: id, size: size, home: home, open: source}
}

// BytesID implements Reference.
func (s *Stored) BytesID() string { return s.id }

// Home is what [NewStored] got as the store and session of the bytes: a store that is given a record of another home
// copies its bytes.
func (s *Stored) Home() any { return s.home }

// reader opens the bytes.
func (s *Stored) reader(ctx context.Context) (*FileReader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return s.opened, nil
	}
	if s.open == nil {
		return nil, host.NewError(host.CodeBytesNotFound, fmt.Sprintf("%q: the record was read without a store", s.id), nil)
	}
	content, size, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	if s.size >= 0 && s.size != size {
		err := fmt.Errorf("%q has %d bytes, its record says %d", s.id, size, s.size)
		if c, ok := content.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
		return nil, host.NewError(host.CodeStoredRecordInvalid, err.Error(), err)
	}
	s.opened = NewFileReader(content, size)
	return s.opened, nil
}

// Open implements MediaReader.
func (s *Stored) Open() (io.ReadCloser, error) {
	r, err := s.reader(context.Background())
	if err != nil {
		return nil, err
	}
	return r.Open()
}

// ByteLength implements MediaReader and SpoolReader: the size is known if the record states it, or once it was read.
func (s *Stored) ByteLength() (n int64, known bool) {
	if s.size >= 0 {
		return s.size, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return 0, false
	}
	return s.opened.ByteLength()
}

// Line implements SpoolReader.
func (s *Stored) Line(ctx context.Context, n int) (string, error) {
	r, err := s.reader(ctx)
	if err != nil {
		return "", err
	}
	return r.Line(ctx, n)
}

// ReadLines implements LinesReader.
func (s *Stored) ReadLines(ctx context.Context, from int, yield func(line []byte) bool) error {
	r, err := s.reader(ctx)
	if err != nil {
		return err
	}
	return r.ReadLines(ctx, from, yield)
}

// ReadAll implements SpoolReader.
func (s *Stored) ReadAll(ctx context.Context) (string, error) {
	r, err := s.reader(ctx)
	if err != nil {
		return "", err
	}
	return r.ReadAll(ctx)
}

// LineCount implements SpoolReader.
func (s *Stored) LineCount(ctx context.Context) (int, error) {
	r, err := s.reader(ctx)
	if err != nil {
		return 0, err
	}
	return r.LineCount(ctx)
}
