package provider

import (
	"bytes"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// Anthropic speaks Anthropic's Messages API, version 2023-06-01.
//
//   - Thinking goes back as it came, with its signature; so does thinking that the API has encrypted.
//   - What a request shares with the one before is cached: cache_control stands at the last tool, at the system prompt
//     and, by the member of the whole request, at the end of the conversation. The option cache_control takes its
//     place; false leaves it out.
//   - max_tokens is required there, so it has a default: 16,384, beside what the option thinking allows for thinking.
//   - A turn that the API pauses goes on: the next request ends with what the model has said.
//   - A refusal is an error, since what was said up to it is no answer.
var Anthropic chat.Provider = anthropic{}

type anthropic struct{}

// anthropicMaxTokens is what an answer may have where the options do not say it: within what all current models allow.
const anthropicMaxTokens = 16_384

var anthropicProtocol = chat.Protocol{
	Name: anthropicName, BaseURL: anthropicBaseURL, Close: "]}",
	Headers: [][2]string{{"anthropic-version", "2023-06-01"}},
	Members: anthropicMembers, Reserved: []string{"messages", "model", "stream", "system", "tools"},
	OfTools:   []string{"name", "description", "input_schema", "cache_control"},
	WithTools: []string{"tool_choice"},
	Reasoning: "anthropic-messages-thinking-v1", InParts: true,
	Media: func(kind, mimeType string) bool {
		return kind == "document" && mimeType == pdf || kind == "image" && isImage(mimeType)
	},
	Files: func(_, uri string) bool { return isURL(uri) },
}

func (anthropic) Protocol() chat.Protocol { return anthropicProtocol }

func (anthropic) Path(string, bool) string { return "/messages" }

func (anthropic) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	dst = value.AppendJSONString(append(dst, `{"name":`...), t.Name)
	dst = value.AppendJSONString(append(dst, `,"description":`...), t.Description)
	dst = appendSchema(append(dst, `,"input_schema":`...), t.InputSchema)
	return append(append(dst, extras...), '}')
}

func (anthropic) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = value.AppendJSONString(append(dst, `{"model":`...), h.Model)
	marker := []byte(`{"type":"ephemeral"}`)
	limited := false
	budget := int64(0)
	chat.EachMember(h.Members, func(name, text []byte) {
		switch string(name) {
		case "cache_control":
			if string(text) != "true" {
				marker = text
			}
			return
		case "output_config":
			if len(h.Schema) > 0 {
				return // is in there
			}
		case "max_tokens":
			limited = true
		case "thinking":
			budget = thinkingBudget(text)
		}
		dst = appendRaw(dst, name, text)
	})
	if !limited {
		dst = strconv.AppendInt(append(dst, `,"max_tokens":`...), anthropicMaxTokens+budget, 10)
	}
	if len(h.Schema) > 0 {
		dst = append(append(dst, `,"output_config":`...), h.Schema...)
	}
	if h.Stream {
		dst = append(dst, `,"stream":true`...)
	}
	if len(marker) > 0 && marker[0] == '{' {
		marker = append([]byte(`,"cache_control":`), marker...)
	} else {
		marker = nil
	}
	dst = append(dst, marker...)
	if n := len(h.Tools); n > 0 { // the marker stands inside the last one
		dst = append(append(append(dst, `,"tools":[`...), h.Tools[:n-1]...), marker...)
		dst = append(append(dst, `}]`...), h.ToolOnly...)
	}
	if len(bytes.TrimSpace(h.System)) > 0 {
		dst = value.AppendJSONText(append(dst, `,"system":[{"type":"text","text":`...), h.System)
		dst = append(append(dst, marker...), `}]`...)
	}
	return append(dst, `,"messages":[`...)
}

// thinkingBudget is what the option thinking allows for thinking, in tokens, 0 when it sets no such bound.
func thinkingBudget(text []byte) (n int64) {
	s := value.NewScanner(text)
	for key := range s.Members() {
		if string(key) == "budget_tokens" {
			n, _ = s.Int()
		}
	}
	return max(n, 0)
}

