package record

import (
	"fmt"

	"github.com/tinylib/msgp/msgp"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/form"
)

// The records are the types of package msgp and of encoding/json. What they read has readers without a store: use
// [Unmarshal] and [UnmarshalJSON] to give them one.
var (
	_ codable = (*Instruction)(nil)
	_ codable = (*Memory)(nil)
	_ codable = (*Retrievable)(nil)
	_ codable = (*Message)(nil)
	_ codable = (*Thought)(nil)
	_ codable = (*ToolCall)(nil)
	_ codable = (*SpooledArtifact)(nil)
	_ codable = (*Media)(nil)
)

type codable interface {
	msgp.Marshaler
	msgp.Unmarshaler
	msgp.Sizer
	msgp.Encodable
	msgp.Decodable
}

// MarshalMsg appends the stored form; see [Marshal].
func (r *Instruction) MarshalMsg(b []byte) ([]byte, error) { return appendRecord(b, r, nil) }

// UnmarshalMsg reads the stored form and returns the bytes after it; see [Unmarshal].
func (r *Instruction) UnmarshalMsg(bts []byte) ([]byte, error) { return unmarshal(r, bts, &reading{}) }

// Msgsize is the size of the stored form in bytes; 0 for a record that has none.
func (r *Instruction) Msgsize() int { return msgsize(r) }

// EncodeMsg writes the stored form; see [Marshal].
func (r *Instruction) EncodeMsg(w *msgp.Writer) error { return encodeMsg(r, w) }

// DecodeMsg reads the stored form; see [Unmarshal].
func (r *Instruction) DecodeMsg(in *msgp.Reader) error { return decodeMsg(r, in) }

// MarshalJSON returns the stored form as JSON text; see [Marshal].
func (r *Instruction) MarshalJSON() ([]byte, error) { return marshalJSON(r) }

// UnmarshalJSON reads the stored form from JSON text; see [UnmarshalJSON].
func (r *Instruction) UnmarshalJSON(text []byte) error { return unmarshalJSON(r, text, &reading{}) }

// MarshalMsg appends the stored form; see [Marshal].
func (r *Memory) MarshalMsg(b []byte) ([]byte, error) { return appendRecord(b, r, nil) }

// UnmarshalMsg reads the stored form and returns the bytes after it; see [Unmarshal].
func (r *Memory) UnmarshalMsg(bts []byte) ([]byte, error) { return unmarshal(r, bts, &reading{}) }

// Msgsize is the size of the stored form in bytes; 0 for a record that has none.
func (r *Memory) Msgsize() int { return msgsize(r) }

// EncodeMsg writes the stored form; see [Marshal].
func (r *Memory) EncodeMsg(w *msgp.Writer) error { return encodeMsg(r, w) }

// DecodeMsg reads the stored form; see [Unmarshal].
func (r *Memory) DecodeMsg(in *msgp.Reader) error { return decodeMsg(r, in) }

// MarshalJSON returns the stored form as JSON text; see [Marshal].
func (r *Memory) MarshalJSON() ([]byte, error) { return marshalJSON(r) }

// UnmarshalJSON reads the stored form from JSON text; see [UnmarshalJSON].
func (r *Memory) UnmarshalJSON(text []byte) error { return unmarshalJSON(r, text, &reading{}) }

// MarshalMsg appends the stored form; see [Marshal].
func (r *Retrievable) MarshalMsg(b []byte) ([]byte, error) { return appendRecord(b, r, nil) }

// UnmarshalMsg reads the stored form and returns the bytes after it; see [Unmarshal].
func (r *Retrievable) UnmarshalMsg(bts []byte) ([]byte, error) { return unmarshal(r, bts, &reading{}) }

// Msgsize is the size of the stored form in bytes; 0 for a record that has none.
func (r *Retrievable) Msgsize() int { return msgsize(r) }

// EncodeMsg writes the stored form; see [Marshal].
func (r *Retrievable) EncodeMsg(w *msgp.Writer) error { return encodeMsg(r, w) }

// DecodeMsg reads the stored form; see [Unmarshal].
func (r *Retrievable) DecodeMsg(in *msgp.Reader) error { return decodeMsg(r, in) }

