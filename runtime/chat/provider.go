package chat

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/framing"
)

// Provider is the wire protocol of a model API: it renders requests and reads responses. The executor does everything
// else, so a provider keeps no state and knows neither records nor hosts.
//
// A request is a JSON object whose last member is the conversation, a list: the text of AppendHead, then units, then
// Protocol.Close. Appending never changes earlier text.
type Provider interface {
	// Protocol returns the properties that do not depend on a request. It is called once per executor.
	Protocol() Protocol
	// Path is appended to the base URL, with a query if it needs one.
	Path(model string, stream bool) string
	// AppendTool appends the definition of a tool. extras are additional members: JSON text that begins with a comma,
	// or nothing.
	AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte
	// AppendHead appends a request from its opening brace up to the first unit.
	AppendHead(dst []byte, h *Head) []byte
	// AppendUnit appends a unit of the conversation, after a comma unless it is the first.
	AppendUnit(dst []byte, u *Unit) []byte
	// Read reads one event of a streaming response, or a whole response: one JSON value, which it consumes. name is the
	// event's name, "message" if the stream gives none (as in JSON lines), and nil for a whole response.
	Read(a *Answer, name []byte, s *value.Scanner)
	// Usage reads the token counts of a response's usage.
	Usage(usage []byte) Usage
}

// Protocol holds the properties of a provider that all requests share.
type Protocol struct {
	Name      string         // value of the option provider
	Elsewhere string         // the module that has the provider, if this one only knows its name; otherwise empty
	BaseURL   string         // default of the option baseURL
	Headers   [][2]string    // names in lower case; the option headers overrides them
	Close     string         // end of a request
	Format    framing.Format // format of streams
	Options   []string       // those it takes of the options that not all take; Text has its own
	Members   []Member       // members of the request that options may set by name
	Reserved  []string       // members of the request that only the executor sets
	OfTools   []string       // members of a tool's definition that only the executor sets
	WithTools []string       // members that only a request with tools may have
	Thoughts  []string       // values of the option thoughts, besides off, that send plain thoughts back
	Local     Local          // support for engines of the host; nil if the model has an address
	// Text opens the options about calls and reasoning in the texts of answers; nil if there are none, or if another
	// module has them, which TextElsewhere names.
	Text          func() TextOptions
	TextElsewhere string
	// Leading says that an answer's text may begin with tagged reasoning.
	Leading   bool
	Reasoning string // tag of thought payloads that it accepts back; empty for none
	// ByHost says that provider data goes back only to the host that sent it: the tag ends with @ and the host's name.
	ByHost bool
	// InParts says that reasoning is ordered among the parts of an answer. Otherwise it has a field of its own.
	InParts bool
	// Media reports whether a request may contain a medium of a kind, such as image, with a MIME type; nil for none.
	Media func(kind, mimeType string) bool
	// Files reports whether a request may name a medium of a kind that it may contain by its address, or by an id that the
	// provider gave it; nil for none.
	Files func(kind, uri string) bool
	// SchemaAlone says that requests with tools have no field for the schema of an answer.
	SchemaAlone bool
}

// Head is the part of a request before its conversation.
type Head struct {
	Model    string
	Host     string // name of the endpoint's host; empty for an engine
	Stream   bool
	Usage    bool   // the stream must report token counts
	Members  []byte // members of the request from options: `,"name":value` each
	System   []byte // text; empty for none
	Tools    []byte // definitions, separated by commas; empty for none
	Schema   []byte // schema of the answer, from the provider's AppendSchema; empty for none
	Grammar  string // GBNF of the answer; empty for none
	ToolOnly []byte // members that only a request with tools may have, like Members; empty without tools
}

// Has reports whether the options set a member.
func (h *Head) Has(name string) bool { return h.Member(name) != nil }

// Member is the JSON text of a member in the options, nil for none.
func (h *Head) Member(name string) (text []byte) {
	for _, members := range [...][]byte{h.Members, h.ToolOnly} {
		EachMember(members, func(key, val []byte) {
			if string(key) == name {
				text = val
			}
		})
	}
	return text
}

// EachMember visits members in the form of a [Head]: names, and values as JSON text.
func EachMember(members []byte, fn func(name, text []byte)) {
	if len(members) == 0 {
		return
	}
	s := value.NewScanner(append(append([]byte{'{'}, members[1:]...), '}'))
	for key := range s.Members() {
		name := append([]byte(nil), key...)
		fn(name, s.Raw())
	}
}

// Unit is a message of the conversation: a user's, or an assistant's with its thoughts, its calls and their results. It
// is valid only during AppendUnit.
type Unit struct {
	Assistant bool
	Name      []byte // of the speaker, in letters, digits, _ and -; empty if the role suffices
	Text      []byte
	HasText   bool // even when it is empty
	Media     []*UnitMedia
	Thoughts  []UnitThought
	Calls     []UnitCall
}

// UnitThought is a thought of an assistant's message: a provider's payload, or plain text.
type UnitThought struct {
	Text    []byte
	Payload []byte // value; nil for none
}

// UnitCall is a tool call and its result.
type UnitCall struct {
	ID      []byte
	Name    []byte
	Args    []byte       // JSON text of an object
	Extra   []byte       // value that the provider sent with the call; nil for none
	Result  []byte       // text
	Media   []*UnitMedia // media in the result
	IsError bool
}

// Usage is the cost of a model call in tokens, or -1 if unknown. Durations are in nanoseconds, or 0 if unknown.
type Usage struct {
	Prompt     int64 // of the whole request, including cached tokens
	Completion int64
	Total      int64
	Cached     int64 // of Prompt, read from a cache
	Reasoning  int64 // of Completion, spent on reasoning; 0 if unknown

	TotalTime      int64
	LoadTime       int64 // of the model
	PromptTime     int64 // for the tokens of the request
	CompletionTime int64 // for the tokens of the answer
}

// Count returns the integer at a path of members in a usage, -1 if there is none.
func Count(usage []byte, path ...string) int64 {
	for _, name := range path {
		usage, _ = value.Get(usage, name)
	}
	if value.KindOf(usage) != value.KindInt {
		return -1
	}
	n, _ := value.Int(usage)
	return n
}

// AppendComma appends a comma unless dst ends where a list or an object begins.
func AppendComma(dst []byte) []byte {
	if n := len(dst); n > 0 && (dst[n-1] == '[' || dst[n-1] == '{') {
		return dst
	}
	return append(dst, ',')
}

// AppendMember appends `"name":` and a string, after a comma unless it is the first member.
func AppendMember(dst []byte, name string, text []byte) []byte {
	dst = append(append(append(AppendComma(dst), '"'), name...), `":`...)
	return value.AppendJSONText(dst, text)
}
