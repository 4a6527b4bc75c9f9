package record

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/wire"
)

// MediaKind is the kind of a medium.
type MediaKind string

// Kinds of media.
const (
	Image    MediaKind = "image"
	Audio    MediaKind = "audio"
	Video    MediaKind = "video"
	Document MediaKind = "document"
)

// ModalityHazard is the hazard of a medium to a model that perceives it.
type ModalityHazard string

// Hazards.
const (
	Inert                   ModalityHazard = "inert"
	ExtractableInstructions ModalityHazard = "extractable-instructions" // text in it may pose as instructions
	OpaquePerceptual        ModalityHazard = "opaque-perceptual"        // a model's perception cannot be checked by reading
)

// Media is an image, a sound, a video or a document: attached to a message, or the result of a tool. Its bytes stay
// behind its reader. It must not be changed once a record has it.
type Media struct {
	ID             string
	Kind           MediaKind
	MimeType       string
	Filename       string
	Reader         MediaReader
	TrustTier      TrustTier
	ModalityHazard ModalityHazard
	Source         string // "" for none
	// Stash holds facts about it, such as a caption, by name.
	Stash map[string]MediaNote

	stash abi.Raw // Stash as it was read, its members in their order
}

// MediaNote is a fact about a medium.
type MediaNote struct {
	Value     any // JSON-like
	TrustTier TrustTier
	// DerivedFromMedia says that the value was derived from the medium itself, and may contain text of its author.
	DerivedFromMedia bool
}

func newMedia(kind MediaKind, mimeType, filename string, reader MediaReader, tier TrustTier) *Media {
	hazard := OpaquePerceptual
	if kind == Document {
		hazard = ExtractableInstructions
	}
	return &Media{
		ID: host.NewTurnID(host.SystemClock(), host.SystemEntropy()), Kind: kind, MimeType: mimeType, Filename: filename, Reader: reader,
		TrustTier: tier, ModalityHazard: hazard,
	}
}

// UserAttachment returns a medium attached by the user: third-party-private, with the hazard of its kind. Like the
// other factories it makes an id.
func UserAttachment(kind MediaKind, mimeType, filename string, reader MediaReader) *Media {
	return newMedia(kind, mimeType, filename, reader, ThirdPartyPrivate)
}

// ToolGenerated returns a medium made by a tool: first-party.
func ToolGenerated(kind MediaKind, mimeType, filename string, reader MediaReader) *Media {
	return newMedia(kind, mimeType, filename, reader, FirstParty)
}

// RetrievedPublic returns a medium from a public source: third-party-public.
func RetrievedPublic(kind MediaKind, mimeType, filename string, reader MediaReader) *Media {
	return newMedia(kind, mimeType, filename, reader, ThirdPartyPublic)
}

// RetrievedPrivate returns a medium from a private source: third-party-private.
func RetrievedPrivate(kind MediaKind, mimeType, filename string, reader MediaReader) *Media {
	return newMedia(kind, mimeType, filename, reader, ThirdPartyPrivate)
}

// Validate checks the medium against the rules of E_INVALID_INITIAL_MEDIA_VALUE. It must have an id.
func (m *Media) Validate() error {
	if m == nil {
		return check.Missing(abi.MediaRules)
	}
	list := check.Violations(abi.MediaRules, "", []check.Given{
		check.Text(m.ID), check.Text(m.Kind), check.Text(m.MimeType), check.Text(m.Filename), check.Text(m.TrustTier),
		check.Text(m.ModalityHazard), check.OptionalText(m.Source), check.If(m.Reader != nil), check.If(true),
	})
	for _, name := range slices.Sorted(maps.Keys(m.Stash)) {
		note := m.Stash[name]
		path := "stash." + name + "."
		list = append(list, check.Violations(abi.MediaStashEntryRules, path, []check.Given{check.If(note.Value != nil), check.Text(note.TrustTier), check.If(true)})...)
		list = check.AppendUnencodable(list, path+"value", note.Value)
	}
	return check.Invalid(abi.MediaRules, list)
}

// ByteLength is the number of bytes, if it is known.
func (m *Media) ByteLength() (n int64, known bool) { return m.Reader.ByteLength() }

// Open returns the bytes from the beginning; it may be called again.
func (m *Media) Open() (io.ReadCloser, error) { return m.Reader.Open() }

// Bytes reads all bytes.
func (m *Media) Bytes() ([]byte, error) {
	in, err := m.Reader.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return io.ReadAll(in)
}

// Base64 reads all bytes, in base64.
func (m *Media) Base64() (string, error) {
	data, err := m.Bytes()
	return base64.StdEncoding.EncodeToString(data), err
}

// MarshalJSON describes the medium without reading it.
func (m *Media) MarshalJSON() ([]byte, error) {
	type note struct {
		Value            any       `json:"value"`
		TrustTier        TrustTier `json:"trustTier"`
		DerivedFromMedia bool      `json:"derivedFromMedia,omitempty"`
	}
	described := struct {
		ID             string          `json:"id"`
		Kind           MediaKind       `json:"kind"`
		MimeType       string          `json:"mimeType"`
		Filename       string          `json:"filename"`
		TrustTier      TrustTier       `json:"trustTier"`
		ModalityHazard ModalityHazard  `json:"modalityHazard"`
		Source         string          `json:"source,omitempty"`
		Stash          map[string]note `json:"stash"`
	}{m.ID, m.Kind, m.MimeType, m.Filename, m.TrustTier, m.ModalityHazard, m.Source, make(map[string]note, len(m.Stash))}
	for name, n := range m.Stash {
		described.Stash[name] = note(n)
	}
	return json.Marshal(described)
}

// appendPart appends the medium as it stands in a record.
func (m *Media) appendPart(dst []byte) ([]byte, error) {
	dst = value.AppendInt(value.AppendListHeader(dst, 10), int64(abi.PartMedia))
	for _, s := range []string{m.ID, string(m.Kind), m.MimeType, m.Filename, string(m.TrustTier), string(m.ModalityHazard)} {
		dst = value.AppendString(dst, s)
	}
	size := int64(-1)
	if n, known := m.Reader.ByteLength(); known {
		size = n
	}
	dst = value.AppendInt(appendOptional(dst, m.Source), size)
	if len(m.Stash) == 0 {
		return value.AppendNil(dst), nil
	}
	stash := make(map[string]any, len(m.Stash))
	for name, n := range m.Stash {
		stash[name] = map[string]any{"value": n.Value, "trustTier": string(n.TrustTier), "derivedFromMedia": n.DerivedFromMedia}
	}
	return wire.Append(dst, stash, "stash")
}
