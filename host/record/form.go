package record

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/form"
	"github.com/turncore/turncore/host/internal/wire"
)

// former makes the form of a record and keeps what is wrong with it first.
type former struct {
	kind string
	id   string
	keep Keep // nil for references only
	err  error
}

// fail keeps why a field cannot be stored.
func (f *former) fail(field, why string, cause error) {
	if f.err == nil {
		f.err = unstorable(f.kind, f.id, field, why, cause)
	}
}

// unstorable is an error of a field that cannot be written down.
func unstorable(kind, id, field, why string, cause error) error {
	err := host.NewError(host.CodeRecordUnstorable, fmt.Sprintf("%s %q: %s: %s", kind, id, field, why), cause)
	err.Details = map[string]any{"kind": kind, "id": id, "field": field}
	return err
}

// text is a text of a record.
func (f *former) text(field, content string, t *Tokenizable) string {
	if t != nil {
		if t.Dynamic() {
			f.fail(field, "a text that a function renders; store what it renders", nil)
			return ""
		}
		content = t.String()
	}
	return value.UTF8(content)
}

// optionalText is a text of a record that need not have one if it has something else.
func (f *former) optionalText(field, content string, t *Tokenizable, other bool) form.Optional {
	text := f.text(field, content, t)
	return form.Optional{Text: text, There: text != "" || !other}
}

func (f *former) identity(i *Identity) *form.Identity {
	if i == nil {
		return nil
	}
	return &form.Identity{Identifier: value.UTF8(i.Identifier), Representation: value.UTF8(i.Representation)}
}

// free is a free value: as it was read, unless it was changed since.
func (f *former) free(field string, v any, sent abi.Raw) form.Value {
	if v == nil {
		return nil
	}
	raw, err := appendPayload(nil, v, sent)
	if err != nil {
		f.fail(field, err.Error(), err)
		return nil
	}
	return raw
}

func (f *former) metadata(m map[string]any, sent abi.Raw) form.Value {
	if len(m) == 0 {
		return nil
	}
	return f.free("metadata", m, sent)
}

// reference is the id of a reader's bytes, with their number if it is known.
func (f *former) reference(field string, reader interface{ ByteLength() (int64, bool) }) (id string, size *uint64) {
	if f.keep != nil && f.err == nil {
		kept, err := f.keep(reader)
		var unreadable *host.Error
		switch {
		case errors.As(err, &unreadable) && unreadable.Code == host.CodeRecordUnstorable && unreadable.Cause != nil:
			f.fail(field, unreadable.Cause.Error(), unreadable.Cause)
			return "", nil
		case err != nil:
			f.err = err
			return "", nil
		}
		reader = kept
	}
	if r, ok := reader.(Reference); ok {
		id = r.BytesID()
	}
	if id == "" {
		f.fail(field, fmt.Sprintf("a %T reads what no store has; put the bytes into the store first", reader), nil)
		return "", nil
	}
	if stored, ok := reader.(*Stored); ok { // what it has learnt by reading is not in its record
		if stored.size >= 0 {
			size = count(stored.size)
		}
	} else if n, known := reader.ByteLength(); known {
		size = count(n)
	}
	return value.UTF8(id), size
}

func count(n int64) *uint64 {
	size := uint64(max(n, 0))
	return &size
}

func (f *former) artifact(field string, a *SpooledArtifact) (out form.Artifact) {
	if err := a.Validate(); err != nil {
		f.fail(field, err.Error(), err)
		return out
	}
	out = form.Artifact{Class: value.UTF8(a.class.Name), Form: string(a.form)}
	out.Bytes, out.ByteLength = f.reference(field+".reader", a.reader)
	if a.hinted {
		out.ByteLength, out.Lines = count(a.bytes), count(int64(a.lines))
	}
	return out
}

