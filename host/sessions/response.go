package sessions

import (
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// Response is a model's answer, or a part of a stream of one.
type Response struct {
	Content        *Content
	Partial        bool // part of a stream, which a response that is not partial ends
	TurnComplete   bool
	Interrupted    bool
	FinishReason   string
	ErrorCode      string
	ErrorMessage   string
	Usage          *Usage
	CustomMetadata map[string]any
}

// responseOf are those members of an event that a response has.
func responseOf(e *Event) *Response {
	return &Response{
		Content: e.Content, Partial: e.Partial, TurnComplete: e.TurnComplete, Interrupted: e.Interrupted,
		FinishReason: e.FinishReason, ErrorCode: e.ErrorCode, ErrorMessage: e.ErrorMessage, Usage: e.Usage,
		CustomMetadata: e.CustomMetadata,
	}
}

func decodeContent(v []byte) (*Content, error) {
	d := decoderOf(v)
	c := d.content(at("content"), v)
	if d.err != nil {
		return nil, invalid(host.CodeInvalidEvent, d.field, d.err)
	}
	return c, nil
}

// decodeCall reads what hooks about a tool's call get. more is the member of that name, nil for none.
func decodeCall(v []byte, more string) (c *ToolCall, value any, err error) {
	d := decoderOf(v)
	c = &ToolCall{}
	within := at("call")
	d.each(within, v, func(key, v []byte) {
		switch at := within.member(key); string(key) {
		case "tool":
			c.Tool = d.text(&at, v)
		case "id":
			c.ID = d.text(&at, v)
		case "args":
			c.Args = d.object(&at, v)
		case more:
			value = d.any(&at, v)
		}
	})
	return c, value, d.err
}

// answerOf is the answer of a hook: nil, or a map of value and actions. v nil is no value. The error names the hook,
// and what has no encoding.
func answerOf(hook string, v any, a *Actions) ([]byte, error) {
	m := members{}
	if v != nil {
		m.put("value", v)
	}
	if !a.Empty() {
		m.put("actions", a.form())
	}
	if len(m) == 0 {
		return nil, nil
	}
	answer, err := wire.Append(nil, m.value(), "")
	if err != nil {
		return nil, invalidAnswer(hook, err)
	}
	return answer, nil
}
