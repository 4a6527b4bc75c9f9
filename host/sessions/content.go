package sessions

import "strings"

// Content is what a user or a model says.
type Content struct {
	Role  string // RoleUser or RoleModel; "" stands for what the place says
	Parts []Part
}

// Roles of a Content.
const (
	RoleUser  = "user"
	RoleModel = "model"
)

// Part is a part of a content: exactly one of Text, InlineData, FileData, FunctionCall, FunctionResponse,
// ExecutableCode and CodeExecutionResult. A part without any of the others is its Text, even an empty one.
type Part struct {
	Text    string
	Thought bool // Text is a thought of the model, not a part of its answer
	// ThoughtSignature is what the model's provider wants back with the part: a string, bytes or another value.
	ThoughtSignature    any
	InlineData          *Blob
	FileData            *File
	FunctionCall        *FunctionCall
	FunctionResponse    *FunctionResponse
	ExecutableCode      map[string]any
	CodeExecutionResult map[string]any
	// More are further members.
	More map[string]any
}

// Blob is media.
type Blob struct {
	MIMEType string
	Data     []byte
}

// File is media somewhere else.
type File struct {
	URI      string
	MIMEType string // "" if it is not known
}

// FunctionCall is a model's request to run a tool.
type FunctionCall struct {
	ID   string // unique in the session; the runner makes one for a call without
	Name string
	Args map[string]any
}

// FunctionResponse is the result of a function call.
type FunctionResponse struct {
	ID       string // of the call
	Name     string
	Response map[string]any
}

// Text returns a user's content that is a text.
func Text(text string) *Content { return &Content{Role: RoleUser, Parts: []Part{{Text: text}}} }

// ModelText returns a model's content that is a text.
func ModelText(text string) *Content { return &Content{Role: RoleModel, Parts: []Part{{Text: text}}} }

// ModelCall returns a model's content that calls tools.
func ModelCall(calls ...FunctionCall) *Content {
	c := &Content{Role: RoleModel}
	for i := range calls {
		c.Parts = append(c.Parts, Part{FunctionCall: &calls[i]})
	}
	return c
}

// Answer returns a user's content that answers a function call, such as one of a long-running tool.
func Answer(id, name string, response map[string]any) *Content {
	return &Content{Role: RoleUser, Parts: []Part{{FunctionResponse: &FunctionResponse{ID: id, Name: name, Response: response}}}}
}

// Confirm returns a user's content that answers a request for confirmation of a function call.
func Confirm(id, name string, confirmed bool) *Content {
	return Answer(id, name, map[string]any{"confirmed": confirmed})
}

// Text is the content's text, without thoughts.
func (c *Content) Text() string {
	var b strings.Builder
	for i := range c.Parts {
		if p := &c.Parts[i]; p.isText() && !p.Thought {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// isText reports whether the part is its Text.
func (p *Part) isText() bool {
	return p.InlineData == nil && p.FileData == nil && p.FunctionCall == nil && p.FunctionResponse == nil &&
		p.ExecutableCode == nil && p.CodeExecutionResult == nil && (p.Text != "" || len(p.More) == 0)
}
