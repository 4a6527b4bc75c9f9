package recording

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// Conversation is what a recording's first request holds, apart from the wire.
type Conversation struct {
	System  string
	History []Entry // before the last user message
	// What the user says at the end; neither text nor media when the request does not end with that: all is history then.
	User        string
	UserMedia   []Media
	UserName    string // "" for none
	UserMessage int    // its number
	Tools       []Tool
	Model       string
	BaseURL     string                     // where the provider is
	Stream      bool                       // whether the answers were asked for as streams
	Body        map[string]json.RawMessage // what else the request asks for, such as temperature
}

// Entry is a message of the history, or a piece of reasoning, or a tool call with its result.
type Entry struct {
	Message int    // number of the request's message that it comes from: an answer with its calls has several entries
	Role    string // "user" or "assistant"; empty for a tool call and for reasoning
	Name    string // of who speaks; "" for none
	Content string // of a message
	Media   []Media
	Thought string // reasoning; "" for none
	// Given is what the provider gave with the answer to have it back, as the request has it, by the names of its members:
	// reasoning_details and extra_content. It stands with the reasoning, or in an entry of its own. Nil for nothing.
	Given map[string]any
	Call  *Call
}

// Call is a recorded tool call.
type Call struct {
	ID       string
	Tool     string
	Args     json.RawMessage // as the request has them, which may be no JSON
	Result   string
	Answered bool           // the request holds a result
	Given    map[string]any // extra_content, which the provider gave to have it back; nil for nothing
}

// Tool is a tool that the request offers.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage            // JSON Schema
	Extra       map[string]json.RawMessage // other wire keys of the function, such as strict
}

// suffix is the end of the path of chat completions.
const suffix = "/chat/completions"

// unnamed is the model of requests that name none, because the address does.
const unnamed = "unnamed"

// isChat tells whether an interaction asks for chat completions.
func (it *Interaction) isChat() bool {
	if it.Request.Method != "" && it.Request.Method != http.MethodPost {
		return false
	}
	body, ok := members(it.Request.Body)
	path, _ := it.address()
	return ok && items(body["messages"]) != nil && (it.Request.URL == "" || strings.HasSuffix(path, suffix))
}

// address is the request's URL without its query and without a slash at its end, and the query with its question mark.
func (it *Interaction) address() (path, query string) {
	path, _, _ = strings.Cut(it.Request.URL, "#")
	if i := strings.IndexByte(path, '?'); i >= 0 {
		path, query = path[:i], path[i:]
	}
	return strings.TrimSuffix(path, "/"), query
}

// Conversation returns what the first request says, which must be one for chat completions.
func (r *Recording) Conversation() (*Conversation, error) {
	it := &r.Interactions[0]
	path, query := it.address()
	c := &Conversation{}
	body, ok := members(it.Request.Body)
	if !ok {
		return nil, &InvalidError{"the first chat request's body", "must be an object"}
	}
	c.Model = cmp.Or(str(body["model"]), unnamed)
	c.BaseURL = strings.TrimSuffix(path, suffix) + query
	_ = json.Unmarshal(body["stream"], &c.Stream) // anything but true is no stream
	for _, raw := range items(body["tools"]) {
		tool, ok := readTool(raw)
		if ok && !slices.ContainsFunc(c.Tools, func(t Tool) bool { return t.Name == tool.Name }) {
			c.Tools = append(c.Tools, tool)
		}
	}
	messages := messagesOf(it.Request.Body)
	c.Body = body
	for _, key := range []string{"model", "messages", "tools", "stream"} {
		delete(c.Body, key)
	}
	if n := string(c.Body["n"]); n != "1" {
		delete(c.Body, "n") // the executor reads one answer
	}
	c.addMessages(messages)
	if c.System == "" && !c.UserSpeaks() && len(c.History) == 0 {
		return nil, &InvalidError{"the first chat request's messages", "must hold a text or a media"}
	}
	return c, nil
}

// UserSpeaks tells whether the request ends with what the user says.
func (c *Conversation) UserSpeaks() bool { return c.User != "" || len(c.UserMedia) > 0 }

// readTool reads a function that the client runs; ok is false for tools of the provider's own, and
// for those that have no name.
func readTool(raw json.RawMessage) (tool Tool, ok bool) {
	m, _ := members(raw)
	function, ok := members(m["function"])
	if kind := str(m["type"]); !ok || kind != "" && kind != "function" {
		return tool, false
	}
	tool.Extra = map[string]json.RawMessage{}
	for key, v := range function {
		switch key {
		case "name":
			tool.Name = str(v)
		case "description":
			tool.Description = str(v)
		case "parameters":
			tool.Parameters = v
		default:
			tool.Extra[key] = v
		}
	}
	return tool, tool.Name != ""
}

func (c *Conversation) addMessages(messages []message) {
	calls := answered(messages)
	last := -1 // the last message that is not of the system prompt
	for i, m := range messages {
		if !isSystem(m.role) {
			last = i
		}
	}
	var system []string
	for i, m := range messages {
		switch {
		case isSystem(m.role):
			if m.text != "" {
				system = append(system, m.text)
			}
		case i == last && m.role == "user":
			c.User, c.UserMedia, c.UserName, c.UserMessage = m.text, m.media, m.name, i
		case m.role == "user" || m.role == "assistant":
			if m.role == "assistant" && (m.thought != "" || m.given != nil) {
				c.History = append(c.History, Entry{Message: i, Thought: m.thought, Given: m.given})
			}
			if m.text != "" || len(m.media) > 0 {
				c.History = append(c.History, Entry{Message: i, Role: m.role, Name: m.name, Content: m.text, Media: m.media})
			}
			for k := range calls[i] {
				c.History = append(c.History, Entry{Message: i, Call: &calls[i][k]})
			}
		}
	}
	c.System = strings.Join(system, "\n\n")
}

// SendsThoughts tells whether the recorded client sent the model's reasoning back in its own field: of every answer of
// the conversation, or of the history when there is no second request.
func (r *Recording) SendsThoughts() bool {
	first := len(items(requestOf(r.Interactions[0])["messages"]))
	list := items(requestOf(r.Interactions[len(r.Interactions)-1])["messages"])
	answers, with, before := 0, 0, 0
	for i, raw := range list {
		m, _ := members(raw)
		has := str(m["reasoning_content"]) != ""
		switch {
		case str(m["role"]) != "assistant":
		case i < first && has:
			before++
		case i >= first:
			answers++
			if has {
				with++
			}
		}
	}
	if answers == 0 {
		return before > 0
	}
	return answers == with
}

func requestOf(it Interaction) map[string]json.RawMessage {
	m, _ := members(it.Request.Body)
	return m
}
