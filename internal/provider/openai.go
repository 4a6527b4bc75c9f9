package provider

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// OpenAI speaks OpenAI's chat completions and the dialects of those who took the protocol over: OpenRouter, Groq,
// DeepSeek, Mistral, Together, llama.cpp and many more. What they add is read where it comes; nobody has to say who
// answers.
//
//   - Reasoning comes in fields of a delta (option reasoningFields), in reasoning_details, in the content as a list of
//     parts, or in tags at the beginning of the text.
//   - Calls are numbered, or named by ids, or neither; some come whole, with arguments as an object.
//   - Errors come in the place of a chunk, inside a choice, or in x_groq.
//   - Media are parts of a user's message; those of a tool's result follow it in one, as results are texts.
//   - Thoughts go back as reasoning_content, when the option thoughts says so.
//   - What an endpoint gives to have it back always goes back to it, as it came: reasoning_details, if anything in them
//     is signed or encrypted, and extra_content, of calls and of messages, where Gemini's signatures are.
var OpenAI chat.Provider = openAI{}

// openAI has the options for calls and reasoning in texts where text is set.
type openAI struct{ text func() chat.TextOptions }

var openAIProtocol = chat.Protocol{
	TextElsewhere: fullModule, Leading: true,
	Name: openAIName, BaseURL: openAIBaseURL, Close: "]}",
	Options: openAIOptions, Members: openAIMembers, Reserved: []string{"messages", "model", "stream", "tools"},
	OfTools:   []string{"name", "description", "parameters"},
	WithTools: []string{"tool_choice", "parallel_tool_calls"}, // endpoints refuse them in a request without tools
	Thoughts:  []string{openAIThoughts},
	Reasoning: "chat-completions-reasoning-v1", ByHost: true,
	Media: openAIMedia,
	Files: func(kind, uri string) bool {
		return kind == "image" && isURL(uri) || kind == "document" && isFileID(uri)
	},
}

func (o openAI) Protocol() chat.Protocol {
	p := openAIProtocol
	p.Text = o.text
	return p
}

func openAIMedia(kind, mimeType string) bool {
	switch kind {
	case "image":
		return isImage(mimeType)
	case "audio":
		format := audioFormat(mimeType)
		return format == "wav" || format == "mp3"
	case "document":
		return mimeType == pdf
	}
	return false
}

func (openAI) Path(string, bool) string { return "/chat/completions" }

func (openAI) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	dst = value.AppendJSONString(append(dst, `{"type":"function","function":{"name":`...), t.Name)
	dst = value.AppendJSONString(append(dst, `,"description":`...), t.Description)
	dst = appendParameters(append(dst, `,"parameters":`...), t.InputSchema)
	return append(append(dst, extras...), `}}`...)
}

// mistralHost tells token counts without being asked, and refuses requests that ask.
const mistralHost = "api.mistral.ai"

func (openAI) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = value.AppendJSONString(append(dst, `{"model":`...), h.Model)
	dst = append(dst, h.Members...)
	if h.Stream {
		dst = append(dst, `,"stream":true`...)
		if h.Usage && !h.Has("stream_options") && h.Host != mistralHost {
			dst = append(dst, `,"stream_options":{"include_usage":true}`...)
		}
	}
	if len(h.Tools) > 0 {
		dst = append(append(append(dst, `,"tools":[`...), h.Tools...), ']')
		dst = append(dst, h.ToolOnly...)
	}
	if len(h.Schema) > 0 {
		dst = append(append(dst, `,"response_format":`...), h.Schema...)
	}
	dst = append(dst, `,"messages":[`...)
	if len(h.System) > 0 {
		dst = append(value.AppendJSONText(append(dst, `{"role":"system","content":`...), h.System), '}')
	}
	return dst
}

// AppendSchema implements chat.Shaper.
func (openAI) AppendSchema(dst []byte, h *chat.Head, schema []byte) (out []byte, seen bool) {
	if h.Has("response_format") || !isObjectSchema(schema) {
		return nil, false
	}
	return append(appendNamedSchema(append(dst, `{"type":"json_schema","json_schema":{`...), schema), `}}`...), true
}

