package provider

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// Responses speaks OpenAI's Responses API, without anything that is kept on the other side: each request carries the
// whole conversation, and the option store is false unless it is given. So nothing may refer to an earlier response,
// and an answer that is made in the background, to be asked for later, is none.
//
//   - Reasoning comes encrypted, and goes back with the calls and the text that it led to. It is asked for of models
//     that reason; the option include decides otherwise.
//   - Whether a message is commentary or the answer goes back with it.
//   - A call has an id of its own and one as an item of the output; the former is the call's.
//   - Tools are not strict unless toolExtras says so, as in chat completions.
//   - Messages have no names: who speaks stands before the text where it is not the role.
var Responses chat.Provider = responses{}

type responses struct{}

// responsesReasoning tags reasoning items. Their payload is a map: item, the item as it goes back, and at, its place in
// the output.
const responsesReasoning = "openai-responses-reasoning-v1"

var responsesProtocol = chat.Protocol{
	Name: openAIResponsesName, BaseURL: openAIResponsesBaseURL, Close: "]}",
	Members:   openAIResponsesMembers,
	Reserved:  []string{"background", "conversation", "input", "instructions", "model", "previous_response_id", "stream", "tools"},
	OfTools:   []string{"type", "name", "description", "parameters"},
	WithTools: []string{"tool_choice", "parallel_tool_calls"},
	Reasoning: responsesReasoning, InParts: true,
	Media: func(kind, mimeType string) bool {
		return kind == "document" || kind == "image" && isImage(mimeType)
	},
	Files: func(_, uri string) bool { return isURL(uri) || isFileID(uri) },
}

func (responses) Protocol() chat.Protocol { return responsesProtocol }

func (responses) Path(string, bool) string { return "/responses" }

func (responses) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	dst = chat.AppendMember(append(dst, `{"type":"function"`...), "name", []byte(t.Name))
	dst = chat.AppendMember(dst, "description", []byte(t.Description))
	dst = appendParameters(append(dst, `,"parameters":`...), t.InputSchema)
	if !hasMember(extras, "strict") {
		dst = append(dst, `,"strict":false`...) // left out it would be true here
	}
	return append(append(dst, extras...), '}')
}

func (responses) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = value.AppendJSONString(append(dst, `{"model":`...), h.Model)
	if len(h.Schema) > 0 {
		dst = appendMembersBut(dst, h.Members, "text")
		dst = append(append(dst, `,"text":`...), h.Schema...)
	} else {
		dst = append(dst, h.Members...)
	}
	if h.Stream {
		dst = append(dst, `,"stream":true`...)
	}
	if !h.Has("store") {
		dst = append(dst, `,"store":false`...)
	}
	if !h.Has("include") && reasons(h.Model) {
		dst = append(dst, `,"include":["reasoning.encrypted_content"]`...)
	}
	if len(h.System) > 0 {
		dst = chat.AppendMember(dst, "instructions", h.System)
	}
	if len(h.Tools) > 0 {
		dst = append(append(append(dst, `,"tools":[`...), h.Tools...), ']')
		dst = append(dst, h.ToolOnly...)
	}
	return append(dst, `,"input":[`...)
}

// AppendSchema implements chat.Shaper. It goes into the option text, beside what else that has.
func (responses) AppendSchema(dst []byte, h *chat.Head, schema []byte) (out []byte, seen bool) {
	dst, free := appendBeside(append(dst, '{'), h.Member("text"), "format")
	if !free || !isObjectSchema(schema) {
		return nil, false
	}
	dst = append(chat.AppendComma(dst), `"format":{"type":"json_schema",`...)
	return append(appendNamedSchema(dst, schema), `}}`...), true
}

// reasons tells whether a model may be asked for encrypted reasoning. OpenAI refuses the request of one that does not
// reason.
func reasons(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	for _, family := range [...]string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(model, family) {
			return false
		}
	}
	return !strings.HasPrefix(model, "gpt-") || !strings.Contains(model, "-chat")
}

