package turns_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// The provider that these examples talk to, in place of a real one.
var baseURL = httptest.NewServer(&simulated.Provider{}).URL + "/v1"

// Hello, world: a conversation with a model, streamed.
func Example() {
	ctx := context.Background()
	runner, err := turns.New(ctx, turns.Config{Model: turns.Model{Name: "gpt-4o-mini", BaseURL: baseURL, APIKey: "…"}})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	for ev, err := range runner.Stream(ctx, turns.Input{Message: "Hello!"}).Events() {
		if err != nil {
			log.Fatal(err)
		}
		if message, ok := ev.(*event.Message); ok {
			fmt.Print(message.Delta)
		}
	}
	// Output: You said: Hello!
}

// A tool: the model may call it as often as it likes, up to the bound on iterations.
func ExampleTool() {
	ctx := context.Background()
	weather := &turns.Tool{
		Name:        "weather",
		Description: "Tells the weather of a city.",
		InputSchema: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`,
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			return "sunny in " + args.String("city"), nil
		},
	}
	runner, err := turns.New(ctx, turns.Config{
		Model: turns.Model{Name: "gpt-4o-mini", BaseURL: baseURL}, Tools: []*turns.Tool{weather},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(ctx, turns.Input{Message: "Use weather for city Paris"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.ToolCalls[0].Tool, string(result.ToolCalls[0].Args), result.ToolCalls[0].Results)
	// Output: ack weather {"city":"Paris"} sunny in Paris
}

// An executor of one's own, with storage and policy around it.
func ExampleNewTurnRunner() {
	store := store.NewInMemory()
	runner, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Callbacks:         turns.StoreCallbacks(store),
		TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(store)},
		MaxIterations:     8,
		Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("m1", fmt.Sprintf("I have %d message(s).", ctx.TurnMessages().Len()), true); err != nil {
				return err
			}
			return ctx.Ack()
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "Be brief.", Text: "Hi!"})
	fmt.Println(result.Status, result.Text, err)
	// Output: ack I have 1 message(s). <nil>
}