func (openAI) AppendUnit(dst []byte, u *chat.Unit) []byte {
	if !u.Assistant {
		dst = append(chat.AppendComma(dst), `{"role":"user"`...)
		if len(u.Media) > 0 {
			dst = appendParts(append(dst, `,"content":`...), u.Text, u.Media)
		} else {
			dst = chat.AppendMember(dst, "content", u.Text)
		}
		return append(appendName(dst, u.Name), '}')
	}
	dst = append(chat.AppendComma(dst), `{"role":"assistant"`...)
	if text := joined(u.Thoughts); len(text) > 0 {
		dst = chat.AppendMember(dst, "reasoning_content", text)
	}
	for _, t := range u.Thoughts {
		if t.Payload != nil {
			dst = appendGiven(dst, t.Payload)
			break // an answer has one
		}
	}
	if u.HasText {
		dst = chat.AppendMember(dst, "content", u.Text)
	} else {
		dst = append(dst, `,"content":null`...)
	}
	for i, c := range u.Calls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[`...)
		}
		dst = chat.AppendMember(append(chat.AppendComma(dst), '{'), "id", c.ID)
		dst = chat.AppendMember(append(dst, `,"type":"function","function":{`...), "name", c.Name)
		dst = append(chat.AppendMember(dst, "arguments", c.Args), '}')
		dst = append(appendGiven(dst, c.Extra), '}')
	}
	if len(u.Calls) > 0 {
		dst = append(dst, ']')
	}
	dst = append(appendName(dst, u.Name), '}')
	for _, c := range u.Calls {
		dst = chat.AppendMember(append(dst, `,{"role":"tool"`...), "tool_call_id", c.ID)
		dst = append(chat.AppendMember(dst, "content", withNotes(c.Result, c.Media)), '}')
	}
	if media := ofResults(u.Calls); len(media) > 0 {
		dst = append(appendParts(append(dst, `,{"role":"user","content":`...), []byte(introduction), media), '}')
	}
	return dst
}

func appendName(dst, name []byte) []byte {
	if len(name) == 0 {
		return dst
	}
	return chat.AppendMember(dst, "name", name)
}

// inContent is the source of reasoning that stands inside the content.
const inContent = chat.Block - 1

func (openAI) Read(a *chat.Answer, _ []byte, s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "choices":
			for i := range s.Items() {
				if i == 0 {
					readChoice(a, s)
				}
			}
		case "usage":
			a.Usage(s)
		case "model":
			a.Model(s)
		case "provider":
			a.Endpoint(s)
		case "x_groq":
			for key := range s.Members() {
				switch string(key) {
				case "usage":
					if !a.HasUsage() {
						a.Usage(s)
					}
				case "error":
					a.Fail(s)
				}
			}
		case "error":
			a.Fail(s)
		default:
			a.Noise(s)
		}
	}
}

// readChoice reads what one chunk says about the first choice; others are never asked for.
func readChoice(a *chat.Answer, s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "index":
			if n, ok := s.Int(); ok && n != 0 {
				return
			}
		case "delta":
			a.Delta()
			readDelta(a, s)
		case "message": // a whole response; some streams repeat the message in their last chunk
			if !a.InDeltas() {
				readDelta(a, s)
			}
		case "finish_reason":
			reason, _ := s.Text()
			a.Finish(reason, string(reason) == "stop")
		case "error":
			a.Fail(s)
		}
	}
}

func readDelta(a *chat.Answer, s *value.Scanner) {
	var list []byte // JSON, as reasoning_details repeat what fields of the delta say
	for key := range s.Members() {
		switch string(key) {
		case detailsMember:
			list = s.Raw()
		case extraMember:
			readExtra(a, s)
		case "content":
			if s.Kind() == value.KindList {
				for range s.Items() {
					readPart(a, s)
				}
			} else if text, ok := s.Text(); ok {
				a.Text(text)
			}
		case "refusal":
			if text, ok := s.Text(); ok {
				a.Decline(text)
			}
		case "tool_calls":
			for range s.Items() {
				readCall(a, s)
			}
		default:
			if s.Kind() != value.KindString {
				continue
			}
			if field := a.ReasoningField(key); field >= 0 {
				text, _ := s.Text()
				a.Thought(field, text)
			}
		}
	}
	if len(list) > 2 && list[0] == '[' {
		readDetails(a, list)
	}
}

// readPart reads a part of a content that is a list: text, or reasoning with parts of its own.
func readPart(a *chat.Answer, s *value.Scanner) {
	if s.Kind() == value.KindString {
		text, _ := s.Text()
		a.Text(text)
		return
	}
	var text, thinking []byte // JSON, since the type may come last
	known, declines := true, false
	for key := range s.Members() {
		switch string(key) {
		case "type":
			kind, _ := s.Text()
			switch string(kind) {
			case "text", "output_text", "refusal", "thinking", "reasoning":
			default:
				known = false
			}
		case "text", "refusal":
			declines = declines || key[0] == 'r'
			text = s.Raw()
		case "thinking", "reasoning":
			thinking = s.Raw()
		}
	}
	var inner value.Scanner
	switch inner.Reset(thinking); inner.Kind() {
	case value.KindString:
		words, _ := inner.Text()
		a.Thought(inContent, words)
	case value.KindList:
		for range inner.Items() {
			for key := range inner.Members() {
				if string(key) == "text" {
					words, _ := inner.Text()
					a.Thought(inContent, words)
				}
			}
		}
	default:
		if inner.Reset(text); known && text != nil {
			words, _ := inner.Text()
			if declines {
				a.Decline(words)
			} else {
				a.Text(words)
			}
		}
	}
}

// readCall reads a piece of a call, or a whole one.
func readCall(a *chat.Answer, s *value.Scanner) {
	c := a.NewCall() // the members come in any order, so which call the piece belongs to is known at its end
	for key := range s.Members() {
		switch string(key) {
		case "index":
			if i, ok := s.Int(); ok && i >= 0 {
				c.Index = i
			}
		case "id":
			c.ID, _ = s.AppendText(c.ID)
		case extraMember:
			if extra := extraIn(nil, s); extra != nil {
				c.Extra = extra
			}
		case "function":
			for key := range s.Members() {
				switch string(key) {
				case "name":
					c.Name, _ = s.AppendText(c.Name)
				case "arguments":
					switch s.Kind() {
					case value.KindString:
						c.Args, _ = s.AppendText(c.Args)
					case value.KindMap:
						c.Args = append(c.Args, s.Raw()...)
					}
				}
			}
		}
	}
	a.Call(c)
}

func (openAI) Usage(usage []byte) chat.Usage {
	return chat.Usage{
		Prompt: chat.Count(usage, "prompt_tokens"), Completion: chat.Count(usage, "completion_tokens"), Total: chat.Count(usage, "total_tokens"),
		Cached:    chat.Count(usage, "prompt_tokens_details", "cached_tokens"),
		Reasoning: chat.Count(usage, "completion_tokens_details", "reasoning_tokens"),
	}
}
