package turns

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/abi/catalogue"
	"github.com/turncore/turncore/host/internal/exchange"
)

// TimeTool tells the model the date and the time of the host's clock, as "2024-02-29T13:05:09+02:00, Thursday". It
// takes an offset from UTC; the core does not know names of time zones.
func TimeTool() *Tool { return catalogueTool("time", true) }

// CalculatorTool calculates arithmetic expressions for the model: numbers (64-bit floating point), + - * / % ^,
// parentheses up to 100 levels, and the functions abs, ceil, floor, max, min, round and sqrt. An invalid expression
// fails with E_TOOL_CALCULATION, which names the character.
func CalculatorTool() *Tool { return catalogueTool("calculator", true) }

// MemoryTools let the model keep memories: remember stores one, recall searches and lists them, forget deletes one.
// These are ordinary writes of the iteration and go through the storage callbacks.
func MemoryTools() []*Tool {
	return []*Tool{catalogueTool("remember", false), catalogueTool("recall", false), catalogueTool("forget", false)}
}

// RetrievablesTool lets the model search the retrieved documents of the turn, spooled or not, for lines that contain
// all given words.
func RetrievablesTool() *Tool { return catalogueTool("search_retrievables", false) }

// ArtifactsTool lets the model search all artifacts of the turn, results of tool calls and spooled documents, for
// lines that contain all given words.
func ArtifactsTool() *Tool { return catalogueTool("search_artifacts", false) }

// FetchOptions configure FetchTool. Only Allow is required.
type FetchOptions struct {
	// Allow are the allowed addresses: origins like "https://example.com"; with a path, only that path and everything
	// below it.
	Allow []string
	// Methods that a model may use, some of GET, HEAD, DELETE, POST, PUT and PATCH. GET and HEAD if empty. The last three
	// let it send a text.
	Methods []string
	// MaxBytes is the number of bytes of a page to read; the rest is cut off. 0 means 1 MiB; at most 8 MiB.
	MaxBytes int
	// MaxInline is the number of bytes of text that the model gets directly. A longer text becomes a document of the
	// context, which the model reads with the tools for artifacts. 0 means 16 KiB; negative makes a document of each
	// text.
	MaxInline int
	// Cut cuts off a longer text instead of storing it as a document.
	Cut bool
	// Timeout bounds the request with its redirects. 0 means 30 seconds; at most 10 minutes.
	Timeout time.Duration
	// Redirects is the number of redirects to follow, each to an allowed address. 0 means 5, negative none; at most 20.
	Redirects int
}

// FetchTool lets the model fetch pages and files of the web as text: HTML as Markdown-like text, other text
// unchanged. It requests only addresses that the options and the host's AllowOrigin allow, sends no credentials and
// keeps no cookies. Failures have the code E_TOOL_FETCH with the reason, or the error of the request. Invalid options
// give E_INVALID_INITIAL_TOOL_VALUE when the tool is first used.
func FetchTool(options FetchOptions) *Tool {
	t := catalogueTool("fetch", false)
	methods := options.Methods
	if len(methods) == 0 {
		methods = []string{"GET", "HEAD"}
	}
	t.Description += " The address must begin with one of these: " + strings.Join(options.Allow, ", ") + "."
	t.InputSchema = fetchSchema(t.InputSchema.(json.RawMessage), methods)
	t.argument = map[string]any{"allow": options.Allow, "methods": methods, "cut": options.Cut}
	for name, given := range map[string]struct{ n, none int }{
		"maxBytes": {options.MaxBytes, options.MaxBytes}, "maxInline": {options.MaxInline, 0}, "redirects": {options.Redirects, 0},
		"timeoutMs": {int(options.Timeout.Milliseconds()), int(options.Timeout.Milliseconds())},
	} {
		switch {
		case given.n > 0:
			t.argument[name] = given.n
		case given.n < 0:
			t.argument[name] = given.none
		}
	}
	return t
}

// fetchSchema is the schema of the fetch tool for some methods: a body only if one of them sends something.
func fetchSchema(schema json.RawMessage, methods []string) json.RawMessage {
	type method struct {
		Type    string   `json:"type"`
		Enum    []string `json:"enum"`
		Default string   `json:"default"`
	}
	var s struct {
		Type       string `json:"type"`
		Properties struct {
			URL         json.RawMessage `json:"url"`
			Method      method          `json:"method"`
			Body        json.RawMessage `json:"body,omitempty"`
			ContentType json.RawMessage `json:"contentType,omitempty"`
		} `json:"properties"`
		Required             []string `json:"required"`
		AdditionalProperties bool     `json:"additionalProperties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic(err) // it is the package's own
	}
	s.Properties.Method = method{s.Properties.Method.Type, methods, methods[0]}
	sends := func(m string) bool { return m == "POST" || m == "PUT" || m == "PATCH" }
	if !slices.ContainsFunc(methods, sends) {
		s.Properties.Body, s.Properties.ContentType = nil, nil
	}
	text, err := json.Marshal(&s)
	if err != nil {
		panic(err)
	}
	return text
}

// catalogueTool is a tool whose handler is compiled into the core, under the tool's name. One that only says what the
// host or arithmetic says is trusted.
func catalogueTool(name string, trusted bool) *Tool {
	entry := catalogue.Tools[name]
	t := &Tool{Name: name, Description: entry.Description, InputSchema: entry.InputSchema, Trusted: trusted, builtin: name}
	t.Handler = func(ctx *DispatchContext, args Args) (any, error) { return ctx.executeTool(t, args, "") }
	return t
}

// origins are where requests of the tool may go.
func (t *Tool) origins() []string {
	if t.builtin != "fetch" {
		return nil
	}
	allow, _ := t.argument["allow"].([]string)
	origins := make([]string, len(allow))
	for i, address := range allow {
		origins[i] = exchange.Origin(address)
	}
	return origins
}
