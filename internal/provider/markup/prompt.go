package markup

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
)

// Tool is a tool that a model is told about.
type Tool struct {
	Name        string
	Description string
	Schema      []byte // JSON Schema of the arguments, as JSON; nil if there are none
}

// dialect is how models of one format are told their tools. In the texts, \x01 stands for the tools, one a line, \x02
// for the example of a call, \x03 for a name and \x04 for a result.
type dialect struct {
	format Formats
	tools  string
	call   string // the frame of one call or, with several, of each; \x02 is what is in it
	result string
	end    string // what a result must not hold
	write  func(b *buffer, name, args []byte)
}

// usage is the instruction for all formats.
const usage = "To call a tool, answer in exactly this form, with the name and the arguments of your call:\n\x02\n" +
	"To make several calls, write them one after the other. If no tool is needed, answer in words.\n"

var dialects = [...]dialect{
	{Hermes, "# Tools\n\nYou may call these tools. Their signatures are within <tools></tools>:\n<tools>\n\x01</tools>\n\n" + usage, "<tool_call>\n\x02\n</tool_call>", "<tool_response>\n\x04\n</tool_response>", "</tool_response>", writeObject},
	{Gemma, "You can call these tools:\n\x01\n" + usage, "<|tool_call>\x02<tool_call|>", "<|tool_response>response:\x03{value:<|\"|>\x04<|\"|>}<tool_response|>", "<|\"|>", writeGemma},
	{GptOss, "# Tools\n\n## functions\n\n\x01\n" + usage, "<|channel|>commentary to=functions.\x02<|call|>", "<|start|>functions.\x03 to=assistant<|channel|>commentary<|message|>\x04<|end|>", "<|end|>", writeHarmony},
	{Phi, "You are a helpful assistant with some tools.<|tool|>\n\x01<|/tool|>\n\n" + usage, "functools[\x02]", "<|tool_response|>\n\x04\n<|/tool_response|>", "<|/tool_response|>", writeObject},
	{Pythonic, "You have access to these functions:\n\x01\n" + usage, "[\x02]", "Result of \x03:\n\x04", "", writePythonic},
	{BarePythonic, "You have access to these functions:\n\x01\n" + usage, "```tool_code\n\x02\n```", "```tool_output\n\x04\n```", "```", writePythonic},
	{Llama3JSON, "You have access to these functions:\n\x01\n" + usage, "\x02", "Result of \x03:\n\x04", "", writeLlama},
	{Mistral, "[AVAILABLE_TOOLS]\n\x01[/AVAILABLE_TOOLS]\n\n" + usage, "[TOOL_CALLS][\x02]", "[TOOL_RESULTS]\x04[/TOOL_RESULTS]", "[/TOOL_RESULTS]", writeObject},
	{Qwen3Coder, "# Tools\n\nYou may call these tools. Their signatures are within <tools></tools>:\n<tools>\n\x01</tools>\n\n" + usage, "<tool_call>\n\x02\n</tool_call>", "<tool_response>\n\x04\n</tool_response>", "</tool_response>", writeQwen},
	{LooseKeyed, "You can call these tools:\n\x01\n" + usage, "\x02", "Result of \x03:\n\x04", "", writeLoose},
}

// dialectOf returns the dialect of the first format of calls in the set, that of Hermes if there is none.
func dialectOf(f Formats) *dialect {
	for i := range dialects {
		if d := &dialects[i]; d.format&f != 0 {
			return d
		}
	}
	return &dialects[0]
}

// frame writes a text of a dialect, with what its bytes below 5 stand for.
func (b *buffer) frame(text string, parts ...[]byte) {
	for i := range len(text) {
		if c := text[i]; c >= 1 && int(c) <= len(parts) {
			b.text(parts[c-1])
		} else {
			b.byte(c)
		}
	}
}

// AppendTools appends what a model is told about its tools: each with its name, description and schema, how to call
// one, and an example of a call of the first one, in the form that models of the first format of f were trained on.
// Without tools it appends nothing. The schemas must be JSON.
func AppendTools(dst []byte, f Formats, tools []Tool) []byte {
	if len(tools) == 0 {
		return dst
	}
	d := dialectOf(f)
	var list, example buffer
	for i := range tools {
		t := &tools[i]
		list.text([]byte(`{"type":"function","function":{"name":`))
		list.json([]byte(t.Name))
		list.text([]byte(`,"description":`))
		list.json([]byte(t.Description))
		list.text([]byte(`,"parameters":`))
		if t.Schema != nil {
			list.text(t.Schema)
		} else {
			list.text([]byte(`{"type":"object","properties":{}}`))
		}
		list.text([]byte("}}\n"))
	}
	example = AppendCall(nil, f, tools[0].Name, exampleOf(tools[0].Schema))
	out := buffer(dst)
	out.frame(d.tools, list, example)
	return out
}

// AppendCall appends a call as a model of the first format of f writes it, for the history of an engine that has no
// field for calls. The arguments are a JSON object.
func AppendCall(dst []byte, f Formats, name string, args []byte) []byte {
	d := dialectOf(f)
	var call buffer
	d.write(&call, []byte(name), args)
	out := buffer(dst)
	out.frame(d.call, nil, call)
	return out
}

