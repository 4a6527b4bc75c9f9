package record

import "github.com/turncore/turncore/abi/value"

// IdentityFields are the fields of an identity.
type IdentityFields struct {
	Identifier     string
	Representation string
}

// MessageFields are the fields of a message. Times are ms since the Unix epoch.
type MessageFields struct {
	ID        string
	Role      string
	Content   []byte // text; nil for none
	Identity  *IdentityFields
	CreatedAt int64
	UpdatedAt int64
	// Attachments is a list of media, a value; nil for none.
	Attachments []byte
}

// AppendMessage appends the body of a message.
func AppendMessage(dst []byte, f MessageFields) []byte {
	dst = value.AppendListHeader(dst, 7)
	dst = value.AppendString(dst, f.ID)
	dst = value.AppendString(dst, f.Role)
	dst = appendOptionalText(dst, f.Content)
	dst = appendIdentity(dst, f.Identity)
	dst = appendTimes(dst, f.CreatedAt, f.UpdatedAt)
	return appendValue(dst, f.Attachments)
}

// MemoryFields are the fields of a memory.
type MemoryFields struct {
	ID         string
	Content    []byte
	Confidence float64
	Importance float64
	CreatedAt  int64
	UpdatedAt  int64
}

// AppendMemory appends the body of a memory.
func AppendMemory(dst []byte, f MemoryFields) []byte {
	dst = value.AppendListHeader(dst, 6)
	dst = value.AppendString(dst, f.ID)
	dst = value.AppendText(dst, f.Content)
	dst = value.AppendFloat(dst, f.Confidence)
	dst = value.AppendFloat(dst, f.Importance)
	return appendTimes(dst, f.CreatedAt, f.UpdatedAt)
}

// ThoughtFields are the fields of a thought.
type ThoughtFields struct {
	ID                  string
	Content             []byte
	Identity            *IdentityFields
	Payload             []byte // value; nil for none
	ReplayCompatibility string // empty for none
	CreatedAt           int64
	UpdatedAt           int64
}

// AppendThought appends the body of a thought.
func AppendThought(dst []byte, f ThoughtFields) []byte {
	dst = value.AppendListHeader(dst, 7)
	dst = value.AppendString(dst, f.ID)
	dst = value.AppendText(dst, f.Content)
	dst = appendIdentity(dst, f.Identity)
	dst = appendValue(dst, f.Payload)
	dst = appendOptionalString(dst, f.ReplayCompatibility)
	return appendTimes(dst, f.CreatedAt, f.UpdatedAt)
}

// ToolCallFields are the fields of a tool call.
type ToolCallFields struct {
	ID                  string
	Tool                string
	Args                []byte // value, a map
	Checksum            string
	ExecutionID         string // empty if unknown
	ProviderCallID      string // empty for none
	IsComplete          bool
	IsError             bool
	Results             []byte // value
	Payload             []byte // value; nil for none
	ReplayCompatibility string // empty for none
	FromArtifactTool    bool
	Inline              bool
	CreatedAt           int64
	UpdatedAt           int64
	CompletedAt         int64
}

// AppendToolCall appends the body of a tool call.
func AppendToolCall(dst []byte, f ToolCallFields) []byte {
	dst = value.AppendListHeader(dst, 16)
	dst = value.AppendString(dst, f.ID)
	dst = value.AppendString(dst, f.Tool)
	dst = appendValue(dst, f.Args)
	dst = value.AppendString(dst, f.Checksum)
	dst = appendOptionalString(dst, f.ExecutionID)
	dst = appendOptionalString(dst, f.ProviderCallID)
	dst = value.AppendBool(dst, f.IsComplete)
	dst = value.AppendBool(dst, f.IsError)
	dst = appendValue(dst, f.Results)
	dst = appendValue(dst, f.Payload)
	dst = appendOptionalString(dst, f.ReplayCompatibility)
	dst = value.AppendBool(dst, f.FromArtifactTool)
	dst = value.AppendBool(dst, f.Inline)
	dst = appendTimes(dst, f.CreatedAt, f.UpdatedAt)
	return value.AppendInt(dst, f.CompletedAt)
}

// MediaFields are the fields of a medium that a user has sent.
type MediaFields struct {
	ID, Kind, MimeType, Filename string
	Bytes                        int64
	URI                          string // of a medium that lies elsewhere
}

// AppendMedia appends a medium's part.
func AppendMedia(dst []byte, f MediaFields) []byte {
	dst = value.AppendInt(value.AppendListHeader(dst, len(mediaLayout)), int64(MediaPart))
	for _, text := range [...]string{f.ID, f.Kind, f.MimeType, f.Filename, "third-party-private", "opaque-perceptual"} {
		dst = value.AppendString(dst, text)
	}
	dst = value.AppendInt(value.AppendNil(dst), f.Bytes)
	return appendOptionalString(dst, f.URI)
}

// RetrievableFields are the fields of a retrieved document.
type RetrievableFields struct {
	ID        string
	Content   []byte // text
	Part      []byte // content that the host holds, in place of text; nil for none
	TrustTier string
	Source    string // empty for none
	Kind      string // empty for none
	Score     *float64
	Inline    bool
	CreatedAt int64
	UpdatedAt int64
}

// AppendRetrievable appends the body of a retrieved document.
func AppendRetrievable(dst []byte, f RetrievableFields) []byte {
	dst = value.AppendListHeader(dst, 9)
	dst = value.AppendString(dst, f.ID)
	if f.Part != nil {
		dst = append(dst, f.Part...)
	} else {
		dst = value.AppendText(dst, f.Content)
	}
	dst = value.AppendString(dst, f.TrustTier)
	dst = appendOptionalString(dst, f.Source)
	dst = appendOptionalString(dst, f.Kind)
	if f.Score != nil {
		dst = value.AppendFloat(dst, *f.Score)
	} else {
		dst = value.AppendNil(dst)
	}
	dst = value.AppendBool(dst, f.Inline)
	return appendTimes(dst, f.CreatedAt, f.UpdatedAt)
}

func appendIdentity(dst []byte, id *IdentityFields) []byte {
	if id == nil {
		return value.AppendNil(dst)
	}
	dst = value.AppendListHeader(dst, 2)
	dst = value.AppendString(dst, id.Identifier)
	return value.AppendString(dst, id.Representation)
}

func appendTimes(dst []byte, created, updated int64) []byte {
	return value.AppendInt(value.AppendInt(dst, created), updated)
}

func appendOptionalText(dst, text []byte) []byte {
	if text == nil {
		return value.AppendNil(dst)
	}
	return value.AppendText(dst, text)
}

func appendOptionalString(dst []byte, s string) []byte {
	if s == "" {
		return value.AppendNil(dst)
	}
	return value.AppendString(dst, s)
}

func appendValue(dst, v []byte) []byte {
	if len(v) == 0 {
		return value.AppendNil(dst)
	}
	return append(dst, v...)
}
