// Package form has the form in which records are stored: maps with members in a fixed order, those that say nothing
// left out. Package record makes them of records and back.
//
// The structs are the one description of the format. From them come the codec of package msgp, the tables by which JSON
// is read and written, and those of JavaScript.
package form

//go:generate go tool -modfile=../../../.ci/tools/go.mod msgp -file form.go -o form_msgp.go -tests=false -io=false
//go:generate go tool -modfile=../../../.ci/tools/go.mod gofumpt -w form_msgp.go
//go:generate go run ./gen

// Version of the format that is written. What is written in a later one is refused.
const Version = 1

// Identity of a speaker.
type Identity struct {
	Identifier     string `msg:"identifier"`
	Representation string `msg:"representation"`
}

// Artifact is a text among a store's bytes.
type Artifact struct {
	Class      string  `msg:"class"`
	Form       string  `msg:"form,omitempty"`
	Bytes      string  `msg:"bytes"`
	ByteLength *uint64 `msg:"byteLength,omitempty"`
	Lines      *uint64 `msg:"lines,omitempty"` // with ByteLength: the size hints
}

// Media is an image, a sound, a video or a document among a store's bytes.
type Media struct {
	ID             string  `msg:"id"`
	Kind           string  `msg:"kind"`
	MimeType       string  `msg:"mimeType"`
	Filename       string  `msg:"filename"`
	TrustTier      string  `msg:"trustTier"`
	ModalityHazard string  `msg:"modalityHazard"`
	Source         string  `msg:"source,omitempty"`
	Bytes          string  `msg:"bytes"`
	ByteLength     *uint64 `msg:"byteLength,omitempty"`
	Stash          Value   `msg:"stash,omitzero"`
}

// Instruction is a standing instruction.
type Instruction struct {
	V    uint8  `msg:"v"`
	Text string `msg:"text"`
}

// Memory is something to remember across turns.
type Memory struct {
	V          uint8   `msg:"v"`
	ID         string  `msg:"id"`
	Content    string  `msg:"content"`
	Confidence float64 `msg:"confidence"`
	Importance float64 `msg:"importance"`
	CreatedAt  Millis  `msg:"createdAt"`
	UpdatedAt  Millis  `msg:"updatedAt"`
	Metadata   Value   `msg:"metadata,omitzero"`
}

// Retrievable is a retrieved document.
type Retrievable struct {
	V             uint8    `msg:"v"`
	ID            string   `msg:"id"`
	Content       Content  `msg:"content"` // text or an artifact
	TrustTier     string   `msg:"trustTier"`
	Source        string   `msg:"source,omitempty"`
	Kind          string   `msg:"kind,omitempty"`
	Score         *float64 `msg:"score,omitempty"`
	Inline        bool     `msg:"inline,omitempty"`
	ArtifactClass string   `msg:"artifactClass,omitempty"`
	CreatedAt     Millis   `msg:"createdAt"`
	UpdatedAt     Millis   `msg:"updatedAt"`
	Metadata      Value    `msg:"metadata,omitzero"`
}

// Message is one message of a conversation.
type Message struct {
	V           uint8     `msg:"v"`
	ID          string    `msg:"id"`
	Role        string    `msg:"role"`
	Content     Optional  `msg:"content,omitzero"`
	Identity    *Identity `msg:"identity,omitempty"`
	CreatedAt   Millis    `msg:"createdAt"`
	UpdatedAt   Millis    `msg:"updatedAt"`
	Attachments []Media   `msg:"attachments,omitempty"`
	Metadata    Value     `msg:"metadata,omitzero"`
}

// Thought is reasoning of a model.
type Thought struct {
	V                   uint8     `msg:"v"`
	ID                  string    `msg:"id"`
	Content             Optional  `msg:"content,omitzero"`
	Identity            *Identity `msg:"identity,omitempty"`
	Payload             Value     `msg:"payload,omitzero"`
	ReplayCompatibility string    `msg:"replayCompatibility,omitempty"`
	CreatedAt           Millis    `msg:"createdAt"`
	UpdatedAt           Millis    `msg:"updatedAt"`
	Metadata            Value     `msg:"metadata,omitzero"`
}

// ToolCall is a completed call of a tool.
type ToolCall struct {
	V                   uint8   `msg:"v"`
	ID                  string  `msg:"id"`
	Tool                string  `msg:"tool"`
	Args                Value   `msg:"args"` // a map
	Checksum            string  `msg:"checksum"`
	ExecutionID         string  `msg:"executionId,omitempty"`
	ProviderCallID      string  `msg:"providerCallId,omitempty"`
	IsComplete          bool    `msg:"isComplete,omitempty"`
	IsError             bool    `msg:"isError,omitempty"`
	Results             Content `msg:"results"`
	Payload             Value   `msg:"payload,omitzero"`
	ReplayCompatibility string  `msg:"replayCompatibility,omitempty"`
	FromArtifactTool    bool    `msg:"fromArtifactTool,omitempty"`
	Inline              bool    `msg:"inline,omitempty"`
	CreatedAt           Millis  `msg:"createdAt"`
	UpdatedAt           Millis  `msg:"updatedAt"`
	CompletedAt         Millis  `msg:"completedAt"`
	Metadata            Value   `msg:"metadata,omitzero"`
}
