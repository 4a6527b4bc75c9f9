package record

import (
	"context"
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/tokens"
)

// Record is one of the primitives that collections, storage and the model's context are made of: a *Message, *Memory,
// *Thought, *ToolCall, *Retrievable or *Instruction. Do not change a record after passing it to a context, a history
// or a store: to change one, pass a changed copy to Mutate.
type Record interface {
	// Validate returns an *host.Error with the kind's E_INVALID_INITIAL_…_VALUE that lists every violation, or nil.
	Validate() error

	kind() Kind
	key() string
	appendBody(dst []byte) ([]byte, error)
	appendForm(dst []byte, keep Keep) ([]byte, error)
	read(body []byte, r *reading) (rest []byte, err error)
}

// Type is any one of the types of records, for type parameters.
type Type interface {
	*Message | *Memory | *Thought | *ToolCall | *Retrievable | *Instruction
	Record
}

// Kind is a kind of record: the ABI's number of the collections that hold such records.
type Kind uint8

// Kinds of record.
const (
	KindInstruction = Kind(abi.CollectionInstructions)
	KindMemory      = Kind(abi.CollectionMemories)
	KindRetrievable = Kind(abi.CollectionRetrievables)
	KindMessage     = Kind(abi.CollectionMessages)
	KindThought     = Kind(abi.CollectionThoughts)
	KindToolCall    = Kind(abi.CollectionToolCalls)
)

// Kinds is how many kinds of record there are: they are numbered from 0.
const Kinds = 6

var kindNames = [Kinds]string{
	KindInstruction: "standingInstruction", KindMemory: "memory", KindRetrievable: "retrievable",
	KindMessage: "message", KindThought: "thought", KindToolCall: "toolCall",
}

// String returns the kind's name, such as "toolCall"; "" for an unknown kind.
func (k Kind) String() string {
	if k >= Kinds {
		return ""
	}
	return kindNames[k]
}

// KindOf returns the kind of a record.
func KindOf(r Record) Kind { return r.kind() }

// Key returns what names a record among those of its kind: its id, of an instruction the text.
func Key(r Record) string { return r.key() }

// Identity names a speaker: Identifier for systems, Representation for the model.
type Identity struct {
	Identifier     string
	Representation string
}

// Role of a message.
type Role string

// Roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	ID        string
	Role      Role
	Content   string    // "" for a message that has Attachments only
	Identity  *Identity // nil: the role
	CreatedAt time.Time // to the millisecond, like all times
	UpdatedAt time.Time
	// Attachments of the message; nil for none.
	Attachments []*Media
	// Tokenizable replaces Content: a text that may be rendered at each read. nil for Content.
	Tokenizable *Tokenizable
	// Metadata are fields of the application's own: JSON-like values by name, nil for none. They are stored with the
	// record; neither the core nor a model gets them.
	Metadata map[string]any

	metadata abi.Raw // Metadata as they were read, their members in their order
}

// Memory is something to remember across turns. Confidence and Importance lie between 0 and 1.
type Memory struct {
	ID         string
	Content    string
	Confidence float64
	Importance float64
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// Tokenizable replaces Content: a text that may be rendered at each read. nil for Content.
	Tokenizable *Tokenizable
	// Metadata are fields of the application's own: JSON-like values by name, nil for none. They are stored with the
	// record; neither the core nor a model gets them.
	Metadata map[string]any

	metadata abi.Raw // Metadata as they were read, their members in their order
}

// Thought is reasoning of a model. A Payload (a JSON-like value that only its provider understands) needs a
// ReplayCompatibility, which names the models that accept it; without a Payload, Content is required.
type Thought struct {
	ID                  string
	Content             string
	Identity            *Identity // nil: "assistant"
	Payload             any       // plain data: bool, int64, float64, string, []any, map[string]any
	ReplayCompatibility string
	CreatedAt           time.Time
	UpdatedAt           time.Time
	// Tokenizable replaces Content: a text that may be rendered at each read. nil for Content.
	Tokenizable *Tokenizable
	// Metadata are fields of the application's own: JSON-like values by name, nil for none. They are stored with the
	// record; neither the core nor a model gets them.
	Metadata map[string]any

	sent     abi.Raw // Payload as the core sent it, its members in their order
	metadata abi.Raw // Metadata as they were read, likewise
}

// ContentString is the content, rendered without a context.
func (m *Message) ContentString() (string, error) { return contentString(m.Content, m.Tokenizable) }

// ContentString is the content, rendered without a context.
func (m *Memory) ContentString() (string, error) { return contentString(m.Content, m.Tokenizable) }

// ContentString is the content, rendered without a context.
func (t *Thought) ContentString() (string, error) { return contentString(t.Content, t.Tokenizable) }

func contentString(content string, t *Tokenizable) (string, error) {
	if t == nil {
		return content, nil
	}
	return t.Render(context.Background())
}

