package chat

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/framing"
	"github.com/turncore/turncore/runtime/value"
)

// Local is what a provider brings for engines that the host runs itself, whose models have no fields for tools: how calls
// are written into a text and read out of it, and grammars.
type Local interface {
	// Formats are the formats in which calls can be written. The first one serves where none is named.
	Formats() []string
	// AppendCalls appends calls as a model writes them in a format.
	AppendCalls(dst []byte, format string, calls []UnitCall) []byte
	// CallGrammar returns the grammar of answers that call tools, or are text, if they may be.
	CallGrammar(tools []Tool, format string, text bool) (string, error)
	// SchemaGrammar returns the grammar of answers that match a JSON Schema, a value.
	SchemaGrammar(schema []byte) (string, error)
	// Reader returns a reader of one answer that looks for calls of a format, any format if it is empty, and reasoning. names
	// are those of the offered tools.
	Reader(format string, names []string) TextReader
}

// TextReader takes a text apart while it comes.
type TextReader interface {
	Write(delta []byte, emit func(TextPiece))
	// End tells that the text has ended, and gives the calls in it.
	End(emit func(TextPiece)) []TextCall
}

// TextPiece is a piece of a text. Its text is valid during the call only.
type TextPiece struct {
	Thought bool   // it is reasoning
	Text    []byte // empty if Recall is not 0
	Recall  int    // so many bytes of prose, the last ones, were reasoning
}

// TextCall is a call that stands in a text.
type TextCall struct {
	Name   string
	Args   []byte // JSON of an object
	Defect string // why it cannot be run; empty if it can
	Raw    []byte // the text of a call with a defect
}

// local is what is known of an engine that the host runs itself.
type local struct {
	tools         string // native or text
	format        string // how calls are written in text; empty if the options do not say
	grammar       string // gbnf, schema or none
	choice        string // auto, required or none
	schema        []byte // of the answer, a value; nil for none
	schemaText    []byte // JSON
	schemaGrammar string
}

// textual tells whether tools are told in the prompt and calls are read from the text.
func (o *options) textual() bool { return o.protocol.Local != nil && o.local.tools == "text" }

// localOption takes an option that only an engine of the host's has. ok is false for any other.
func (p *parser) localOption(name string, v []byte) (ok bool) {
	if p.protocol.Local == nil {
		return false
	}
	l := &p.local
	switch name {
	case "baseURL", "credential", "headers", "stream", "includeUsage", "reasoningFields":
		p.fail(name, "is not for an engine of the host")
	case "capabilities":
		if err := value.Each(v, func(key, val []byte) bool {
			p.capability(string(key), val)
			return true
		}); err != nil {
			p.fail(name, "must be an object")
		}
	case "toolChoice":
		l.choice = p.oneOf(name, v, "auto", "required", "none")
	case "schema":
		l.schema = v
	default:
		return false
	}
	return true
}

func (p *parser) capability(name string, v []byte) {
	l, option := &p.local, "capabilities."+name
	switch name {
	case "tools":
		l.tools = p.oneOf(option, v, "native", "text")
	case "toolFormat":
		l.format = p.oneOf(option, v, p.protocol.Local.Formats()...)
	case "grammar":
		l.grammar = p.oneOf(option, v, "gbnf", "schema", "none")
	case "contextWindow":
		if n, ok := value.Int(v); !ok || n < 1 {
			p.fail(option, "must be a positive integer")
		}
	default:
		p.fail(option, "is not a known capability")
	}
}

// oneOf reads one of some words.
func (p *parser) oneOf(name string, v []byte, words ...string) string {
	s, _ := value.String(v)
	if !slices.Contains(words, string(s)) {
		p.fail(name, "must be one of "+strings.Join(words, ", "))
	}
	return string(s)
}

// finishLocal fills in what the options of an engine leave open, and checks what they say together.
func (p *parser) finishLocal() {
	l := &p.local
	if l.tools == "" {
		l.tools = "text"
	}
	if l.choice == "required" && (l.grammar != "gbnf" || l.tools != "text") {
		p.fail("toolChoice", "can be required of engines with text tools and GBNF grammars only")
	}
	if l.schema == nil {
		return
	}
	text, err := value.AppendJSON(nil, l.schema)
	switch {
	case err != nil || value.KindOf(l.schema) != value.KindMap:
		p.fail("schema", "must be a JSON Schema")
	case l.grammar == "gbnf":
		if l.schemaGrammar, err = p.protocol.Local.SchemaGrammar(l.schema); err != nil {
			p.fail("schema", "has no grammar: "+err.Error())
		}
	case l.grammar == "schema":
		l.schemaText = text
	default:
		p.fail("schema", "needs an engine that takes schemas or grammars")
	}
}

// toolset is what a request says of its tools where they are told in the prompt. It is kept until they change.
type toolset struct {
	key     string
	told    []byte
	grammar string
	names   []string
}

