package provider

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/framing"
)

// model speaks with engines of the host's: models in the page, or any function in place of one. A request is a JSON
// object with the conversation as chat completions has it; an answer is lines of JSON, each a part: text, reasoning,
// toolCall, usage, finish or error. What they hold is told in the ABI's specification.
type model struct{}

var modelProtocol = chat.Protocol{
	Name: modelName, Local: inText{}, Close: "]}", Format: framing.JSONLines, Members: modelMembers, ByHost: true,
	Reserved: []string{"messages", "stream", "tools"},
}

func (model) Protocol() chat.Protocol { return modelProtocol }

func (model) Path(string, bool) string { return "" }

func (model) AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte {
	return openAI{}.AppendTool(dst, t, extras)
}

func (model) AppendHead(dst []byte, h *chat.Head) []byte {
	dst = append(dst, '{')
	if len(h.Members) > 0 {
		dst = append(append(append(dst, `"options":{`...), h.Members[1:]...), `},`...)
	}
	if len(h.Tools) > 0 {
		dst = append(append(append(dst, `"tools":[`...), h.Tools...), `],`...)
	}
	if len(h.Schema) > 0 {
		dst = append(append(append(dst, `"schema":`...), h.Schema...), ',')
	}
	if h.Grammar != "" {
		dst = append(value.AppendJSONString(append(dst, `"grammar":`...), h.Grammar), ',')
	}
	dst = append(dst, `"messages":[`...)
	if len(h.System) > 0 {
		dst = append(value.AppendJSONText(append(dst, `{"role":"system","content":`...), h.System), '}')
	}
	return dst
}

func (model) AppendUnit(dst []byte, u *chat.Unit) []byte { return openAI{}.AppendUnit(dst, u) }

func (model) Read(a *chat.Answer, _ []byte, s *value.Scanner) {
	for key := range s.Members() {
		switch string(key) {
		case "reasoning":
			text, _ := s.Text()
			a.Thought(0, text)
		case "text":
			text, _ := s.Text()
			a.Text(text)
		case "toolCall":
			readModelCall(a, s)
		case "usage":
			a.Usage(s)
		case "finish":
			reason, _ := s.Text()
			a.Finish(reason, string(reason) == "stop")
		case "error":
			a.Fail(s)
		}
	}
}

func readModelCall(a *chat.Answer, s *value.Scanner) {
	a.Delta()
	c := a.NewCall()
	for key := range s.Members() {
		switch string(key) {
		case "index":
			if i, ok := s.Int(); ok && i >= 0 {
				c.Index = i
			}
		case "id":
			c.ID, _ = s.AppendText(c.ID)
		case "name":
			c.Name, _ = s.AppendText(c.Name)
		case "arguments":
			c.Args, _ = s.AppendText(c.Args)
		}
	}
	a.Call(c)
}

func (model) Usage(usage []byte) chat.Usage {
	return chat.Usage{
		Prompt: chat.Count(usage, "promptTokens"), Completion: chat.Count(usage, "completionTokens"), Total: chat.Count(usage, "totalTokens"),
		Cached: chat.Count(usage, "cachedTokens"),
	}
}
