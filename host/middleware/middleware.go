// Package middleware has the middleware that the core has compiled in, for the pipelines of dispatches: bounds on
// iterations, repeated tool calls, time, tokens and money, and the signal of a model that has answered.
//
//	config.DispatchInputPipeline = []turns.DispatchMiddleware{middleware.Deadline(time.Minute)}
//
// An entry of a pipeline runs inside the core, without a call of the host. An entry that breaks a rule or is in the
// wrong pipeline is refused with the rest of the configuration. A function of the program's may call MaxIterations;
// the others return E_INVALID_OPTIONS there.
package middleware

import (
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/turns"
)

// MaxIterations is a middleware for the dispatch input pipeline that nacks with E_MAX_ITERATIONS when a dispatch
// begins an iteration after its n-th, so that the work of the n iterations is kept. n is at least 1. The option
// MaxIterations of runners and dispatches puts one in front of their pipelines.
func MaxIterations(n int) turns.DispatchMiddleware { return entry(builtin.MaxIterations(n)) }

// MaxRepeats is a middleware that nacks with E_MAX_REPEATS when the same tool call (tool and arguments) was stored
// more than n times in the dispatch. In the dispatch output pipeline it discards the iteration that repeated the
// call; in the input pipeline that iteration is kept, and no further one begins. n is at least 1.
func MaxRepeats(n int) turns.DispatchMiddleware {
	return entry(&builtin.Middleware{
		Name: "maxRepeats", Arg: value.AppendInt(nil, int64(n)), Input: true, Output: true,
		Broken: builtin.Positive("maxRepeats", n),
	})
}

// Deadline is a middleware for the dispatch input pipeline that nacks with E_DEADLINE when the dispatch has run for
// d, by the host's clock. A running model call or tool is aborted: its context is cancelled with that error as the
// cause. A dispatch that has already acked ends as usual, and the dispatch waits for an open gate. d is at least a
// millisecond and counts in whole milliseconds.
func Deadline(d time.Duration) turns.DispatchMiddleware {
	ms := d.Milliseconds()
	m := &builtin.Middleware{Name: "deadline", Arg: value.AppendInt(nil, ms), Input: true}
	if ms < 1 {
		m.Broken = "deadline must be at least a millisecond"
	}
	return entry(m)
}

// AckOnNoToolCalls is a middleware for the dispatch output pipeline that acks if the executor has not signalled and
// its iteration stored a message and no tool call: the model has answered and asks for nothing more.
func AckOnNoToolCalls() turns.DispatchMiddleware {
	return entry(&builtin.Middleware{Name: "ackOnNoToolCalls", Arg: value.AppendNil(nil), Output: true})
}

// entry is a middleware as a pipeline takes it.
func entry(m *builtin.Middleware) turns.DispatchMiddleware {
	return builtin.NewMiddleware(m).(turns.DispatchMiddleware)
}
