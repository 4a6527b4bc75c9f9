package chat

import (
	"errors"
	"strconv"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/framing"
)

// Local is what a provider brings for engines that the host runs itself.
type Local interface {
	// Open returns what one executor knows of its engine.
	Open() Engine
}

// Engine is an engine of the host's as the options of an executor describe it. Where its model has no fields for tools,
// they are told in the prompt, and calls are read from the text.
type Engine interface {
	TextOptions
	// Takes reports whether a request may hold media of a kind.
	Takes(kind string) bool
	// Match is told the JSON Schema that answers must match, a value and its JSON text.
	Match(schema, text []byte)
}

// TextOptions are options that say which calls and which reasoning stand in texts, and what they come to.
type TextOptions interface {
	InText
	// Option takes an option that only such texts have, or that an engine does not have; ok is false for any other.
	// fail tells what is wrong with it. Finish checks what the options say together.
	Option(name string, v []byte, fail func(name, problem string)) (ok bool)
	Finish(fail func(name, problem string))
}

// InText tells tools in prompts, and finds calls and reasoning in answers.
type InText interface {
	// Tell is asked what a request says of its tools, whose definitions are given. InText is false when they go into
	// their own field.
	Tell(d Dispatch, definitions []byte) Told
	// Flatten writes the calls of an assistant's unit into its text, and their results into a message of the user,
	// which follows it; nil where calls have fields.
	Flatten(u *Unit) (results *Unit)
	// Reader returns a reader of the answer to a request that told of tools with these names; nil where calls have
	// fields.
	Reader(names []string) TextReader
}

// Told is what a request says of its tools and of what its answer must match.
type Told struct {
	InText  bool     // the tools are told in Text, behind the system text
	Text    []byte   // empty if there is nothing to tell
	Names   []string // of the tools that Text tells of
	Grammar string   // GBNF of the answer; empty for none
	Schema  []byte   // JSON Schema of the answer, as JSON; empty for none
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

// receiveParts reads the answer of an engine to its end, like receive.
func (a *Answer) receiveParts(stream runtime.Stream) error {
	lines := framing.Lines{Limit: maxAnswer}
	event := a.event
	for begun := false; ; begun = true {
		chunk, more, err := a.next(stream, a.options.idleTimeout)
		switch {
		case err == errLate:
			return a.late(stream)
		case errors.Is(err, runtime.ErrIdle):
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
	if a.options.leading {
		a.leading.place = atStart
	}
	if a.options.dialect == nil {
		return
	}
	if a.reader = a.options.dialect.Reader(names); a.reader != nil {
		a.takePiece = a.addPiece
	}
}

// addPiece takes what a piece of the text has turned out to be.
func (a *Answer) addPiece(p TextPiece) {
	switch {
	case p.Recall > 0:
		// It was shown as text; the record has it where it belongs.
		from := max(len(a.message.text)-p.Recall, 0)
		text := append([]byte(nil), a.message.text[from:]...)
		a.message.text = a.message.text[:from]
		a.think(inText, text)
	case p.Thought:
		a.think(inText, p.Text)
	default:
		a.say(p.Text)
	}
}

// inText is the source of reasoning that stands in the text.
const inText = Block - 2

// endMarkup takes what the end of the text makes certain. What an answer that failed holds back is dropped as long as
// nothing of it is shown, so that the model can be asked again.
func (a *Answer) endMarkup(failure error) {
	if a.d.Aborted() || (failure != nil || a.failure != nil) && !a.shown() {
		return
	}
	a.endLead()
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
			if len(c.Name) == 0 {
				made.name = nameIn(c.Raw)
			}
		}
		a.calls = append(a.calls, made)
	}
}
