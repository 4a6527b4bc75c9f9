package provider

import (
	"slices"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider/grammar"
	"github.com/turncore/turncore/internal/provider/markup"
	"github.com/turncore/turncore/internal/suggestion"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// inText opens engines whose calls stand in texts: written as package grammar says, read by package markup.
type inText struct{}

// Open implements chat.Local.
func (inText) Open() chat.Engine { return &engine{tools: "text", choice: "auto"} }

// engine implements chat.Engine.
type engine struct {
	tools   string // native or text
	format  string // how calls are written in text; empty if the options do not say
	grammar string // gbnf, schema or none
	choice  string // auto, required or none
	media   []string

	schemaText    []byte // JSON Schema of the answer; nil where the engine takes none
	schemaGrammar string

	key     string // the definitions that told is about
	told    chat.Told
	problem string // why told has no grammar; empty if it has one, or need have none
}

// Option implements chat.Engine.
func (e *engine) Option(name string, v []byte, fail func(name, problem string)) bool {
	switch name {
	case "baseURL", "credential", "headers", "stream", "includeUsage", "reasoningFields":
		fail(name, "is not for an engine of the host")
	case "capabilities":
		if err := value.Each(v, func(key, val []byte) bool {
			e.capability(string(key), val, fail)
			return true
		}); err != nil {
			fail(name, "must be an object")
		}
	case "toolChoice":
		e.choice = oneOf(name, v, fail, "auto", "required", "none")
	default:
		return false
	}
	return true
}

func (e *engine) capability(name string, v []byte, fail func(name, problem string)) {
	option := "capabilities." + name
	switch name {
	case "tools":
		e.tools = oneOf(option, v, fail, "native", "text")
	case "toolFormat":
		e.format = oneOf(option, v, fail, grammar.Formats()...)
	case "grammar":
		e.grammar = oneOf(option, v, fail, "gbnf", "schema", "none")
	case "media":
		e.media = nil
		if err := value.EachItem(v, func(_ int, item []byte) bool {
			e.media = append(e.media, oneOf(option, item, fail, chat.MediaKinds[:]...))
			return true
		}); err != nil {
			fail(option, "must be a list")
		}
	default:
		fail(option, suggestion.Unknown(name, strings.Fields(capabilityNames), ""))
	}
}

// oneOf reads one of some words.
func oneOf(name string, v []byte, fail func(name, problem string), words ...string) string {
	s, _ := value.String(v)
	if !slices.Contains(words, string(s)) {
		fail(name, "must be one of "+strings.Join(words, ", "))
	}
	return string(s)
}

// Finish implements chat.Engine.
func (e *engine) Finish(fail func(name, problem string)) {
	if e.choice == "required" && (e.grammar != "gbnf" || e.tools != "text") {
		fail("toolChoice", "can be required of engines with text tools and GBNF grammars only")
	}
}

// Match implements chat.Engine. A schema without a grammar goes into the prompt, like any other, and the answer is
// checked.
func (e *engine) Match(schema, text []byte) {
	switch e.grammar {
	case "gbnf":
		if g, err := grammar.Schema(schema, "answer"); err == nil {
			e.schemaGrammar = g.Text
		}
	case "schema":
		e.schemaText = text
	}
}

// Takes implements chat.Engine.
func (e *engine) Takes(kind string) bool { return slices.Contains(e.media, kind) }

// writes is the format that calls are written in.
func (e *engine) writes() string {
	if e.format != "" {
		return e.format
	}
	return grammar.Formats()[0]
}

// Tell implements chat.Engine. What it tells is kept until the tools change.
func (e *engine) Tell(d chat.Dispatch, definitions []byte) chat.Told {
	text := e.tools == "text"
	switch {
	case len(definitions) == 0 || text && e.choice == "none":
		return chat.Told{InText: text, Grammar: e.schemaGrammar, Schema: e.schemaText}
	case !text:
		return chat.Told{}
	case e.key == string(definitions):
		e.warn(d)
		return e.told
	}
	e.problem = ""
	t := chat.Told{InText: true}
	t.Text = append(append([]byte("# Tools\n\nYou can call these tools:\n<tools>\n["), definitions...), "]\n</tools>\n\n"...)
	t.Text = append(t.Text, "To call one, answer in this form, and wait for its result:\n"...)
	t.Text = append(e.appendCalls(t.Text, []chat.UnitCall{{Name: []byte("TOOL"), Args: []byte("{...}")}}), '\n')
	var tools []grammar.Tool
	d.Tools(func(tool *runtime.Tool) bool {
		t.Names = append(t.Names, tool.Name)
		tools = append(tools, grammar.Tool{Name: tool.Name, Schema: tool.InputSchema})
		return true
	})
	if e.grammar == "gbnf" {
		g, err := grammar.Calls(tools, grammar.CallOptions{Format: e.writes(), Text: e.choice != "required", Many: true})
		if err != nil {
			e.problem = err.Error()
		} else {
			t.Grammar = g.Text
		}
	}
	e.key, e.told = string(definitions), t
	e.warn(d)
	return t
}

func (e *engine) warn(d chat.Dispatch) {
	if e.problem != "" {
		d.Log(chat.Warn, "no-grammar", "the tools are offered without a grammar: "+e.problem, nil)
	}
}

func (e *engine) appendCalls(dst []byte, calls []chat.UnitCall) []byte {
	open, comma, end, write := grammar.Writer(e.writes())
	dst = append(dst, open...)
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, comma...)
		}
		dst = write(dst, c.Name, c.Args)
	}
	return append(dst, end...)
}

