package model

import (
	"bytes"
	"context"
	"encoding/json"
)

// Engine is a model that the host runs itself, or any function that replaces one. The core's chat executor calls it
// instead of an API.
type Engine struct {
	// Name in statistics and errors; "engine" if empty.
	Name string
	// Capabilities are the engine's capabilities: text in, text out if they are zero.
	Capabilities Capabilities
	// Generate sends an answer in parts and returns at its end. An error, including one returned by send, fails the
	// model call. After ctx is done, no code waits for the answer.
	Generate func(ctx context.Context, r *Request, send func(Part) error) error
}

// Request is a request to an engine. Its JSON has the format of chat completions.
type Request struct {
	Messages []Message `json:"messages"`
	// Tools to offer; only for engines with native tools.
	Tools []Tool `json:"tools,omitempty"`
	// Options are sampling options under their names in chat completions: max_tokens, temperature, top_p, seed, stop and
	// so on.
	Options map[string]any `json:"options,omitempty"`
	// Schema is the JSON Schema that the answer must match; only for engines with the capability.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Grammar is the GBNF that the answer must match; only for engines with the capability.
	Grammar string `json:"grammar,omitempty"`
}

// Message is a message of the conversation.
type Message struct {
	Role    string `json:"role"` // system, user, assistant or tool
	Content string `json:"content"`
	// Parts is the content of a message with media, in the format of chat completions: a JSON list of objects of the
	// types text, image_url, input_audio, video_url and file, with the bytes in data URIs or in base64. Content is empty
	// then. Only for engines with the capability.
	Parts      json.RawMessage `json:"-"`
	Name       string          `json:"name,omitempty"`         // the speaker, if the role does not identify it
	ToolCalls  []Call          `json:"tool_calls,omitempty"`   // for an assistant
	ToolCallID string          `json:"tool_call_id,omitempty"` // for a tool: the call of this result
}

// plainMessage is a Message without its methods.
type plainMessage Message

// UnmarshalJSON puts a content that is a list into Parts.
func (m *Message) UnmarshalJSON(text []byte) error {
	read := struct {
		*plainMessage
		Content json.RawMessage `json:"content"`
	}{plainMessage: (*plainMessage)(m)}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if len(read.Content) == 0 {
		return nil
	}
	if bytes.HasPrefix(read.Content, []byte{'['}) {
		m.Parts = read.Content
		return nil
	}
	return json.Unmarshal(read.Content, &m.Content)
}

// MarshalJSON gives Parts as the content when there are some.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.Parts == nil {
		return json.Marshal(plainMessage(m))
	}
	return json.Marshal(struct {
		plainMessage
		Content json.RawMessage `json:"content"`
	}{plainMessage(m), m.Parts})
}

// Call is a call that an assistant made.
type Call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function Function `json:"function"`
}

// Function is what a call calls. Arguments are JSON text.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool is the definition of a tool.
type Tool struct {
	Type     string       `json:"type"` // function
	Function ToolFunction `json:"function"`
}

// ToolFunction describes a tool. Parameters is a JSON Schema.
type ToolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// Part is a part of an answer: one or more of these fields.
type Part struct {
	Reasoning string    `json:"reasoning,omitempty"` // a piece of the model's reasoning
	Text      string    `json:"text,omitempty"`      // a piece of the answer
	ToolCall  *ToolCall `json:"toolCall,omitempty"`
	Usage     *Usage    `json:"usage,omitempty"`
	Finish    string    `json:"finish,omitempty"` // why the answer ended: stop, length, tool_calls
	Error     *Error    `json:"error,omitempty"`  // the answer failed
}

// ToolCall is a piece of a call, or a whole one. Pieces of one call have its index; names and arguments are joined. A
// piece without an index belongs to the call with its ID, or begins it. Without either, a name begins a call, and
// everything else belongs to the last one.
type ToolCall struct {
	Index     *int   `json:"index,omitempty"` // from 0
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"` // a piece of JSON text
}

// Usage counts tokens; 0 stands for unknown. CachedTokens are those of the prompt that came from a cache.
type Usage struct {
	PromptTokens     int `json:"promptTokens,omitempty"`
	CompletionTokens int `json:"completionTokens,omitempty"`
	TotalTokens      int `json:"totalTokens,omitempty"`
	CachedTokens     int `json:"cachedTokens,omitempty"`
}

// Error is why an answer failed.
type Error struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}
