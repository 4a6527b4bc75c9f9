package turns

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/check"
)

// MaxIterations is a middleware for the dispatch input pipeline that nacks with E_MAX_ITERATIONS when a dispatch
// begins an iteration after its n-th, so that the work of the n iterations is kept. n is at least 1.
func MaxIterations(n int) DispatchMiddleware {
	return builtinMiddleware(&builtin{
		name: "maxIterations", arg: value.AppendInt(nil, int64(n)), input: true, broken: positive("maxIterations", n),
		run: func(ctx *DispatchContext, next func()) error {
			if ctx.Iteration() >= n && !ctx.IsSignalled() {
				return ctx.Nack(newError(abi.CodeMaxIterations, strconv.Itoa(n), nil))
			}
			next()
			return nil
		},
	})
}

// MaxRepeats is a middleware that nacks with E_MAX_REPEATS when the same tool call (tool and arguments) was stored
// more than n times in the dispatch. In the dispatch output pipeline it discards the iteration that repeated the
// call; in the input pipeline that iteration is kept, and no further one begins. n is at least 1.
func MaxRepeats(n int) DispatchMiddleware {
	return builtinMiddleware(&builtin{
		name: "maxRepeats", arg: value.AppendInt(nil, int64(n)), input: true, output: true, broken: positive("maxRepeats", n),
	})
}

// Deadline is a middleware for the dispatch input pipeline that nacks with E_DEADLINE when the dispatch has run for
// d, by the host's clock. A running model call or tool is aborted: its context is cancelled with that error as the
// cause. A dispatch that has already acked ends as usual, and the dispatch waits for an open gate. d is at least a
// millisecond and counts in whole milliseconds.
func Deadline(d time.Duration) DispatchMiddleware {
	ms := d.Milliseconds()
	b := &builtin{name: "deadline", arg: value.AppendInt(nil, ms), input: true}
	if ms < 1 {
		b.broken = "deadline must be at least a millisecond"
	}
	return builtinMiddleware(b)
}

// AckOnNoToolCalls is a middleware for the dispatch output pipeline that acks if the executor has not signalled and
// its iteration stored a message and no tool call: the model has answered and asks for nothing more.
func AckOnNoToolCalls() DispatchMiddleware {
	return builtinMiddleware(&builtin{name: "ackOnNoToolCalls", arg: value.AppendNil(nil), output: true})
}

// Budget configures TokenBudget.
type Budget struct {
	// Encoding is a token encoding: one with a tokenizer of the runner, "claude" (a token is 3.5 UTF-16 code units), or
	// any other (4, with a warning).
	Encoding string
	// Limit is the size of the model's window in tokens: from 1 to 2,147,483,647.
	Limit int
	// Reserve is the number of these tokens to keep free, for the answer and for tokens that a provider adds around
	// texts.
	Reserve int
}

// TokenBudget is a middleware for the dispatch input pipeline that fits the dispatch's context into b.Limit minus
// b.Reserve tokens. It removes records from the dispatch's own collections, but not from the turn's or from storage:
// first the conversation before the last user message, oldest first; then retrieved documents, lowest score first;
// then memories, least important first; then the dispatch's records since that message, oldest first. Adjacent tool
// calls are removed together. System prompt, standing instructions, tools and the last user message stay: if they
// alone do not fit, it changes nothing and nacks with E_TOKEN_BUDGET.
func TokenBudget(b Budget) DispatchMiddleware {
	m := &builtin{name: "tokenBudget", input: true}
	switch {
	case b.Encoding == "":
		m.broken = "tokenBudget.encoding must not be empty"
	case positive("tokenBudget.limit", b.Limit) != "":
		m.broken = positive("tokenBudget.limit", b.Limit)
	case b.Reserve < 0 || b.Reserve >= b.Limit:
		m.broken = "tokenBudget.reserve must be an integer from 0 and less than limit"
	}
	arg := value.AppendString(value.AppendString(value.AppendMapHeader(nil, 3), "encoding"), b.Encoding)
	arg = value.AppendInt(value.AppendString(arg, "limit"), int64(b.Limit))
	m.arg = value.AppendInt(value.AppendString(arg, "reserve"), int64(b.Reserve))
	return builtinMiddleware(m)
}

// Price is the price of a model, per million tokens.
type Price struct {
	Input  float64
	Output float64
	// CachedInput is the price of cached input; nil for the price of other input.
	CachedInput *float64
}

// Spending configures SpendLimit.
type Spending struct {
	Limit    float64 // more than 0
	Currency string  // such as "USD", for messages
	// Prices by model. A model whose reported name ends in a date or version, such as "m-2024-07-18", has the price of
	// "m" unless it has its own.
	Prices map[string]Price
}

