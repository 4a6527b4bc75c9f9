package agent

import (
	"iter"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Roles of messages.
const (
	User      = "user"
	Assistant = "assistant"
)

// Message is a message of the conversation. Times are since the Unix epoch.
type Message struct {
	ID, Role, Content    string
	CreatedAt, UpdatedAt int64
}

// Thought is reasoning of a model.
type Thought struct {
	ID, Content          string
	CreatedAt, UpdatedAt int64
}

// Memory is something to remember across turns.
type Memory struct {
	ID, Content            string
	Confidence, Importance float64 // 0 to 1
	CreatedAt, UpdatedAt   int64
}

// ToolCall is a completed call of a tool.
type ToolCall struct {
	ID, Tool    string
	Args        []byte // encoded value, a map
	Checksum    string
	IsError     bool
	Results     []byte // encoded value; nil if the host keeps it
	CreatedAt   int64
	CompletedAt int64
}

// Messages are those that the dispatch has, in order.
func (c *Context) Messages() iter.Seq[Message] {
	return records(c, record.Messages, func(body []byte) Message {
		m := record.Message(body)
		content, _ := m.Content()
		return Message{string(m.ID()), string(m.Role()), string(content), m.CreatedAt(), m.UpdatedAt()}
	})
}

// Thoughts are those that the dispatch has, in order.
func (c *Context) Thoughts() iter.Seq[Thought] {
	return records(c, record.Thoughts, func(body []byte) Thought {
		t := record.Thought(body)
		return Thought{string(t.ID()), string(t.Content()), t.CreatedAt(), t.UpdatedAt()}
	})
}

// Memories are those that the dispatch has, in order.
func (c *Context) Memories() iter.Seq[Memory] {
	return records(c, record.Memories, func(body []byte) Memory {
		m := record.Memory(body)
		return Memory{string(m.ID()), string(m.Content()), m.Confidence(), m.Importance(), m.CreatedAt(), m.UpdatedAt()}
	})
}

// ToolCalls are those that the dispatch has, in order.
func (c *Context) ToolCalls() iter.Seq[ToolCall] {
	return records(c, record.ToolCalls, func(body []byte) ToolCall {
		t := record.ToolCall(body)
		return ToolCall{
			ID: string(t.ID()), Tool: string(t.Tool()), Args: append([]byte(nil), t.Args()...), Checksum: string(t.Checksum()),
			IsError: t.IsError(), Results: append([]byte(nil), t.Results()...), CreatedAt: t.CreatedAt(), CompletedAt: t.CompletedAt(),
		}
	})
}

// records visits a collection of the dispatch; none outside of one.
func records[T any](c *Context, kind record.Kind, of func(body []byte) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		if c.d != nil {
			c.d.Records(kind, func(_ int64, body []byte) bool { return yield(of(body)) })
		}
	}
}

// StoreMessage stores a message when the iteration ends well. An empty id and times of 0 are filled in; it returns the
// id.
func (c *Context) StoreMessage(m Message) (id string, err error) {
	if c.d == nil {
		return "", errNoDispatch("StoreMessage")
	}
	c.stamp(&m.ID, "m", &m.CreatedAt, &m.UpdatedAt)
	return m.ID, c.d.StoreBody(record.Messages, record.AppendMessage(nil, record.MessageFields{
		ID: m.ID, Role: m.Role, Content: []byte(m.Content), CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}))
}

// StoreThought stores a thought when the iteration ends well, as [Context.StoreMessage] does a message.
func (c *Context) StoreThought(t Thought) (id string, err error) {
	if c.d == nil {
		return "", errNoDispatch("StoreThought")
	}
	c.stamp(&t.ID, "t", &t.CreatedAt, &t.UpdatedAt)
	return t.ID, c.d.StoreBody(record.Thoughts, record.AppendThought(nil, record.ThoughtFields{
		ID: t.ID, Content: []byte(t.Content), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}))
}

// StoreMemory stores a memory when the iteration ends well, as [Context.StoreMessage] does a message.
func (c *Context) StoreMemory(m Memory) (id string, err error) {
	if c.d == nil {
		return "", errNoDispatch("StoreMemory")
	}
	c.stamp(&m.ID, "r", &m.CreatedAt, &m.UpdatedAt)
	return m.ID, c.d.StoreBody(record.Memories, record.AppendMemory(nil, record.MemoryFields{
		ID: m.ID, Content: []byte(m.Content), Confidence: m.Confidence, Importance: m.Importance, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}))
}

func (c *Context) stamp(id *string, prefix string, created, updated *int64) {
	if *id == "" {
		*id = c.NewID(prefix)
	}
	if *created == 0 {
		*created = c.turn.Stamp()
	}
	if *updated == 0 {
		*updated = *created
	}
}

// Report adds a delta to a message that listeners see while it is made. The first one of an id opens its stream, done
// seals it.
func (c *Context) Report(id, delta string, done bool) error {
	return c.report(runtime.MessageStream, id, delta, done)
}

// ReportThought is [Context.Report] for a thought.
func (c *Context) ReportThought(id, delta string, done bool) error {
	return c.report(runtime.ThoughtStream, id, delta, done)
}

func (c *Context) report(kind runtime.StreamKind, id, delta string, done bool) error {
	if c.d == nil {
		return errNoDispatch("Report")
	}
	return c.d.Report(kind, []byte(id), []byte(delta), done)
}

// CallTool runs a tool of the dispatch, the agent's or the host's, and returns what it returned: an encoded value, null
// for none. A tool of the host's may return what only the host can keep, such as an object of its own without a form in
// JSON: that is null here, too. args is an encoded map, nil for an empty one. Listeners are told; storing the call is
// up to the caller.
func (c *Context) CallTool(name string, args []byte) ([]byte, error) {
	if c.d == nil {
		return nil, errNoDispatch("CallTool")
	}
	tool, ok := c.d.Tools().Get(name)
	if !ok {
		return nil, fault.New(fault.InvalidValue, "there is no tool "+name)
	}
	if args == nil {
		args = value.AppendMapHeader(nil, 0)
	}
	result, err := c.d.ExecuteTool(c.task, tool, args, runtime.ToolRun{})
	return orNull(result.Value, err), err
}
