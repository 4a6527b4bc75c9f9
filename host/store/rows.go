package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// Row is a write of a store that keeps records as bytes: what [Rows] makes of a [Delta].
type Row struct {
	Op   Op
	Kind record.Kind
	// ID is the id of the record that is written or deleted, of an instruction its text; "" of a replaced group.
	ID string
	// IDs are the tool calls that a group replaces, and the old text of a mutated instruction.
	IDs []string
	// Body is the record's stored form, as record.Marshal writes it; nil of a deletion and of a group.
	Body []byte
	// Sum is the checksum of kind, id and body; see [Sum].
	Sum uint32
	// Bytes are the ids of the session's bytes that the record refers to.
	Bytes []string
	// At is when a message, a thought or a tool call was created: the newest of them is what Newest returns. Zero for
	// others.
	At time.Time
	// Group are the rows of the tool calls that replace IDs, each with the operation store.
	Group []Row
}

// Sum is the checksum that a store keeps with a stored record: CRC-32 (IEEE) of the kind's number as a byte, the id, a
// zero byte, and the body. A store that loads a record whose sum is another returns [Damaged].
func Sum(kind record.Kind, id string, body []byte) uint32 {
	head := append(append(make([]byte, 0, len(id)+2), byte(kind)), id...)
	return crc32.Update(crc32.ChecksumIEEE(append(head, 0)), crc32.IEEETable, body)
}

// Rows returns the rows of the writes of a session, for stores that keep records as bytes. What the records' readers
// read and the session does not have is put into the store first, under an id made of its content: "sha256-" and 64
// hexadecimal digits. A record that cannot be written down is an E_RECORD_UNSTORABLE that names session, record and
// field. A write of no known operation is an E_INVALID_VALUE.
func Rows(ctx context.Context, s Store, session string, deltas []Delta) ([]Row, error) {
	keep := func(reader any) (*record.Stored, error) { return keepBytes(ctx, s, session, reader) }
	if err := checkDeltas(deltas); err != nil {
		return nil, err
	}
	rows := make([]Row, len(deltas))
	for i := range deltas {
		if err := rows[i].of(&deltas[i], keep); err != nil {
			return nil, inSession(session, err)
		}
	}
	return rows, nil
}

// of makes the row of a delta.
func (r *Row) of(d *Delta, keep record.Keep) error {
	kind, err := kindOf(d.Kind)
	if err != nil {
		return err
	}
	*r = Row{Op: d.Op, Kind: kind, ID: d.ID}
	switch d.Op {
	case OpReplaceToolCallGroup:
		r.ID, r.IDs, r.Group = "", d.IDs, make([]Row, len(d.Records))
		for i, c := range d.Records {
			r.Group[i] = Row{Op: OpStore, Kind: kind}
			if err := r.Group[i].put(c, keep); err != nil {
				return err
			}
		}
		return nil
	case OpDelete:
		return nil
	}
	written, ok := d.Record.(record.Record)
	if !ok || record.KindOf(written) != kind || reflect.ValueOf(written).IsNil() {
		return notOfKind(d)
	}
	if kind == record.KindInstruction && d.Op == OpMutate && d.ID != record.Key(written) {
		r.IDs = []string{d.ID}
	}
	return r.put(written, keep)
}

// put writes the record into the row.
func (r *Row) put(written record.Record, keep record.Keep) error {
	body, err := record.MarshalKeeping(written, func(reader any) (*record.Stored, error) {
		stored, err := keep(reader)
		if err == nil && !slices.Contains(r.Bytes, stored.BytesID()) {
			r.Bytes = append(r.Bytes, stored.BytesID())
		}
		return stored, err
	})
	if err != nil {
		return err
	}
	r.ID, r.Body, r.At = record.Key(written), body, createdAt(written)
	r.Sum = Sum(r.Kind, r.ID, body)
	return nil
}

// notOfKind is the error of a write whose record is none of its kind.
func notOfKind(d *Delta) error {
	return host.NewError(host.CodeRecordUnstorable, fmt.Sprintf("%s %q: a %T is no such record", d.Kind, d.ID, d.Record), nil)
}