func (f *former) media(field string, m *Media) (out form.Media) {
	if err := m.Validate(); err != nil {
		f.fail(field, err.Error(), err)
		return out
	}
	out = form.Media{
		ID: value.UTF8(m.ID), Kind: string(m.Kind), MimeType: value.UTF8(m.MimeType), Filename: value.UTF8(m.Filename),
		TrustTier: string(m.TrustTier), ModalityHazard: string(m.ModalityHazard), Source: value.UTF8(m.Source),
	}
	out.Bytes, out.ByteLength = f.reference(field+".reader", m.Reader)
	if len(m.Stash) > 0 {
		stash := make(map[string]any, len(m.Stash))
		for name, n := range m.Stash {
			note := wire.Map{{Key: "value", Value: n.Value}, {Key: "trustTier", Value: string(n.TrustTier)}}
			if n.DerivedFromMedia {
				note = append(note, wire.Member{Key: "derivedFromMedia", Value: true})
			}
			stash[name] = note
		}
		raw, err := wire.Append(nil, stash, "stash")
		if err != nil {
			f.fail(field, err.Error(), err)
		}
		if out.Stash = raw; m.stash != nil && value.Equal(raw, m.stash) {
			out.Stash = form.Value(m.stash)
		}
	}
	return out
}

func (f *former) mediaList(field string, list []*Media) []form.Media {
	if len(list) == 0 {
		return nil
	}
	out := make([]form.Media, len(list))
	for i, m := range list {
		out[i] = f.media(fmt.Sprintf("%s[%d]", field, i), m)
	}
	return out
}

// content is the content of a document or the results of a tool call.
func (f *former) content(field string, content any) (out form.Content) {
	switch c := content.(type) {
	case string:
		out.Text = value.UTF8(c)
	case *Tokenizable:
		if c == nil {
			f.fail(field, "it is missing", nil)
			break
		}
		out.Text = f.text(field, "", c)
	case *SpooledArtifact:
		out.Artifacts = []form.Artifact{f.artifact(field, c)}
	case []*SpooledArtifact:
		out.List = true
		for i, a := range c {
			out.Artifacts = append(out.Artifacts, f.artifact(fmt.Sprintf("%s[%d]", field, i), a))
		}
	case *Media:
		out.Media = []form.Media{f.media(field, c)}
	case []*Media:
		out.List, out.Media = true, f.mediaList(field, c)
	case nil:
		f.fail(field, "it is missing", nil)
	default:
		f.fail(field, fmt.Sprintf("a %T is neither a text, nor artifacts, nor media", content), nil)
	}
	if out.List && len(out.Artifacts)+len(out.Media) == 0 {
		f.fail(field, "the list is empty", nil)
	}
	return out
}

// firstTime and lastTime are the bounds of an ECMAScript Date.
var firstTime, lastTime = time.UnixMilli(-8_640_000_000_000_000), time.UnixMilli(8_640_000_000_000_000)

// time is a time in ms, if an ECMAScript Date can hold it.
func (f *former) time(field string, t time.Time) form.Millis {
	if t.Before(firstTime) || t.After(lastTime) {
		f.fail(field, "the year "+strconv.Itoa(t.Year())+" is too far away", nil)
	}
	return form.Millis(t.UnixMilli())
}

func (i *Instruction) appendForm(dst []byte, _ Keep) ([]byte, error) {
	out := form.Instruction{V: form.Version, Text: value.UTF8(i.Text)}
	return out.MarshalMsg(dst)
}

func (m *Memory) appendForm(dst []byte, keep Keep) ([]byte, error) {
	f := former{kind: KindMemory.String(), id: m.ID, keep: keep}
	out := form.Memory{
		V: form.Version, ID: value.UTF8(m.ID), Content: f.text("content", m.Content, m.Tokenizable), Confidence: m.Confidence,
		Importance: m.Importance, CreatedAt: f.time("createdAt", m.CreatedAt), UpdatedAt: f.time("updatedAt", m.UpdatedAt), Metadata: f.metadata(m.Metadata, m.metadata),
	}
	if f.err != nil {
		return dst, f.err
	}
	return out.MarshalMsg(dst)
}

