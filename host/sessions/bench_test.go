package sessions_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/full"
)

// BenchmarkInvocation is one invocation with a tool call that writes state: in a session of its own, and in one that has
// some already.
func BenchmarkInvocation(b *testing.B) {
	engines := []host.Engine{native.New()}
	if module, ok := full.Module(); ok {
		e, err := wazero.New(b.Context(), module)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { e.Close(context.Background()) }) //nolint:errcheck // the benchmark ends
		engines = append(engines, e)
	}
	for _, engine := range engines {
		b.Run(engine.Name()+"/new", func(b *testing.B) {
			r := capitals(b, engine)
			b.ReportAllocs()
			for b.Loop() {
				ask(b, r, create(b, r))
				if err := r.Sessions().Delete(b.Context(), "u", "s"); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, before := range []int{0, 50, 5000} {
			b.Run(engine.Name()+"/after-"+strconv.Itoa(before), func(b *testing.B) {
				r := capitals(b, engine)
				id := create(b, r)
				for range before {
					ask(b, r, id)
				}
				b.ReportAllocs()
				for b.Loop() {
					ask(b, r, id)
				}
			})
		}
	}
}

func create(b *testing.B, r *sessions.Runner) string {
	s, err := r.Sessions().Create(b.Context(), "u", "s", nil)
	if err != nil {
		b.Fatal(err)
	}
	return s.ID
}

func ask(b *testing.B, r *sessions.Runner, id string) {
	events := 0
	for _, err := range r.Run(b.Context(), sessions.Input{User: "u", Session: id, Message: sessions.Text("What's the capital of France?")}) {
		if err != nil {
			b.Fatal(err)
		}
		events++
	}
	if events != 3 {
		b.Fatal(events)
	}
}

func capitals(b *testing.B, engine host.Engine) *sessions.Runner {
	capital := sessions.NewTool("capital_of", "Returns the capital of a country.",
		func(ctx *sessions.ToolContext, in struct {
			Country string `json:"country"`
		},
		) (map[string]any, error) {
			return map[string]any{"result": "Paris"}, ctx.State().Set("last_country", in.Country)
		})
	model := func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		request, err := ctx.Request()
		if err != nil {
			return err
		}
		last := request.Contents[len(request.Contents)-1]
		if last.Parts[0].FunctionResponse == nil {
			call := sessions.FunctionCall{Name: "capital_of", Args: map[string]any{"country": "France"}}
			return yield(&sessions.Response{Content: sessions.ModelCall(call), TurnComplete: true})
		}
		return yield(&sessions.Response{Content: sessions.ModelText("The capital of France is Paris."), TurnComplete: true})
	}
	r, err := sessions.New(b.Context(), sessions.Config{
		App:    "bench",
		Agent:  &sessions.LLMAgent{Name: "root", Description: "Answers geography questions.", Instruction: "Answer briefly.", Executor: model, Tools: []*turns.Tool{capital}},
		Engine: engine,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() }) //nolint:errcheck // the benchmark ends
	return r
}
