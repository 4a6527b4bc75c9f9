// Package chat is the executor for models behind HTTP APIs, in the protocol of a [Provider].
//
// An iteration is one request and its answer. The request is a projection of the dispatch's context: system prompt and
// standing instructions, then messages and tool calls by time. The executor reports the answer's deltas as they come.
// At the end it stores the thoughts and the message, runs the tool calls, and stores them with their results in the
// order of the calls. An answer without tool calls acks the dispatch; otherwise the runner iterates, and the model sees
// the results.
//
// The package does no I/O: the dispatch sends the request and passes in the bytes of the answer. The package only
// names a credential; the host attaches it.
package chat

import (
	"bytes"

	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// maxRedirects is how many redirects a request follows.
const maxRedirects = 5

// maxPauses is how often a model may pause in a dispatch. The next partial answer counts as the whole one.
const maxPauses = 10

// Executor makes model calls with one set of options. It serves any number of dispatches, one after another or
// interleaved, but must not be used by several goroutines at once.
type Executor struct {
	options   options
	given     []byte // the options as passed to New
	providers []Provider
	tools     map[uint32][]byte // JSON definitions of the tools that all turns of the runner share
}

// New returns an executor with the options in v, a map. abi/options.json lists them, with their bounds and defaults;
// members of the provider's requests, such as temperature, are options too. The error is E_CHAT_INVALID_OPTIONS and
// names every invalid option.
//
// The option provider selects one of the providers; the first is the default.
func New(v []byte, providers ...Provider) (*Executor, error) {
	o, err := parseOptions(v, providers, "")
	if err != nil {
		return nil, err
	}
	return &Executor{options: o, given: bytes.Clone(v), providers: providers, tools: make(map[uint32][]byte)}, nil
}

// state is the executor's state for one dispatch.
type state struct {
	projection projection
	override   override
	pauses     int // answers in which the model paused
	answer     Answer
	reported   map[string]int // how often the endpoint gave each call id
	repaired   bool           // an answer did not match the schema, and the model was told why
}

func stateOf(d Dispatch) *state {
	slot := d.State()
	st, ok := (*slot).(*state)
	if !ok {
		st = &state{}
		*slot = st
	}
	return st
}

// Execute runs one iteration: a request, its answer and the answer's tool calls. It acks if the answer has no calls and
// nacks if there is no answer; after an abort it does neither. It returns the errors of reporting, storing and
// signalling.
func (e *Executor) Execute(d Dispatch) error {
	if d.Aborted() {
		return nil
	}
	st := stateOf(d)
	e, err := e.overridden(d, st)
	if err != nil {
		return d.Nack(err)
	}
	a := &st.answer
	a.to = d
	failure := e.answer(d, st)
	switch {
	case a.err != nil:
		a.seal()
		return a.err
	case d.Aborted():
		a.seal()
		return nil
	}
	if err := a.reportStats(); err != nil {
		return err
	}
	if failure != nil {
		a.seal()
	} else if err := a.store(); err != nil {
		return err
	}
	switch {
	case d.Signalled(): // by a listener, for example: the first signal stands
		return nil
	case failure != nil:
		return d.Nack(failure)
	case len(a.calls) > 0:
		return st.runCalls()
	case a.paused && st.pauses < maxPauses:
		st.pauses++
		return nil // the next iteration asks the model to continue
	}
	return d.Ack()
}

// answer gets the model's answer. It fails if there is none that can be used.
func (e *Executor) answer(d Dispatch, st *state) error {
	a := &st.answer
	a.reset(d, &e.options)
	body, err := st.projection.request(e, d)
	if err != nil {
		return err
	}
	var deadline uint64
	if e.options.totalTimeout > 0 {
		deadline = d.Elapsed() + e.options.totalTimeout
	}
	if failure := e.call(d, st, body, deadline); failure != nil || a.err != nil || d.Aborted() || d.Signalled() {
		return failure
	}
	return e.output(d, st, deadline)
}

// call makes the model call, with as many attempts as necessary and allowed. It returns the failure of the last one.
func (e *Executor) call(d Dispatch, st *state, body []byte, deadline uint64) error {
	a := &st.answer
	for attempt := 1; ; attempt++ {
		a.deadline = deadline
		failure := e.exchange(d, st, body)
		a.interrupted = failure != nil || a.err != nil || a.failure != nil
		if failure == nil && a.err == nil && !d.Aborted() {
			failure = a.verdict(d.Iteration())
		}
		ms, again := a.another(failure, attempt)
		if !again {
			return failure
		}
		if a.usage != nil { // from a response with nothing else
			if err := a.reportStats(); err != nil {
				return err
			}
		}
		a.reset(d, &e.options) // it has been reported, even if somebody signals during the wait
		if err := d.Sleep(ms); err != nil {
			return err
		}
		if d.Signalled() {
			return failure
		}
	}
}

// exchange sends the request, or asks the host's engine, and reads the response.
func (e *Executor) exchange(d Dispatch, st *state, body []byte) error {
	o, a := &e.options, &st.answer
	a.readMarkup(st.projection.names)
	if o.engine != nil {
		stream, err := d.Model(&runtime.ModelRequest{Model: o.head.Model, Body: body, Splices: st.projection.splices})
		if err != nil {
			return err
		}
		err = a.receiveParts(stream)
		a.endMarkup(err)
		return err
	}
	stream, err := d.HTTP(&runtime.HTTPRequest{
		Method: "POST", URL: o.url, Headers: o.headers, Credential: o.credential, Body: body,
		Redirect: runtime.RedirectFollow, Redirects: maxRedirects, Splices: st.projection.splices,
	})
	if err != nil {
		return err
	}
	err = a.receive(stream)
	a.endMarkup(err)
	return err
}

// verdict returns the error implied by a complete answer, nil for none. It turns a failed generation that the endpoint
// returned into tool calls. A call without a tool's name does not count, since no record could name its tool.
func (a *Answer) verdict(iteration int) error {
	made := len(a.calls)
	a.calls = named(a.calls)
	switch {
	case a.failure != nil && a.failure.generation != nil:
		a.calls = a.failure.generation
		return nil
	case a.failure != nil && a.failure.unusable:
		return a.failure.fault(fault.ChatToolUseFailed)
	case a.failure != nil && a.failure.refusal:
		return a.failure.fault(fault.ChatRefused)
	case a.failure != nil:
		return a.failure.fault(fault.ChatProviderError)
	case made > 0 && len(a.calls) == 0:
		return fault.New(fault.ChatToolUseFailed, "a tool call names no tool")
	case len(a.message.text) > 0 || len(a.calls) > 0:
		return nil
	case a.stopped && iteration > 0:
		return nil // the model has nothing to add after its tools
	case a.finish != "":
		return fault.New(fault.ChatEmptyResponse, "finish reason "+quote([]byte(a.finish)))
	}
	return fault.New(fault.ChatEmptyResponse)
}