// SpendLimit is a middleware for the dispatch input pipeline that nacks with E_SPEND_LIMIT before a model call if the
// turn's earlier calls, in all its dispatches, have reached s.Limit, by the usage that executors reported and the
// price table. Usage without a price, a model or numbers nacks with E_SPEND_UNKNOWN_PRICE.
func SpendLimit(s Spending) DispatchMiddleware {
	m := &builtin{name: "spendLimit", input: true}
	if !(s.Limit > 0) || math.IsInf(s.Limit, 0) {
		m.broken = "spendLimit.limit must be a positive number"
	} else if len(s.Prices) == 0 {
		m.broken = "spendLimit.prices must name at least one model"
	}
	arg := value.AppendFloat(value.AppendString(value.AppendMapHeader(nil, 3), "limit"), s.Limit)
	arg = value.AppendString(value.AppendString(arg, "currency"), s.Currency)
	arg = value.AppendMapHeader(value.AppendString(arg, "prices"), len(s.Prices))
	for _, model := range slices.Sorted(maps.Keys(s.Prices)) {
		p := s.Prices[model]
		cached := p.Input
		if p.CachedInput != nil {
			cached = *p.CachedInput
		}
		for _, sum := range []float64{p.Input, p.Output, cached} {
			if !(sum >= 0) || math.IsInf(sum, 0) {
				m.broken = "spendLimit.prices." + model + " must have numbers from 0"
			}
		}
		arg = value.AppendMapHeader(value.AppendString(arg, model), 3)
		arg = value.AppendFloat(value.AppendString(arg, "input"), p.Input)
		arg = value.AppendFloat(value.AppendString(arg, "output"), p.Output)
		arg = value.AppendFloat(value.AppendString(arg, "cachedInput"), cached)
	}
	m.arg = arg
	return builtinMiddleware(m)
}

func positive(name string, n int) string {
	if n < 1 || n > math.MaxInt32 {
		return name + " must be a positive integer"
	}
	return ""
}

// builtin is a middleware that the core has compiled in.
type builtin struct {
	name          string
	arg           abi.Raw
	input, output bool   // the dispatch pipelines that it belongs in
	broken        string // what is wrong with its argument
	// run is what it does where the program's code calls it; nil for what only the core can do.
	run DispatchMiddleware
}

// Error makes a builtin what its own function can return, and is never told to anybody.
func (b *builtin) Error() string { return b.name }

// builtinMiddleware makes a function of a builtin. Without a context that function returns the builtin: so a pipeline
// finds out what it holds, as functions have no identity. It must not be inlined, because all its functions are to have
// one and the same body.
//
//go:noinline
func builtinMiddleware(b *builtin) DispatchMiddleware {
	return func(ctx *DispatchContext, next func()) error {
		switch {
		case ctx == nil:
			return b
		case b.run != nil:
			return b.run(ctx, next)
		}
		return newError(abi.CodeInvalidOptions, b.name+" works only as an entry of a pipeline, not when another function calls it", nil)
	}
}

var builtinBody = reflect.ValueOf(builtinMiddleware(&builtin{})).Pointer()

// builtinOf tells which of the core's a middleware is, nil for a function of the program's.
func builtinOf(m DispatchMiddleware) *builtin {
	if m == nil || reflect.ValueOf(m).Pointer() != builtinBody {
		return nil
	}
	b, _ := m(nil, nil).(*builtin)
	return b
}

// bounded puts a bound on iterations before a pipeline, unless it is 0.
func bounded(iterations int, pipeline []DispatchMiddleware) []DispatchMiddleware {
	if iterations == 0 {
		return slices.Clone(pipeline)
	}
	return append([]DispatchMiddleware{MaxIterations(iterations)}, pipeline...)
}

// dispatchMiddleware is a pipeline as it is told to the core.
func dispatchMiddleware(pipeline []DispatchMiddleware) []abi.Middleware {
	list := hostMiddleware(len(pipeline))
	for i, m := range pipeline {
		if b := builtinOf(m); b != nil {
			list[i] = abi.Middleware{Kind: abi.MiddlewareBuiltin, Name: b.name, Arg: b.arg}
		}
	}
	return list
}

// dispatchPipelines lists what is wrong with the two pipelines of dispatches, which go by these names.
func dispatchPipelines(in string, input []DispatchMiddleware, out string, output []DispatchMiddleware) (list []string) {
	for _, p := range []struct {
		name     string
		pipeline []DispatchMiddleware
		belongs  func(*builtin) bool
	}{
		{in, input, func(b *builtin) bool { return b.input }},
		{out, output, func(b *builtin) bool { return b.output }},
	} {
		list = append(list, nils(p.name, p.pipeline)...)
		for i, m := range p.pipeline {
			b := builtinOf(m)
			switch {
			case b == nil:
			case !p.belongs(b):
				var right []string
				if b.input {
					right = append(right, in)
				}
				if b.output {
					right = append(right, out)
				}
				list = append(list, abi.Violation(abi.RulePipeline, "field", check.At(p.name, i), "name", b.name, "pipelines", strings.Join(right, ", ")))
			case b.broken != "":
				list = append(list, "`"+check.At(p.name, i)+"`: "+b.broken)
			}
		}
	}
	return list
}
