package abi

// Record bodies. A body is one of these tuples; an instruction's body is its text (string). Times are ms since the
// Unix epoch. Text is UTF-8.

// Identity of a speaker: identifier for systems, representation for the model.
type Identity struct {
	Identifier     string
	Representation string
}

// Message of a conversation.
type Message struct {
	ID          string
	Role        string // "user" or "assistant"
	Content     *string
	Identity    *Identity // nil: both parts are the role
	CreatedAt   int64
	UpdatedAt   int64
	Attachments Raw // nil, or an array of MediaPart
}

// Memory is something to remember across turns.
type Memory struct {
	ID         string
	Content    string
	Confidence float64 // 0 to 1
	Importance float64 // 0 to 1
	CreatedAt  int64
	UpdatedAt  int64
}

// Thought is reasoning of a model.
type Thought struct {
	ID                  string
	Content             string
	Identity            *Identity // nil: "assistant"
	Payload             Value     // nil if absent
	ReplayCompatibility *string
	CreatedAt           int64
	UpdatedAt           int64
}

// ToolCall is a completed call of a tool.
type ToolCall struct {
	ID                  string
	Tool                string
	Args                Value // map
	Checksum            string
	ExecutionID         *string // the execution that gave the results; nil if unknown
	ProviderCallID      *string // the provider's id of the call; nil for none
	IsComplete          bool
	IsError             bool
	Results             Raw // string, ArtifactPart, MediaPart, or an array of parts of one kind
	Payload             Value
	ReplayCompatibility *string
	FromArtifactTool    bool
	Inline              bool
	CreatedAt           int64
	UpdatedAt           int64
	CompletedAt         int64
}

// Retrievable is a retrieved document.
type Retrievable struct {
	ID        string
	Content   Raw    // string, ArtifactPart or TextPart
	TrustTier string // "first-party", "third-party-public", "third-party-private"
	Source    *string
	Kind      *string
	Score     *float64
	Inline    bool
	CreatedAt int64
	UpdatedAt int64
}

// Parts stand in a record for content that the host holds. Their first element is the kind.
const (
	PartArtifact uint8 = 1 // ArtifactPart
	PartMedia    uint8 = 2 // MediaPart
	PartText     uint8 = 3 // TextPart
)

// ArtifactPart is a text that the guest reads through a reader of the host.
type ArtifactPart struct {
	Part      uint8  // PartArtifact
	ClassName string // "SpooledArtifact", "SpooledJsonArtifact", "SpooledMarkdownArtifact", or a class of the host
	Bytes     int64  // size hint; -1 if unknown
	Lines     int64  // size hint; -1 if unknown
	Form      string // SpooledJsonArtifact: "json", "jsonl", "ndjson" or "json5"; empty if unknown
}

// MediaPart is an image, a sound, a video or a document.
type MediaPart struct {
	Part           uint8 // PartMedia
	ID             string
	Kind           string // "image", "audio", "video" or "document"
	MimeType       string
	Filename       string
	TrustTier      string
	ModalityHazard string // "inert", "extractable-instructions" or "opaque-perceptual"
	Source         *string
	Bytes          int64 // -1 if unknown
	Stash          Value // map of name to {value, trustTier, derivedFromMedia}, nil for none
}

// TextPart is a text that the host holds and will spool.
type TextPart struct {
	Part  uint8 // PartText
	Bytes uint64
}
