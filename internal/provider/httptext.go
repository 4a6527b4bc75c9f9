package provider

import (
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider/markup"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
)

// inAnswers opens what an executor knows of calls and reasoning in the texts of an API's answers, as the options say.
func inAnswers() chat.TextOptions { return &answerText{} }

// answerText implements chat.TextOptions for APIs whose server does not take calls and reasoning out of the text that
// the model writes. It does nothing unless options ask for it.
type answerText struct {
	calls, reasoning markup.Formats
	told             bool // tools are told in the prompt
	opened           bool // the prompt ends inside of reasoning

	key  string // the definitions that kept is about
	kept chat.Told
}

// The values of options that are no formats.
const (
	textOff    = "off"
	textAuto   = "auto"
	textPrompt = "prompt"
	textNative = "native"
)

// Option implements chat.TextOptions.
func (t *answerText) Option(name string, v []byte, fail func(name, problem string)) bool {
	switch name {
	case "toolFormat":
		t.calls = formatOf(name, v, fail, markup.Calls, "")
	case "reasoningFormat": // that is neither leading nor off
		t.reasoning = formatOf(name, v, fail, markup.Reasoning, "leading, ")
	case "toolDelivery":
		t.told = oneOf(name, v, fail, textNative, textPrompt) == textPrompt
	case "reasoningOpened":
		opened, ok := value.Bool(v)
		if t.opened = opened; !ok {
			fail(name, "must be a boolean")
		}
	default:
		return false
	}
	return true
}

// formatOf reads the name of one of some formats, "auto" for all of them or "off" for none. others are words that may
// stand there too, with a comma behind each.
func formatOf(name string, v []byte, fail func(name, problem string), known markup.Formats, others string) markup.Formats {
	s, _ := value.String(v)
	switch f, ok := markup.Named(string(s)); {
	case string(s) == textOff:
		return 0
	case ok && f&known != 0:
		return f & known
	}
	fail(name, "must be one of "+others+"off, auto, "+strings.ReplaceAll(known.String(), " ", ", "))
	return 0
}

// Finish implements chat.TextOptions.
func (t *answerText) Finish(fail func(name, problem string)) {
	if t.told && t.calls == 0 {
		fail("toolDelivery", "can be prompt with a toolFormat only")
	}
	if t.opened && t.reasoning == 0 {
		fail("reasoningOpened", "needs a reasoningFormat that is neither leading nor off")
	}
}

// Tell implements chat.InText. What it tells is kept until the tools change.
func (t *answerText) Tell(d chat.Dispatch, definitions []byte) chat.Told {
	if t.calls == 0 || len(definitions) == 0 {
		return chat.Told{}
	}
	if t.key == string(definitions) {
		return t.kept
	}
	told := chat.Told{InText: t.told}
	var tools []markup.Tool
	d.Tools(func(tool *runtime.Tool) bool {
		told.Names = append(told.Names, tool.Name)
		if t.told {
			tools = append(tools, markup.Tool{Name: tool.Name, Description: tool.Description, Schema: appendSchema(nil, tool.InputSchema)})
		}
		return true
	})
	if t.told {
		told.Text = markup.AppendTools(nil, t.calls, tools)
	}
	t.key, t.kept = string(definitions), told
	return told
}

// Flatten implements chat.InText.
func (t *answerText) Flatten(u *chat.Unit) *chat.Unit {
	if !t.told {
		return nil
	}
	text := append([]byte(nil), u.Text...)
	var results []byte
	for i, c := range u.Calls {
		if len(text) > 0 {
			text = append(text, '\n')
		}
		text = markup.AppendCall(text, t.calls, string(c.Name), c.Args)
		if i > 0 {
			results = append(results, '\n')
		}
		results = markup.AppendResult(results, t.calls, string(c.Name), withNotes(c.Result, c.Media))
	}
	media := ofResults(u.Calls)
	u.Text, u.HasText, u.Calls = text, true, nil
	return &chat.Unit{Text: results, HasText: true, Media: media}
}

// Reader implements chat.InText. Where no tools were offered there are no calls.
func (t *answerText) Reader(names []string) chat.TextReader {
	formats := t.reasoning
	if len(names) > 0 {
		formats |= t.calls
	}
	if formats == 0 {
		return nil
	}
	return &textReader{reader: markup.New(markup.Options{Formats: formats, Tools: names, Opened: t.opened})}
}