// MarshalJSON returns the stored form as JSON text; see [Marshal].
func (r *Retrievable) MarshalJSON() ([]byte, error) { return marshalJSON(r) }

// UnmarshalJSON reads the stored form from JSON text; see [UnmarshalJSON].
func (r *Retrievable) UnmarshalJSON(text []byte) error { return unmarshalJSON(r, text, &reading{}) }

// MarshalMsg appends the stored form; see [Marshal].
func (r *Message) MarshalMsg(b []byte) ([]byte, error) { return appendRecord(b, r, nil) }

// UnmarshalMsg reads the stored form and returns the bytes after it; see [Unmarshal].
func (r *Message) UnmarshalMsg(bts []byte) ([]byte, error) { return unmarshal(r, bts, &reading{}) }

// Msgsize is the size of the stored form in bytes; 0 for a record that has none.
func (r *Message) Msgsize() int { return msgsize(r) }

// EncodeMsg writes the stored form; see [Marshal].
func (r *Message) EncodeMsg(w *msgp.Writer) error { return encodeMsg(r, w) }

// DecodeMsg reads the stored form; see [Unmarshal].
func (r *Message) DecodeMsg(in *msgp.Reader) error { return decodeMsg(r, in) }

// MarshalJSON returns the stored form as JSON text; see [Marshal].
func (r *Message) MarshalJSON() ([]byte, error) { return marshalJSON(r) }

// UnmarshalJSON reads the stored form from JSON text; see [UnmarshalJSON].
func (r *Message) UnmarshalJSON(text []byte) error { return unmarshalJSON(r, text, &reading{}) }

// MarshalMsg appends the stored form; see [Marshal].
func (r *Thought) MarshalMsg(b []byte) ([]byte, error) { return appendRecord(b, r, nil) }

// UnmarshalMsg reads the stored form and returns the bytes after it; see [Unmarshal].
func (r *Thought) UnmarshalMsg(bts []byte) ([]byte, error) { return unmarshal(r, bts, &reading{}) }

// Msgsize is the size of the stored form in bytes; 0 for a record that has none.
func (r *Thought) Msgsize() int { return msgsize(r) }

// EncodeMsg writes the stored form; see [Marshal].
func (r *Thought) EncodeMsg(w *msgp.Writer) error { return encodeMsg(r, w) }

// DecodeMsg reads the stored form; see [Unmarshal].
func (r *Thought) DecodeMsg(in *msgp.Reader) error { return decodeMsg(r, in) }

// MarshalJSON returns the stored form as JSON text; see [Marshal].
func (r *Thought) MarshalJSON() ([]byte, error) { return marshalJSON(r) }

// UnmarshalJSON reads the stored form from JSON text; see [UnmarshalJSON].
func (r *Thought) UnmarshalJSON(text []byte) error { return unmarshalJSON(r, text, &reading{}) }

// MarshalMsg appends the stored form; see [Marshal].
func (r *ToolCall) MarshalMsg(b []byte) ([]byte, error) { return appendRecord(b, r, nil) }

// UnmarshalMsg reads the stored form and returns the bytes after it; see [Unmarshal].
func (r *ToolCall) UnmarshalMsg(bts []byte) ([]byte, error) { return unmarshal(r, bts, &reading{}) }

// Msgsize is the size of the stored form in bytes; 0 for a record that has none.
func (r *ToolCall) Msgsize() int { return msgsize(r) }

// EncodeMsg writes the stored form; see [Marshal].
func (r *ToolCall) EncodeMsg(w *msgp.Writer) error { return encodeMsg(r, w) }

// DecodeMsg reads the stored form; see [Unmarshal].
func (r *ToolCall) DecodeMsg(in *msgp.Reader) error { return decodeMsg(r, in) }

// MarshalJSON returns the stored form as JSON text; see [Marshal].
func (r *ToolCall) MarshalJSON() ([]byte, error) { return marshalJSON(r) }

// UnmarshalJSON reads the stored form from JSON text; see [UnmarshalJSON].
func (r *ToolCall) UnmarshalJSON(text []byte) error { return unmarshalJSON(r, text, &reading{}) }

