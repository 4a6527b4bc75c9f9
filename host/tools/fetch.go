package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/turncore/turncore/abi/catalogue"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/turns"
)

// FetchOptions configure [Fetch]. Only Allow is required.
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

// Fetch lets the model fetch pages and files of the web as text: HTML as Markdown-like text, other text
// unchanged. It requests only addresses that the options and the host's AllowOrigin allow, sends no credentials and
// keeps no cookies. Failures have the code E_TOOL_FETCH with the reason, or the error of the request. Invalid options
// give E_INVALID_INITIAL_TOOL_VALUE when the tool is first used.
func Fetch(options FetchOptions) *turns.Tool {
	entry := catalogue.Tools["fetch"]
	methods := options.Methods
	if len(methods) == 0 {
		methods = []string{"GET", "HEAD"}
	}
	t := &builtin.Tool{
		Name: "fetch",
		Description: entry.Description + " The address must begin with one of these: " +
			strings.Join(options.Allow, ", ") + ".",
		InputSchema: fetchSchema(entry.InputSchema, methods),
		Argument:    map[string]any{"allow": options.Allow, "methods": methods, "cut": options.Cut},
	}
	for _, address := range options.Allow {
		t.Origins = append(t.Origins, exchange.Origin(address))
	}
	timeout := int(options.Timeout.Milliseconds())
	for name, given := range map[string]struct{ n, none int }{
		"maxBytes": {options.MaxBytes, options.MaxBytes}, "maxInline": {options.MaxInline, 0},
		"redirects": {options.Redirects, 0}, "timeoutMs": {timeout, timeout},
	} {
		switch {
		case given.n > 0:
			t.Argument[name] = given.n
		case given.n < 0:
			t.Argument[name] = given.none
		}
	}
	return builtin.NewTool(t).(*turns.Tool)
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
