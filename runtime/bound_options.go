package runtime

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// NewBound returns the named middleware, configured by an encoded argument. It fails with E_INVALID_OPTIONS for unknown
// names, invalid arguments, and middleware that does not belong in the pipeline.
func NewBound(pipeline Pipeline, name string, arg []byte) (Bound, error) {
	input, output := pipeline == DispatchInput, pipeline == DispatchOutput
	switch {
	case name == "maxIterations" && input:
		if n, ok := value.Int(arg); ok && n > 0 {
			return MaxIterations(int(n)), nil
		}
		return nil, options("maxIterations must be a positive integer")
	case name == "maxRepeats" && (input || output):
		if n, ok := value.Int(arg); ok && n > 0 {
			return MaxRepeats(int(n)), nil
		}
		return nil, options("maxRepeats must be a positive integer")
	case name == "deadline" && input:
		if ms, ok := value.Int(arg); ok && ms > 0 {
			return Deadline(uint64(ms)), nil
		}
		return nil, options("deadline must be a positive integer, in milliseconds")
	case name == "ackOnNoToolCalls" && output:
		return AckOnNoToolCalls(), nil
	case name == "tokenBudget" && input:
		b, err := budgetOf(arg)
		if err != nil {
			return nil, err
		}
		return TokenBudget(b), nil
	case name == "spendLimit" && input:
		s, err := spendingOf(arg)
		if err != nil {
			return nil, err
		}
		return SpendLimit(s), nil
	}
	return nil, options("there is no built-in middleware " + name + " for the pipeline " + pipeline.String())
}

func options(message string) error { return fault.New(fault.InvalidOptions, message) }

func budgetOf(arg []byte) (b Budget, err error) {
	text, _ := value.GetString(arg, "encoding")
	b.Encoding = string(text)
	limit, _ := value.Get(arg, "limit")
	reserve, given := value.Get(arg, "reserve")
	var ok bool
	b.Limit, ok = value.Int(limit)
	switch {
	case b.Encoding == "":
		return b, options("tokenBudget.encoding must be a non-empty string")
	case !ok || b.Limit <= 0:
		return b, options("tokenBudget.limit must be a positive integer")
	case !given || value.KindOf(reserve) == value.KindNil:
		return b, nil
	}
	if b.Reserve, ok = value.Int(reserve); !ok || b.Reserve < 0 || b.Reserve >= b.Limit {
		return b, options("tokenBudget.reserve must be an integer from 0 and less than limit")
	}
	return b, nil
}

func spendingOf(arg []byte) (s Spending, err error) {
	var ok bool
	if s.Limit, ok = amountIn(arg, "limit"); !ok || s.Limit == 0 {
		return s, options("spendLimit.limit must be a positive number")
	}
	text, _ := value.GetString(arg, "currency")
	s.Currency = string(text)
	prices, _ := value.Get(arg, "prices")
	if value.KindOf(prices) != value.KindMap || value.Len(prices) == 0 {
		return s, options("spendLimit.prices must name at least one model")
	}
	var broken error
	err = value.Each(prices, func(model, price []byte) bool {
		p := Price{Model: string(model)}
		var in, out bool
		p.Input, in = amountIn(price, "input")
		p.Output, out = amountIn(price, "output")
		cached, given := value.Get(price, "cachedInput")
		p.CachedInput = p.Input
		if given && value.KindOf(cached) != value.KindNil {
			if p.CachedInput, given = amountIn(price, "cachedInput"); !given {
				in = false
			}
		}
		if !in || !out {
			broken = options("spendLimit.prices." + p.Model + " must have input and output, and may have cachedInput: numbers from 0")
		}
		s.Prices = append(s.Prices, p)
		return broken == nil
	})
	if broken != nil {
		err = broken
	}
	return s, err
}

// amountIn reads a finite, non-negative number from a map.
func amountIn(m []byte, name string) (f float64, ok bool) {
	v, _ := value.Get(m, name)
	f, ok = value.Number(v)
	return f, ok && f >= 0 && f <= 1e300
}
