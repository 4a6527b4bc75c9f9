package main

import (
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/turns"
)

// builtinTools are offered beside the simulated model, so that there is something for it to call.
func builtinTools(clock host.Clock) []*turns.Tool {
	return []*turns.Tool{
		{
			Name: "current_time", Description: "Tells the current date and time in UTC.",
			InputSchema: `{"type":"object","properties":{},"additionalProperties":false}`,
			Handler: func(*turns.DispatchContext, turns.Args) (any, error) {
				return time.UnixMilli(clock()).UTC().Format("2006-01-02T15:04:05.000Z"), nil
			},
		},
		{
			Name: "calculate", Description: "Calculates an arithmetic expression with + - * / and parentheses.",
			InputSchema: `{"type":"object","properties":{"expression":{"type":"string","description":"such as (2 + 3) * 4"}},` +
				`"required":["expression"],"additionalProperties":false}`,
			Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
				return calculate(args.String("expression"))
			},
		},
	}
}
