package provider

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/framing"
)

// Ollama speaks Ollama's own chat API, which can do what its endpoint for OpenAI's protocol cannot: set the length of
// the context and other options of the model, keep the model loaded, and switch thinking on and off.
//
//   - A stream is a JSON object in each line; the last one is done, and has the token counts.
//   - Arguments are objects, and calls come whole. A result goes back with the tool's name; the results of several
//     calls of one tool are told apart by their order.
//   - Images go with a message; those of a tool's result follow it in one of the user.
//   - Messages have no names: who speaks stands before the text where it is not the role.
var Ollama chat.Provider = ollama{}

type ollama struct{}

var ollamaProtocol = chat.Protocol{
	Name: ollamaName, BaseURL: ollamaBaseURL, Close: "]}", Format: framing.JSONLines,
	Options: ollamaOptions, Members: ollamaMembers, Reserved: []string{"messages", "model", "stream", "tools"},
	OfTools:  []string{"name", "description", "parameters"},
	Thoughts: []string{ollamaThoughts},
	Media: func(kind, mimeType string) bool {
		return kind == "image" && isImage(mimeType) && mimeType != "image/gif"
	},
	SchemaAlone: true, Text: inAnswers, Leading: true,
}

func (ollama) Protocol() chat.Protocol { return ollamaProtocol }

func (ollama) Path(string, bool) string { return "/api/chat" }

func (ollama) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	return OpenAI.AppendTool(dst, t, extras)
}

func (ollama) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = value.AppendJSONString(append(dst, `{"model":`...), h.Model)
	dst = append(dst, h.Members...)
	if h.Stream {
		dst = append(dst, `,"stream":true`...)
	} else {
		dst = append(dst, `,"stream":false`...) // left out it would be true
	}
	if len(h.Tools) > 0 {
		dst = append(append(append(dst, `,"tools":[`...), h.Tools...), ']')
	}
	if len(h.Schema) > 0 {
		dst = append(append(dst, `,"format":`...), h.Schema...)
	}
	dst = append(dst, `,"messages":[`...)
	if len(h.System) > 0 {
		dst = append(chat.AppendMember(append(dst, `{"role":"system"`...), "content", h.System), '}')
	}
	return dst
}

// AppendSchema implements chat.Shaper. A server that holds an answer to a schema lets the model call no tools, and does
// not tell it the schema.
func (ollama) AppendSchema(dst []byte, h *chat.Head, schema []byte) (out []byte, seen bool) {
	if h.Has("format") {
		return nil, false
	}
	return appendSchema(dst, schema), false
}

func (ollama) AppendUnit(dst []byte, u *chat.Unit) []byte {
	if !u.Assistant {
		dst = append(chat.AppendComma(dst), `{"role":"user"`...)
		return append(appendImages(dst, said(u), u.Media), '}')
	}
	dst = append(chat.AppendComma(dst), `{"role":"assistant"`...)
	dst = chat.AppendMember(dst, "content", said(u))
	if text := joined(u.Thoughts); len(text) > 0 {
		dst = chat.AppendMember(dst, "thinking", text)
	}
	for i, c := range u.Calls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[`...)
		}
		dst = chat.AppendMember(append(chat.AppendComma(dst), `{"type":"function","function":{`...), "name", c.Name)
		dst = append(append(append(dst, `,"arguments":`...), c.Args...), `}}`...)
	}
	if len(u.Calls) > 0 {
		dst = append(dst, ']')
	}
	dst = append(dst, '}')
	for _, c := range u.Calls {
		dst = chat.AppendMember(append(dst, `,{"role":"tool"`...), "tool_name", c.Name)
		dst = append(chat.AppendMember(dst, "content", withNotes(c.Result, c.Media)), '}')
	}
	if media := ofResults(u.Calls); len(media) > 0 {
		dst = append(appendImages(append(dst, `,{"role":"user"`...), []byte(introduction), media), '}')
	}
	return dst
}

// appendImages appends a text, with what it says of images, and the images.
func appendImages(dst, text []byte, media []*chat.UnitMedia) []byte {
	dst = chat.AppendMember(dst, "content", withNotes(text, media))
	for i, m := range media {
		if i == 0 {
			dst = append(dst, `,"images":[`...)
		}
		dst = append(m.AppendData(append(chat.AppendComma(dst), '"')), '"')
	}
	if len(media) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// Counts of the last line. They are read where they stand, and kept as an object of their own.
const (
	ollamaPrompt         = "prompt_eval_count"
	ollamaCached         = "prompt_eval_cached_count"
	ollamaCompletion     = "eval_count"
	ollamaTotalTime      = "total_duration"
	ollamaLoadTime       = "load_duration"
	ollamaPromptTime     = "prompt_eval_duration"
	ollamaCompletionTime = "eval_duration"
)

// Read reads a line, or a whole response, which looks like the last line.
func (ollama) Read(a *chat.Answer, _ []byte, s *value.Scanner) {
	var usage, reason []byte
	done := false
	for key := range s.Members() {
		switch string(key) {
		case "message":
			readOllamaMessage(a, s)
		case "model":
			a.Model(s)
		case "done":
			done, _ = s.Bool()
		case "done_reason":
			reason, _ = s.AppendText(nil)
		case "error":
			a.Fail(s)
		case ollamaPrompt, ollamaCached, ollamaCompletion, ollamaTotalTime, ollamaLoadTime, ollamaPromptTime, ollamaCompletionTime:
			if usage == nil {
				usage = append(usage, '{')
			}
			usage = append(append(append(chat.AppendComma(usage), '"'), key...), `":`...)
			usage = append(usage, s.Raw()...)
		default:
			a.Noise(s)
		}
	}
	if s.Err() != nil || !done {
		return
	}
	if usage != nil {
		counts := value.NewScanner(append(usage, '}'))
		a.Usage(&counts)
	}
	if len(reason) == 0 {
		reason = []byte("stop") // servers of old do not say more
	}
	a.Finish(reason, string(reason) == "stop")
	a.Done()
}

func readOllamaMessage(a *chat.Answer, s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "content":
			text, _ := s.Text()
			a.Text(text)
		case "thinking":
			text, _ := s.Text()
			a.Thought(chat.Block, text)
		case "tool_calls":
			for range s.Items() {
				readCall(a, s)
			}
		}
	}
}

func (ollama) Usage(usage []byte) chat.Usage {
	u := chat.Usage{
		Prompt: chat.Count(usage, ollamaPrompt), Completion: chat.Count(usage, ollamaCompletion), Total: -1, Cached: chat.Count(usage, ollamaCached),
		TotalTime: chat.Count(usage, ollamaTotalTime), LoadTime: chat.Count(usage, ollamaLoadTime),
		PromptTime: chat.Count(usage, ollamaPromptTime), CompletionTime: chat.Count(usage, ollamaCompletionTime),
	}
	if u.Prompt >= 0 && u.Completion >= 0 {
		u.Total = u.Prompt + u.Completion
	}
	return u
}
