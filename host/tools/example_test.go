package tools_test

import (
	"context"
	"fmt"
	"log"

	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
)

// An executor of your own calls the calculator as a model would.
func Example() {
	ctx := context.Background()
	runner, err := turns.New(ctx, turns.Config{
		Tools: append(tools.Memory(), tools.Calculator()),
		Executor: func(d *turns.DispatchContext, _ *turns.Helpers) error {
			n, err := d.Tools().Get("calculator").Executor(d)(map[string]any{"expression": "2 * (3 + 4)"})
			if err != nil {
				return err
			}
			fmt.Println(n)
			return d.Ack()
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	if _, err := runner.Run(ctx, turns.Input{Message: "calculate"}); err != nil {
		log.Fatal(err)
	}
	// Output: 14
}
