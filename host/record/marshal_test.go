package record_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

var at = time.UnixMilli(1_700_000_000_123).UTC()

func toolCall(results any) *record.ToolCall {
	return &record.ToolCall{
		ID: "c1", Tool: "search", Args: json.RawMessage(`{"q":"tea"}`), Checksum: "1f", IsComplete: true, Results: results,
		CreatedAt: at, UpdatedAt: at, CompletedAt: at,
	}
}

func attached(reader record.MediaReader) *record.Media {
	m := record.UserAttachment(record.Image, "image/png", "a.png", reader)
	m.ID = "i1"
	return m
}

func kept(id string) *record.Stored { return record.NewStored(id, -1, nil, nil) }

// What cannot be written down is refused by name.
func TestUnstorable(t *testing.T) {
	blob := record.NewBlob([]byte("text"))
	dynamic := record.NewDynamicTokenizable(func(context.Context) (string, error) { return "now", nil })
	message := func(change func(m *record.Message)) *record.Message {
		m := record.NewMessage("m1", record.User, "Hello", at)
		change(m)
		return m
	}
	circle := map[string]any{}
	circle["self"] = circle
	for field, r := range map[string]record.Record{
		"attachments[1].reader": message(func(m *record.Message) {
			m.Attachments = []*record.Media{attached(kept("b1")), attached(blob)}
		}),
		"content":           message(func(m *record.Message) { m.Content, m.Tokenizable = "", dynamic }),
		"metadata":          message(func(m *record.Message) { m.Metadata = map[string]any{"f": math.NaN()} }),
		"results.reader":    toolCall(record.NewSpooledArtifact(blob)),
		"results[0].reader": toolCall([]*record.SpooledArtifact{record.NewSpooledArtifact(blob)}),
		"results":           toolCall(dynamic),
		"results[0]":        toolCall([]*record.Media{attached(nil)}),
		"payload":           &record.Thought{ID: "t1", Payload: circle, ReplayCompatibility: "x", CreatedAt: at, UpdatedAt: at},
	} {
		_, err := record.Marshal(r)
		var e *host.Error
		if !errors.As(err, &e) || e.Code != host.CodeRecordUnstorable {
			t.Errorf("%s: %v", field, err)
			continue
		}
		want := map[string]any{"kind": record.KindOf(r).String(), "id": record.Key(r), "field": field}
		if !reflect.DeepEqual(e.Details, want) {
			t.Errorf("details %v, want %v", e.Details, want)
		}
		if !strings.Contains(err.Error(), `"`+record.Key(r)+`": `+field+": ") {
			t.Errorf("the message does not name what is wrong: %v", err)
		}
	}
	for _, args := range []string{"", "[]", "{", `"x"`} {
		c := toolCall("r")
		c.Args = json.RawMessage(args)
		if _, err := record.Marshal(c); !errors.Is(err, host.CodeRecordUnstorable) {
			t.Errorf("args %q: %v", args, err)
		}
	}
	for _, results := range []any{nil, 5, []string{"x"}, []*record.Media{}, (*record.Tokenizable)(nil)} {
		if _, err := record.Marshal(toolCall(results)); !errors.Is(err, host.CodeRecordUnstorable) {
			t.Errorf("results %v: %v", results, err)
		}
	}
}