func (r *Retrievable) appendForm(dst []byte, keep Keep) ([]byte, error) {
	f := former{kind: KindRetrievable.String(), id: r.ID, keep: keep}
	out := form.Retrievable{
		V: form.Version, ID: value.UTF8(r.ID), Content: f.content("content", r.Content), TrustTier: string(r.TrustTier),
		Source: value.UTF8(r.Source), Kind: value.UTF8(r.Kind), Score: r.Score, Inline: r.Inline,
		CreatedAt: f.time("createdAt", r.CreatedAt), UpdatedAt: f.time("updatedAt", r.UpdatedAt), Metadata: f.metadata(r.Metadata, r.metadata),
	}
	if r.ArtifactClass != nil {
		out.ArtifactClass = value.UTF8(r.ArtifactClass.Name)
	}
	if out.Content.List || len(out.Content.Media) > 0 {
		f.fail("content", fmt.Sprintf("a %T is neither a text nor an artifact", r.Content), nil)
	}
	if f.err != nil {
		return dst, f.err
	}
	return out.MarshalMsg(dst)
}

func (m *Message) appendForm(dst []byte, keep Keep) ([]byte, error) {
	f := former{kind: KindMessage.String(), id: m.ID, keep: keep}
	out := form.Message{
		V: form.Version, ID: value.UTF8(m.ID), Role: string(m.Role), Content: f.optionalText("content", m.Content, m.Tokenizable, len(m.Attachments) > 0),
		Identity: f.identity(m.Identity), CreatedAt: f.time("createdAt", m.CreatedAt), UpdatedAt: f.time("updatedAt", m.UpdatedAt),
		Attachments: f.mediaList("attachments", m.Attachments), Metadata: f.metadata(m.Metadata, m.metadata),
	}
	if f.err != nil {
		return dst, f.err
	}
	return out.MarshalMsg(dst)
}

func (t *Thought) appendForm(dst []byte, keep Keep) ([]byte, error) {
	f := former{kind: KindThought.String(), id: t.ID, keep: keep}
	out := form.Thought{
		V: form.Version, ID: value.UTF8(t.ID), Content: f.optionalText("content", t.Content, t.Tokenizable, t.Payload != nil), Identity: f.identity(t.Identity),
		Payload: f.free("payload", t.Payload, t.sent), ReplayCompatibility: value.UTF8(t.ReplayCompatibility),
		CreatedAt: f.time("createdAt", t.CreatedAt), UpdatedAt: f.time("updatedAt", t.UpdatedAt), Metadata: f.metadata(t.Metadata, t.metadata),
	}
	if f.err != nil {
		return dst, f.err
	}
	return out.MarshalMsg(dst)
}

func (c *ToolCall) appendForm(dst []byte, keep Keep) ([]byte, error) {
	f := former{kind: KindToolCall.String(), id: c.ID, keep: keep}
	var room [256]byte
	args, err := wire.FromJSON(room[:0], c.Args)
	if err != nil {
		f.fail("args", err.Error(), err)
	} else if value.KindOf(args) != value.KindMap {
		f.fail("args", "it is not an object", nil)
	}
	out := form.ToolCall{
		V: form.Version, ID: value.UTF8(c.ID), Tool: value.UTF8(c.Tool), Args: args, Checksum: value.UTF8(c.Checksum),
		ExecutionID: value.UTF8(c.ExecutionID), ProviderCallID: value.UTF8(c.ProviderCallID), IsComplete: c.IsComplete,
		IsError: c.IsError, Results: f.content("results", c.Results), Payload: f.free("payload", c.Payload, c.sent),
		ReplayCompatibility: value.UTF8(c.ReplayCompatibility), FromArtifactTool: c.FromArtifactTool, Inline: c.Inline,
		CreatedAt: f.time("createdAt", c.CreatedAt), UpdatedAt: f.time("updatedAt", c.UpdatedAt), CompletedAt: f.time("completedAt", c.CompletedAt),
		Metadata: f.metadata(c.Metadata, c.metadata),
	}
	if f.err != nil {
		return dst, f.err
	}
	return out.MarshalMsg(dst)
}
