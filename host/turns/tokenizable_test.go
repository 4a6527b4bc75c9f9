package turns_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// G1, G5 and G6, outside of a turn.
func TestTokenizable(t *testing.T) {
	static := record.NewTokenizable(strings.Repeat("a", 35))
	if n, err := static.EstimateTokens(context.Background(), "claude"); n != 10 || err != nil || static.Dynamic() {
		t.Errorf("%d tokens, %v", n, err)
	}
	runs := 0
	static.SetDynamic(func(context.Context) (string, error) { runs++; return "ab", nil })
	for range 2 {
		if n, err := static.EstimateTokens(context.Background(), "claude"); n != 1 || err != nil || !static.Dynamic() {
			t.Errorf("%d tokens, %v", n, err)
		}
	}
	if runs != 1 {
		t.Errorf("the evaluator ran %d times for one count", runs)
	}
	if text, err := json.Marshal(static); string(text) != `"ab"` || err != nil || static.String() != "ab" {
		t.Errorf("%s, %v", text, err)
	}
	static.Set("fixed")
	if n, err := static.EstimateTokens(context.Background(), "other"); n != 2 || err != nil || static.Dynamic() {
		t.Errorf("%d tokens, %v", n, err)
	}

	cause := errors.New("no data")
	for name, evaluate := range map[string]record.TextEvaluator{
		"error": func(context.Context) (string, error) { return "x", cause },
		"panic": func(context.Context) (string, error) { panic("no data") },
		"nil":   nil,
	} {
		text := record.NewDynamicTokenizable(evaluate)
		got, err := text.Render(context.Background())
		var coded *host.Error
		if got != "" || !errors.As(err, &coded) || coded.Code != "E_TOKENIZABLE_EVALUATOR_INVALID" || text.String() != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if name == "error" && !errors.Is(err, cause) {
			t.Errorf("%s: the cause is lost: %v", name, err)
		}
		if _, err := text.EstimateTokens(context.Background(), "claude"); !errors.As(err, &coded) {
			t.Errorf("%s: estimated, %v", name, err)
		}
		now := time.Now()
		call := &record.ToolCall{ID: "c", Tool: "t", Args: json.RawMessage(`{}`), Checksum: "s", Results: text, CreatedAt: now, UpdatedAt: now, CompletedAt: now}
		if err := call.Validate(); !errors.As(err, &coded) || coded.Code != "E_TOKENIZABLE_EVALUATOR_INVALID" {
			t.Errorf("%s: %v", name, err)
		}
	}
	doc := record.NewRetrievable("r", "", record.FirstParty, time.Now())
	doc.Content = (*record.Tokenizable)(nil)
	if err := doc.Validate(); err == nil {
		t.Error("a document whose content is nil was accepted")
	}
}

// G3 and G4, and texts in records: what is dynamic stays, what is static is spooled.
func TestTokenizableInATurn(t *testing.T) {
	now := time.UnixMilli(1)
	runs := 0
	dynamic := record.NewDynamicTokenizable(func(ctx context.Context) (string, error) {
		runs++
		if d, ok := ctx.(*turns.DispatchContext); ok && d.Tools().Get("lookup") != nil {
			return "short", nil
		}
		return "a much longer text than that", nil
	})
	lookup := &turns.Tool{
		Name: "lookup", Description: "looks up", InputSchema: `{"type":"object"}`,
		Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return nil, nil },
	}
	done := false
	config := turns.TurnRunnerConfig{Callbacks: noStorage(), Tools: []*turns.Tool{lookup}}
	config.Executor = func(d *turns.DispatchContext, _ *turns.Helpers) error {
		for range 2 {
			if n, err := dynamic.EstimateTokens(d, "claude"); n != 2 || err != nil {
				t.Errorf("%d tokens, %v", n, err)
			}
		}
		if runs != 1 {
			t.Errorf("the evaluator ran %d times for one count", runs)
		}
		if n, err := dynamic.EstimateTokens(context.Background(), "claude"); n != 8 || err != nil {
			t.Errorf("%d tokens without a context, %v", n, err)
		}
		call := &record.ToolCall{
			ID: "c", Tool: "t", Args: json.RawMessage(`{}`), Checksum: "s", IsComplete: true, Results: dynamic,
			CreatedAt: now, UpdatedAt: now, CompletedAt: now,
		}
		if err := d.StoreToolCall(call); err != nil {
			t.Error(err)
		}
		kept := record.NewRetrievable("dynamic", "", record.FirstParty, now)
		kept.Content = dynamic
		if got, err := d.StoreRetrievable(kept); got != kept || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		static := record.NewRetrievable("static", "", record.FirstParty, now)
		static.Content = record.NewTokenizable("one\ntwo")
		got, err := d.StoreRetrievable(static)
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := got.Content.(*record.SpooledArtifact); !ok || !a.HasSizeHints() {
			t.Errorf("the content is %T", got.Content)
		}
		if text, err := kept.ContentString(d); text != "a much longer text than that" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if n, err := kept.EstimateTokens(d, "claude"); n != 2 || err != nil {
			t.Errorf("%d tokens, %v", n, err)
		}
		done = true
		return d.Ack()
	}
	result, err := newRunner(t, config).Run(t.Context(), turns.TurnInput{SystemPrompt: "x"})
	if err != nil || result.Status != event.Ack || !done {
		t.Errorf("%+v, %v", result, err)
	}
}

