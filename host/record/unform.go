package record

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/form"
	"github.com/turncore/turncore/host/internal/wire"
)

// reading makes records of forms.
type reading struct {
	open    Opener
	classes []*ArtifactClass
	err     error
}

// fail keeps the first thing that is wrong.
func (r *reading) fail(field string, err error) {
	if r.err == nil && err != nil {
		r.err = &form.Error{Field: field, Reason: err.Error()}
	}
}

func (r *reading) class(name string) *ArtifactClass {
	for _, c := range r.classes {
		if c != nil && c.Name == name {
			return c
		}
	}
	for _, c := range []*ArtifactClass{SpooledText, SpooledJSON, SpooledMarkdown} {
		if c.Name == name {
			return c
		}
	}
	return &ArtifactClass{Name: name}
}

func (r *reading) stored(field, id string, size *uint64) *Stored {
	n := int64(-1)
	if size != nil && *size <= math.MaxInt64 {
		n = int64(*size)
	}
	if id == "" {
		r.fail(field+".bytes", errors.New("it is empty"))
	}
	if r.open != nil {
		return r.open(id, n)
	}
	return NewStored(id, n, nil, nil)
}

func (r *reading) artifact(field string, f *form.Artifact) *SpooledArtifact {
	size := f.ByteLength
	if f.Lines != nil {
		size = nil // a hint is what somebody said, not what a store has
	}
	a := NewArtifactOf(r.class(f.Class), r.stored(field, f.Bytes, size))
	a.form = JSONForm(f.Form)
	if f.Lines != nil {
		if f.ByteLength == nil {
			r.fail(field+".lines", errors.New("byteLength is missing"))
			return a
		}
		a = a.WithSizeHints(int64(*f.ByteLength), int(*f.Lines))
	}
	return a
}

func (r *reading) media(field string, f *form.Media) *Media {
	m := &Media{
		ID: f.ID, Kind: MediaKind(f.Kind), MimeType: f.MimeType, Filename: f.Filename, TrustTier: TrustTier(f.TrustTier),
		ModalityHazard: ModalityHazard(f.ModalityHazard), Source: f.Source, Reader: r.stored(field, f.Bytes, f.ByteLength),
	}
	if f.Stash.IsZero() {
		return m
	}
	if value.KindOf(f.Stash) != value.KindMap {
		r.fail(field+".stash", errNotMap)
		return m
	}
	m.stash, m.Stash = bytes.Clone(f.Stash), make(map[string]MediaNote)
	r.fail(field+".stash", value.Each(f.Stash, func(name, entry []byte) bool {
		note := MediaNote{}
		err := value.Each(entry, func(key, val []byte) bool {
			switch string(key) {
			case "value":
				v, err := wire.Read(val)
				r.fail(field+".stash", err)
				note.Value = v
			case "trustTier":
				tier, _ := value.String(val)
				note.TrustTier = TrustTier(tier)
			case "derivedFromMedia":
				note.DerivedFromMedia, _ = value.Bool(val)
			default:
				r.fail(fmt.Sprintf("%s.stash.%s.%s", field, name, key), errors.New("it is no member of a fact"))
			}
			return true
		})
		r.fail(fmt.Sprintf("%s.stash.%s", field, name), err)
		m.Stash[value.UTF8(string(name))] = note
		return r.err == nil
	}))
	return m
}

var errNotMap = errors.New("it is not a map")

func (r *reading) mediaList(field string, list []form.Media) []*Media {
	if len(list) == 0 {
		return nil
	}
	out := make([]*Media, len(list))
	for i := range list {
		out[i] = r.media(fmt.Sprintf("%s[%d]", field, i), &list[i])
	}
	return out
}

func (r *reading) content(field string, c *form.Content) any {
	switch {
	case len(c.Artifacts) > 0 && c.List:
		out := make([]*SpooledArtifact, len(c.Artifacts))
		for i := range c.Artifacts {
			out[i] = r.artifact(fmt.Sprintf("%s[%d]", field, i), &c.Artifacts[i])
		}
		return out
	case len(c.Artifacts) > 0:
		return r.artifact(field, &c.Artifacts[0])
	case len(c.Media) > 0 && c.List:
		return r.mediaList(field, c.Media)
	case len(c.Media) > 0:
		return r.media(field, &c.Media[0])
	}
	return c.Text
}

// free reads a free value, and keeps its encoding where that says more.
func (r *reading) free(field string, v form.Value) (any, abi.Raw) {
	payload, sent, err := decodePayload(abi.Raw(v))
	r.fail(field, err)
	return payload, sent
}

