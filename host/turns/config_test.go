package turns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

func acks(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }

// New refuses fields that have no effect, and names a missing one.
func TestNewRefusesWhatItWouldIgnore(t *testing.T) {
	const config, chat = host.CodeInvalidTurnRunnerConfig, host.CodeChatInvalidOptions
	place := turns.NewHost(turns.HostOptions{Engine: native.New()})
	engine := &model.Engine{Generate: scripted(nil).Generate}
	for name, c := range map[string]struct {
		config turns.Config
		code   host.Code
		says   string
	}{
		"a host and an engine": {
			turns.Config{Executor: acks, Host: place, Engine: native.New()}, config, "`engine` cannot be given beside a host, which has its own",
		},
		"a model without a name": {
			turns.Config{Model: turns.Model{Provider: model.Anthropic, APIKey: "k"}},
			config, "`model.name` must be a non-empty string when `model.engine` is not given",
		},
		"options without a name": {
			turns.Config{Model: turns.Model{Options: map[string]any{"temperature": 0}}, Schema: `{"type": "object"}`, WhenBusy: "wait"},
			config, "`whenBusy` must be \"queue\" or \"refuse\"; `model.name` must be a non-empty string when `model.engine` is not given",
		},
		"an executor and a key": {
			turns.Config{Executor: acks, Model: turns.Model{APIKey: "k"}}, config, "exactly one of `model` and `executor` is required",
		},
		"a schema alone": {turns.Config{Executor: acks, Schema: `{"type": "object"}`}, config, "`schema` needs a `model`"},
		"an engine with a key": {
			turns.Config{Model: turns.Model{Engine: engine, APIKey: "k"}}, config, "`model.apiKey` cannot be given beside `model.engine`",
		},
		"an engine with a provider": {
			turns.Config{Model: turns.Model{Engine: engine, Provider: model.Anthropic}}, chat, "`provider` cannot be given beside an engine",
		},
		"an engine with an address": {
			turns.Config{Model: turns.Model{Engine: engine, BaseURL: "https://api.example.com"}}, chat, "baseURL",
		},
		"two names": {
			turns.Config{Model: turns.Model{Name: "m", Options: map[string]any{"model": "n"}}},
			chat, "exactly one of `model` and `options.model` is required",
		},
		"two schemas": {
			turns.Config{Model: turns.Model{Name: "m", Options: map[string]any{"schema": true}}, Schema: `{"type": "object"}`},
			chat, "exactly one of `schema` and `options.schema` is required",
		},
	} {
		if c.config.Host == nil {
			c.config.Engine = native.New()
		}
		r, err := turns.New(t.Context(), c.config)
		if !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", name, err, c.says)
		}
		if r != nil {
			_ = r.Close()
		}
	}
}

// Two tools of one name are found before a turn runs. A TurnRunner, which gets its tools for each turn, finds them
// then.
func TestTwoToolsOfOneName(t *testing.T) {
	named := func(name string) *turns.Tool {
		return turns.NewTool(name, "a tool", func(*turns.DispatchContext, struct{}) (string, error) { return "", nil })
	}
	tools := []*turns.Tool{named("add"), named("sum"), named("add")}
	_, err := turns.New(t.Context(), turns.Config{Executor: acks, Tools: tools, Engine: native.New()})
	if !errors.Is(err, host.CodeToolAlreadyRegistered) || !strings.HasSuffix(err.Error(), "add: it is the name of tools[0] and of tools[2]") {
		t.Error(err)
	}
	r := newRunner(t, turns.TurnRunnerConfig{
		Callbacks: noStorage(), Executor: acks, Tools: tools, Host: turns.NewHost(turns.HostOptions{Engine: native.New()}),
	})
	if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "Hi!"}); !errors.Is(err, host.CodeToolAlreadyRegistered) {
		t.Error(err)
	}
}
