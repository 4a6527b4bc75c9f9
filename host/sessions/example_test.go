package sessions_test

import (
	"context"
	"fmt"

	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// Example runs an agent with a tool. Its model is a function; LLMAgent.Model takes one behind an API.
func Example() {
	weather := sessions.NewTool("weather", "Tells the weather.",
		func(ctx *sessions.ToolContext, in struct {
			City string `json:"city"`
		},
		) (map[string]any, error) {
			return map[string]any{"sky": "clear"}, ctx.State().Set("city", in.City)
		})
	model := func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		request, err := ctx.Request()
		if err != nil {
			return err
		}
		if len(request.Contents) == 1 {
			call := sessions.FunctionCall{Name: "weather", Args: map[string]any{"city": "Paris"}}
			return yield(&sessions.Response{Content: sessions.ModelCall(call)})
		}
		return yield(&sessions.Response{Content: sessions.ModelText("It is clear.")})
	}
	ctx := context.Background()
	runner, err := sessions.New(ctx, sessions.Config{
		App:    "travel",
		Agent:  &sessions.LLMAgent{Name: "guide", Instruction: "Answer briefly.", Executor: model, Tools: []*turns.Tool{weather}},
		Engine: native.New(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer runner.Close() //nolint:errcheck // the program ends
	session, err := runner.Sessions().Create(ctx, "ada", "", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	in := sessions.Input{User: "ada", Session: session.ID, Message: sessions.Text("How is the weather in Paris?")}
	for event, err := range runner.Run(ctx, in) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.Author, len(event.FunctionCalls()), event.Text(), event.Actions.StateDelta)
	}
	// Output:
	// guide 1  map[]
	// guide 0  map[city:Paris]
	// guide 0 It is clear. map[]
}