func (r *reading) metadata(v form.Value) (map[string]any, abi.Raw) {
	if v.IsZero() {
		return nil, nil
	}
	m, sent := r.free("metadata", v)
	plain, ok := m.(map[string]any)
	if !ok {
		r.fail("metadata", errNotMap)
	}
	return plain, sent
}

// contentOf is a text of a record: an empty one is a Tokenizable, for an empty string would be none.
func contentOf(text form.Optional) (content string, t *Tokenizable) {
	if text.There && text.Text == "" {
		t = NewTokenizable("")
	}
	return text.Text, t
}

func identityOf(f *form.Identity) *Identity {
	if f == nil {
		return nil
	}
	return &Identity{Identifier: f.Identifier, Representation: f.Representation}
}

func (i *Instruction) read(body []byte, _ *reading) ([]byte, error) {
	var f form.Instruction
	rest, err := f.UnmarshalMsg(body)
	*i = Instruction{Text: f.Text}
	return rest, err
}

func (m *Memory) read(body []byte, r *reading) ([]byte, error) {
	var f form.Memory
	rest, err := f.UnmarshalMsg(body)
	*m = Memory{
		ID: f.ID, Confidence: f.Confidence, Importance: f.Importance,
		CreatedAt: instant(int64(f.CreatedAt)), UpdatedAt: instant(int64(f.UpdatedAt)),
	}
	m.Content, m.Tokenizable = contentOf(form.Optional{Text: f.Content, There: true})
	m.Metadata, m.metadata = r.metadata(f.Metadata)
	return rest, err
}

func (d *Retrievable) read(body []byte, r *reading) ([]byte, error) {
	var f form.Retrievable
	rest, err := f.UnmarshalMsg(body)
	*d = Retrievable{
		ID: f.ID, Content: r.content("content", &f.Content), TrustTier: TrustTier(f.TrustTier), Source: f.Source, Kind: f.Kind,
		Score: f.Score, Inline: f.Inline, CreatedAt: instant(int64(f.CreatedAt)), UpdatedAt: instant(int64(f.UpdatedAt)),
	}
	if d.Content == "" {
		d.Content = NewTokenizable("")
	}
	if f.ArtifactClass != "" {
		d.ArtifactClass = r.class(f.ArtifactClass)
	}
	d.Metadata, d.metadata = r.metadata(f.Metadata)
	return rest, err
}

func (m *Message) read(body []byte, r *reading) ([]byte, error) {
	var f form.Message
	rest, err := f.UnmarshalMsg(body)
	*m = Message{
		ID: f.ID, Role: Role(f.Role), Identity: identityOf(f.Identity), CreatedAt: instant(int64(f.CreatedAt)),
		UpdatedAt: instant(int64(f.UpdatedAt)), Attachments: r.mediaList("attachments", f.Attachments),
	}
	m.Content, m.Tokenizable = contentOf(f.Content)
	m.Metadata, m.metadata = r.metadata(f.Metadata)
	return rest, err
}

func (t *Thought) read(body []byte, r *reading) ([]byte, error) {
	var f form.Thought
	rest, err := f.UnmarshalMsg(body)
	*t = Thought{
		ID: f.ID, Identity: identityOf(f.Identity), ReplayCompatibility: f.ReplayCompatibility,
		CreatedAt: instant(int64(f.CreatedAt)), UpdatedAt: instant(int64(f.UpdatedAt)),
	}
	t.Content, t.Tokenizable = contentOf(f.Content)
	t.Payload, t.sent = r.free("payload", f.Payload)
	t.Metadata, t.metadata = r.metadata(f.Metadata)
	return rest, err
}

func (c *ToolCall) read(body []byte, r *reading) ([]byte, error) {
	var f form.ToolCall
	rest, err := f.UnmarshalMsg(body)
	*c = ToolCall{
		ID: f.ID, Tool: f.Tool, Checksum: f.Checksum, ExecutionID: f.ExecutionID, ProviderCallID: f.ProviderCallID,
		IsComplete: f.IsComplete, IsError: f.IsError, Results: r.content("results", &f.Results),
		ReplayCompatibility: f.ReplayCompatibility, FromArtifactTool: f.FromArtifactTool, Inline: f.Inline,
		CreatedAt: instant(int64(f.CreatedAt)), UpdatedAt: instant(int64(f.UpdatedAt)), CompletedAt: instant(int64(f.CompletedAt)),
	}
	args, wrong := wire.JSON(f.Args)
	r.fail("args", wrong)
	c.Args = args
	c.Payload, c.sent = r.free("payload", f.Payload)
	c.Metadata, c.metadata = r.metadata(f.Metadata)
	return rest, err
}
