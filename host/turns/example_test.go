package turns_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
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

// A turn that runs elsewhere looks like one that runs here.
func ExampleNewStream() {
	stream := turns.NewStream(context.Background(), func(_ context.Context, tell func(event.Event)) (*turns.Result, error) {
		tell(&event.Message{Head: event.Head{Seq: 1}, StreamDelta: event.StreamDelta{ID: "m", Delta: "Hi!", Full: "Hi!", IsComplete: true}})
		return &turns.Result{Status: event.Ack, Text: "Hi!"}, nil
	})
	for ev, err := range stream.Events() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ev.Kind())
	}
	// Output: message
}

// A handler that answers with a turn.
func ExampleServeSSE() {
	runner, err := turns.New(context.Background(), turns.Config{Model: turns.Model{Name: "gpt-4o-mini", BaseURL: baseURL, APIKey: "…"}})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := turns.ServeSSE(w, r, runner.Stream(r.Context(), turns.Input{Message: "Hello!"})); err != nil {
			log.Print(err) // the client has gone away
		}
	}))
	defer server.Close()
	response, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.Header.Get("Content-Type"))
	_, _ = io.Copy(io.Discard, response.Body)
	// Output: text/event-stream
}
