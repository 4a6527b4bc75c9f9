package main

import (
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
)

// builtinTools are offered beside the simulated model, so that there is something for it to call.
func builtinTools(clock host.Clock) []*turns.Tool {
	calculate := tools.Calculator()
	calculate.Name = "calculate" // which texts mention
	return []*turns.Tool{
		{
			Name: "current_time", Description: "Tells the current date and time in UTC.",
			InputSchema: `{"type":"object","properties":{},"additionalProperties":false}`,
			Handler: func(*turns.DispatchContext, turns.Args) (any, error) {
				return time.UnixMilli(clock()).UTC().Format("2006-01-02T15:04:05.000Z"), nil
			},
		},
		calculate,
	}
}