// ToolCall is a completed call of a tool.
type ToolCall struct {
	ID       string
	Tool     string
	Args     json.RawMessage // an object
	Checksum string          // of tool and args, as [ToolCallChecksum] makes it
	// ExecutionID is the execution that gave the results, "" if unknown. ProviderCallID is the provider's id of the
	// call, "" for none.
	ExecutionID, ProviderCallID string

	IsComplete bool
	IsError    bool
	// Results are the tool's results: a string, a *Tokenizable, a *SpooledArtifact, a *Media, or a non-empty
	// []*SpooledArtifact or []*Media. The model gets the handle of an artifact, unless the call is Inline.
	Results             any
	Payload             any // as that of a Thought
	ReplayCompatibility string
	FromArtifactTool    bool
	Inline              bool
	CreatedAt           time.Time
	UpdatedAt           time.Time
	CompletedAt         time.Time
	// Metadata are fields of the application's own: JSON-like values by name, nil for none. They are stored with the
	// record; neither the core nor a model gets them.
	Metadata map[string]any

	sent     abi.Raw // Payload as the core sent it, its members in their order
	metadata abi.Raw // Metadata as they were read, likewise
}

// TrustTier is the trust in the content of a retrievable.
type TrustTier string

// Trust tiers.
const (
	FirstParty        TrustTier = "first-party"
	ThirdPartyPublic  TrustTier = "third-party-public"
	ThirdPartyPrivate TrustTier = "third-party-private"
)

// Retrievable is a retrieved document.
type Retrievable struct {
	ID string
	// Content is a non-empty string, a *Tokenizable or a *SpooledArtifact. A text that is neither Inline nor dynamic is
	// spooled when the document is stored or a dispatch begins: the model gets the handle of its artifact.
	Content   any
	TrustTier TrustTier
	Source    string   // "" for none
	Kind      string   // "" for none
	Score     *float64 // between 0 and 1; nil for none
	Inline    bool     // the model gets the content itself
	CreatedAt time.Time
	UpdatedAt time.Time
	// ArtifactClass is the class of the spooled content: SpooledText if nil.
	ArtifactClass *ArtifactClass
	// Metadata are fields of the application's own: JSON-like values by name, nil for none. They are stored with the
	// record; neither the core nor a model gets them.
	Metadata map[string]any

	metadata abi.Raw // Metadata as they were read, their members in their order
}

// SizeUnknown reports whether the size of the model's part of the document is unknown without reading: its content is
// an artifact without size hints, and not inline.
func (r *Retrievable) SizeUnknown() bool {
	a, ok := r.Content.(*SpooledArtifact)
	return ok && !r.Inline && !a.HasSizeHints()
}

// ContentString is the whole content.
func (r *Retrievable) ContentString(ctx context.Context) (string, error) {
	if a, ok := r.Content.(*SpooledArtifact); ok {
		return a.AsString(ctx)
	}
	if t, ok := r.Content.(*Tokenizable); ok {
		return t.Render(context.Background())
	}
	text, _ := r.Content.(string)
	return text, nil
}

// EstimateTokens estimates the tokens that the model gets of the document: those of the handle for an artifact that
// has size hints and is not inline, otherwise those of the whole content.
func (r *Retrievable) EstimateTokens(ctx context.Context, encoding string) (int, error) {
	a, ok := r.Content.(*SpooledArtifact)
	switch {
	case ok && !r.Inline && a.HasSizeHints():
		return a.EstimateHandleTokens(r.ID, encoding)
	case ok:
		return a.EstimateTokens(ctx, encoding)
	}
	if t, ok := r.Content.(*Tokenizable); ok {
		return t.EstimateTokens(ctx, encoding)
	}
	text, _ := r.Content.(string)
	return tokens.In(tokens.ScopeOf(ctx), encoding, text)
}

// Instruction is a standing instruction: a text that the model gets in every turn.
type Instruction struct {
	Text string
}

// NewMessage returns a message, valid if id, role and content are. The time counts as both creation and update.
func NewMessage(id string, role Role, content string, at time.Time) *Message {
	return &Message{ID: id, Role: role, Content: content, CreatedAt: at, UpdatedAt: at}
}

// NewThought returns a thought with content.
func NewThought(id, content string, at time.Time) *Thought {
	return &Thought{ID: id, Content: content, CreatedAt: at, UpdatedAt: at}
}

// NewMemory returns a memory.
func NewMemory(id, content string, confidence, importance float64, at time.Time) *Memory {
	return &Memory{ID: id, Content: content, Confidence: confidence, Importance: importance, CreatedAt: at, UpdatedAt: at}
}

// NewRetrievable returns a retrievable.
func NewRetrievable(id, content string, tier TrustTier, at time.Time) *Retrievable {
	return &Retrievable{ID: id, Content: content, TrustTier: tier, CreatedAt: at, UpdatedAt: at}
}

// NewInstruction returns a standing instruction.
func NewInstruction(text string) *Instruction { return &Instruction{Text: text} }

func (m *Message) key() string     { return m.ID }
func (m *Memory) key() string      { return m.ID }
func (t *Thought) key() string     { return t.ID }
func (c *ToolCall) key() string    { return c.ID }
func (r *Retrievable) key() string { return r.ID }
func (i *Instruction) key() string { return i.Text }
