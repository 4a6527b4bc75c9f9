package turns_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// chunk is a piece of a model's streamed answer.
type chunk struct {
	text     string
	tool, id string
	args     map[string]any
}

// client is a model's client, scripted: one list of chunks for each call.
type client struct{ answers [][]chunk }

func (c *client) stream(ctx context.Context) ([]chunk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer := c.answers[0]
	c.answers = c.answers[1:]
	return answer, nil
}

// Executor over a client of a model: it streams what comes, runs the tools that the model asks for inside the
// iteration, stores complete records, and signals when the answer is there.
func ExampleExecutor() {
	weather := &turns.Tool{
		Name: "weather", Description: "Tells the weather of a city.",
		InputSchema: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`,
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
			return "4 °C in " + args.String("city"), nil
		},
	}
	model := &client{answers: [][]chunk{
		{{tool: "weather", id: "c1", args: map[string]any{"city": "Oslo"}}},
		{{text: "It is "}, {text: "cold."}},
	}}
	executor := func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		chunks, err := model.stream(ctx) // the dispatch's abort is the context's
		if err != nil {
			return err
		}
		var text strings.Builder
		called := false
		for _, c := range chunks {
			if c.tool == "" {
				text.WriteString(c.text)
				if err := h.ReportMessage("answer", c.text, false); err != nil { // the delta, not the text so far
					return err
				}
				continue
			}
			called = true
			if err := h.ReportToolCall(c.id, event.ToolCallReport{Tool: c.tool, Args: c.args}); err != nil {
				return err
			}
			result, err := ctx.Tools().Get(c.tool).Executor(ctx)(c.args)
			if err != nil {
				return err
			}
			if err := h.ReportToolCall(c.id, event.ToolCallReport{Results: result, IsComplete: true}); err != nil {
				return err
			}
			checksum, err := record.ToolCallChecksum(c.tool, c.args)
			if err != nil {
				return err
			}
			record := &record.ToolCall{
				ID: c.id, Tool: c.tool, Args: []byte(`{"city":"Oslo"}`), Checksum: checksum, Results: result.(string),
				IsComplete: true, CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0), CompletedAt: time.Unix(1, 0),
			}
			if err := ctx.StoreToolCall(record); err != nil {
				return err
			}
		}
		if called {
			return nil // the next iteration sees the results
		}
		if err := h.ReportMessage("answer", "", true); err != nil {
			return err
		}
		if err := ctx.StoreMessage(record.NewMessage("answer", record.Assistant, text.String(), time.Unix(2, 0))); err != nil {
			return err
		}
		return ctx.Ack()
	}
	store := store.NewInMemory()
	runner, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Callbacks: turns.StoreCallbacks(store), Executor: executor, Tools: []*turns.Tool{weather},
		DispatchOutputPipeline: []turns.DispatchMiddleware{func(ctx *turns.DispatchContext, next func()) error {
			fmt.Println("iteration", ctx.Iteration(), "calls", ctx.TurnToolCalls().Len())
			next()
			return nil
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, err := runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "Be brief.", Text: "Weather?"})
	fmt.Println(result.Status, result.Text, err)
	// Output:
	// iteration 0 calls 1
	// iteration 1 calls 1
	// ack It is cold. <nil>
}

// The bounds of the loop are middleware: over the iterations, and over how often the model asks for the same.
func ExampleDispatchMiddleware() {
	errRepeats := errors.New("the model repeats itself")
	checksum, err := record.ToolCallChecksum("search", nil)
	if err != nil {
		log.Fatal(err)
	}
	bounds := func(ctx *turns.DispatchContext, next func()) error {
		if ctx.Iteration() >= 10 {
			return ctx.Nack(errors.New("too many iterations"))
		}
		if n, err := ctx.ToolCallCount(checksum); err != nil {
			return err
		} else if n >= 3 {
			return ctx.Nack(errRepeats)
		}
		next()
		return nil
	}
	runner, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Callbacks: turns.StoreCallbacks(store.NewInMemory()),
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			return ctx.StoreToolCall(&record.ToolCall{
				ID: fmt.Sprint("c", ctx.Iteration()), Tool: "search", Args: []byte(`{}`), Checksum: checksum, Results: "nothing",
				IsComplete: true, CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0), CompletedAt: time.Unix(1, 0),
			})
		},
		DispatchOutputPipeline: []turns.DispatchMiddleware{bounds},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	result, _ := runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "x"})
	fmt.Println(result.Status, result.Iterations, result.Err == errRepeats)
	// Output: nack 3 true
}

// A planner: a dispatch of its own inside a turn. It starts with the turn's collections, and what it stores is there
// for the turn's own dispatch.
func ExampleDispatch_planner() {
	plan := func(ctx *turns.TurnContext, next func()) error {
		_, err := turns.Dispatch(ctx, turns.DispatchInput{
			Source: ctx,
			Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
				if err := d.StoreThought(record.NewThought("plan", "First look, then leap.", time.Unix(1, 0))); err != nil {
					return err
				}
				return d.Ack()
			},
			OnEvent: func(ev event.Event) {
				if end, ok := ev.(*event.DispatchEnd); ok {
					fmt.Println("planned:", end.Status)
				}
			},
		})
		if err != nil {
			return err
		}
		next()
		return nil
	}
	runner, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Callbacks:         turns.StoreCallbacks(store.NewInMemory()),
		TurnInputPipeline: []turns.TurnMiddleware{plan},
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			for thought := range ctx.TurnThoughts().All() {
				fmt.Println("plan:", thought.Content)
			}
			return ctx.Ack()
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer runner.Close()
	if _, err := runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "x"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// planned: ack
	// plan: First look, then leap.
}

// A summariser: a dispatch without a turn, over a conversation that is over. Nothing bubbles up.
func ExampleDispatch_summariser() {
	at := time.Unix(1, 0)
	result, err := turns.Dispatch(context.Background(), turns.DispatchInput{
		Raw: &turns.RawContext{
			Callbacks: turns.StoreCallbacks(store.NewInMemory()), SystemPrompt: "Summarise.",
			Messages: []*record.Message{record.NewMessage("a", record.User, "one", at), record.NewMessage("b", record.Assistant, "two", at)},
		},
		Executor: func(ctx *turns.DispatchContext, h *turns.Helpers) error {
			if err := h.ReportMessage("summary", fmt.Sprint(ctx.TurnMessages().Len(), " messages"), true); err != nil {
				return err
			}
			return ctx.Ack()
		},
		OnEvent: func(ev event.Event) {
			if message, ok := ev.(*event.Message); ok {
				fmt.Println(message.Delta)
			}
		},
	})
	fmt.Println(result.Status, result.Iterations, err)

	// Exactly one of Source and Raw.
	_, err = turns.Dispatch(context.Background(), turns.DispatchInput{
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() },
	})
	fmt.Println(errors.Is(err, host.CodeInvalidLLMDispatchInput))
	// Output:
	// 2 messages
	// ack 1 <nil>
	// true
}

// A nack fails with the very error; an error that an executor returns is wrapped.
func ExampleDispatchContext_Nack() {
	errQuota := errors.New("quota used up")
	for _, executor := range []turns.Executor{
		func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Nack(errQuota) },
		func(*turns.DispatchContext, *turns.Helpers) error { return errQuota },
	} {
		runner, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
			Callbacks: turns.StoreCallbacks(store.NewInMemory()), Executor: executor,
		})
		if err != nil {
			log.Fatal(err)
		}
		result, _ := runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "x"})
		fmt.Println(result.Status, result.Err == errQuota, errors.Is(result.Err, host.CodeLLMExecutionExecutorError), errors.Is(result.Err, errQuota))
		if err := runner.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// nack true false true
	// nack false true true
}
