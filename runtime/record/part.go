package record

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
)

// PartKind is the kind of a part, which stands for content that the host holds.
type PartKind uint8

// NoPart marks a value that is not a part.
const NoPart PartKind = 0

// PartOf returns the kind of part that a value is: an array whose first element names the kind. Everything else is
// NoPart, even a list of parts.
func PartOf(v []byte) PartKind {
	n, fields := tuple(v)
	if n < 1 {
		return NoPart
	}
	kind, ok := value.Int(fields)
	if !ok || kind < int64(ArtifactPart) || kind > int64(TextPart) {
		return NoPart
	}
	return PartKind(kind)
}

// EachPart visits the parts in a value, a single one or a list, with their indices from 0. In a list it skips elements
// that are not parts.
func EachPart(v []byte, yield func(i int, kind PartKind, part []byte) bool) {
	if kind := PartOf(v); kind != NoPart {
		yield(0, kind, v)
		return
	}
	if value.KindOf(v) != value.KindList {
		return
	}
	_ = value.EachItem(v, func(i int, item []byte) bool {
		kind := PartOf(item)
		return kind == NoPart || yield(i, kind, item)
	})
}

// Artifact is the part of a text that is read through a reader in the host.
type Artifact []byte

// ClassName is the class of the artifact, such as "SpooledArtifact".
func (a Artifact) ClassName() []byte { return text(field(a, 1)) }

// Bytes is the size hint in bytes of UTF-8, -1 if unknown.
func (a Artifact) Bytes() int64 { return integer(field(a, 2)) }

// Lines is the size hint in lines, -1 if unknown.
func (a Artifact) Lines() int64 { return integer(field(a, 3)) }

// Form of a JSON artifact: "json", "jsonl", "ndjson" or "json5"; empty if unknown.
func (a Artifact) Form() []byte { return text(field(a, 4)) }

// Media is the part of a medium: an image, a sound, a video or a document.
type Media []byte

// ID of the medium.
func (m Media) ID() []byte { return text(field(m, 1)) }

// Kind is "image", "audio", "video" or "document".
func (m Media) Kind() []byte { return text(field(m, 2)) }

// MimeType of its bytes.
func (m Media) MimeType() []byte { return text(field(m, 3)) }

// Filename for people.
func (m Media) Filename() []byte { return text(field(m, 4)) }

// TrustTier is "first-party", "third-party-public" or "third-party-private".
func (m Media) TrustTier() []byte { return text(field(m, 5)) }

// ModalityHazard is "inert", "extractable-instructions" or "opaque-perceptual".
func (m Media) ModalityHazard() []byte { return text(field(m, 6)) }

// Source says where the medium is from; nil if unknown.
func (m Media) Source() []byte { return text(field(m, 7)) }

// Bytes is the medium's size, -1 if unknown.
func (m Media) Bytes() int64 { return integer(field(m, 8)) }

// Stash is a map from names to {value, trustTier, derivedFromMedia}; nil for none.
func (m Media) Stash() []byte { return optional(field(m, 9)) }

// URI is the address of a medium of [AppendMedia] that lies elsewhere, in place of a stash; nil for others.
func (m Media) URI() []byte {
	uri, _ := value.String(field(m, 9))
	return uri
}

// AppendArtifact appends an artifact's part. Sizes of -1 are unknown.
func AppendArtifact(dst []byte, className string, bytes, lines int64, form string) []byte {
	dst = value.AppendListHeader(dst, len(artifactLayout))
	dst = value.AppendInt(dst, int64(ArtifactPart))
	dst = value.AppendString(dst, className)
	dst = value.AppendInt(value.AppendInt(dst, bytes), lines)
	return value.AppendString(dst, form)
}

