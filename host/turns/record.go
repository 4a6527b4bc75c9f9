package turns

import (
	"encoding/json"
	"time"
)

// Record is one of the primitives that collections, storage and the model's context are made of: *Message, *Memory,
// *Thought, *ToolCall, *Retrievable and *Instruction. A record must not be changed once it was given to a context,
// a history or a store: to change one, give a changed copy to Mutate.
type Record interface {
	comparable
	record
}

// record is what the package does with records of any kind.
type record interface {
	// Validate returns an *host.Error with the kind's E_INVALID_INITIAL_…_VALUE that lists every violation, or nil.
	Validate() error
	// kind is the ABI's number of the collection that holds such records.
	kind() uint8
	// key is the record's id, an instruction's text.
	key() string
	// appendBody appends the record's encoding.
	appendBody(dst []byte) ([]byte, error)
}

// Identity names who speaks: Identifier for systems, Representation for the model.
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
	Content   string
	Identity  *Identity // nil: the role
	CreatedAt time.Time // to the millisecond, like all times
	UpdatedAt time.Time
}

// Memory is something to remember across turns. Confidence and Importance lie between 0 and 1.
type Memory struct {
	ID         string
	Content    string
	Confidence float64
	Importance float64
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Thought is reasoning of a model. A Payload (a JSON-like value that only its provider understands) needs a
// ReplayCompatibility, which says to which models it may be replayed; without a Payload there must be Content.
type Thought struct {
	ID                  string
	Content             string
	Identity            *Identity // nil: "assistant"
	Payload             any
	ReplayCompatibility string
	CreatedAt           time.Time
	UpdatedAt           time.Time
}

// ToolCall is a completed call of a tool.
type ToolCall struct {
	ID                  string
	Tool                string
	Args                json.RawMessage // an object
	Checksum            string          // of tool and args, as in ToolCallEvent.Checksum
	IsComplete          bool
	IsError             bool
	Results             string
	Payload             any
	ReplayCompatibility string
	FromArtifactTool    bool
	Inline              bool
	CreatedAt           time.Time
	UpdatedAt           time.Time
	CompletedAt         time.Time
}

// TrustTier says how far the content of a retrievable can be trusted.
type TrustTier string

// Trust tiers.
const (
	FirstParty        TrustTier = "first-party"
	ThirdPartyPublic  TrustTier = "third-party-public"
	ThirdPartyPrivate TrustTier = "third-party-private"
)

// Retrievable is a retrieved document.
type Retrievable struct {
	ID        string
	Content   string
	TrustTier TrustTier
	Source    string   // "" for none
	Kind      string   // "" for none
	Score     *float64 // between 0 and 1; nil for none
	Inline    bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Instruction is a standing instruction: a text the model is given in every turn.
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
