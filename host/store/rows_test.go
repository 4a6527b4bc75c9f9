package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

var at = time.UnixMilli(1_700_000_000_123).UTC()

func call(id string, results any) *record.ToolCall {
	return &record.ToolCall{
		ID: id, Tool: "search", Args: json.RawMessage(`{}`), Checksum: "1f", IsComplete: true, Results: results,
		CreatedAt: at, UpdatedAt: at, CompletedAt: at,
	}
}

func readAll(t *testing.T, s store.Store, session, id string) string {
	t.Helper()
	content, size, err := s.OpenBytes(t.Context(), session, id)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.NewSectionReader(content, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// counting counts what is put.
type counting struct {
	*store.InMemory
	puts int
}

func (c *counting) PutBytes(ctx context.Context, session, id string, content io.Reader) error {
	c.puts++
	return c.InMemory.PutBytes(ctx, session, id, content)
}

// Rows have the stored forms, and bytes that the session lacks are put into it, once.
func TestRows(t *testing.T) {
	s := &counting{InMemory: store.NewInMemory()}
	blob := record.NewBlob([]byte("one\ntwo"))
	message := record.NewMessage("m", record.User, "look", at)
	message.Attachments = []*record.Media{record.UserAttachment(record.Image, "image/png", "a.png", blob)}
	deltas := []store.Delta{
		{Op: store.OpStore, Kind: "message", ID: "m", Record: message},
		{Op: store.OpMutate, Kind: "toolCall", ID: "c", Record: call("c", []*record.SpooledArtifact{
			record.NewSpooledArtifact(blob), record.NewSpooledArtifact(store.Opened(s, "a")("own", 3)),
		})},
		{Op: store.OpDelete, Kind: "memory", ID: "gone"},
		{Op: store.OpMutate, Kind: "standingInstruction", ID: "old", Record: record.NewInstruction("new")},
		{Op: store.OpReplaceToolCallGroup, Kind: "toolCall", IDs: []string{"c", "d"}, Records: []*record.ToolCall{call("e", "text")}},
	}
	rows, err := store.Rows(t.Context(), s, "a", deltas)
	if err != nil {
		t.Fatal(err)
	}
	digest := fmt.Sprintf("sha256-%x", sha256.Sum256([]byte("one\ntwo")))
	if len(rows[0].Bytes) != 1 || rows[0].Bytes[0] != digest || readAll(t, s, "a", rows[0].Bytes[0]) != "one\ntwo" {
		t.Errorf("bytes of the message: %v", rows[0].Bytes)
	}
	if want := []string{rows[0].Bytes[0], "own"}; !reflect.DeepEqual(rows[1].Bytes, want) || s.puts != 1 {
		t.Errorf("bytes of the call: %v after %d puts", rows[1].Bytes, s.puts)
	}
	if r := rows[2]; r.Op != store.OpDelete || r.Kind != record.KindMemory || r.ID != "gone" || r.Body != nil {
		t.Errorf("deletion %+v", r)
	}
	if r := rows[3]; r.ID != "new" || !reflect.DeepEqual(r.IDs, []string{"old"}) {
		t.Errorf("mutated instruction %+v", r)
	}
	if r := rows[4]; r.ID != "" || len(r.IDs) != 2 || len(r.Group) != 1 || r.Group[0].ID != "e" || !r.Group[0].At.Equal(at) {
		t.Errorf("group %+v", r)
	}
	if rows[0].Sum != crc32.ChecksumIEEE(append([]byte("\x03m\x00"), rows[0].Body...)) {
		t.Errorf("sum %x", rows[0].Sum)
	}

	// What was written is read again, with its bytes.
	r, err := store.Read(s, "a", rows[1].Kind, rows[1].ID, rows[1].Sum, rows[1].Body)
	if err != nil {
		t.Fatal(err)
	}
	artifacts := r.(*record.ToolCall).Results.([]*record.SpooledArtifact)
	if text, err := artifacts[0].AsString(t.Context()); text != "one\ntwo" || err != nil {
		t.Errorf("text %q: %v", text, err)
	}
	if _, err := artifacts[1].AsString(t.Context()); !errors.Is(err, host.CodeBytesNotFound) || !strings.Contains(err.Error(), `session "a", id "own"`) {
		t.Errorf("bytes that are not there: %v", err)
	}
	// Written to the same session it refers to the same bytes, in another it has its own.
	again, err := store.Rows(t.Context(), s, "a", []store.Delta{{Op: store.OpStore, Kind: "toolCall", Record: r}})
	if err != nil || !bytes.Equal(again[0].Body, rows[1].Body) || s.puts != 1 {
		t.Errorf("again: %v after %d puts", err, s.puts)
	}
	artifacts[1] = artifacts[0]
	other, err := store.Rows(t.Context(), s, "b", []store.Delta{{Op: store.OpStore, Kind: "toolCall", Record: r}})
	if err != nil || s.puts != 2 || readAll(t, s, "b", other[0].Bytes[0]) != "one\ntwo" {
		t.Errorf("in another session: %v after %d puts", err, s.puts)
	}
}

// broken fails while it is read.
type broken struct{ record.Blob }

func (*broken) Open() (io.ReadCloser, error) { return nil, errors.New("the disk is gone") }

// shifty reads something else each time.
type shifty struct {
	record.Blob
	reads int
}

func (s *shifty) Open() (io.ReadCloser, error) {
	s.reads++
	return io.NopCloser(strings.NewReader(strings.Repeat("x", s.reads))), nil
}

// refusing is a store that fails to put.
type refusing struct{ *store.InMemory }

var errFull = host.NewError(host.CodeStoreFailed, "the disk is full", nil)

func (refusing) PutBytes(context.Context, string, string, io.Reader) error { return errFull }

func TestRowsThatFail(t *testing.T) {
	for want, reader := range map[string]record.SpoolReader{"the disk is gone": &broken{}, "its bytes change": &shifty{}} {
		_, err := store.Rows(t.Context(), store.NewInMemory(), "a", []store.Delta{
			{Op: store.OpStore, Kind: "toolCall", Record: call("c", record.NewSpooledArtifact(reader))},
		})
		var e *host.Error
		if !errors.As(err, &e) || e.Code != host.CodeRecordUnstorable || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
			continue
		}
		details := map[string]any{"session": "a", "kind": "toolCall", "id": "c", "field": "results.reader"}
		if !reflect.DeepEqual(e.Details, details) || !strings.Contains(err.Error(), `session "a", toolCall "c": results.reader: `) {
			t.Errorf("%v, details %v", err, e.Details)
		}
	}
	_, err := store.Rows(t.Context(), refusing{store.NewInMemory()}, "a", []store.Delta{
		{Op: store.OpStore, Kind: "toolCall", Record: call("c", record.NewSpooledArtifact(record.NewBlob(nil)))},
	})
	if !errors.Is(err, host.CodeStoreFailed) {
		t.Errorf("a full disk: %v", err)
	}
	for _, d := range []store.Delta{
		{Op: store.OpStore, Kind: "poem"},
		{Op: store.OpStore, Kind: "memory", ID: "c", Record: call("c", "text")},
		{Op: store.OpStore, Kind: "memory", ID: "c"},
	} {
		if _, err := store.Rows(t.Context(), store.NewInMemory(), "a", []store.Delta{d}); !errors.Is(err, host.CodeRecordUnstorable) {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// A bit that was flipped anywhere is noticed.
func TestReadNoticesEveryFlippedBit(t *testing.T) {
	rows, err := store.Rows(t.Context(), store.NewInMemory(), "a", []store.Delta{
		{Op: store.OpStore, Kind: "message", Record: record.NewMessage("m", record.User, "Hello", at)},
	})
	if err != nil {
		t.Fatal(err)
	}
	row := rows[0]
	for bit := range 8 * len(row.Body) {
		body := bytes.Clone(row.Body)
		body[bit/8] ^= 1 << (bit % 8)
		_, err := store.Read(store.NewInMemory(), "a", row.Kind, row.ID, row.Sum, body)
		if !errors.Is(err, host.CodeStoredRecordInvalid) || !strings.Contains(err.Error(), `session "a", message "m"`) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	if _, err := store.Read(store.NewInMemory(), "a", row.Kind, "n", store.Sum(row.Kind, "n", row.Body), row.Body); !errors.Is(err, host.CodeStoredRecordInvalid) {
		t.Errorf("another's body: %v", err)
	}
}