var (
	artifactLayout = []fieldRule{{"part", anything}, {"className", requiredText}, {"bytes", size}, {"lines", size}, {"form", form}}
	mediaLayout    = []fieldRule{
		{"part", anything},
		{"id", requiredText},
		{"kind", mediaKind},
		{"mimeType", requiredText},
		{"filename", requiredText},
		{"trustTier", tier},
		{"modalityHazard", hazard},
		{"source", optionalText},
		{"bytes", size},
		{"stash", mediaStash},
	}
	textLayout   = []fieldRule{{"part", anything}, {"bytes", size}}
	partLayouts  = [...][]fieldRule{ArtifactPart: artifactLayout, MediaPart: mediaLayout, TextPart: textLayout}
	partNames    = [...]string{ArtifactPart: "a SpooledArtifact", MediaPart: "a Media", TextPart: "a text"}
	stashMembers = "value, trustTier and derivedFromMedia"
)

// checkPart describes the fault of a part; "" for none.
func checkPart(kind PartKind, v []byte) string {
	layout := partLayouts[kind]
	n, rest := tuple(v)
	if n != len(layout) {
		return "must be " + partNames[kind] + " with its " + digits(len(layout)) + " fields"
	}
	for i := range layout {
		after, err := value.Skip(rest, value.MaxDepth)
		if err != nil {
			return "is malformed"
		}
		if problem := layout[i].check(rest[:len(rest)-len(after)]); problem != "" {
			return "`" + layout[i].name + "` " + problem
		}
		rest = after
	}
	return ""
}

// checkParts describes the fault of a list whose parts must all be of one kind among allowed; "" for none.
func checkParts(v []byte, allowed ...PartKind) string {
	if value.KindOf(v) != value.KindList {
		return "must be a list"
	}
	if value.Len(v) == 0 {
		return "must have at least one entry"
	}
	first, problem := NoPart, ""
	_ = value.EachItem(v, func(i int, item []byte) bool {
		kind := PartOf(item)
		switch {
		case len(allowed) > 1 && (!slices.Contains(allowed, kind) || first != NoPart && kind != first):
			problem = resultsText
			return false
		case !slices.Contains(allowed, kind):
			problem = "must be an instance of Media"
		default:
			problem = checkPart(kind, item)
		}
		if problem != "" {
			problem = "[" + digits(i) + "] " + problem
		}
		first = kind
		return problem == ""
	})
	return problem
}

// checkResults describes the fault of a tool call's results; "" for none.
func checkResults(v []byte) string {
	switch kind := PartOf(v); {
	case isText(v):
		return ""
	case kind == ArtifactPart || kind == MediaPart:
		return checkPart(kind, v)
	case value.KindOf(v) == value.KindList && kind == NoPart:
		return checkParts(v, ArtifactPart, MediaPart)
	}
	return resultsText
}

// IsParts reports whether v is an artifact, a medium, or a well-formed list of one of them: the results of a tool call
// other than text.
func IsParts(v []byte) bool { return value.Check(v) == nil && !isText(v) && checkResults(v) == "" }

const resultsText = "must be a string, a Tokenizable, a SpooledArtifact, a Media, or a list of either of the last two"

// checkContent describes the fault of a retrievable's content; "" for none.
func checkContent(v []byte) string {
	switch kind := PartOf(v); {
	case isText(v) && value.Len(v) > 0:
		return ""
	case isText(v):
		return "must be a non-empty string"
	case kind == ArtifactPart || kind == TextPart:
		return checkPart(kind, v)
	}
	return "must be a string, a Tokenizable or a SpooledArtifact"
}

// checkStash describes the fault of a medium's stash; "" for none.
func checkStash(v []byte) string {
	problem := ""
	if value.KindOf(v) != value.KindMap {
		return "must be an object"
	}
	_ = value.Each(v, func(key, entry []byte) bool {
		if value.KindOf(entry) != value.KindMap {
			problem = "`" + string(key) + "` must be an object with " + stashMembers
			return false
		}
		_, ok := value.Get(entry, "value")
		trust, _ := value.Get(entry, "trustTier")
		badTrust := checkWord(tier, text(trust))
		derived, has := value.Get(entry, "derivedFromMedia")
		switch {
		case !ok:
			problem = "`" + string(key) + ".value` is required"
		case badTrust != "":
			problem = "`" + string(key) + ".trustTier` " + badTrust
		case has && optional(derived) != nil && value.KindOf(derived) != value.KindBool:
			problem = "`" + string(key) + ".derivedFromMedia` must be a boolean"
		}
		return problem == ""
	})
	return problem
}