// A form that is not one of its kind is refused, and what is wrong is named.
func TestInvalidForms(t *testing.T) {
	const times = `,"createdAt":"2024-02-29T13:05:09.007Z","updatedAt":"2024-02-29T13:05:09.008Z"}`
	for text, want := range map[string]string{
		`{"v":1,"id":"m","role":"user","content":"x","colour":"red"` + times:     "colour: it is no member",
		`{"v":2,"id":"m","role":"user","content":"x"` + times:                    "v: version 2: a record of a later version",
		`{"v":0,"id":"m","role":"user","content":"x"` + times:                    "v: it is no version",
		`{"id":"m","role":"user","content":"x"` + times:                          "v: it is missing",
		`{"v":1,"role":"user","content":"x"` + times:                             "id: it is missing",
		`{"v":1,"id":"m","role":"user","content":"x","createdAt":"2024"}`:        "createdAt: it is not a time",
		`{"v":1,"id":"m","role":"boss","content":"x"` + times:                    "role",
		`{"v":1,"id":7,"role":"user","content":"x"` + times:                      "id: it is not a text",
		`{"v":1,"id":"m","role":"user","content":"x","metadata":[]` + times:      "metadata: it is not a map",
		`{"v":1,"id":"m","role":"user","content":"x","identity":{}` + times:      "identity.identifier: it is missing",
		`{"v":1,"id":"m","role":"user","attachments":[{"id":"i","a":1}]` + times: "attachments[0].a: it is no member",
		`[]`: "it is not an object",
		`{`:  "not JSON",
	} {
		_, err := record.UnmarshalJSON(record.KindMessage, []byte(text), nil)
		if !errors.Is(err, host.CodeStoredRecordInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	body, err := record.Marshal(record.NewMessage("m", record.User, "x", at))
	if err != nil {
		t.Fatal(err)
	}
	for n := range body {
		if _, err := record.Unmarshal(record.KindMessage, body[:n], nil); !errors.Is(err, host.CodeStoredRecordInvalid) {
			t.Errorf("%d of %d bytes: %v", n, len(body), err)
		}
	}
	if _, err := record.Unmarshal(record.KindMessage, append(body, 0xc0), nil); !errors.Is(err, host.CodeStoredRecordInvalid) {
		t.Errorf("a byte too much: %v", err)
	}
	if _, err := record.Unmarshal(record.KindMemory, body, nil); !errors.Is(err, host.CodeStoredRecordInvalid) {
		t.Errorf("another kind: %v", err)
	}
	if _, err := record.Unmarshal(record.Kinds, body, nil); !errors.Is(err, host.CodeStoredRecordInvalid) {
		t.Errorf("an unknown kind: %v", err)
	}
}

// Readers are opened through the opener, when they are first read.
func TestStoredReaders(t *testing.T) {
	hinted := record.NewSpooledJSONArtifact(kept("b1"), record.JSONL).WithSizeHints(3, 2)
	body, err := record.Marshal(toolCall([]*record.SpooledArtifact{hinted, record.NewSpooledArtifact(record.NewStored("b2", 5, nil, nil))}))
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	contents := map[string]string{"b1": "1\n2", "b2": "other"}
	r, err := record.Unmarshal(record.KindToolCall, body, func(id string, size int64) *record.Stored {
		return record.NewStored(id, size, "here", func(context.Context) (io.ReaderAt, int64, error) {
			opened++
			return strings.NewReader(contents[id]), int64(len(contents[id])), nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if ids := record.BytesOf(r); !reflect.DeepEqual(ids, []string{"b1", "b2"}) {
		t.Errorf("bytes of %v", ids)
	}
	artifacts := r.(*record.ToolCall).Results.([]*record.SpooledArtifact)
	if n, err := artifacts[0].LineCount(t.Context()); n != 2 || err != nil || opened != 0 {
		t.Errorf("%d lines, opened %d times: %v", n, opened, err)
	}
	if lines, err := artifacts[0].Cat(t.Context(), 0, math.MaxInt); !reflect.DeepEqual(lines, []string{"1", "2"}) || err != nil {
		t.Errorf("lines %q: %v", lines, err)
	}
	if text, err := artifacts[1].AsString(t.Context()); text != "other" || err != nil || opened != 2 {
		t.Errorf("text %q, opened %d times: %v", text, opened, err)
	}
	alone, err := record.Unmarshal(record.KindToolCall, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := alone.(*record.ToolCall).Results.([]*record.SpooledArtifact)[0]
	if _, err := first.AsString(t.Context()); !errors.Is(err, host.CodeBytesNotFound) || !strings.Contains(err.Error(), `"b1"`) {
		t.Errorf("without a store: %v", err)
	}
	contents["b2"] = "longer than that"
	again, err := record.Unmarshal(record.KindToolCall, body, func(id string, size int64) *record.Stored {
		return record.NewStored(id, size, nil, func(context.Context) (io.ReaderAt, int64, error) {
			return strings.NewReader(contents[id]), int64(len(contents[id])), nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	second := again.(*record.ToolCall).Results.([]*record.SpooledArtifact)[1]
	if _, err := second.AsString(t.Context()); !errors.Is(err, host.CodeStoredRecordInvalid) {
		t.Errorf("bytes of another size: %v", err)
	}
}

// Users' own fields survive, and so do their classes of artifacts.
func TestMetadataAndClasses(t *testing.T) {
	invoice := &record.ArtifactClass{Name: "Invoice"}
	m := record.NewRetrievable("d", "a: 1", record.FirstParty, at)
	m.ArtifactClass = invoice
	m.Metadata = map[string]any{"tags": []any{"a", int64(1)}, "__proto__": map[string]any{"x": 0.5}, "raw": []byte{1, 2}}
	body, err := record.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, classes := range [][]*record.ArtifactClass{nil, {invoice}} {
		r, err := record.Unmarshal(record.KindRetrievable, body, nil, classes...)
		if err != nil {
			t.Fatal(err)
		}
		got := r.(*record.Retrievable)
		if !reflect.DeepEqual(got.Metadata, m.Metadata) {
			t.Errorf("metadata %v, want %v", got.Metadata, m.Metadata)
		}
		if got.ArtifactClass.Name != "Invoice" || (got.ArtifactClass == invoice) != (classes != nil) {
			t.Errorf("class %v with classes %v", got.ArtifactClass, classes)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var fromJSON record.Retrievable
		if err := json.Unmarshal(text, &fromJSON); err != nil || !reflect.DeepEqual(fromJSON.Metadata, m.Metadata) {
			t.Errorf("metadata through JSON %v: %v", fromJSON.Metadata, err)
		}
	}
}

// Records, artifacts and media are types of package msgp, within lists as well.
func TestMsgpInterfaces(t *testing.T) {
	var out bytes.Buffer
	w := msgp.NewWriter(&out)
	m := record.NewMessage("m", record.User, "Hello", at)
	m.Attachments = []*record.Media{attached(kept("b1"))}
	artifact := record.NewSpooledArtifact(kept("b2")).WithSizeHints(1, 1)
	for _, v := range []msgp.Encodable{m, artifact, m.Attachments[0]} {
		if err := v.EncodeMsg(w); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if size := m.Msgsize() + artifact.Msgsize() + m.Attachments[0].Msgsize(); size < out.Len() {
		t.Errorf("Msgsize %d is less than the %d bytes", size, out.Len())
	}
	in := msgp.NewReader(bytes.NewReader(out.Bytes()))
	var gotMessage record.Message
	var gotArtifact record.SpooledArtifact
	var gotMedia record.Media
	for _, v := range []msgp.Decodable{&gotMessage, &gotArtifact, &gotMedia} {
		if err := v.DecodeMsg(in); err != nil {
			t.Fatal(err)
		}
	}
	rest := out.Bytes()
	for _, v := range []msgp.Unmarshaler{&record.Message{}, &record.SpooledArtifact{}, &record.Media{}} {
		var err error
		if rest, err = v.UnmarshalMsg(rest); err != nil {
			t.Fatal(err)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes remain", len(rest))
	}
	again, err := gotMessage.MarshalMsg(nil)
	if err == nil {
		again, err = gotArtifact.MarshalMsg(again)
	}
	if err == nil {
		again, err = gotMedia.MarshalMsg(again)
	}
	if err != nil || !bytes.Equal(again, out.Bytes()) {
		t.Errorf("%x, want %x: %v", again, out.Bytes(), err)
	}
}

// FuzzUnmarshal: what is read can be written, and gives the same record again in both spellings.
func FuzzUnmarshal(f *testing.F) {
	for _, v := range vectorsOf(f) {
		body, err := hex.DecodeString(v.Msgpack)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(kindNamed(f, v.Kind)), body)
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		r, err := record.Unmarshal(record.Kind(kind), body, nil)
		if err != nil {
			if !errors.Is(err, host.CodeStoredRecordInvalid) {
				t.Fatal(err)
			}
			return
		}
		first, err := record.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := record.Unmarshal(record.Kind(kind), first, nil); err != nil || !same(t, first, again) {
			t.Fatalf("%x does not stay as it is: %v", first, err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		// JSON mends texts that are not UTF-8, and members that are not in order.
		mended, err := record.UnmarshalJSON(record.Kind(kind), text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first, err = record.Marshal(mended); err != nil {
			t.Fatal(err)
		}
		again, err := record.Unmarshal(record.Kind(kind), first, nil)
		if err != nil || !same(t, first, again) {
			t.Fatalf("%x, from JSON, does not stay as it is: %v", first, err)
		}
		if fromJSON, err := json.Marshal(mended); err != nil || string(fromJSON) != string(must(json.Marshal(again))(t)) {
			t.Fatalf("%s does not stay as it is: %v", fromJSON, err)
		}
	})
}

func must(text []byte, err error) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
}

func same(t *testing.T, body []byte, r record.Record) bool {
	t.Helper()
	again, err := record.Marshal(r)
	return err == nil && bytes.Equal(again, body)
}
