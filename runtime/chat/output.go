package chat

import (
	"bytes"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema"
	"github.com/turncore/turncore/runtime/fault"
)

const (
	maxOutput  = 64 << 10 // bytes of a rejected answer that its error keeps
	maxProblem = 4 << 10  // bytes of the problem's description for the model
)

// Shaper is a [Provider] whose requests have a field for the JSON Schema of the answer.
type Shaper interface {
	Provider
	// AppendSchema appends the text of Head.Schema for AppendHead, made from the schema, a value, and from related
	// options. It returns nil if the API refuses the schema, or if an option occupies the field. The prompt describes
	// the schema then, and also if seen is false: the model does not see all of it.
	AppendSchema(dst []byte, h *Head, schema []byte) (out []byte, seen bool)
}

// output is the required form of an answer.
type output struct {
	schema *schema.Schema
	given  []byte // the schema, a value
	text   []byte // as JSON
	native []byte // the provider's field for it; empty if the prompt describes it
	seen   bool   // the model sees the whole schema there
	mode   string // of the option schemaMode
}

// Values of the option schemaMode.
const (
	modeNative = "native"
	modePrompt = "prompt"
	modeBoth   = "both"
)

// option sets the JSON Schema of the answer.
func (o *output) option(v []byte, fail func(name, problem string)) {
	if value.KindOf(v) != value.KindMap {
		fail("schema", "must be a JSON Schema, an object")
		return
	}
	compiled, err := schema.Compile(v)
	if err != nil {
		fail("schema", "cannot be used: "+err.Error())
		return
	}
	o.schema, o.given = compiled, bytes.Clone(v)
	o.text, _ = value.AppendJSON(nil, v) // well-formed: the whole options were checked
}

// place decides where requests describe the schema.
func (o *output) place(p Provider, h *Head) {
	if s, ok := p.(Shaper); ok && o.schema != nil && o.mode != modePrompt {
		o.native, o.seen = s.AppendSchema(nil, h, o.given)
	}
}

// inRequest returns the provider's field of a request; nil for none, or if tools keep it out. told says that the prompt
// describes the schema.
func (o *output) inRequest(kept bool) (native []byte, told bool) {
	if o.schema == nil {
		return nil, false
	}
	if len(o.native) > 0 && !kept {
		return o.native, !o.seen || o.mode == modeBoth
	}
	return nil, true
}

// tell appends the description of the schema to the prompt.
func (o *output) tell(dst []byte, tools bool) []byte {
	dst = append(appendBlankLine(dst), "# Answer\n\n"...)
	if tools {
		dst = append(dst, "When you call no more tools, your"...)
	} else {
		dst = append(dst, "Your"...)
	}
	dst = append(dst, " answer must be one JSON value that matches this JSON Schema, and nothing else: no words around it, no code fence.\n"...)
	return append(dst, o.text...)
}

// check describes the faults of an answer, in words (empty for none) and as a list.
func (o *output) check(a *Answer) (words string, list []byte) {
	answer, err := value.FromJSON(nil, jsonIn(a.message.text))
	if err == nil {
		_, violations := o.schema.Validate(answer)
		words, list = schema.Report(violations)
		return clip([]byte(words), maxProblem), list
	}
	words = "it is no JSON: " + err.Error()
	if len(bytes.TrimSpace(a.message.text)) == 0 {
		words = "it is empty"
	}
	if a.finish != "" && !a.stopped {
		words += "; it ended with finish reason " + quote([]byte(a.finish))
	}
	return schema.Report([]schema.Violation{{Keyword: "json", Message: words}})
}

// invalidOutput is the error of a rejected answer. It keeps the answer's text.
func invalidOutput(text []byte, words string, list []byte) error {
	f := fault.New(fault.ChatInvalidOutput, words)
	details := value.AppendString(value.AppendMapHeader(nil, 2), "text")
	details = value.AppendString(details, clip(text, maxOutput))
	f.Details = append(value.AppendString(details, "violations"), list...)
	return f
}

// jsonIn returns the JSON of an answer: all of it, or the content of a code fence around it.
func jsonIn(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if body, fenced := bytes.CutPrefix(text, []byte("```")); fenced {
		if _, body, ok := bytes.Cut(body, []byte{'\n'}); ok {
			return bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(body), []byte("```")))
		}
	}
	return text
}

// output makes sure that an answer without calls matches the schema of the options. An invalid answer is shown but not
// stored; the model is told its faults and asked again, once per dispatch.
func (e *Executor) output(d Dispatch, st *state, deadline uint64) error {
	a, o := &st.answer, &e.options.output
	if o.schema == nil || len(a.calls) > 0 || a.paused {
		return nil
	}
	if a.declined {
		return fault.New(fault.ChatRefused, clip(a.message.text, maxMessage))
	}
	words, list := o.check(a)
	if words == "" {
		return nil
	}
	if st.repaired {
		return invalidOutput(a.message.text, words, list)
	}
	st.repaired = true
	a.seal()
	if err := a.reportStats(); err != nil {
		return err
	}
	d.Log(Info, "output-repair", "the answer does not match its schema, and the model is told: "+words, nil)
	body := st.projection.objection(&e.options, a.message.text, words)
	a.reset(d, &e.options) // it has been reported, even if somebody has signalled meanwhile
	if d.Aborted() || d.Signalled() {
		return nil
	}
	if failure := e.call(d, st, body, deadline); failure != nil || a.err != nil || d.Aborted() || d.Signalled() {
		return failure
	}
	return e.output(d, st, deadline)
}

// objection returns the last request with two more messages: the answer, and its faults.
func (p *projection) objection(o *options, answer []byte, problem string) []byte {
	p.repair = append(p.repair[:0], p.body...)
	if len(bytes.TrimSpace(answer)) > 0 {
		p.repair = o.provider.AppendUnit(p.repair, &Unit{Assistant: true, Text: answer, HasText: true})
	}
	text := "Your answer does not match the JSON Schema that it must match: " + problem + "\nAnswer again, with the whole corrected JSON value and nothing else."
	p.repair = o.provider.AppendUnit(p.repair, &Unit{Text: []byte(text), HasText: true})
	return append(p.repair, o.protocol.Close...)
}
