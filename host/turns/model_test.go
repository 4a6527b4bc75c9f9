package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// weather is a tool, and what an engine writes to call it.
var weather = &turns.Tool{
	Name: "get_weather", Description: "Weather in a city",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
		return "4 degrees in " + args.String("city"), nil
	},
}

// scripted is an engine that calls the tool and then says what it has heard.
func scripted(requests *[]model.Request) *model.Engine {
	return &model.Engine{
		Name: "scripted", Capabilities: model.Capabilities{Grammar: "gbnf", ToolFormat: "hermes"},
		Generate: func(_ context.Context, r *model.Request, send func(model.Part) error) error {
			*requests = append(*requests, *r)
			text := "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"
			if strings.Contains(r.Messages[len(r.Messages)-1].Content, "4 degrees in Oslo") {
				text = "It is 4 degrees <ä>. " + strings.Repeat("x", 200_000)
			}
			for len(text) > 0 {
				n := min(len(text), 50_000)
				if len(text) < 1000 {
					n = min(len(text), 5)
				}
				if err := send(model.Part{Text: text[:n]}); err != nil {
					return err
				}
				text = text[n:]
			}
			return send(model.Part{Usage: &model.Usage{PromptTokens: 7, CompletionTokens: 3}, Finish: "stop"})
		},
	}
}

func TestModelEngine(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var requests []model.Request
		var log bytes.Buffer
		_, result := play(t, h, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Engine: scripted(&requests), Options: map[string]any{"seed": 3}}, Tools: []*turns.Tool{weather}}, turns.TurnInput{Text: "Hi!", Journal: &log})
		if result.Status != event.Ack || !strings.HasPrefix(result.Text, "It is 4 degrees <ä>. xxx") || len(result.Text) != 200_022 {
			t.Fatalf("%v %v %d %.100q", result.Status, result.Err, len(result.Text), result.Text)
		}
		if len(requests) != 2 || requests[0].Options["seed"] != 3.0 || !strings.Contains(requests[0].Grammar, "get_weather") || requests[0].Tools != nil {
			t.Errorf("requests %+v", requests)
		}
		for _, other := range hosttest.Engines(t) {
			r, err := journal.NewReader(bytes.NewReader(log.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if n, err := journal.Replay(t.Context(), other, r); err != nil || n < 4 {
				t.Errorf("replay on %s: %d entries, %v", other.Name(), n, err)
			}
		}
	})
}

func TestModelEngineFails(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		type send = func(model.Part) error
		for name, c := range map[string]struct {
			generate func(context.Context, *model.Request, send) error
			want     host.Code
		}{
			"fails": {func(context.Context, *model.Request, send) error { return errors.New("out of memory") }, host.CodeModelFailed},
			"refuses an option": {func(context.Context, *model.Request, send) error {
				return host.NewError(host.CodeChatInvalidOptions, "`seed` is not for engine mine", nil)
			}, host.CodeChatInvalidOptions},
			"panics": {func(context.Context, *model.Request, send) error { panic("boom") }, ""},
			"nonsense": {func(_ context.Context, _ *model.Request, s send) error {
				return s(model.Part{Usage: &model.Usage{PromptTokens: -1}})
			}, host.CodeModelInvalidPart},
			"error": {func(_ context.Context, _ *model.Request, s send) error {
				return s(model.Part{Error: &model.Error{Message: "no"}})
			}, host.CodeChatProviderError},
			"nothing": {func(context.Context, *model.Request, send) error { return nil }, host.CodeChatEmptyResponse},
		} {
			_, result := play(t, h, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Engine: &model.Engine{Generate: c.generate}}}, turns.TurnInput{Text: "Hi!"})
			if result.Status == event.Ack || c.want != "" && !errors.Is(result.Err, c.want) {
				t.Errorf("%s: %v %v, want %v", name, result.Status, result.Err, c.want)
			}
		}
		for want, engine := range map[string]*model.Engine{
			"`engine.generate` must be a function": {},
			"`capabilities.grammar` must be one of gbnf, schema, none": {
				Capabilities: model.Capabilities{Grammar: "bnf"}, Generate: scripted(nil).Generate,
			},
		} {
			_, err := turns.New(t.Context(), turns.Config{Model: turns.Model{Engine: engine}})
			if !errors.Is(err, host.CodeChatInvalidOptions) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}

// What New refuses is said by the fields of its Config, together with all else that is wrong.
func TestNewNamesTheFieldsOfItsConfig(t *testing.T) {
	ack := func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }
	for name, config := range map[string]turns.Config{
		"neither": {},
		"both":    {Executor: ack, Model: turns.Model{Name: "m"}},
	} {
		config.WrapTool = []turns.ToolWrapper{nil}
		_, err := turns.New(t.Context(), config)
		const want = "exactly one of `model` and `executor` is required; `wrapTool[0]` must be a function"
		if !errors.Is(err, host.CodeInvalidTurnRunnerConfig) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// Who cancels the run is not kept waiting: the engine's context is done at once, and what it sends later is refused.
func TestModelEngineStops(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var late error
		engine := &model.Engine{Generate: func(ctx context.Context, _ *model.Request, send func(model.Part) error) error {
			if err := send(model.Part{Text: "a"}); err != nil {
				return err
			}
			cancel()
			<-ctx.Done()
			late = send(model.Part{Text: "b"})
			return late
		}}
		r := newRunner(t, turns.TurnRunnerConfig{Callbacks: noStorage(), Chat: &model.ChatOptions{Engine: engine}, Host: h})
		result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test", Text: "Hi!"}))
		if err != nil || result.Status != event.Aborted || late == nil {
			t.Errorf("%+v, %v; late %v", result, err, late)
		}
	})
}