// AppendUnit leaves out what the API refuses: blank text, and messages that have nothing else.
func (anthropic) AppendUnit(dst []byte, u *chat.Unit) []byte {
	blank := len(bytes.TrimSpace(u.Text)) == 0
	if !u.Assistant {
		if blank && len(u.Media) == 0 {
			return dst
		}
		dst = append(chat.AppendComma(dst), `{"role":"user"`...)
		if len(u.Media) > 0 {
			return append(appendBlocks(append(dst, `,"content":`...), said(u), u.Media), '}')
		}
		return append(chat.AppendMember(dst, "content", said(u)), '}')
	}
	if blank && len(u.Calls) == 0 {
		return dst // thoughts cannot end a message
	}
	dst = append(chat.AppendComma(appendOpening(dst, `{"role":"user","content":"."}`)), `{"role":"assistant","content":[`...)
	for _, t := range u.Thoughts {
		dst = appendThinking(dst, t)
	}
	if !blank {
		dst = append(chat.AppendMember(append(chat.AppendComma(dst), `{"type":"text"`...), "text", said(u)), '}')
	}
	for _, c := range u.Calls {
		dst = chat.AppendMember(append(chat.AppendComma(dst), `{"type":"tool_use"`...), "id", anthropicID(c.ID))
		dst = chat.AppendMember(dst, "name", plainName(c.Name, ""))
		dst = append(append(append(dst, `,"input":`...), c.Args...), '}')
	}
	dst = append(dst, `]}`...)
	for i, c := range u.Calls {
		if i == 0 {
			dst = append(dst, `,{"role":"user","content":[`...)
		}
		dst = chat.AppendMember(append(chat.AppendComma(dst), `{"type":"tool_result"`...), "tool_use_id", anthropicID(c.ID))
		if len(c.Media) > 0 {
			dst = appendBlocks(append(dst, `,"content":`...), c.Result, c.Media)
		} else if len(c.Result) > 0 {
			dst = chat.AppendMember(dst, "content", c.Result)
		} else if c.IsError { // an error without a text is refused
			dst = append(dst, `,"content":"The tool failed."`...)
		}
		if c.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
		dst = append(dst, '}')
	}
	if len(u.Calls) > 0 {
		dst = append(dst, `]}`...)
	}
	return dst
}

// What the payload of a thought holds.
const (
	signatureKey = "signature" // of a thinking block
	redactedKey  = "redacted"  // data of a redacted_thinking block
)

func appendThinking(dst []byte, t chat.UnitThought) []byte {
	if data, ok := value.GetString(t.Payload, redactedKey); ok {
		dst = chat.AppendMember(append(chat.AppendComma(dst), `{"type":"redacted_thinking"`...), "data", data)
		return append(dst, '}')
	}
	signature, ok := value.GetString(t.Payload, signatureKey)
	if !ok {
		return dst
	}
	dst = chat.AppendMember(append(chat.AppendComma(dst), `{"type":"thinking"`...), "thinking", t.Text)
	return append(chat.AppendMember(dst, "signature", signature), '}')
}

// anthropicID is a call's id, or one in its place: the API takes letters, digits, _ and - only.
func anthropicID(id []byte) []byte {
	if len(id) > 0 && len(id) <= 64 && bytes.Equal(plainName(id, ""), id) {
		return id
	}
	return []byte(chat.WireID(string(id)))
}

func (anthropic) Read(a *chat.Answer, _ []byte, s *value.Scanner) {
	var end ending
	var late []byte // JSON of a block or a piece of one that came before the index
	index, known, begins := 0, false, false
	for key := range s.Members() {
		switch string(key) {
		case "index":
			n, ok := s.Int()
			index, known = int(n), ok && n >= 0 && n < chat.Block
		case "content_block", "delta":
			a.Delta()
			if begins = string(key) == "content_block"; known {
				readBlockEvent(a, s, index, begins)
			} else {
				late = s.Raw()
			}
		case "type":
			if kind, _ := s.Text(); string(kind) == "message_stop" {
				a.Done()
			}
		case "message": // of message_start
			readMessage(a, s, &end)
		case "error":
			a.Fail(s)
		default: // of a whole message, or of message_delta
			readMember(a, s, key, &end)
		}
	}
	if late != nil {
		inner := value.NewScanner(late)
		if known {
			readBlockEvent(a, &inner, index, begins)
		} else { // the delta of message_delta
			readMessage(a, &inner, &end)
		}
	}
	end.tell(a)
}

// readBlockEvent reads the beginning of a content block, or a piece of it.
func readBlockEvent(a *chat.Answer, s *value.Scanner, index int, begins bool) {
	if begins {
		readBlock(a, s, index)
	} else {
		readBlockDelta(a, s, index)
	}
}

