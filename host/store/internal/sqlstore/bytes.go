package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/turncore/turncore/host/store"
)

const (
	// partSize is how many bytes a part of a content has: databases bound a row.
	partSize = 1 << 20
	// maxRead is how long the database may take to read a part.
	maxRead = time.Minute
)

// PutBytes implements store.Store.
func (s *Store) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	if err := checkSession(session); err != nil {
		return err
	}
	if s.d.MaxID > 0 && len(id) > s.d.MaxID {
		return s.tooLong(session, "bytes", id)
	}
	part := make([]byte, partSize)
	n, err := fill(content, part)
	if err != nil {
		return err
	}
	if n < partSize {
		return s.update(ctx, session, func(t *tx) error {
			number, err := t.addContent()
			if err == nil && n > 0 {
				err = t.addPart(number, 0, part[:n])
			}
			if err != nil {
				return err
			}
			return t.putBytes(session, id, number, int64(n))
		})
	}
	return s.putLong(ctx, session, id, part, content)
}

// fill reads a part, or what is left.
func fill(content io.Reader, part []byte) (n int, err error) {
	n, err = io.ReadFull(content, part)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// putLong puts bytes of more than a part, a transaction a part, so that other writers wait for none of them.
func (s *Store) putLong(ctx context.Context, session, id string, part []byte, content io.Reader) (err error) {
	var number int64
	write := func(run func(*tx) error) {
		if err == nil {
			err = s.update(ctx, session, run)
		}
	}
	write(func(t *tx) (err error) {
		number, err = t.addContent()
		return err
	})
	size, n := int64(0), len(part)
	for k := int64(0); n > 0 && err == nil; k++ {
		write(func(t *tx) error { return t.addPart(number, k, part[:n]) })
		size += int64(n)
		var failed error
		if n, failed = fill(content, part); failed != nil && err == nil {
			err = failed
		}
	}
	write(func(t *tx) error { return t.putBytes(session, id, number, size) })
	if err != nil && number != 0 {
		// Otherwise they would stay until they are collected.
		_ = s.update(context.WithoutCancel(ctx), session, func(t *tx) error { return t.dropContent(number) })
	}
	return err
}

// bytes returns the row of an id's bytes; nil if there are none.
func (t *tx) bytes(r *sessionRow, id string) (*bytesRow, error) {
	var b bytesRow
	err := b.scan(t.row("findBytes", r.number, []byte(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = b.check(string(r.id))
	}
	if err != nil {
		return nil, err
	}
	return &b, nil
}

func (t *tx) addContent() (number int64, err error) {
	number, _, err = t.number("addContent", t.s.now().UnixMicro())
	return number, err
}

func (t *tx) addPart(content, part int64, data []byte) error {
	return t.exec("addPart", content, part, data, sum(content, part, data))
}

// putBytes gives content an id, and drops what had it.
func (t *tx) putBytes(session, id string, content, size int64) error {
	r, err := t.begin(session)
	if err != nil {
		return err
	}
	old, err := t.bytes(r, id)
	if err == nil {
		err = t.setBytes(r, id, content, size)
	}
	if err != nil || old == nil {
		return err
	}
	return t.dropContent(old.content)
}

func (t *tx) setBytes(r *sessionRow, id string, content, size int64) error {
	b := bytesRow{id: []byte(id), content: content, size: size, added: t.s.now().UnixMicro()}
	return t.exec("putBytes", r.number, b.id, b.content, b.size, b.added, b.sumUp())
}

// dropContent deletes content that neither bytes nor artifacts have.
func (t *tx) dropContent(number int64) error {
	if n, _, err := t.number("usesOfContent", number); err != nil || n > 0 {
		return err
	}
	if err := t.exec("dropParts", number); err != nil {
		return err
	}
	return t.exec("dropContent", number)
}

// OpenBytes implements store.Store.
func (s *Store) OpenBytes(ctx context.Context, session, id string) (io.ReaderAt, int64, error) {
	if err := checkSession(session); err != nil {
		return nil, 0, err
	}
	var b *bytesRow
	err := s.view(ctx, session, func(t *tx) error {
		r, err := t.session("findSession", session)
		if b = nil; err == nil && r != nil {
			b, err = t.bytes(r, id)
		}
		return err
	})
	if err == nil && b == nil {
		err = store.NoBytes(session, id)
	}
	if err != nil {
		return nil, 0, err
	}
	c := &content{
		s: s, session: session, number: b.content, size: b.size, held: -1,
		invalid: func(why string) error { return invalidBytes(session, id, why) },
	}
	c.again = func(t *tx) (int64, error) { return t.replaced(session, id, c) }
	return c, b.size, nil
}

// content reads bytes part by part.
type content struct {
	s            *Store
	session      string
	number, size int64
	again        func(*tx) (number int64, err error) // finds the content anew after it was deleted
	invalid      func(why string) error

	mu   sync.Mutex
	held int64 // which part; -1 for none
	part []byte
}

// ReadAt implements io.ReaderAt.
func (c *content) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("offset %d is negative", off)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n < len(p) {
		if off >= c.size {
			return n, io.EOF
		}
		if err := c.hold(off / partSize); err != nil {
			return n, err
		}
		k := copy(p[n:], c.part[off%partSize:])
		n += k
		off += int64(k)
	}
	return n, nil
}

// replaced finds the content of bytes anew after it was deleted: another writer has put the same bytes, where their id
// says what they are.
func (t *tx) replaced(session, id string, c *content) (number int64, err error) {
	r, err := t.session("findSession", session)
	if err != nil {
		return 0, err
	}
	if r == nil {
		return 0, store.NoBytes(session, id)
	}
	b, err := t.bytes(r, id)
	switch {
	case err != nil:
		return 0, err
	case b == nil || b.content == c.number:
		return 0, store.NoBytes(session, id)
	case b.size != c.size || !store.IsContentID(id):
		return 0, fmt.Errorf("session %q, bytes %q were replaced while they were read: %w", session, id, io.ErrUnexpectedEOF)
	}
	return b.content, nil
}

// hold reads a part.
func (c *content) hold(part int64) error {
	if c.held == part {
		return nil
	}
	c.held = -1
	ctx, cancel := context.WithTimeout(context.Background(), maxRead)
	defer cancel()
	var data []byte
	var crc int64
	err := c.s.view(ctx, c.session, func(t *tx) error {
		err := t.row("findPart", c.number, part).Scan(&data, &crc)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if c.number, err = c.again(t); err != nil {
			return err
		}
		return t.row("findPart", c.number, part).Scan(&data, &crc)
	})
	switch {
	case err != nil:
		return err
	case crc != sum(c.number, part, data):
		return c.invalid(fmt.Sprintf("the checksum of part %d is wrong", part))
	case int64(len(data)) != min(partSize, c.size-part*partSize):
		return c.invalid(fmt.Sprintf("part %d has %d bytes", part, len(data)))
	}
	c.held, c.part = part, data
	return nil
}