func (responses) AppendUnit(dst []byte, u *chat.Unit) []byte {
	if !u.Assistant {
		return appendInputMessage(dst, "user", u)
	}
	// Each item of reasoning goes before what it led to.
	thoughts := u.Thoughts
	if len(u.Text) > 0 {
		before := int64(value.MaxInt)
		if len(u.Calls) > 0 {
			before = placeOf(u.Calls[0].Extra)
		}
		dst, thoughts = appendReasoning(dst, thoughts, before)
		dst = appendPhase(appendInputMessage(dst, "assistant", u), u.Thoughts)
	}
	for _, c := range u.Calls {
		dst, thoughts = appendReasoning(dst, thoughts, placeOf(c.Extra))
		dst = chat.AppendMember(append(chat.AppendComma(dst), `{"type":"function_call"`...), "call_id", c.ID)
		dst = chat.AppendMember(dst, "name", c.Name)
		dst = append(chat.AppendMember(dst, "arguments", c.Args), '}')
	}
	for _, c := range u.Calls {
		dst = chat.AppendMember(append(dst, `,{"type":"function_call_output"`...), "call_id", c.ID)
		if len(c.Media) > 0 {
			dst = append(appendInputParts(append(dst, `,"output":`...), c.Result, c.Media), '}')
		} else {
			dst = append(chat.AppendMember(dst, "output", c.Result), '}')
		}
	}
	return dst
}

// appendPhase adds to a message of the assistant which phase it is of, if the thoughts tell.
func appendPhase(dst []byte, thoughts []chat.UnitThought) []byte {
	for _, t := range thoughts {
		if phase, ok := value.GetString(t.Payload, "phase"); ok {
			return append(chat.AppendMember(dst[:len(dst)-1], "phase", phase), '}')
		}
	}
	return dst
}

func appendInputMessage(dst []byte, role string, u *chat.Unit) []byte {
	dst = append(append(append(chat.AppendComma(dst), `{"type":"message","role":"`...), role...), '"')
	if len(u.Media) > 0 {
		return append(appendInputParts(append(dst, `,"content":`...), said(u), u.Media), '}')
	}
	return append(chat.AppendMember(dst, "content", said(u)), '}')
}

// appendInputParts appends a text and media as a list of parts.
func appendInputParts(dst, text []byte, media []*chat.UnitMedia) []byte {
	dst = appendTextPart(append(dst, '['), "input_text", text)
	for _, m := range media {
		dst = append(appendTextPart(dst, "input_text", m.Note), ',')
		switch {
		case m.Kind == "image" && !isFileID(string(m.URI)):
			dst = append(dst, `{"type":"input_image","image_url":`...)
		case m.Kind == "image":
			dst = append(dst, `{"type":"input_image","file_id":`...)
		case isFileID(string(m.URI)):
			dst = append(dst, `{"type":"input_file","file_id":`...)
		case m.URI != nil:
			dst = append(dst, `{"type":"input_file","file_url":`...)
		default:
			dst = chat.AppendMember(append(dst, `{"type":"input_file"`...), "filename", m.Filename)
			dst = append(dst, `,"file_data":`...)
		}
		dst = append(appendDataURI(dst, m), '}')
	}
	return append(dst, ']')
}

// placeOf is the place in the output that a value tells of, behind all others when it tells none.
func placeOf(v []byte) int64 {
	if value.KindOf(v) != value.KindInt {
		return value.MaxInt
	}
	n, _ := value.Int(v)
	return n
}

// appendReasoning appends the reasoning that came before a place in the output, and returns the rest.
func appendReasoning(dst []byte, thoughts []chat.UnitThought, place int64) ([]byte, []chat.UnitThought) {
	for len(thoughts) > 0 {
		at, _ := value.Get(thoughts[0].Payload, "at")
		if value.KindOf(at) == value.KindInt && placeOf(at) > place {
			break
		}
		item, _ := value.Get(thoughts[0].Payload, "item")
		thoughts = thoughts[1:]
		start := len(dst)
		if value.KindOf(item) != value.KindMap {
			continue // a plain thought, which the protocol has no item for
		}
		text, err := value.AppendJSON(chat.AppendComma(dst), item)
		if err != nil {
			text = text[:start]
		}
		dst = text
	}
	return dst, thoughts
}

func (responses) Usage(usage []byte) chat.Usage {
	return chat.Usage{
		Prompt: chat.Count(usage, "input_tokens"), Completion: chat.Count(usage, "output_tokens"), Total: chat.Count(usage, "total_tokens"),
		Cached:    chat.Count(usage, "input_tokens_details", "cached_tokens"),
		Reasoning: chat.Count(usage, "output_tokens_details", "reasoning_tokens"),
	}
}
