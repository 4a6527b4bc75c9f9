package turntest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/host/model"
)

// Answer is an answer of a [Script]: what a model says when it is asked once. Answers do not change, and may be used in
// several scripts.
type Answer struct {
	steps []step
	maybe bool
	bad   error // what is wrong with it
}

// step is something that an answer does: it sends a part, waits, or fails.
type step struct {
	part  model.Part
	pause time.Duration
	fail  error
}

// Text is an answer in so many pieces, as they stream.
func Text(pieces ...string) Answer {
	a := Answer{}
	for _, piece := range pieces {
		a.steps = append(a.steps, step{part: model.Part{Text: piece}})
	}
	return a
}

// Thought is reasoning in so many pieces.
func Thought(pieces ...string) Answer {
	a := Answer{}
	for _, piece := range pieces {
		a.steps = append(a.steps, step{part: model.Part{Reasoning: piece}})
	}
	return a
}

// Call is a call of a tool. args is anything that encodes to a JSON object, JSON text as a json.RawMessage; nil stands
// for no arguments. Its id is "call-1" for the first call of a script, and so on.
func Call(tool string, args any) Answer {
	text := []byte("{}")
	if args != nil {
		var err error
		if text, err = json.Marshal(args); err != nil {
			return Answer{bad: fmt.Errorf("the arguments of %s: %w", tool, err)}
		}
	}
	return Parts(model.Part{ToolCall: &model.ToolCall{Name: tool, Arguments: string(text)}})
}

// Parts is an answer in the parts of an engine, for what the other functions do not say: calls in pieces, arguments
// that are no JSON, ids, a finish.
func Parts(parts ...model.Part) Answer {
	a := Answer{}
	for _, p := range parts {
		a.steps = append(a.steps, step{part: p})
	}
	return a
}

// Refuse is the answer of a provider that declines: the turn is nacked with E_CHAT_PROVIDER_ERROR, whose message has
// the reason.
func Refuse(reason string) Answer {
	return Parts(model.Part{Error: &model.Error{Code: "refusal", Message: reason}})
}

// Fail is a model call that fails: with E_MODEL_FAILED from [Script.Model], with E_LLM_EXECUTION_EXECUTOR_ERROR from
// [Script.Executor]. Its cause is err.
func Fail(err error) Answer {
	if err == nil {
		return Answer{bad: fmt.Errorf("Fail needs an error")}
	}
	return Answer{steps: []step{{fail: err}}}
}

// Pause is a pause of the model. In a bubble of testing/synctest it takes no time.
func Pause(d time.Duration) Answer { return Answer{steps: []step{{pause: d}}} }

// And returns the answer with others behind it: several calls, a text before a call, a text that breaks off.
//
//	turntest.Text("It is ").And(turntest.Fail(io.ErrUnexpectedEOF))
func (a Answer) And(more ...Answer) Answer {
	a.steps = slices.Clone(a.steps)
	for _, b := range more {
		a.steps = append(a.steps, b.steps...)
		if a.bad == nil {
			a.bad = b.bad
		}
	}
	return a
}

// Usage returns the answer with a count of tokens at its end: of the prompt, and of the answer.
func (a Answer) Usage(prompt, completion int) Answer {
	return a.And(Parts(model.Part{Usage: &model.Usage{
		PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion,
	}}))
}

// Maybe returns the answer as one that nobody has to ask for: a test in which a fault may end the turn before.
func (a Answer) Maybe() Answer {
	a.maybe = true
	return a
}

// String tells what the answer is, for messages of tests.
func (a Answer) String() string {
	var words []string
	text, thought := "", ""
	for _, s := range a.steps {
		text += s.part.Text
		thought += s.part.Reasoning
	}
	if thought != "" {
		words = append(words, "thought "+strconv.Quote(shorten(thought)))
	}
	if text != "" {
		words = append(words, "text "+strconv.Quote(shorten(text)))
	}
	for _, s := range a.steps {
		switch c := s.part.ToolCall; {
		case s.fail != nil:
			words = append(words, "fails with "+s.fail.Error())
		case s.part.Error != nil:
			words = append(words, "error "+s.part.Error.Message)
		case c != nil:
			words = append(words, "call of "+c.Name+" "+shorten(c.Arguments))
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// shorten is a text without what is beyond 200 bytes.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
