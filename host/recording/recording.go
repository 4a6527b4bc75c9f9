// Package recording plays recorded conversations with chat completions providers: it reads the file, says what the
// conversation was (system prompt, history, user message, tools), serves the recorded responses over loopback HTTP, and
// tells how the requests it gets differ in meaning from the recorded ones.
package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Recording is a recorded conversation.
type Recording struct {
	Name         string        `json:"name"`
	Origin       string        `json:"origin"`
	Interactions []Interaction `json:"interactions"`
}

// Interaction is a request and its response.
type Interaction struct {
	Request struct {
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status      int    `json:"status"`
		ContentType string `json:"contentType"`
		Body        string `json:"body"`
	} `json:"response"`
}

// Load reads a recording from a file.
func Load(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Recording{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	if len(r.Interactions) == 0 {
		return nil, fmt.Errorf("recording %s: it has no interactions", path)
	}
	for i, it := range r.Interactions {
		if len(it.Request.Body) == 0 || it.Response.Status == 0 {
			return nil, fmt.Errorf("recording %s: interaction %d has no request body or no response status", path, i)
		}
	}
	return r, nil
}

// Conversation is what a recording's first request holds, apart from the wire.
type Conversation struct {
	System  string
	History []Entry // before the last user message
	User    string
	Tools   []Tool
	Model   string
	BaseURL string                     // where the provider is
	Body    map[string]json.RawMessage // what else the request asks for, such as temperature
}

// Entry is a message of the history, or a tool call with its result.
type Entry struct {
	Message int    // number of the request's message that it comes from: an answer with its calls has several entries
	Role    string // "user" or "assistant"; empty for a tool call
	Content string
	Call    *Call
}

// Call is a recorded tool call.
type Call struct {
	ID     string
	Tool   string
	Args   json.RawMessage
	Result string
}

// Tool is a tool that the request offers.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage            // JSON Schema
	Extra       map[string]json.RawMessage // other wire keys of the function, such as strict
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// text of a message: a string, or the text parts of a list.
func (m *wireMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(m.Content, &parts) // null and whatever else have no text
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// Conversation returns what the first request says.
func (r *Recording) Conversation() (*Conversation, error) {
	c := &Conversation{Body: map[string]json.RawMessage{}}
	if err := json.Unmarshal(r.Interactions[0].Request.Body, &c.Body); err != nil {
		return nil, fmt.Errorf("first request: %w", err)
	}
	var wire struct {
		Model    string        `json:"model"`
		Messages []wireMessage `json:"messages"`
		Tools    []struct {
			Function map[string]json.RawMessage `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Interactions[0].Request.Body, &wire); err != nil {
		return nil, fmt.Errorf("first request: %w", err)
	}
	for _, key := range []string{"model", "messages", "tools", "stream"} {
		delete(c.Body, key)
	}
	c.Model = wire.Model
	c.BaseURL = strings.TrimSuffix(r.Interactions[0].Request.URL, "/chat/completions")
	for _, t := range wire.Tools {
		tool := Tool{Extra: map[string]json.RawMessage{}}
		for key, v := range t.Function {
			switch key {
			case "name":
				_ = json.Unmarshal(v, &tool.Name) // an empty name is refused by who registers the tool
			case "description":
				_ = json.Unmarshal(v, &tool.Description)
			case "parameters":
				tool.Parameters = v
			default:
				tool.Extra[key] = v
			}
		}
		c.Tools = append(c.Tools, tool)
	}
	last := -1
	for i, m := range wire.Messages {
		if m.Role == "user" {
			last = i
		}
	}
	if last < 0 {
		return nil, errors.New("first request: it has no user message")
	}
	if last != len(wire.Messages)-1 {
		return nil, errors.New("first request: its last message is not the user's")
	}
	c.User = wire.Messages[last].text()
	c.addHistory(wire.Messages[:last])
	return c, nil
}

func (c *Conversation) addHistory(messages []wireMessage) {
	results := map[string]string{}
	for _, m := range messages {
		if m.Role == "tool" {
			results[m.ToolCallID] = m.text()
		}
	}
	var system []string
	for i, m := range messages {
		switch m.Role {
		case "system", "developer":
			system = append(system, m.text())
		case "user", "assistant":
			if text := m.text(); text != "" {
				c.History = append(c.History, Entry{Message: i, Role: m.Role, Content: text})
			}
			for _, call := range m.ToolCalls {
				c.History = append(c.History, Entry{Message: i, Call: &Call{
					ID: call.ID, Tool: call.Function.Name, Args: json.RawMessage(call.Function.Arguments), Result: results[call.ID],
				}})
			}
		}
	}
	c.System = strings.Join(system, "\n\n")
}

// Answers gives each tool call the result that the recording holds for it.
type Answers struct {
	calls []Call
	used  []bool
}

// Answers returns the tool calls of the last request with their results, in order.
func (r *Recording) Answers() *Answers {
	a := &Answers{}
	seen := map[string]bool{}
	for _, it := range r.Interactions[1:] {
		var wire struct {
			Messages []wireMessage `json:"messages"`
		}
		if json.Unmarshal(it.Request.Body, &wire) != nil {
			continue // the comparison of requests tells
		}
		results := map[string]string{}
		for _, m := range wire.Messages {
			if m.Role == "tool" {
				results[m.ToolCallID] = m.text()
			}
		}
		for i := range wire.Messages {
			for _, call := range wire.Messages[i].ToolCalls {
				result, ok := results[call.ID]
				if seen[call.ID] || !ok {
					continue
				}
				seen[call.ID] = true
				a.calls = append(a.calls, Call{ID: call.ID, Tool: call.Function.Name, Args: json.RawMessage(call.Function.Arguments), Result: result})
			}
		}
	}
	a.used = make([]bool, len(a.calls))
	return a
}

// Take returns the result of the first recorded call of the tool with equal arguments that was not taken yet; ok is
// false when there is none.
func (a *Answers) Take(tool string, args json.RawMessage) (result string, ok bool) {
	for i, c := range a.calls {
		if !a.used[i] && c.Tool == tool && sameJSON(c.Args, args) {
			a.used[i] = true
			return c.Result, true
		}
	}
	return "", false
}