func kindOf(name string) (record.Kind, error) {
	for k := record.Kind(0); k < record.Kinds; k++ {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, host.NewError(host.CodeRecordUnstorable, strconv.Quote(name)+" is no kind of record", nil)
}

// createdAt is when a record that is part of the conversation was created, to the millisecond.
func createdAt(r record.Record) time.Time {
	switch r := r.(type) {
	case *record.Message:
		return time.UnixMilli(r.CreatedAt.UnixMilli()).UTC()
	case *record.Thought:
		return time.UnixMilli(r.CreatedAt.UnixMilli()).UTC()
	case *record.ToolCall:
		return time.UnixMilli(r.CreatedAt.UnixMilli()).UTC()
	}
	return time.Time{}
}

// inSession names the session in an error of a record.
func inSession(session string, err error) error {
	var e *host.Error
	if !errors.As(err, &e) || e.Code != host.CodeRecordUnstorable && e.Code != host.CodeStoredRecordInvalid {
		return err
	}
	named := *e
	details := map[string]any{"session": session}
	if known, ok := e.Details.(map[string]any); ok {
		for _, key := range []string{"kind", "id", "field"} {
			if v, ok := known[key]; ok {
				details[key] = v
			}
		}
	}
	named.Details, named.Message = details, strings.Replace(e.Message, ": ", ": session "+strconv.Quote(session)+", ", 1)
	return &named
}

// Read makes the record of a row that a store of the session has loaded: it checks the sum, and opens readers with
// [Opened]. A row that cannot be read is an E_STORED_RECORD_INVALID that names session, kind and id.
func Read(s Store, session string, kind record.Kind, id string, sum uint32, body []byte, classes ...*record.ArtifactClass) (record.Record, error) {
	if Sum(kind, id, body) != sum {
		return nil, Damaged(session, kind, id)
	}
	r, err := record.Unmarshal(kind, body, Opened(s, session), classes...)
	if err != nil {
		return nil, inSession(session, err)
	}
	if key := record.Key(r); key != id {
		return nil, invalid(session, kind, id, "it is the record of "+strconv.Quote(key))
	}
	return r, nil
}

// Damaged is the E_STORED_RECORD_INVALID of a stored record whose checksum is wrong. Its details are a map of session,
// kind and id.
func Damaged(session string, kind record.Kind, id string) error {
	return invalid(session, kind, id, "its checksum is wrong")
}

func invalid(session string, kind record.Kind, id, why string) error {
	e := host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("session %q, %s %q: %s", session, kind, id, why), nil)
	e.Details = map[string]any{"session": session, "kind": kind.String(), "id": id}
	return e
}

// home says whose bytes a reader reads.
type home struct {
	store   any
	session string
}

// Homed is a Store that several values stand for, such as one that is embedded in others. Home is what they have in
// common, a comparable value: what one of them has opened, the others know as their own.
type Homed interface {
	Store
	Home() any
}

// homeOf is nil for a store that cannot be told apart from others.
func homeOf(s Store, session string) any {
	if h, ok := s.(Homed); ok {
		return home{h.Home(), session}
	}
	if s == nil || !reflect.ValueOf(s).Comparable() {
		return nil
	}
	return home{s, session}
}

// Opened returns the opener of a session's bytes, for record.Unmarshal.
func Opened(s Store, session string) record.Opener {
	at := homeOf(s, session)
	return func(id string, size int64) *record.Stored {
		return record.NewStored(id, size, at, func(ctx context.Context) (io.ReaderAt, int64, error) {
			return s.OpenBytes(ctx, session, id)
		})
	}
}

// keepBytes returns a reference to the bytes of a reader in a session, which it puts there if need be.
func keepBytes(ctx context.Context, s Store, session string, reader any) (*record.Stored, error) {
	if stored, ok := reader.(*record.Stored); ok {
		if at := homeOf(s, session); at != nil && stored.Home() == at {
			return stored, nil
		}
	}
	id, size, err := contentOf(ctx, reader)
	if err != nil {
		return nil, err
	}
	open := Opened(s, session)
	if content, n, err := s.OpenBytes(ctx, session, id); err == nil {
		if c, ok := content.(io.Closer); ok {
			defer c.Close() //nolint:errcheck // nothing was read
		}
		if n == size {
			return open(id, size), nil
		}
	} else if !errors.Is(err, host.CodeBytesNotFound) {
		return nil, err
	}
	in, out := io.Pipe()
	again := sha256.New()
	go func() {
		_, err := readOut(ctx, reader, io.MultiWriter(out, again))
		if err == nil && ContentID(again.Sum(nil)) != id {
			err = unreadable(errors.New("its bytes change while they are read"))
		}
		out.CloseWithError(err) //nolint:errcheck // it returns none
	}()
	err = s.PutBytes(ctx, session, id, in)
	in.CloseWithError(io.ErrClosedPipe) //nolint:errcheck // it returns none
	if err != nil {
		return nil, err
	}
	return open(id, size), nil
}

// contentOf reads all that a reader reads, and returns its content id and how many bytes it was.
func contentOf(ctx context.Context, reader any) (id string, size int64, err error) {
	digest := sha256.New()
	size, err = readOut(ctx, reader, digest)
	return ContentID(digest.Sum(nil)), size, err
}

// readOut writes all that a reader reads.
func readOut(ctx context.Context, reader any, out io.Writer) (int64, error) {
	if m, ok := reader.(record.MediaReader); ok {
		in, err := m.Open()
		if err != nil {
			return 0, unreadable(err)
		}
		defer in.Close() //nolint:errcheck // it was only read
		n, err := io.Copy(out, in)
		return n, unreadable(err)
	}
	spooled, ok := reader.(record.SpoolReader)
	if !ok {
		return 0, unreadable(fmt.Errorf("a %T is no reader", reader))
	}
	text, err := spooled.ReadAll(ctx)
	if err != nil {
		return 0, unreadable(err)
	}
	n, err := io.WriteString(out, text)
	return int64(n), err
}

// unreadable is the error of a reader that fails; nil for nil.
func unreadable(cause error) error {
	if cause == nil {
		return nil
	}
	return host.NewError(host.CodeRecordUnstorable, cause.Error(), cause)
}