// Messages, memories and thoughts hold a text in place of Content: the core gets it as it reads when it crosses.
func TestTokenizableContent(t *testing.T) {
	now := time.UnixMilli(1)
	dynamic := record.NewDynamicTokenizable(func(context.Context) (string, error) { return "rendered", nil })
	broken := record.NewDynamicTokenizable(func(context.Context) (string, error) { return "", errors.New("no text") })
	m := &record.Message{ID: "m", Role: record.User, Tokenizable: dynamic, CreatedAt: now, UpdatedAt: now}
	y := &record.Memory{ID: "y", Tokenizable: dynamic, Confidence: 1, Importance: 1, CreatedAt: now, UpdatedAt: now}
	th := &record.Thought{ID: "t", Tokenizable: record.NewTokenizable("rendered"), CreatedAt: now, UpdatedAt: now}
	for _, text := range []func() (string, error){m.ContentString, y.ContentString, th.ContentString, record.NewMessage("n", record.User, "rendered", now).ContentString} {
		if got, err := text(); got != "rendered" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var stored *record.Message
		config := turns.TurnRunnerConfig{Callbacks: noStorage(), Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if err := errors.Join(ctx.StoreMessage(m), ctx.StoreMemory(y), ctx.StoreThought(th)); err != nil {
				return err
			}
			return ctx.Ack()
		}}
		config.StoreMessage = func(_ turns.Context, got *record.Message) error { stored = got; return nil }
		_, result := play(t, h, config, turns.TurnInput{})
		if result.Status != event.Ack || stored != m {
			t.Errorf("%+v, stored %v", result, stored)
		}
		provider, err := hosttest.NewProvider(1, says("ok"))
		if err != nil {
			t.Fatal(err)
		}
		defer provider.Close() //nolint:errcheck // nothing is read from it any more
		r := newRunner(t, turns.TurnRunnerConfig{Host: h, Chat: &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1"}})
		if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Message: m}); err != nil {
			t.Fatal(err)
		}
		if requests := provider.Requests(); len(requests) != 1 || !strings.Contains(string(requests[0].Body), `"content":"rendered"`) {
			t.Errorf("requests %q", requests)
		}
	})
	for name, c := range map[string]struct {
		err  error
		code error
	}{
		"twice in a message":  {(&record.Message{ID: "m", Role: record.User, Content: "x", Tokenizable: dynamic, CreatedAt: now, UpdatedAt: now}).Validate(), host.CodeInvalidInitialMessageValue},
		"twice in a memory":   {(&record.Memory{ID: "m", Content: "x", Tokenizable: dynamic, CreatedAt: now, UpdatedAt: now}).Validate(), host.CodeInvalidInitialMemoryValue},
		"twice in a thought":  {(&record.Thought{ID: "m", Content: "x", Tokenizable: dynamic, CreatedAt: now, UpdatedAt: now}).Validate(), host.CodeInvalidInitialThoughtValue},
		"broken in a message": {(&record.Message{ID: "m", Role: record.User, Tokenizable: broken, CreatedAt: now, UpdatedAt: now}).Validate(), host.CodeTokenizableEvaluatorInvalid},
		"broken in a memory":  {(&record.Memory{ID: "m", Tokenizable: broken, CreatedAt: now, UpdatedAt: now}).Validate(), host.CodeTokenizableEvaluatorInvalid},
		"broken in a thought": {(&record.Thought{ID: "m", Tokenizable: broken, CreatedAt: now, UpdatedAt: now}).Validate(), host.CodeTokenizableEvaluatorInvalid},
	} {
		if !errors.Is(c.err, c.code) {
			t.Errorf("%s: %v, want %v", name, c.err, c.code)
		}
	}
}
