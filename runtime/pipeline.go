package runtime

import (
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
)

// Pipeline names one of the four pipelines.
type Pipeline uint8

func (p Pipeline) String() string {
	return [...]string{"turn-input", "turn-output", "dispatch-input", "dispatch-output"}[p&3]
}

// Middleware is one entry of a pipeline: a compiled-in one, or the host's function at Index.
type Middleware struct {
	Index   int
	Builtin Bound // compiled in, of the dispatch pipelines
	Around  Around
}

// Around is compiled-in middleware of an agent, which decides when the rest of its pipeline runs: it calls next, once,
// which returns when everything behind it has ended. d is nil in the turn's own pipelines. An error fails the pipeline.
type Around func(task Task, t *Turn, d *Dispatch, next func(Task)) error

// pipeline is one run through a list of middleware.
type pipeline struct {
	turn     *Turn
	dispatch *Dispatch // nil in the turn's own pipelines
	which    Pipeline
	list     []Middleware

	reached bool    // the end of the list was reached
	first   error   // the first failure
	rest    []error // later failures
}

// pipelineErrors are the codes of failures, by pipeline.
var pipelineErrors = [...]fault.Code{
	TurnInput: fault.InputPipelineError, TurnOutput: fault.OutputPipelineError,
	DispatchInput: fault.DispatchPipelineError, DispatchOutput: fault.DispatchPipelineError,
}

// pipeline runs a pipeline, of the turn itself (d nil) or of a dispatch, and returns its failure, ready to be reported.
func (t *Turn) pipeline(task Task, d *Dispatch, which Pipeline, list []Middleware) error {
	if len(list) == 0 {
		return nil
	}
	p := pipeline{turn: t, dispatch: d, which: which, list: list}
	p.run(task, 0)
	switch {
	case p.first != nil:
		return p.failure(pipelineErrors[which])
	case !p.reached && !p.aborted() && (d == nil || !d.signalled()):
		return fault.New(fault.PipelineShortCircuited, which.String())
	}
	return nil
}

func (p *pipeline) aborted() bool {
	if p.dispatch != nil {
		return p.dispatch.aborted
	}
	return p.turn.context.aborted
}

// run runs the list from i on. It returns when everything it started has ended.
func (p *pipeline) run(task Task, i int) {
	for ; i < len(p.list); i++ {
		if p.aborted() {
			continue // skip the body; the chain goes on to its end
		}
		m := p.list[i]
		if m.Builtin != nil {
			if err := m.Builtin(task, p.dispatch); err != nil {
				p.fail(err)
				return
			}
			continue
		}
		called := false
		next := func(t Task) {
			if !called {
				called = true
				p.run(t, i+1)
			}
		}
		var err error
		if m.Around != nil {
			err = m.Around(task, p.turn, p.dispatch, next)
		} else {
			call := &CallMiddleware{Pipeline: p.which, Index: m.Index, Next: next}
			if p.dispatch != nil {
				call.Context = p.dispatch.number
			}
			_, err = task.Await(call)
		}
		switch {
		case err == nil:
			return
		case p.secondSignal(err):
			p.warn(i, err)
			if called {
				return
			}
			// The first signal stands, and so does the rest of the pipeline.
		default:
			p.fail(err)
			return
		}
	}
	p.reached = true
}

func (p *pipeline) fail(err error) {
	if p.turn.isAbort(p.dispatch, err) {
		return
	}
	if p.first == nil {
		p.first = err
		return
	}
	if err != p.first {
		p.rest = append(p.rest, err)
	}
}

// failure wraps the first failure in the pipeline's code. The wrapper suppresses the later ones; the first error itself
// may be an object of the host, which does not read it back.
func (p *pipeline) failure(code fault.Code) error {
	f := fault.Wrap(code, p.first)
	f.Suppressed = p.rest
	return f
}

// secondSignal reports whether err is a signal that output middleware gave after the executor's.
func (p *pipeline) secondSignal(err error) bool {
	return p.which == DispatchOutput && p.dispatch.acked && fault.Is(err, fault.LLMExecutionAlreadySignalled)
}

func (p *pipeline) warn(i int, err error) {
	p.turn.emit(p.dispatch, EventWarning, &WarningEvent{
		FromDispatch: true,
		Kind:         "already-signalled",
		Message:      p.which.String() + " middleware " + strconv.Itoa(i) + " signalled after the dispatch was acked; the first signal stands",
		Err:          err,
	})
}
