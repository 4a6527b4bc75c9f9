package grammar

import (
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi/value"
)

// Tool is a tool that a model may call.
type Tool struct {
	Name   string
	Schema []byte // of its arguments, an encoded value
}

// CallOptions say what an answer may be.
type CallOptions struct {
	// Format is how calls are written: "hermes", "llama3_json", "mistral" or "phi". Package markup reads them.
	Format string
	// Text allows an answer to be text, or to have text before its calls; otherwise it is calls only.
	Text bool
	// Many allows more than one call.
	Many bool
}

// markup is how calls are written: what begins and ends the calls of an answer, what stands between any two, and what
// begins and ends each, around its name and its arguments.
type markup struct {
	open, comma, close  string
	before, middle, end string
}

var formats = []struct {
	name string
	markup
}{
	{"hermes", markup{
		open: "<tool_call>\n", comma: "\n</tool_call>\n<tool_call>\n", close: "\n</tool_call>",
		before: `{"name": `, middle: `, "arguments": `, end: `}`,
	}},
	{"llama3_json", markup{comma: "; ", before: `{"name": `, middle: `, "parameters": `, end: `}`}},
	{"mistral", markup{open: "[TOOL_CALLS] [", comma: ", ", close: "]", before: `{"name": `, middle: `, "arguments": `, end: `}`}},
	{"phi", markup{open: "functools[", comma: ", ", close: "]", before: `{"name": `, middle: `, "arguments": `, end: `}`}},
}

// Formats are the formats of calls that [Calls] knows.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// find returns how calls are written in a format, nil if it is unknown.
func find(format string) *markup {
	for i := range formats {
		if formats[i].name == format {
			return &formats[i].markup
		}
	}
	return nil
}

// Writer returns what begins the calls of an answer in a format, what stands between any two, what ends them, and a
// function that appends one: its name, and its arguments, which are JSON. The format must be one of [Formats].
func Writer(format string) (open, comma, end string, write func(dst, name, args []byte) []byte) {
	m := find(format)
	return m.open, m.comma, m.close, func(dst, name, args []byte) []byte {
		dst = value.AppendJSONText(append(dst, m.before...), name)
		return append(append(append(dst, m.middle...), args...), m.end...)
	}
}

// Calls returns the grammar of answers that call the tools. In an answer that may be text, what begins calls occurs in
// front of calls only.
func Calls(tools []Tool, o CallOptions) (*Grammar, error) {
	m := find(o.Format)
	switch {
	case m == nil:
		return nil, &Error{Path: "calls", Keyword: "format", Reason: strconv.Quote(o.Format) + " is none of " + strings.Join(Formats(), ", ")}
	case len(tools) == 0:
		return nil, &Error{Path: "calls", Reason: "there are no tools"}
	}
	g := newGenerator()
	var alternatives []string
	for _, t := range tools {
		args, err := g.document(t.Schema, t.Name)
		if err != nil {
			return nil, err
		}
		alternatives = append(alternatives, literal(m.before+jsonString([]byte(t.Name))+m.middle)+" "+group(args)+" "+literal(m.end))
	}
	call := g.define(either(alternatives))
	calls := call
	if o.Many {
		calls += " (" + literal(m.comma) + " " + call + ")*"
	}
	if m.open != "" {
		calls = literal(m.open) + " " + calls
	}
	if m.close != "" {
		calls += " " + literal(m.close)
	}
	if !o.Text {
		return g.finish(calls)
	}
	if m.open == "" {
		// Calls have no marker: they are a whole answer, and what begins like one is no text.
		plain := g.define(`[^ \t\n\r{\x60\[] [^\x00]*`)
		return g.finish(calls + " | " + plain)
	}
	return g.finish(g.without(m.open) + " (" + calls + ")?")
}

// without returns an expression for texts in which a marker does not occur. Each rule stands for how much of the marker
// the text ends with.
func (g *generator) without(marker string) string {
	marker = strings.TrimRight(marker, "\n ")
	names := make([]string, len(marker))
	for i := range names {
		names[i] = g.name()
	}
	for state, name := range names {
		// The characters after which some of the marker has come, and how much.
		next := map[byte]int{}
		var order []byte
		for _, c := range []byte(marker) {
			if _, known := next[c]; known {
				continue
			}
			order = append(order, c)
			next[c] = longest(marker, marker[:state]+string(rune(c)))
		}
		var alternatives []string
		var special []span
		for _, c := range order {
			special = append(special, span{rune(c), rune(c)})
			if n := next[c]; n < len(marker) {
				alternatives = append(alternatives, classOf([]span{{rune(c), rune(c)}}, false)+" "+names[n])
			}
		}
		alternatives = append(alternatives, classOf(append(special, span{0, 0}), true)+" "+names[0])
		g.write(name, "("+either(alternatives)+")?")
	}
	return names[0]
}

// longest is how many bytes of the marker's start the text ends with.
func longest(marker, text string) int {
	n := min(len(marker), len(text))
	for !strings.HasSuffix(text, marker[:n]) {
		n--
	}
	return n
}
