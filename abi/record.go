package abi

// Record bodies. A body is one of these tuples; an instruction's body is its text (string). Times are ms since the
// Unix epoch. Text is UTF-8.

// Identity of who speaks: identifier for systems, representation for the model.
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
	Attachments Raw // nil; reserved for media
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
	Payload             Raw       // nil if absent
	ReplayCompatibility *string
	CreatedAt           int64
	UpdatedAt           int64
}

// ToolCall is a completed call of a tool.
type ToolCall struct {
	ID                  string
	Tool                string
	Args                Raw // map
	Checksum            string
	IsComplete          bool
	IsError             bool
	Results             Raw // string, or a value the host describes
	Payload             Raw
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
	Content   string
	TrustTier string // "first-party", "third-party-public", "third-party-private"
	Source    *string
	Kind      *string
	Score     *float64
	Inline    bool
	CreatedAt int64
	UpdatedAt int64
}