func (r *SpooledArtifact) stored() (*form.Artifact, error) {
	f := former{kind: "artifact", id: ""}
	out := f.artifact("artifact", r)
	return &out, f.err
}

// MarshalMsg appends the stored form, as it stands in a record; see [Marshal].
func (r *SpooledArtifact) MarshalMsg(b []byte) ([]byte, error) {
	f, err := r.stored()
	if err != nil {
		return b, err
	}
	return f.MarshalMsg(b)
}

// UnmarshalMsg reads the stored form and returns the bytes after it. The reader is one without a store.
func (r *SpooledArtifact) UnmarshalMsg(bts []byte) ([]byte, error) {
	var out form.Artifact
	rest, err := unmarshalPart("artifact", form.ArtifactTable, bts, out.UnmarshalMsg)
	if err != nil {
		return bts, err
	}
	in := reading{}
	*r = *in.artifact("artifact", &out)
	if in.err == nil {
		in.err = r.Validate()
	}
	if in.err != nil {
		return bts, invalidPart("artifact", in.err)
	}
	return rest, nil
}

// Msgsize is the largest size of the stored form in bytes; 0 for one that has none.
func (r *SpooledArtifact) Msgsize() int {
	f, err := r.stored()
	if err != nil {
		return 0
	}
	return f.Msgsize()
}

// EncodeMsg writes the stored form.
func (r *SpooledArtifact) EncodeMsg(w *msgp.Writer) error {
	body, err := r.MarshalMsg(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// DecodeMsg reads the stored form; see [SpooledArtifact.UnmarshalMsg].
func (r *SpooledArtifact) DecodeMsg(in *msgp.Reader) error {
	var raw msgp.Raw
	if err := raw.DecodeMsg(in); err != nil {
		return err
	}
	_, err := r.UnmarshalMsg(raw)
	return err
}

func (r *Media) stored() (*form.Media, error) {
	f := former{kind: "medium", id: r.ID}
	out := f.media("media", r)
	return &out, f.err
}

// MarshalMsg appends the stored form, as it stands in a record; see [Marshal].
func (r *Media) MarshalMsg(b []byte) ([]byte, error) {
	f, err := r.stored()
	if err != nil {
		return b, err
	}
	return f.MarshalMsg(b)
}

// UnmarshalMsg reads the stored form and returns the bytes after it. The reader is one without a store.
func (r *Media) UnmarshalMsg(bts []byte) ([]byte, error) {
	var out form.Media
	rest, err := unmarshalPart("medium", form.MediaTable, bts, out.UnmarshalMsg)
	if err != nil {
		return bts, err
	}
	in := reading{}
	*r = *in.media("media", &out)
	if in.err == nil {
		in.err = r.Validate()
	}
	if in.err != nil {
		return bts, invalidPart("medium", in.err)
	}
	return rest, nil
}

// Msgsize is the largest size of the stored form in bytes; 0 for one that has none.
func (r *Media) Msgsize() int {
	f, err := r.stored()
	if err != nil {
		return 0
	}
	return f.Msgsize()
}

// EncodeMsg writes the stored form.
func (r *Media) EncodeMsg(w *msgp.Writer) error {
	body, err := r.MarshalMsg(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// DecodeMsg reads the stored form; see [Media.UnmarshalMsg].
func (r *Media) DecodeMsg(in *msgp.Reader) error {
	var raw msgp.Raw
	if err := raw.DecodeMsg(in); err != nil {
		return err
	}
	_, err := r.UnmarshalMsg(raw)
	return err
}

// unmarshalPart reads an artifact or a medium at the start of bts and returns the bytes after it.
func unmarshalPart(noun string, table form.Table, bts []byte, read func([]byte) ([]byte, error)) ([]byte, error) {
	rest, err := value.Skip(bts, value.MaxDepth)
	if err == nil {
		body := bts[:len(bts)-len(rest)]
		if err = table.Check(body); err == nil {
			_, err = read(body)
		}
	}
	if err != nil {
		return bts, invalidPart(noun, err)
	}
	return rest, nil
}

func invalidPart(noun string, cause error) error {
	return host.NewError(host.CodeStoredRecordInvalid, fmt.Sprintf("%s: %s", noun, cause), cause)
}