// Flatten implements chat.Engine.
func (e *engine) Flatten(u *chat.Unit) *chat.Unit {
	if e.tools != "text" {
		return nil
	}
	text := append([]byte(nil), u.Text...)
	if len(text) > 0 {
		text = append(text, '\n')
	}
	var results []byte
	for i, c := range u.Calls {
		if i > 0 {
			results = append(results, '\n')
		}
		results = append(append(append(results, "<tool_response>\n"...), withNotes(c.Result, c.Media)...), "\n</tool_response>"...)
	}
	u.Text, u.HasText = e.appendCalls(text, u.Calls), true
	media := ofResults(u.Calls)
	u.Calls = nil
	return &chat.Unit{Text: results, HasText: true, Media: media}
}

// Reader implements chat.Engine.
func (e *engine) Reader(names []string) chat.TextReader {
	if e.tools != "text" {
		return nil
	}
	formats := markup.Auto
	if named, ok := markup.Named(e.format); ok {
		formats = named | markup.Reasoning
	}
	if len(names) == 0 { // what looks like a call is an answer
		formats &= markup.Reasoning
	}
	return &textReader{reader: markup.New(markup.Options{Formats: formats, Tools: names})}
}

// textReader shows a reader of markup to the chat executor.
type textReader struct {
	reader *markup.Reader
	emit   func(chat.TextPiece)
	take   func(markup.Piece) // made once
}

func (r *textReader) piece(p markup.Piece) {
	r.emit(chat.TextPiece{Thought: p.Kind == markup.Thought, Text: p.Text, Recall: p.N})
}

func (r *textReader) to(emit func(chat.TextPiece)) func(markup.Piece) {
	if r.emit = emit; r.take == nil {
		r.take = r.piece
	}
	return r.take
}

// Write implements chat.TextReader.
func (r *textReader) Write(delta []byte, emit func(chat.TextPiece)) {
	r.reader.Write(delta, r.to(emit))
}

// End implements chat.TextReader. Calls beyond markup.MaxCalls are dropped.
func (r *textReader) End(emit func(chat.TextPiece)) []chat.TextCall {
	var list []chat.TextCall
	for _, c := range r.reader.End(r.to(emit)).Calls {
		list = append(list, chat.TextCall{Name: c.Name, Args: c.Arguments, Defect: c.Defect.String(), Raw: c.Raw})
	}
	return list
}
