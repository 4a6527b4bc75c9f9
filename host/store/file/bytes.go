package file

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/turncore/turncore/host/store"
)

// A file of bytes has
//
//	8 bytes  how many bytes there are
//	4 bytes  CRC-32 of these
//
// and then blocks of 64 KiB, the last one shorter: each with its CRC-32, of its number as 8 bytes and itself, behind
// it. Numbers are big-endian.
const (
	bytesFront = 12
	blockSize  = 64 << 10
	sumSize    = 4
)

func (f *session) bytes(id string) string { return filepath.Join(f.folder, bytesName, nameOf(id)) }

func bytesFrontOf(size int64) []byte {
	front := binary.BigEndian.AppendUint64(make([]byte, 0, bytesFront), uint64(size))
	return binary.BigEndian.AppendUint32(front, crc32.ChecksumIEEE(front))
}

func blockSum(block int64, data []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(block))), crc32.IEEETable, data)
}

// PutBytes implements store.Store.
func (s *Store) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	f, err := s.enter(session, true)
	if err != nil {
		return err
	}
	if !f.there {
		if err = s.create(f, nil); err == nil {
			err = f.settle()
		}
		if err != nil {
			s.leave(f)
			return failure(session, err)
		}
	}
	folder := filepath.Join(f.folder, bytesName)
	s.leave(f) // the content may come slowly
	file, err := os.CreateTemp(folder, "*.new")
	if err != nil {
		return failure(session, err)
	}
	if err := writeBytes(ctx, file, content); err != nil {
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		return failure(session, err)
	}
	if f, err = s.enter(session, false); f == nil {
		if err == nil {
			err = store.NoSession(session) // it was deleted meanwhile
		}
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	defer s.leave(f)
	return failure(session, settle(file, nil, f.bytes(id)))
}

// writeBytes writes the file of a content. An error of the content is returned as it is.
func writeBytes(ctx context.Context, file *os.File, content io.Reader) error {
	out := bufio.NewWriterSize(file, 2*blockSize)
	if _, err := out.Write(make([]byte, bytesFront)); err != nil {
		return err
	}
	data := make([]byte, blockSize, blockSize+sumSize)
	size := int64(0)
	for block := int64(0); ; block++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := io.ReadFull(content, data)
		size += int64(n)
		if n > 0 {
			if _, err := out.Write(binary.BigEndian.AppendUint32(data[:n:n], blockSum(block, data[:n]))); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := file.WriteAt(bytesFrontOf(size), 0)
	return err
}

// OpenBytes implements store.Store.
func (s *Store) OpenBytes(ctx context.Context, session, id string) (io.ReaderAt, int64, error) {
	if err := s.begin(ctx); err != nil {
		return nil, 0, err
	}
	f, err := s.enter(session, false)
	if f == nil {
		if err == nil {
			err = store.NoBytes(session, id)
		}
		return nil, 0, err
	}
	defer s.leave(f)
	r := &byteReader{name: f.bytes(id), session: session, id: id}
	if err := r.open(); err != nil {
		return nil, 0, err
	}
	return r, r.size, nil
}

// open looks the file up.
func (r *byteReader) open() error {
	file, err := os.Open(r.name)
	if errors.Is(err, fs.ErrNotExist) {
		return r.missing()
	}
	if err != nil {
		return failure(r.session, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	front := make([]byte, bytesFront)
	info, err := file.Stat()
	if err == nil {
		_, err = file.ReadAt(front, 0)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return failure(r.session, err)
	}
	r.size = int64(binary.BigEndian.Uint64(front))
	blocks := (r.size + blockSize - 1) / blockSize
	if string(front) != string(bytesFrontOf(r.size)) || info.Size() != bytesFront+r.size+blocks*sumSize {
		return r.damaged("its length is wrong")
	}
	r.info = info
	return nil
}

// byteReader reads a file of bytes. It opens it for each read: there may be many readers, and nobody closes them.
type byteReader struct {
	name        string
	session, id string
	size        int64
	artifact    bool        // they are those of a version, and id is its name
	info        fs.FileInfo // of the file when it was opened
}

// missing is the error of a file that is not there.
func (r *byteReader) missing() error {
	if r.artifact {
		return r.damaged("it is not there")
	}
	return store.NoBytes(r.session, r.id)
}

func (r *byteReader) damaged(why string) error {
	what := "bytes "
	if r.artifact {
		what = "artifact "
	}
	return damaged(r.session, what+strconv.Quote(r.id)+", "+r.name+": "+why, nil)
}

// sameFile tells whether a file is the one that was opened first. A system gives the number of a file that was replaced
// to another one at once, so the number alone does not say it.
func (r *byteReader) sameFile(info fs.FileInfo) bool {
	return os.SameFile(info, r.info) && info.Size() == r.info.Size() && info.ModTime().Equal(r.info.ModTime())
}

// sameContent tells whether a file that was put in the place of the reader's has the same bytes: their id says what
// they are.
func (r *byteReader) sameContent(info fs.FileInfo) bool {
	return store.IsContentID(r.id) && info.Size() == r.info.Size()
}

// ReadAt implements io.ReaderAt.
func (r *byteReader) ReadAt(p []byte, from int64) (n int, err error) {
	if from < 0 {
		return 0, fmt.Errorf("a read at %d", from)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if from >= r.size {
		return 0, io.EOF
	}
	file, err := os.Open(r.name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, r.missing()
	}
	if err != nil {
		return 0, failure(r.session, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	if info, err := file.Stat(); err != nil || !r.sameFile(info) && !r.sameContent(info) {
		return 0, errors.Join(io.ErrUnexpectedEOF, failure(r.session, err)) // other bytes were put in their place
	}
	data := make([]byte, blockSize+sumSize)
	for n < len(p) && from < r.size {
		block := from / blockSize
		want := data[:min(blockSize, r.size-block*blockSize)+sumSize]
		if got, err := file.ReadAt(want, bytesFront+block*(blockSize+sumSize)); got < len(want) {
			if errors.Is(err, io.EOF) {
				return n, r.damaged("it is cut off")
			}
			return n, failure(r.session, err)
		}
		content := want[:len(want)-sumSize]
		if binary.BigEndian.Uint32(want[len(content):]) != blockSum(block, content) {
			return n, r.damaged("the checksum of block " + strconv.FormatInt(block, 10) + " is wrong")
		}
		copied := copy(p[n:], content[from-block*blockSize:])
		n, from = n+copied, from+int64(copied)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}
