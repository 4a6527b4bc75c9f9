package conformance

import (
	"time"

	"github.com/turncore/turncore/host/middleware"
	"github.com/turncore/turncore/host/turns"
)

// builtin makes a middleware of the core's: {name: argument} among a dispatch pipeline's entries.
func builtin(name string, arg any) turns.DispatchMiddleware {
	count := func() int { return int(arg.(float64)) }
	switch name {
	case "maxIterations":
		return middleware.MaxIterations(count())
	case "maxRepeats":
		return middleware.MaxRepeats(count())
	case "deadline":
		return middleware.Deadline(time.Duration(count()) * time.Millisecond)
	case "ackOnNoToolCalls":
		return middleware.AckOnNoToolCalls()
	case "tokenBudget":
		var b struct {
			Encoding       string
			Limit, Reserve int
		}
		decode(arg, &b)
		return middleware.TokenBudget(middleware.Budget{Encoding: b.Encoding, Limit: b.Limit, Reserve: b.Reserve})
	case "spendLimit":
		var s middleware.Spending
		decode(arg, &s)
		return middleware.SpendLimit(s)
	}
	panic(malformed("the core has no middleware %q", name))
}