// ending is why a message ends.
type ending struct {
	refused               bool
	category, explanation []byte // of a refusal; nil if they are not given
}

func (e *ending) tell(a *chat.Answer) {
	if !e.refused {
		return
	}
	if len(e.category) == 0 {
		e.category = []byte("refusal")
	}
	a.Refuse(e.category, e.explanation)
}

func readMessage(a *chat.Answer, s *value.Scanner, end *ending) {
	for key := range s.Members() {
		readMember(a, s, key, end)
	}
}

// readMember reads a member of a message.
func readMember(a *chat.Answer, s *value.Scanner, key []byte, end *ending) {
	switch string(key) {
	case "content":
		for i := range s.Items() {
			readBlock(a, s, i)
		}
	case "model":
		a.Model(s)
	case "usage":
		a.Usage(s)
	case "stop_reason":
		reason, _ := s.Text()
		a.Finish(reason, string(reason) == "end_turn" || string(reason) == "stop_sequence")
		end.refused = end.refused || string(reason) == "refusal"
		if string(reason) == "pause_turn" {
			a.Pause()
		}
	case "stop_details":
		for key := range s.Members() {
			switch string(key) {
			case "category":
				end.category, _ = s.AppendText(nil)
			case "explanation":
				end.explanation, _ = s.AppendText(nil)
			}
		}
	}
}

// readBlock reads the beginning of a content block, or a whole one. Blocks of tools that the API runs by itself are
// left out.
func readBlock(a *chat.Answer, s *value.Scanner, index int) {
	var kind, text, signature, id, name, input []byte // text and input are JSON
	for key := range s.Members() {
		switch string(key) {
		case "type":
			kind, _ = s.AppendText(nil)
		case "text", "thinking", "data":
			text = s.Raw()
		case "signature":
			signature, _ = s.AppendText(nil)
		case "id":
			id, _ = s.AppendText(nil)
		case "name":
			name, _ = s.AppendText(nil)
		case "input":
			input = s.Raw()
		}
	}
	inner := value.NewScanner(text)
	words, _ := inner.Text()
	switch string(kind) {
	case "text":
		a.Text(words)
	case "thinking":
		a.Thought(chat.Block+index, words)
		keepPayload(a, index, signatureKey, signature)
	case "redacted_thinking":
		keepPayload(a, index, redactedKey, words)
	case "tool_use":
		c := a.NewCall()
		c.Index = int64(index)
		c.ID, c.Name = append(c.ID, id...), append(c.Name, name...)
		if len(input) > len(`{}`) && input[0] == '{' { // a stream begins with an empty one, which pieces follow
			c.Args = append(c.Args, input...)
		}
		a.Call(c)
	}
}

// keepPayload keeps with a thought what makes the API take it back.
func keepPayload(a *chat.Answer, index int, key string, text []byte) {
	if len(text) > 0 {
		a.ThoughtPayload(chat.Block+index, value.AppendText(value.AppendString(value.AppendMapHeader(nil, 1), key), text))
	}
}

// readBlockDelta reads a piece of a content block.
func readBlockDelta(a *chat.Answer, s *value.Scanner, index int) {
	for key := range s.Members() {
		switch string(key) {
		case "text":
			text, _ := s.Text()
			a.Text(text)
		case "thinking":
			text, _ := s.Text()
			a.Thought(chat.Block+index, text)
		case "signature":
			signature, _ := s.Text()
			keepPayload(a, index, signatureKey, signature)
		case "partial_json":
			c := a.NewCall()
			c.Index, c.Later = int64(index), true
			c.Args, _ = s.AppendText(c.Args)
			a.Call(c)
		}
	}
}

func (anthropic) Usage(usage []byte) chat.Usage {
	u := chat.Usage{
		Prompt: chat.Count(usage, "input_tokens"), Completion: chat.Count(usage, "output_tokens"), Total: -1,
		Cached: chat.Count(usage, "cache_read_input_tokens"), Reasoning: chat.Count(usage, "output_tokens_details", "thinking_tokens"),
	}
	if u.Prompt >= 0 { // what follows the last cache marker
		u.Prompt += max(u.Cached, 0) + max(chat.Count(usage, "cache_creation_input_tokens"), 0)
	}
	if u.Prompt >= 0 && u.Completion >= 0 {
		u.Total = u.Prompt + u.Completion
	}
	return u
}
