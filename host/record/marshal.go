package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/form"
)

var tables = [Kinds]form.Table{
	KindInstruction: form.InstructionTable, KindMemory: form.MemoryTable, KindRetrievable: form.RetrievableTable,
	KindMessage: form.MessageTable, KindThought: form.ThoughtTable, KindToolCall: form.ToolCallTable,
}

// Marshal returns the stored form of a record in MessagePack, as docs/records.md describes it. What cannot be written
// down is an E_RECORD_UNSTORABLE that names the record and the field: a reader that is no [Reference], a text that a
// function renders, a value without an encoding.
func Marshal(r Record) ([]byte, error) { return appendRecord(nil, r, nil) }

// Keep returns the reference that is written in place of a reader, a SpoolReader or a MediaReader: it puts the bytes
// into a store, unless the reader is of that store already. An error whose code is E_RECORD_UNSTORABLE says by its
// cause why a reader cannot be read.
type Keep func(reader any) (*Stored, error)

// MarshalKeeping is Marshal with references that keep returns. Other errors of keep are returned as they are.
func MarshalKeeping(r Record, keep Keep) ([]byte, error) { return appendRecord(nil, r, keep) }

func appendRecord(dst []byte, r Record, keep Keep) ([]byte, error) { return r.appendForm(dst, keep) }

// Unmarshal makes the record of a kind from its stored form. open returns the readers of its bytes; nil makes readers
// that fail with E_BYTES_NOT_FOUND. Artifacts of an application's own class get that of classes with the name, or one
// without reader tools. A form that is malformed, breaks the rules of Validate, or is of a later version is an
// E_STORED_RECORD_INVALID that names the record and the field.
func Unmarshal(kind Kind, body []byte, open Opener, classes ...*ArtifactClass) (Record, error) {
	r, err := newRecord(kind)
	if err != nil {
		return nil, err
	}
	rest, err := unmarshal(r, body, &reading{open: open, classes: classes})
	if err == nil && len(rest) > 0 {
		err = invalidForm(kind, body, &form.Error{Reason: fmt.Sprintf("%d bytes follow the record", len(rest))})
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func newRecord(kind Kind) (Record, error) {
	switch kind {
	case KindInstruction:
		return &Instruction{}, nil
	case KindMemory:
		return &Memory{}, nil
	case KindRetrievable:
		return &Retrievable{}, nil
	case KindMessage:
		return &Message{}, nil
	case KindThought:
		return &Thought{}, nil
	case KindToolCall:
		return &ToolCall{}, nil
	}
	return nil, host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("%d is no kind of record", kind), nil)
}

// unmarshal reads the record at the start of bts and returns the bytes after it.
func unmarshal(r Record, bts []byte, from *reading) ([]byte, error) {
	kind := r.kind()
	rest, err := value.Skip(bts, value.MaxDepth)
	if err != nil {
		return bts, invalidForm(kind, nil, &form.Error{Reason: err.Error()})
	}
	body := bts[:len(bts)-len(rest)]
	if err := tables[kind].Check(body); err != nil {
		return bts, invalidForm(kind, body, err)
	}
	if _, err = r.read(body, from); err == nil {
		err = from.err
	}
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return bts, invalidForm(kind, body, err)
	}
	return rest, nil
}

// invalidForm is the error of a stored form of a kind. body names the record, if it can be read so far.
func invalidForm(kind Kind, body []byte, cause error) error {
	name := "id"
	if kind == KindInstruction {
		name = "text"
	}
	id, _ := value.GetString(body, name)
	err := host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("%s %q: %s", kind, id, cause), cause)
	details := map[string]any{"kind": kind.String(), "id": value.UTF8(string(id))}
	var field *form.Error
	if errors.As(cause, &field) && field.Field != "" {
		details["field"] = field.Field
	}
	err.Details = details
	return err
}

// BytesOf returns the ids of the bytes that a record refers to, each once, in their order. Readers that are no
// [Reference] have none.
func BytesOf(r Record) []string {
	var ids []string
	for reader := range readersOf(r) {
		if stored, ok := reader.(Reference); ok && !slices.Contains(ids, stored.BytesID()) {
			ids = append(ids, stored.BytesID())
		}
	}
	return ids
}

// readersOf yields the readers of a record, in their order.
func readersOf(r Record) func(yield func(reader any) bool) {
	return func(yield func(any) bool) {
		content := any(nil)
		switch r := r.(type) {
		case *Message:
			content = r.Attachments
		case *Retrievable:
			content = r.Content
		case *ToolCall:
			content = r.Results
		}
		switch c := content.(type) {
		case *SpooledArtifact:
			yield(c.Reader())
		case []*SpooledArtifact:
			for _, a := range c {
				if !yield(a.Reader()) {
					return
				}
			}
		case *Media:
			yield(c.Reader)
		case []*Media:
			for _, m := range c {
				if !yield(m.Reader) {
					return
				}
			}
		}
	}
}

// marshalJSON returns the stored form of a record as JSON text.
func marshalJSON(r Record) ([]byte, error) {
	body, err := Marshal(r)
	if err != nil {
		return nil, err
	}
	return tables[r.kind()].AppendJSON(nil, body)
}

// unmarshalJSON reads what marshalJSON has written.
func unmarshalJSON(r Record, text []byte, from *reading) error {
	if bytes.Equal(text, []byte("null")) {
		return nil // as encoding/json does for all types
	}
	body, err := tables[r.kind()].FromJSON(text)
	if err != nil {
		return invalidForm(r.kind(), nil, err)
	}
	_, err = unmarshal(r, body, from)
	return err
}

// JSONOf returns the JSON text of a stored form in MessagePack, as the record's MarshalJSON writes it, compact.
func JSONOf(kind Kind, body []byte) ([]byte, error) {
	if kind >= Kinds {
		return nil, host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("%d is no kind of record", kind), nil)
	}
	if err := tables[kind].Check(body); err != nil {
		return nil, invalidForm(kind, body, err)
	}
	return tables[kind].AppendJSON(nil, body)
}

// UnmarshalJSON makes the record of a kind from its JSON text, as Unmarshal does from MessagePack.
func UnmarshalJSON(kind Kind, text []byte, open Opener, classes ...*ArtifactClass) (Record, error) {
	r, err := newRecord(kind)
	if err == nil {
		err = unmarshalJSON(r, text, &reading{open: open, classes: classes})
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func msgsize(r Record) int {
	body, err := Marshal(r)
	if err != nil {
		return 0
	}
	return len(body)
}

func encodeMsg(r Record, w *msgp.Writer) error {
	body, err := Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

func decodeMsg(r Record, in *msgp.Reader) error {
	var raw msgp.Raw
	if err := raw.DecodeMsg(in); err != nil {
		return err
	}
	_, err := unmarshal(r, raw, &reading{})
	return err
}
