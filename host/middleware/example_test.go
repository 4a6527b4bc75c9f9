package middleware_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"github.com/turncore/turncore/host/middleware"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/turns"
	_ "github.com/turncore/turncore/wasm/full"
)

// Bounds: a turn may not take more than a minute, repeat a tool call more than twice, or cost more than five cents.
func Example() {
	ctx := context.Background()
	provider := httptest.NewServer(&simulated.Provider{})
	defer provider.Close()
	runner, err := turns.New(ctx, turns.Config{
		Model: turns.Model{Name: "gpt-4o-mini", BaseURL: provider.URL + "/v1", APIKey: "…"},
		DispatchInputPipeline: []turns.DispatchMiddleware{
			middleware.Deadline(time.Minute),
			middleware.TokenBudget(middleware.Budget{Encoding: "claude", Limit: 128_000, Reserve: 4_000}),
			middleware.SpendLimit(middleware.Spending{Limit: 0.05, Currency: "USD", Prices: map[string]middleware.Price{
				"gpt-4o-mini": {Input: 0.15, Output: 0.6},
			}}),
		},
		DispatchOutputPipeline: []turns.DispatchMiddleware{middleware.MaxRepeats(2)},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(ctx, turns.Input{Message: "Hello!"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Text)
	// Output: ack You said: Hello!
}
