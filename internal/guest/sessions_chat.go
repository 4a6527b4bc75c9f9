package guest

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/invocation"
	"github.com/turncore/turncore/runtime/record"
	"github.com/turncore/turncore/runtime/session"
)

// chatModel is the chat executor as the model of an agent.
type chatModel chat.Executor

// Answer implements invocation.Model.
func (m *chatModel) Answer(task runtime.Task, d *runtime.Dispatch, r *invocation.Request, part func([]byte, bool) error) (*session.Event, []string, error) {
	putContents(d, r.Contents)
	c := newChatDispatch(task, d)
	c.prompt = r.Instructions
	heard := &listener{of: c, part: part}
	g, err := (*chat.Executor)(m).Generate(c, heard)
	if err != nil {
		return nil, nil, err
	}
	response := &session.Event{Role: "model", HasContent: true, FinishReason: g.Finish, Usage: heard.usage}
	for _, t := range g.Thoughts {
		response.Parts = append(response.Parts, session.NewThought(string(t.Text), t.Payload))
	}
	if len(g.Text) > 0 || len(g.Calls) == 0 {
		response.Parts = append(response.Parts, session.NewText(string(g.Text)))
	}
	var refused []string
	for _, call := range g.Calls {
		refused = append(refused, call.Problem)
		response.Parts = append(response.Parts, session.NewCall(call.ID, call.Name, call.Args))
	}
	return response, refused, nil
}

// listener hears the answer in a step: it goes to the invocation.
type listener struct {
	of    *chatDispatch
	part  func(text []byte, thought bool) error
	usage []byte
}

// ReportMessage implements chat.Listener.
func (l *listener) ReportMessage(_ string, delta []byte, _ bool) error { return l.hear(delta, false) }

// ReportThought implements chat.Listener.
func (l *listener) ReportThought(_ string, delta []byte, _ bool) error { return l.hear(delta, true) }

func (l *listener) hear(delta []byte, thought bool) error {
	if len(delta) == 0 {
		return nil
	}
	if err := l.of.holds(delta); err != nil {
		return err
	}
	return l.part(delta, thought)
}

// SealMessage implements chat.Listener.
func (l *listener) SealMessage(string, bool) error { return nil }

// SealThought implements chat.Listener.
func (l *listener) SealThought(string, bool) error { return nil }

// ReportStats implements chat.Listener.
func (l *listener) ReportStats(stats []byte) error {
	n := 0
	var members []byte
	for _, name := range [...]string{"promptTokens", "completionTokens", "totalTokens", "cachedTokens", "reasoningTokens"} {
		if v, ok := value.Get(stats, name); ok {
			members = append(value.AppendString(members, name), v...)
			n++
		}
	}
	if n > 0 {
		l.usage = append(value.AppendMapHeader(nil, n), members...)
	}
	return nil
}

// putContents makes records of contents: messages, thoughts, and calls with their results. Their times only order them.
func putContents(d *runtime.Dispatch, contents []session.Content) {
	results := make(map[string][]byte)
	for i := range contents {
		for _, p := range contents[i].Parts {
			if p.Kind == session.PartResponse {
				results[p.ID] = p.Value
			}
		}
	}
	at := int64(0)
	for i := range contents {
		putContent(d, &contents[i], results, &at)
	}
}

func putContent(d *runtime.Dispatch, c *session.Content, results map[string][]byte, at *int64) {
	role := "user"
	if c.Role == "model" {
		role = "assistant"
	}
	var text []byte
	group := ""
	message := "m" + itoa(*at+1)
	for _, p := range c.Parts {
		switch p.Kind {
		case session.PartText:
			if len(text) > 0 {
				text = append(text, '\n')
			}
			text = append(text, p.Text...)
		case session.PartThought:
			*at++
			d.Put(record.Thoughts, record.AppendThought(nil, record.ThoughtFields{
				ID: "t" + itoa(*at), Content: p.Text, CreatedAt: *at, UpdatedAt: *at,
			}))
		case session.PartOther, session.PartCodeResult:
			text = append(text, p.Note()...)
		}
	}
	if len(text) > 0 {
		*at++
		d.Put(record.Messages, record.AppendMessage(nil, record.MessageFields{
			ID: message, Role: role, Content: text, CreatedAt: *at, UpdatedAt: *at,
		}))
	} else {
		message = ""
	}
	for _, p := range c.Parts {
		v, answered := results[p.ID]
		if p.Kind != session.PartCall || !answered {
			continue
		}
		if group == "" {
			group = p.ID
		}
		_, failed := value.Get(v, "error")
		*at++
		d.Put(record.ToolCalls, chat.AppendPastCall(nil, chat.PastCall{
			ID: p.ID, Name: p.Name, Args: p.Value, Results: v, Failed: failed && value.Len(v) == 1, Group: group, Message: message, At: *at,
		}))
	}
}
