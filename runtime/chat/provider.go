package chat

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/framing"
)

// Provider is a wire protocol that models are spoken to with: it writes the text of requests and reads what responses
// say. Everything else is the executor's, so that a provider keeps no state and knows neither records nor hosts.
//
// A request is a JSON object whose last member is the list of the conversation: what AppendHead writes, then units, then
// Protocol.Close. What a request holds is never changed by what is added to it.
type Provider interface {
	// Protocol returns the part that does not depend on a request. It is called once per executor.
	Protocol() Protocol
	// Path is the path behind the base URL, with a query if it needs one.
	Path(model string, stream bool) string
	// AppendTool appends the definition of a tool, with members that are added to it: JSON text that begins with a comma,
	// or nothing.
	AppendTool(dst []byte, t *runtime.Tool, extras []byte) []byte
	// AppendHead appends a request from its opening brace up to where the first unit goes.
	AppendHead(dst []byte, h *Head) []byte
	// AppendUnit appends a unit of the conversation, behind a comma unless it is the first.
	AppendUnit(dst []byte, u *Unit) []byte
	// Read reads one event of a streaming response, or a whole response: one JSON value, which it consumes. name is the
	// event's, "message" when the stream gives it none, as in lines of JSON, and nil for a whole response.
	Read(a *Answer, name []byte, s *value.Scanner)
	// Usage reads the token counts from the usage in a response.
	Usage(usage []byte) Usage
}

// Protocol is the common part of all requests of a provider.
type Protocol struct {
	Name      string         // as the option provider has it
	Elsewhere string         // the module that has the provider where this one has its name only; empty where it is
	BaseURL   string         // where the option baseURL is not given
	Headers   [][2]string    // names in lower case; an option's header of the same name takes the place
	Close     string         // what ends a request
	Format    framing.Format // how streams are made of events
	Members   []Member       // what of the request options may set by its name
	Reserved  []string       // what of the request only the executor sets
	OfTools   []string       // what of a tool's definition only the executor sets
	WithTools []string       // members that only a request with tools may have
	Thoughts  []string       // values of the option thoughts, beside off, that make plain thoughts go back
	Local     Local          // how an engine of the host's is spoken to; nil where there is an address
	// Text opens the options of calls and reasoning in the texts of answers; nil where there are none, or where another
	// module has them, which TextElsewhere names.
	Text          func() TextOptions
	TextElsewhere string
	// Leading says that an answer's text may begin with reasoning in tags.
	Leading   bool
	Reasoning string // tag of the thoughts' payloads that it takes back; empty for none
	// ByHost says that what is kept to go back goes back to the host that gave it only: the tag has @ and the host's name
	// behind it.
	ByHost bool
	// InParts says that reasoning has its place among the parts of an answer. Elsewhere it has a place of its own, wherever
	// it stood.
	InParts bool
	// Media reports whether a request may contain a media of a kind, such as image, with a MIME type; nil for none.
	Media func(kind, mimeType string) bool
	// SchemaAlone says that requests with tools have no place for the schema of an answer.
	SchemaAlone bool
}

// Head is the part of a request before its conversation.
type Head struct {
	Model    string
	Host     string // name of the endpoint's host; empty for an engine
	Stream   bool
	Usage    bool   // a stream is to tell the token counts
	Members  []byte // of the request, as options give them: `,"name":value` each
	System   []byte // text; empty for none
	Tools    []byte // definitions, with commas between them; empty for none
	Schema   []byte // what asks for an answer of a JSON Schema, as the provider's AppendSchema made it; empty for none
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

// EachMember visits members as a [Head] has them: names, and JSON texts of values.
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

// Unit is a message of the conversation: a user's, or an assistant's with what it thought, the calls that it made and
// their results. Its parts are valid during the call of AppendUnit only.
type Unit struct {
	Assistant bool
	Name      []byte // of who speaks, in letters, digits, _ and -; empty when the role says it
	Text      []byte
	HasText   bool // even when it is empty
	Media     []*UnitMedia
	Thoughts  []UnitThought
	Calls     []UnitCall
}

// UnitThought is a thought of an assistant's message. It has a payload from the provider, or the text of a plain
// thought.
type UnitThought struct {
	Text    []byte
	Payload []byte // value; nil for none
}

// UnitCall is a tool call and its result.
type UnitCall struct {
	ID      []byte
	Name    []byte
	Args    []byte       // JSON text of an object
	Extra   []byte       // value that the provider gave with Answer.CallExtra; nil for none
	Result  []byte       // text
	Media   []*UnitMedia // what the tool gave
	IsError bool
}

// Usage is the cost of a model call in tokens; -1 stands for unknown. Durations are in nanoseconds; 0 stands for
// unknown.
type Usage struct {
	Prompt     int64 // all of the request, with what came from a cache
	Completion int64
	Total      int64
	Cached     int64 // of Prompt, read from a cache
	Reasoning  int64 // of Completion, spent on reasoning; 0 stands for unknown too

	TotalTime      int64
	LoadTime       int64 // of the model
	PromptTime     int64 // for the tokens of the request
	CompletionTime int64 // for the tokens of the answer
}

// Count returns the whole number at a path of members in a usage, -1 if there is none.
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

// AppendMember appends `"name":` and a string, behind a comma unless it is the first member.
func AppendMember(dst []byte, name string, text []byte) []byte {
	dst = append(append(append(AppendComma(dst), '"'), name...), `":`...)
	return value.AppendJSONText(dst, text)
}
