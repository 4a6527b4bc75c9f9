package guest

import (
	"strings"

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
	before := &past{to: d}
	before.putContents(r.Contents)
	c := newChatDispatch(task, d)
	c.prompt = r.Instructions
	if len(before.media) > 0 {
		c.fill = before.filled
	}
	heard := &listener{of: c, part: part, event: &session.Event{Role: "model", HasContent: true}}
	finish, err := (*chat.Executor)(m).Generate(c, heard, heard)
	if err != nil {
		return nil, nil, err
	}
	heard.event.FinishReason = finish
	return heard.event, heard.refused, nil
}

// Times implements invocation.Model.
func (m *chatModel) Times() bool { return (*chat.Executor)(m).ToolTimeout() > 0 }

// Execute implements invocation.Model.
func (m *chatModel) Execute(task runtime.Task, d *runtime.Dispatch, t *runtime.Tool, args []byte, run runtime.ToolRun) (runtime.ToolResult, error) {
	return newChatDispatch(task, d).ExecuteTool(t, args, run, (*chat.Executor)(m).ToolTimeout())
}

// listener hears the answer in a step, which goes to the invocation, and keeps it.
type listener struct {
	of      *chatDispatch
	part    func(text []byte, thought bool) error
	event   *session.Event
	refused []string // why each call cannot run
}

// KeepText implements chat.Keeper.
func (l *listener) KeepText(text []byte, thought bool, payload []byte) {
	l.event.AddText(text, thought, payload)
}

// KeepCall implements chat.Keeper.
func (l *listener) KeepCall(c *chat.GeneratedCall) {
	l.refused = append(l.refused, c.Problem)
	part := session.NewCall(c.ID, c.Name, c.Args)
	part.Sign(c.Extra)
	l.event.AddPart(&part)
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
	if usage := session.UsageOf(stats); usage != nil {
		l.event.Usage = usage
	}
	return nil
}

// past makes records of what a model is shown.
type past struct {
	to    *runtime.Dispatch
	at    int64 // place in time of the last record
	media []medium
}

// medium is the data of a message's attachment.
type medium struct {
	handle int64
	part   int
	data   []byte // bytes, a value
}

// putContents makes records of contents: messages, thoughts, and calls with their results. Their times only order them.
func (c *past) putContents(contents []session.Content) {
	results := make(map[string][]byte)
	for i := range contents {
		for k := range contents[i].Parts {
			p := &contents[i].Parts[k]
			if p.Kind == session.PartResponse {
				results[p.ID] = p.Value
			}
		}
	}
	for i := range contents {
		c.putContent(&contents[i], results)
	}
}

func (c *past) putContent(of *session.Content, results map[string][]byte) {
	role := "user"
	if of.Role == "model" {
		role = "assistant"
	}
	var text, attached []byte
	first := len(c.media)
	for i := range of.Parts {
		p := &of.Parts[i]
		switch p.Kind {
		case session.PartThought:
			c.at++
			c.to.Put(record.Thoughts, chat.AppendPastThought(nil, &chat.PastThought{
				ID: "t" + itoa(c.at), Text: p.Text, Payload: p.Signature(), At: c.at,
			}))
		case session.PartText, session.PartOther, session.PartCodeResult:
			if m := p.Medium(); m != nil {
				attached = c.attach(attached, len(c.media)-first, m)
				continue
			}
			if len(text) > 0 {
				text = append(text, '\n')
			}
			text = append(text, p.Note()...)
		}
	}
	message, group := "", ""
	if len(text) > 0 || attached != nil {
		c.at++
		message = "m" + itoa(c.at)
		if attached != nil {
			attached = append(value.AppendListHeader(nil, len(c.media)-first), attached...)
		}
		handle := c.to.Put(record.Messages, record.AppendMessage(nil, record.MessageFields{
			ID: message, Role: role, Content: text, Attachments: attached, CreatedAt: c.at, UpdatedAt: c.at,
		}))
		for i := first; i < len(c.media); i++ {
			c.media[i].handle = handle
		}
	}
	for i := range of.Parts {
		p := &of.Parts[i]
		v, answered := results[p.ID]
		if p.Kind != session.PartCall || !answered {
			continue
		}
		if group == "" {
			group = p.ID
		}
		_, failed := value.Get(v, "error")
		c.at++
		c.to.Put(record.ToolCalls, chat.AppendPastCall(nil, &chat.PastCall{
			ID: p.ID, Name: p.Name, Args: p.Value, Results: v, Failed: failed && value.Len(v) == 1, Extra: p.Signature(),
			Group: group, Message: message, At: c.at,
		}))
	}
}

// attach appends data, or what has an address, to the attachments of a message.
func (c *past) attach(dst []byte, part int, m *session.Medium) []byte {
	kind, form, _ := strings.Cut(m.MimeType, "/")
	if kind != "image" && kind != "audio" && kind != "video" {
		kind = "document"
	}
	name := m.Name
	if name == "" {
		name = kind + "." + form
	}
	c.media = append(c.media, medium{part: part, data: m.Data})
	return record.AppendMedia(dst, record.MediaFields{
		ID: "d" + itoa(int64(len(c.media))), Kind: kind, MimeType: m.MimeType, Filename: name, Bytes: int64(value.Len(m.Data)), URI: m.URI,
	})
}

// filled is a body with the data of media in base64. The host has none of them.
func (c *past) filled(body []byte, splices []runtime.Splice) []byte {
	if len(splices) == 0 {
		return body
	}
	var full []byte
	at := 0
	for k := range splices {
		s := &splices[k]
		full = append(full, body[at:s.At]...)
		at = s.At
		for i := range c.media {
			if m := &c.media[i]; m.handle == s.Handle && m.part == s.Part {
				text, _ := value.AppendJSON(nil, m.data)
				full = append(full, text[1:len(text)-1]...)
			}
		}
	}
	return append(full, body[at:]...)
}
