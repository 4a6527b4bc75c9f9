package record

import "github.com/turncore/turncore/abi/value"

// Message is the body of a message.
type Message []byte

// ID of the record.
func (m Message) ID() []byte { return text(field(m, 0)) }

// Role is "user" or "assistant".
func (m Message) Role() []byte { return text(field(m, 1)) }

// Content is the text; ok is false when the message has none.
func (m Message) Content() (content []byte, ok bool) { return value.String(field(m, 2)) }

// Identity of the speaker; ok is false when the role identifies it.
func (m Message) Identity() (id Identity, ok bool) { return identity(field(m, 3)) }

// CreatedAt in ms since the Unix epoch.
func (m Message) CreatedAt() int64 { return integer(field(m, 4)) }

// UpdatedAt in ms since the Unix epoch.
func (m Message) UpdatedAt() int64 { return integer(field(m, 5)) }

// Attachments is a list of media, nil for none.
func (m Message) Attachments() []byte { return optional(field(m, 6)) }

// Identity names a speaker: Identifier for systems, Representation for the model.
type Identity struct {
	Identifier     []byte
	Representation []byte
}

func identity(v []byte) (Identity, bool) {
	if n, _ := tuple(v); n < 2 {
		return Identity{}, false
	}
	return Identity{text(field(v, 0)), text(field(v, 1))}, true
}

// Memory is the body of a memory.
type Memory []byte

// ID of the record.
func (m Memory) ID() []byte { return text(field(m, 0)) }

// Content is the fact to remember.
func (m Memory) Content() []byte { return text(field(m, 1)) }

// Confidence from 0 to 1.
func (m Memory) Confidence() float64 { return number(field(m, 2)) }

// Importance from 0 to 1.
func (m Memory) Importance() float64 { return number(field(m, 3)) }

// CreatedAt in ms since the Unix epoch.
func (m Memory) CreatedAt() int64 { return integer(field(m, 4)) }

// UpdatedAt in ms since the Unix epoch.
func (m Memory) UpdatedAt() int64 { return integer(field(m, 5)) }

// Thought is the body of a thought.
type Thought []byte

// ID of the record.
func (t Thought) ID() []byte { return text(field(t, 0)) }

// Content is the reasoning in words, empty when there is only a payload.
func (t Thought) Content() []byte { return text(field(t, 1)) }

// Identity of the thinker; ok is false when it is "assistant".
func (t Thought) Identity() (id Identity, ok bool) { return identity(field(t, 2)) }

// Payload is opaque reasoning of a provider, a value; nil for none.
func (t Thought) Payload() []byte { return optional(field(t, 3)) }

// ReplayCompatibility names who can read the payload; nil for none.
func (t Thought) ReplayCompatibility() []byte { return text(field(t, 4)) }

// CreatedAt in ms since the Unix epoch.
func (t Thought) CreatedAt() int64 { return integer(field(t, 5)) }

// UpdatedAt in ms since the Unix epoch.
func (t Thought) UpdatedAt() int64 { return integer(field(t, 6)) }

// ToolCall is the body of a tool call.
type ToolCall []byte

// ID of the record.
func (t ToolCall) ID() []byte { return text(field(t, 0)) }

// Tool is the tool's name.
func (t ToolCall) Tool() []byte { return text(field(t, 1)) }

// Args is a map.
func (t ToolCall) Args() []byte { return field(t, 2) }

// Checksum of tool and args.
func (t ToolCall) Checksum() []byte { return text(field(t, 3)) }

// ExecutionID identifies the execution that gave the results; nil if unknown.
func (t ToolCall) ExecutionID() []byte { return text(field(t, 4)) }

// ProviderCallID is the provider's id of the call; nil for none.
func (t ToolCall) ProviderCallID() []byte { return text(field(t, 5)) }

// IsComplete reports whether the call has ended.
func (t ToolCall) IsComplete() bool { return boolean(field(t, 6)) }

// IsError reports whether the call failed.
func (t ToolCall) IsError() bool { return boolean(field(t, 7)) }

// Results is a value: text, an artifact, a medium, or a list of either. See [EachPart].
func (t ToolCall) Results() []byte { return field(t, 8) }

// Payload is data of the executor that made the call, a value; nil for none.
func (t ToolCall) Payload() []byte { return optional(field(t, 9)) }

// ReplayCompatibility names who can read the payload; nil for none.
func (t ToolCall) ReplayCompatibility() []byte { return text(field(t, 10)) }

// FromArtifactTool reports whether the results were read from an artifact.
func (t ToolCall) FromArtifactTool() bool { return boolean(field(t, 11)) }

// Inline reports whether the model sees the results in full.
func (t ToolCall) Inline() bool { return boolean(field(t, 12)) }

// CreatedAt in ms since the Unix epoch.
func (t ToolCall) CreatedAt() int64 { return integer(field(t, 13)) }

// UpdatedAt in ms since the Unix epoch.
func (t ToolCall) UpdatedAt() int64 { return integer(field(t, 14)) }

// CompletedAt in ms since the Unix epoch.
func (t ToolCall) CompletedAt() int64 { return integer(field(t, 15)) }

// Retrievable is the body of a retrieved document.
type Retrievable []byte

// ID of the record.
func (r Retrievable) ID() []byte { return text(field(r, 0)) }

// Content is the document's text, empty when the host holds it.
func (r Retrievable) Content() []byte { return text(field(r, 1)) }

// Part is the content that the host holds, an artifact or a text; nil when the content is text.
func (r Retrievable) Part() []byte {
	if v := field(r, 1); PartOf(v) != NoPart {
		return v
	}
	return nil
}

// TrustTier is "first-party", "third-party-public" or "third-party-private".
func (r Retrievable) TrustTier() []byte { return text(field(r, 2)) }

// Source says where the document is from; nil if unknown.
func (r Retrievable) Source() []byte { return text(field(r, 3)) }

// Kind of document; nil if unknown.
func (r Retrievable) Kind() []byte { return text(field(r, 4)) }

// Score from 0 to 1; ok is false when there is none.
func (r Retrievable) Score() (score float64, ok bool) { return value.Number(field(r, 5)) }

// Inline reports whether the model sees the content in full.
func (r Retrievable) Inline() bool { return boolean(field(r, 6)) }

// CreatedAt in ms since the Unix epoch.
func (r Retrievable) CreatedAt() int64 { return integer(field(r, 7)) }

// UpdatedAt in ms since the Unix epoch.
func (r Retrievable) UpdatedAt() int64 { return integer(field(r, 8)) }
