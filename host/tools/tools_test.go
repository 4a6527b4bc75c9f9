package tools_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi/catalogue"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/builtin/builtintest"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
	_ "github.com/turncore/turncore/wasm/full"
)

var at = time.UnixMilli(1767225600000)

// with runs a turn whose executor uses a tool.
func with(
	t *testing.T, h *turns.Host, tool *turns.Tool, executor func(ctx *turns.DispatchContext) error,
) *turns.Result {
	t.Helper()
	return builtintest.Run(t, h, turns.TurnRunnerConfig{
		Tools:    []*turns.Tool{tool},
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return executor(ctx) },
	}, "test")
}

// The tools of the catalogue run inside the core, are validated by their schemas, and answer like any tool.
func TestCatalogue(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		tools := append([]*turns.Tool{tools.Time(), tools.Calculator(), tools.Retrievables(), tools.Artifacts()}, tools.Memory()...)
		if len(tools)+1 != len(catalogue.Tools) { // fetch has tests of its own
			t.Errorf("%d tools of %d", len(tools)+1, len(catalogue.Tools))
		}
		var stored []string
		executions := 0
		callbacks := turns.StoreCallbacks(store.NewInMemory())
		callbacks.StoreMemory = func(_ turns.Context, m *record.Memory) error { stored = append(stored, "store "+m.Content); return nil }
		callbacks.DeleteMemory = func(_ turns.Context, id string) error { stored = append(stored, "delete "+id); return nil }
		result := builtintest.Run(t, h, turns.TurnRunnerConfig{
			Callbacks: callbacks, Tools: tools,
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				m := &record.Memory{ID: "old", Content: "Likes tea", Confidence: 1, Importance: 0.1, CreatedAt: at, UpdatedAt: at}
				r := &record.Retrievable{
					ID: "doc", Content: "one\nTwo things\nthree", TrustTier: record.FirstParty, Inline: true, CreatedAt: at, UpdatedAt: at,
				}
				if err := errors.Join(ctx.TurnMemories().Add(m), ctx.TurnRetrievables().Add(r)); err != nil {
					return err
				}
				next()
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				call := func(name, args, want string) {
					t.Helper()
					tool := ctx.Tools().Get(name)
					if tool == nil {
						t.Fatalf("there is no %s", name)
					}
					v, err := tool.Executor(ctx)(args)
					got, _ := json.Marshal(v)
					if err != nil {
						got = []byte(err.Error())
					}
					if !strings.Contains(string(got), want) {
						t.Errorf("%s %s: %s, want %s", name, args, got, want)
					}
				}
				call("calculator", `{"expression":"2 + 3 * sqrt(16) ^ 2"}`, `50`)
				call("calculator", `{"expression":"1 / 0"}`, "E_TOOL_DOWNSTREAM_ERROR: The tool's handler failed: The expression cannot be calculated: division by zero at character 3")
				call("calculator", `{"expression":""}`, "E_INVALID_TOOL_ARGS")
				call("time", `{}`, `+00:00, `)
				call("time", `{"offset":"CET"}`, "E_INVALID_TOOL_ARGS")
				call("remember", `{"content":"Owns a cat","importance":0.9}`, `"id":"`)
				call("recall", `{}`, `"content":"Owns a cat"`)
				call("recall", `{"query":"TEA likes"}`, `[{"content":"Likes tea","id":"old"}]`)
				call("forget", `{"id":"old"}`, "forgotten")
				call("forget", `{"id":"old"}`, "there is no memory with the id old")
				call("search_retrievables", `{"query":"two"}`, `[{"id":"doc","line":1,"text":"Two things"}]`)
				call("search_artifacts", `{"query":"two"}`, `[]`)
				return ctx.Ack()
			},
		}, "test", func(r *turns.TurnRunner) { turns.Listen(r, func(*event.ToolExecutionStart) { executions++ }) })
		if want := []string{"store Owns a cat", "delete old"}; result.Status != event.Ack || !slices.Equal(stored, want) {
			t.Errorf("%s, %v, stored %q", result.Status, result.Err, stored)
		}
		if executions != 10 {
			t.Errorf("%d executions", executions)
		}
	})
}

// A calculation's error has its code behind the tool's.
func TestCalculatorError(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		tool := tools.Calculator()
		with(t, h, tool, func(ctx *turns.DispatchContext) error {
			_, err := tool.Executor(ctx)(map[string]any{"expression": "2 +"})
			if !errors.Is(err, host.Code("E_TOOL_DOWNSTREAM_ERROR")) || !errors.Is(err, host.Code("E_TOOL_CALCULATION")) {
				t.Error(err)
			}
			return ctx.Ack()
		})
	})
}

// What a tool of the catalogue answers is plain data, as what a handler of Go returns.
func TestCatalogueAnswersPlainData(t *testing.T) {
	builtintest.OnEngines(t, func(t *testing.T, h *turns.Host) {
		tool := tools.Retrievables()
		doc := &record.Retrievable{ID: "doc", Content: "one\nTwo things", TrustTier: record.FirstParty, Inline: true, CreatedAt: at, UpdatedAt: at}
		with(t, h, tool, func(ctx *turns.DispatchContext) error {
			if err := ctx.TurnRetrievables().Add(doc); err != nil {
				return err
			}
			got, err := tool.Executor(ctx)(map[string]any{"query": "two"})
			want := []any{map[string]any{"id": "doc", "line": int64(1), "text": "Two things"}}
			if err != nil || !reflect.DeepEqual(got, any(want)) {
				t.Errorf("%#v, %v; want %#v", got, err, want)
			}
			return ctx.Ack()
		})
	})
}
