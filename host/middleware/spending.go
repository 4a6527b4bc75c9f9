package middleware

import (
	"maps"
	"math"
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/turns"
)

// Price is the price of a model, per million tokens.
type Price struct {
	Input  float64
	Output float64
	// CachedInput is the price of cached input; nil for the price of other input.
	CachedInput *float64
}

// Spending configures [SpendLimit].
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
func SpendLimit(s Spending) turns.DispatchMiddleware {
	m := &builtin.Middleware{Name: "spendLimit", Input: true}
	if !(s.Limit > 0) || math.IsInf(s.Limit, 0) {
		m.Broken = "spendLimit.limit must be a positive number"
	} else if len(s.Prices) == 0 {
		m.Broken = "spendLimit.prices must name at least one model"
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
				m.Broken = "spendLimit.prices." + model + " must have numbers from 0"
			}
		}
		arg = value.AppendMapHeader(value.AppendString(arg, model), 3)
		arg = value.AppendFloat(value.AppendString(arg, "input"), p.Input)
		arg = value.AppendFloat(value.AppendString(arg, "output"), p.Output)
		arg = value.AppendFloat(value.AppendString(arg, "cachedInput"), cached)
	}
	m.Arg = arg
	return entry(m)
}