// AppendResult appends the result of a call in the first format of f, for an engine without a role for tools. A
// backslash precedes anything in the text that would end the result.
func AppendResult(dst []byte, f Formats, name string, text []byte) []byte {
	d := dialectOf(f)
	if d.end != "" {
		text = bytes.ReplaceAll(text, []byte(d.end), []byte(d.end[:1]+"\\"+d.end[1:]))
	}
	out := buffer(dst)
	out.frame(d.result, nil, nil, []byte(name), text)
	return out
}

func writeObject(b *buffer, name, args []byte) { b.object(name, "arguments", args) }

func writeLlama(b *buffer, name, args []byte) { b.object(name, "parameters", args) }

func (b *buffer) object(name []byte, key string, args []byte) {
	b.text([]byte(`{"name": `))
	b.json(name)
	b.frame(`, "`+"\x01"+`": `, []byte(key))
	b.text(args)
	b.byte('}')
}

func writeHarmony(b *buffer, name, args []byte) {
	b.text(name)
	b.text([]byte(" <|constrain|>json<|message|>"))
	b.text(args)
}

func writeGemma(b *buffer, name, args []byte) {
	b.frame("call:\x01", name)
	s := value.NewScanner(args)
	b.literal(&s, true)
}

func writePythonic(b *buffer, name, args []byte) {
	b.text(name)
	b.byte('(')
	first := true
	s := value.NewScanner(args)
	for key := range s.Members() {
		b.comma(&first)
		b.text(key)
		b.byte('=')
		b.literal(&s, false)
	}
	b.byte(')')
}

// literal writes a value as Gemma does, or as Python does.
func (b *buffer) literal(s *value.Scanner, gemma bool) {
	first := true
	kind := s.Kind()
	switch {
	case kind == value.KindMap:
		b.byte('{')
		for key := range s.Members() {
			b.comma(&first)
			if end := nameEnd(append(key[:len(key):len(key)], ':'), 0); gemma && end == len(key) {
				b.text(key)
			} else {
				b.json(key)
			}
			b.byte(':')
			b.literal(s, gemma)
		}
		b.byte('}')
	case kind == value.KindList:
		b.byte('[')
		for range s.Items() {
			b.comma(&first)
			b.literal(s, gemma)
		}
		b.byte(']')
	case kind == value.KindString && gemma:
		text, _ := s.AppendText(nil)
		if bytes.Contains(text, []byte(`<|"|>`)) {
			b.json(text)
		} else {
			b.frame("<|\"|>\x01<|\"|>", text)
		}
	case kind == value.KindNil && !gemma:
		s.Skip()
		b.text([]byte("None"))
	case kind == value.KindBool && !gemma:
		if word := s.Raw(); word != nil {
			b.byte(word[0] - 'a' + 'A')
			b.text(word[1:])
		}
	default:
		b.text(s.Raw())
	}
}

// comma writes what stands between entries.
func (b *buffer) comma(first *bool) {
	if !*first {
		b.text([]byte(", "))
	}
	*first = false
}

func writeQwen(b *buffer, name, args []byte) {
	b.frame("<function=\x01>\n", name)
	s := value.NewScanner(args)
	for key := range s.Members() {
		b.frame("<parameter=\x01>\n", key)
		b.plain(&s)
		b.text([]byte("\n</parameter>\n"))
	}
	b.text([]byte("</function>"))
}

func writeLoose(b *buffer, name, args []byte) {
	b.text(name)
	s := value.NewScanner(args)
	for key := range s.Members() {
		b.frame("\n\x01: ", key)
		b.text(s.Raw())
	}
}

// plain writes a string as it is, and any other value as JSON.
func (b *buffer) plain(s *value.Scanner) {
	if s.Kind() == value.KindString {
		text, _ := s.AppendText(nil)
		b.text(text)
	} else {
		b.text(s.Raw())
	}
}

// exampleOf returns arguments that a schema permits, as far as the types of its properties tell: the required ones, or
// all if it requires none.
func exampleOf(schema []byte) []byte {
	var required [][]byte
	var properties []byte
	s := value.NewScanner(schema)
	for key := range s.Members() {
		switch string(key) {
		case "required":
			for range s.Items() {
				name, _ := s.AppendText(nil)
				required = append(required, name)
			}
		case "properties":
			properties = s.Raw()
		}
	}
	b := buffer{'{'}
	first := true
	s = value.NewScanner(properties)
	for key := range s.Members() {
		wanted := len(required) == 0
		for _, name := range required {
			wanted = wanted || string(name) == string(key)
		}
		if wanted {
			b.comma(&first)
			b.json(key)
			b.text([]byte(": "))
			b.text(exampleValue(&s))
		}
	}
	b.byte('}')
	return b
}

// exampleValue returns a value of the schema that is next: one that it names, or the simplest of its type.
func exampleValue(s *value.Scanner) []byte {
	var named []byte
	kind := ""
	for key := range s.Members() {
		switch string(key) {
		case "default", "const":
			named = s.Raw()
		case "enum", "examples":
			for i := range s.Items() {
				if i == 0 {
					named = s.Raw()
				}
			}
		case "type":
			text, _ := s.Text()
			kind = string(text)
		}
	}
	switch {
	case named != nil:
		return named
	case kind == "number", kind == "integer":
		return []byte("1")
	case kind == "boolean":
		return []byte("true")
	case kind == "array":
		return []byte("[]")
	case kind == "object":
		return []byte("{}")
	case kind == "null":
		return []byte("null")
	}
	return []byte(`"text"`)
}
