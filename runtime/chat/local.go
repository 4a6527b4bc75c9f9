package chat

import (
	"errors"
	"strconv"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/framing"
)

// Local is a provider's support for engines that the host runs itself.
type Local interface {
	// Open returns the Engine of one executor.
	Open() Engine
}

// Engine describes an engine of the host, as the executor's options configure it. If its model has no fields for tools,
// the prompt describes them, and calls are read from the text.
type Engine interface {
	TextOptions
	// Takes reports whether a request may hold media of a kind.
	Takes(kind string) bool
	// Match passes the JSON Schema that answers must match, as a value and as JSON text.
	Match(schema, text []byte)
}

// TextOptions are the options about calls and reasoning in texts, and their effects.
type TextOptions interface {
	InText
	// Option sets an option that is only for such texts, or that an engine does not have; ok is false for any other.
	// fail reports an invalid value. Finish checks the combination of options.
	Option(name string, v []byte, fail func(name, problem string)) (ok bool)
	Finish(fail func(name, problem string))
}

// InText describes tools in prompts, and finds calls and reasoning in answers.
type InText interface {
	// Tell returns the parts of a request that describe its tools, given their definitions. InText is false if they go
	// into their own field.
	Tell(d Dispatch, definitions []byte) Told
	// Flatten writes the calls of an assistant's unit into its text, and their results into the user message that
	// follows; nil if calls have fields.
	Flatten(u *Unit) (results *Unit)
	// Reader returns a reader of the answer to a request that described tools with these names; nil if calls have
	// fields.
	Reader(names []string) TextReader
}

// Told describes the tools of a request, and the constraints on its answer.
type Told struct {
	InText  bool     // Text describes the tools, after the system text
	Text    []byte   // empty if there is nothing to describe
	Names   []string // of the tools in Text
	Grammar string   // GBNF of the answer; empty for none
	Schema  []byte   // JSON Schema of the answer, as JSON; empty for none
}

// TextReader splits a text into pieces while it arrives.
type TextReader interface {
	Write(delta []byte, emit func(TextPiece))
	// End ends the text and returns the calls in it.
	End(emit func(TextPiece)) []TextCall
}

// TextPiece is a piece of a text. Its text is only valid during the call.
type TextPiece struct {
	Thought bool   // it is reasoning
	Text    []byte // empty unless Recall is 0
	Recall  int    // the last bytes of prose, this many, were reasoning
}

// TextCall is a call found in a text.
type TextCall struct {
	Name   string
	Args   []byte // JSON of an object
	Defect string // why it cannot run; empty if it can
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

// readMarkup turns on the search for calls and reasoning in the text.
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

// addPiece adds a piece of the text as what it is: prose or reasoning.
func (a *Answer) addPiece(p TextPiece) {
	switch {
	case p.Recall > 0:
		// It was shown as text; the record has it in the right place.
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

// inText is the source number of reasoning in the text.
const inText = Block - 2

// endMarkup processes the end of the text. If the answer failed, it drops the held text unless part of it was shown, so
// that the model can be asked again.
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
