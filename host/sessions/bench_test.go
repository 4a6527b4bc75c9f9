package sessions_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// lookUp is a model that asks for the tool, and answers when it has the result.
func lookUp(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
	request, err := ctx.Request()
	if err != nil {
		return err
	}
	content := sessions.ModelText("The capital of France is Paris.")
	if last := request.Contents[len(request.Contents)-1]; last.Parts[0].FunctionResponse == nil {
		content = sessions.ModelCall(sessions.FunctionCall{Name: "capital_of", Args: map[string]any{"country": "France"}})
	}
	return yield(&sessions.Response{Content: content, TurnComplete: true})
}

// BenchmarkInvocation measures an invocation whose model asks for one tool call, which writes a value of the state. A
// session has 100 of them.
func BenchmarkInvocation(b *testing.B) {
	capital := sessions.NewTool("capital_of", "Returns the capital of a country.",
		func(ctx *sessions.ToolContext, in struct {
			Country string `json:"country"`
		},
		) (map[string]any, error) {
			return map[string]any{"result": "Paris"}, ctx.State().Set("last_country", in.Country)
		})
	agent := &sessions.LLMAgent{
		Name: "root", Description: "Answers questions about geography.", Instruction: "Answer briefly.", Tools: []*turns.Tool{capital},
		Executor: lookUp,
	}
	for _, engine := range hosttest.Engines(b) {
		b.Run(engine.Name(), func(b *testing.B) {
			ctx := context.Background()
			r, err := sessions.New(ctx, sessions.Config{App: "bench", Agent: agent, Engine: engine})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = r.Close() })
			id, n := "s", 0
			b.ReportAllocs()
			for b.Loop() {
				if n%100 == 0 {
					if err := r.Sessions().Delete(ctx, "user", id); err != nil {
						b.Fatal(err)
					}
					id = "s" + strconv.Itoa(n)
					if _, err := r.Sessions().Create(ctx, "user", id, nil); err != nil {
						b.Fatal(err)
					}
				}
				n++
				events := 0
				for _, err := range r.Run(ctx, sessions.Input{User: "user", Session: id, Message: sessions.Text("What is the capital of France?")}) {
					if err != nil {
						b.Fatal(err)
					}
					events++
				}
				if events != 3 {
					b.Fatalf("%d events, want 3", events)
				}
			}
		})
	}
}
