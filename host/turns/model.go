package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/check"
)

// ModelEngine is a model that the host runs itself, or any function in place of one. The chat executor of the core asks it
// where it would ask an API.
type ModelEngine struct {
	// Name in statistics and errors; "engine" if empty.
	Name string
	// Capabilities tell what the engine can do: text in, text out if they are zero.
	Capabilities ModelCapabilities
	// Generate sends an answer part by part and returns at its end. An error fails the model call, and so does one that
	// send returns. When ctx is done nobody waits for the answer any more.
	Generate func(ctx context.Context, r *ModelRequest, send func(ModelPart) error) error
}

// ModelRequest is what an engine is asked. Its JSON is what chat completions engines take.
type ModelRequest struct {
	Messages []ModelMessage `json:"messages"`
	// Tools to offer; only for engines with native tools.
	Tools []ModelTool `json:"tools,omitempty"`
	// Options of sampling by their names in chat completions: max_tokens, temperature, top_p, seed, stop and so on.
	Options map[string]any `json:"options,omitempty"`
	// Schema is the JSON Schema that the answer must match; only for engines with the capability.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Grammar is the GBNF that the answer must match; only for engines with the capability.
	Grammar string `json:"grammar,omitempty"`
}

// ModelMessage is a message of the conversation.
type ModelMessage struct {
	Role    string `json:"role"` // system, user, assistant or tool
	Content string `json:"content"`
	// Parts is the content of a message with media, as chat completions has it: a JSON list of objects of the types text,
	// image_url, input_audio, video_url and file, with the bytes in data URIs or in base64. Content is empty then. Only for engines with the capability.
	Parts      json.RawMessage `json:"-"`
	Name       string          `json:"name,omitempty"`         // who says it, where the role does not tell
	ToolCalls  []ModelCall     `json:"tool_calls,omitempty"`   // of an assistant
	ToolCallID string          `json:"tool_call_id,omitempty"` // of a tool: the call whose result this is
}

// modelMessage is a ModelMessage without its methods.
type modelMessage ModelMessage

// UnmarshalJSON puts a content that is a list into Parts.
func (m *ModelMessage) UnmarshalJSON(text []byte) error {
	read := struct {
		*modelMessage
		Content json.RawMessage `json:"content"`
	}{modelMessage: (*modelMessage)(m)}
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
func (m ModelMessage) MarshalJSON() ([]byte, error) {
	if m.Parts == nil {
		return json.Marshal(modelMessage(m))
	}
	return json.Marshal(struct {
		modelMessage
		Content json.RawMessage `json:"content"`
	}{modelMessage(m), m.Parts})
}

// ModelCall is a call that an assistant made.
type ModelCall struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"` // function
	Function ModelFunction `json:"function"`
}

// ModelFunction is what a call calls. Arguments are JSON text.
type ModelFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ModelTool is the definition of a tool.
type ModelTool struct {
	Type     string            `json:"type"` // function
	Function ModelToolFunction `json:"function"`
}

// ModelToolFunction describes a tool. Parameters is a JSON Schema.
type ModelToolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// ModelPart is a part of an answer: one or several of these.
type ModelPart struct {
	Reasoning string         `json:"reasoning,omitempty"` // a piece of what the model thinks
	Text      string         `json:"text,omitempty"`      // a piece of the answer
	ToolCall  *ModelToolCall `json:"toolCall,omitempty"`
	Usage     *ModelUsage    `json:"usage,omitempty"`
	Finish    string         `json:"finish,omitempty"` // why the answer ended: stop, length, tool_calls
	Error     *ModelError    `json:"error,omitempty"`  // the answer has failed
}

// ModelToolCall is a piece of a call. Pieces of one call have its index; names and arguments are joined.
type ModelToolCall struct {
	Index     int    `json:"index"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"` // a piece of JSON text
}

// ModelUsage counts tokens; 0 stands for unknown. CachedTokens are those of the prompt that came from a cache.
type ModelUsage struct {
	PromptTokens     int `json:"promptTokens,omitempty"`
	CompletionTokens int `json:"completionTokens,omitempty"`
	TotalTokens      int `json:"totalTokens,omitempty"`
	CachedTokens     int `json:"cachedTokens,omitempty"`
}

// ModelError is why an answer failed.
type ModelError struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// validate lists everything that is wrong with a part. What Go's types already say is not checked again.
func (p *ModelPart) validate() error {
	var list []string
	count := func(field string, n int) {
		if n < 0 {
			list = append(list, abi.Violation(string(abi.KindCount), "field", field))
		}
	}
	if p.ToolCall != nil {
		count("toolCall.index", p.ToolCall.Index)
	}
	if u := p.Usage; u != nil {
		count("usage.promptTokens", u.PromptTokens)
		count("usage.completionTokens", u.CompletionTokens)
		count("usage.totalTokens", u.TotalTokens)
		count("usage.cachedTokens", u.CachedTokens)
	}
	return check.Invalid(abi.ModelPartRules, list)
}

// line is the part as a line of JSON; empty for a part that says nothing.
func (p *ModelPart) line() ([]byte, error) {
	if *p == (ModelPart{}) {
		return nil, nil
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(p) // with a line feed
	return b.Bytes(), err
}

// name is what the core knows the engine by.
func (m *ModelEngine) name() string {
	if m.Name == "" {
		return "engine"
	}
	return m.Name
}

// generate lets an engine answer and hands the core what it sends.
func (e *effect) generate(ctx context.Context, args *abi.ModelArgs, media []splice) error {
	chat := e.chatOptions()
	if chat == nil || chat.Engine == nil || chat.model() != args.Model {
		return newError(abi.CodeModelUnknown, `"`+args.Model+`"`, nil)
	}
	body, err := abi.BytesOf(args.Body)
	if err != nil {
		return err
	}
	if body, err = insertMedia(ctx, body, media); err != nil {
		return engineError(ctx, err)
	}
	var request ModelRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return newError(abi.CodeModelFailed, "the request is malformed: "+err.Error(), err)
	}
	return engineError(ctx, chat.Engine.Generate(ctx, &request, e.sendPart))
}

// chatOptions are those of the dispatch, or of the turn's runner.
func (e *effect) chatOptions() *ChatOptions {
	if d := e.context.dispatch; d != nil {
		return d.config.chat
	}
	return e.turn.config.chat
}

// sendPart hands the core a part of an answer.
func (e *effect) sendPart(p ModelPart) error {
	line, err := p.line()
	if err != nil {
		return err
	}
	size := min(maxChunk, e.turn.core.maxBody())
	for len(line) > 0 {
		n := min(len(line), size)
		if !e.send(&abi.Chunk{Data: abi.Bytes(line[:n])}) {
			return context.Canceled
		}
		line = line[n:]
	}
	return nil
}

// engineError is what the core is told when an engine fails.
func engineError(ctx context.Context, err error) error {
	var own *host.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, &own) && (strings.HasPrefix(string(own.Code), "E_MODEL_") || own.Code == abi.CodeMediaTooLarge):
		return own
	}
	return newError(abi.CodeModelFailed, err.Error(), err)
}
