package wasmtime_test

import (
	"context"
	"fmt"
	"time"

	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wasmtime"
	_ "github.com/turncore/turncore/wasm/full"
)

// Turns on Wasmtime, with bounds on what the module does in a step.
func Example() {
	ctx := context.Background()
	e, err := wasmtime.Default(ctx,
		wasmtime.WithMemoryLimitPages(1024), // 64 MiB
		wasmtime.WithFuel(engine.Fuel{Step: 100_000_000}),
		wasmtime.WithStepTimeout(10*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close(ctx)
	runner, err := turns.New(ctx, turns.Config{
		Engine: e,
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			fmt.Println("a turn on", e.Name())
			return ctx.Ack()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer runner.Close()
	if _, err := runner.Run(ctx, turns.Input{Message: "hello"}); err != nil {
		fmt.Println(err)
	}
	// Output: a turn on wasmtime
}