// tell makes the part of the system text that tells of the tools whose definitions are given, and the grammar of answers.
// Without tools there is neither.
func (e *Executor) tell(d Dispatch, definitions []byte) *toolset {
	t, l := &e.told, &e.options.local
	if t.key == string(definitions) {
		return t
	}
	*t = toolset{key: string(definitions)}
	if len(definitions) == 0 || l.choice == "none" {
		return t
	}
	t.told = append(append([]byte("# Tools\n\nYou can call these tools:\n<tools>\n["), definitions...), "]\n</tools>\n\n"...)
	t.told = append(t.told, "To call one, answer in this form, and wait for its result:\n"...)
	t.told = append(e.options.appendCalls(t.told, []UnitCall{{Name: []byte("TOOL"), Args: []byte("{...}")}}), '\n')
	var tools []Tool
	d.Tools(func(tool Tool) bool {
		t.names = append(t.names, tool.Name)
		tools = append(tools, tool)
		return true
	})
	if l.grammar != "gbnf" {
		return t
	}
	var err error
	if t.grammar, err = e.options.protocol.Local.CallGrammar(tools, e.options.writes(), l.choice != "required"); err != nil {
		d.Log(Warn, "no-grammar", "the tools are offered without a grammar: "+err.Error(), nil)
	}
	return t
}

// writes is the format that calls are written in.
func (o *options) writes() string {
	if o.local.format != "" {
		return o.local.format
	}
	return o.protocol.Local.Formats()[0]
}

func (o *options) appendCalls(dst []byte, calls []UnitCall) []byte {
	return o.protocol.Local.AppendCalls(dst, o.writes(), calls)
}

// flatten writes the calls of an assistant's unit into its text, and their results into a message of the user, which
// follows it. Engines without tools know no other messages.
func (o *options) flatten(u *Unit) (results *Unit) {
	text := append([]byte(nil), u.Text...)
	if len(text) > 0 {
		text = append(text, '\n')
	}
	var answer []byte
	for i, c := range u.Calls {
		if i > 0 {
			answer = append(answer, '\n')
		}
		answer = append(append(append(answer, "<tool_response>\n"...), c.Result...), "\n</tool_response>"...)
	}
	u.Text, u.HasText, u.Calls = o.appendCalls(text, u.Calls), true, nil
	return &Unit{Text: answer, HasText: true}
}

// receiveParts reads the answer of an engine to its end, like receive.
func (a *Answer) receiveParts(stream Stream) error {
	stream.Idle(a.options.idleTimeout)
	lines := framing.Lines{Limit: maxAnswer}
	event := a.event
	for begun := false; ; begun = true {
		chunk, more, err := stream.Next()
		switch {
		case errors.Is(err, ErrIdle):
			stream.Cancel()
			return fault.New(fault.ChatStreamStalled, "no part for "+strconv.FormatUint(a.options.idleTimeout, 10)+" ms")
		case err != nil && !begun:
			return err
		case err != nil:
			return fault.Wrap(fault.ChatStreamError, err)
		case !more:
			return a.unusable(lines.Flush(event))
		}
		if err := lines.Write(chunk.Data, event); err != nil {
			stream.Cancel()
			return a.unusable(err)
		}
	}
}

// readMarkup makes the answer look for calls and reasoning in the text.
func (a *Answer) readMarkup(names []string) {
	a.reader = a.options.protocol.Local.Reader(a.options.local.format, names)
	a.takePiece = a.addPiece
}

// addPiece takes what a piece of the text has turned out to be.
func (a *Answer) addPiece(p TextPiece) {
	switch {
	case p.Recall > 0:
		// It was shown as text; the record has it where it belongs.
		from := max(len(a.message.text)-p.Recall, 0)
		text := append([]byte(nil), a.message.text[from:]...)
		a.message.text = a.message.text[:from]
		a.think(text)
	case p.Thought:
		a.think(p.Text)
	default:
		a.say(p.Text)
	}
}

// think adds to the reasoning that stands in the text.
func (a *Answer) think(text []byte) {
	if len(text) == 0 || a.err != nil {
		return
	}
	t := &a.thoughts[a.thoughtOf(inText)]
	t.text, t.told = append(t.text, text...), true
	a.err = a.d.ReportThought(t.id, text, false)
}

// inText is the source of reasoning that stands in the text.
const inText = Block - 2

// endMarkup takes what the end of the text makes certain.
func (a *Answer) endMarkup() {
	if a.reader == nil {
		return
	}
	calls := a.reader.End(a.takePiece)
	a.reader = nil
	for _, c := range calls {
		if len(a.calls) == maxCalls {
			a.breakOff("the answer has more than " + strconv.Itoa(maxCalls) + " tool calls")
			return
		}
		made := call{index: NoIndex, name: []byte(c.Name), args: c.Args, rejected: c.Defect}
		if c.Defect != "" {
			made.args = c.Raw
		}
		a.calls = append(a.calls, made)
	}
}
