package turns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/middleware"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// byteBudget runs a turn of a model with a long history, whose request may have so many bytes: a token is a byte. It
// returns the requests, the bytes that were counted before each, and the turn's result.
func byteBudget(t *testing.T, h *turns.Host, limit int, options map[string]any, turnsBefore int) (requests []string, counted []int, result *turns.Result) {
	t.Helper()
	provider, err := hosttest.NewProvider(1, asks("c1", "shot", `{}`), hosttest.Response{Body: answer})
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	at := func(i int) time.Time { return time.UnixMilli(int64(1000 + i)).UTC() }
	config := turns.TurnRunnerConfig{
		Chat: &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1", Options: options},
		Tools: []*turns.Tool{{
			Name: "shot", Description: "Takes a picture", InputSchema: json.RawMessage(`{"type":"object"}`),
			Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return strings.Repeat("é\n", 40), nil },
		}},
		Tokenizers: map[string]record.Tokenizer{"bytes": func(texts []string) ([]int, error) {
			counts := make([]int, len(texts))
			for len(counted) < len(provider.Requests())+1 {
				counted = append(counted, 0)
			}
			for i, text := range texts {
				counts[i] = len(text)
				counted[len(counted)-1] += len(text)
			}
			return counts, nil
		}},
		DispatchInputPipeline: []turns.DispatchMiddleware{middleware.TokenBudget(middleware.Budget{Encoding: "bytes", Limit: limit})},
		TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			var failed error
			for i := range turnsBefore {
				failed = errors.Join(
					failed,
					ctx.TurnMessages().Add(record.NewMessage(fmt.Sprint("u", i), record.User, strings.Repeat("\"q\" ", 30), at(3*i))),
					ctx.TurnThoughts().Add(record.NewThought(fmt.Sprint("t", i), strings.Repeat("hm ", 99), at(3*i+1))), // is not sent
					ctx.TurnMessages().Add(record.NewMessage(fmt.Sprint("a", i), record.Assistant, strings.Repeat("é", 50), at(3*i+2))),
				)
			}
			failed = errors.Join(failed, ctx.TurnMemories().Add(record.NewMemory("y", strings.Repeat("tea ", 20), 1, 1, at(0))))
			next()
			return failed
		}},
	}
	_, result = play(t, h, config, turns.TurnInput{SystemPrompt: "Be brief.", Text: "And?"})
	for _, r := range provider.Requests() {
		requests = append(requests, string(r.Body))
	}
	return requests, counted, result
}

// What the budget measures is the request, byte for byte: one that just fits goes out as it is, and of one that is a
// byte too long no more goes than must.
func TestBudgetMeasuresTheRequest(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		all, counted, result := byteBudget(t, h, 1<<30, nil, 20)
		if result.Status != event.Ack || len(all) != 2 || counted[0] < len(all[0]) {
			t.Fatalf("%+v, %d requests, counted %v", result, len(all), counted)
		}
		// What an earlier request held is not counted again.
		if added := len(all[1]) - len(all[0]); counted[1] > added+200 {
			t.Errorf("counted %d bytes for %d more", counted[1], added)
		}
		if again, _, _ := byteBudget(t, h, len(all[1]), nil, 20); len(again) != 2 || len(again[0]) != len(all[0]) || len(again[1]) != len(all[1]) { // nonces differ
			t.Errorf("%d bytes do not fit in %d", len(all[1]), len(all[1]))
		}
		fits := func(limit int) []string {
			some, _, result := byteBudget(t, h, limit, nil, 20)
			if result.Status != event.Ack || len(some) != 2 || len(some[0]) > limit || len(some[1]) > limit {
				t.Fatalf("limit %d: %+v, %d requests", limit, result, len(some))
			}
			return some
		}
		const unit = 250 // a message at the most, with what stands around it
		for _, limit := range []int{len(all[0]) - 1, len(all[0]) - 1000, len(all[0]) / 2, len(all[0]) / 4} {
			if some := fits(limit); len(some[0]) < limit-unit || !strings.Contains(some[0], "tea tea") || !strings.Contains(some[0], "And?") {
				t.Errorf("limit %d: %s", limit, some[0])
			}
		}
		// What must stay is measured too.
		bare, _, _ := byteBudget(t, h, 1<<30, nil, 0)
		_, _, result = byteBudget(t, h, 100, nil, 20)
		var e *host.Error
		if !errors.As(result.Err, &e) || e.Code != "E_TOKEN_BUDGET" {
			t.Fatalf("%+v", result)
		}
		var needed, available int
		if _, err := fmt.Sscanf(e.Message[strings.Index(e.Message, ": ")+2:], "%d tokens are needed, %d are available", &needed, &available); err != nil || available != 100 {
			t.Fatalf("%v: %v", err, e)
		}
		if without := len(bare[0]) - needed; without < 100 || without > unit { // the memory may go
			t.Errorf("%d bytes are needed, the request has %d with the memory", needed, len(bare[0]))
		}
	})
}

// Where the executor cannot tell what it would send, its own error stands.
func TestBudgetOfWhatCannotBeSent(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		in := attached(record.UserAttachment(record.Video, "video/mp4", "v.mp4", record.NewBlob(pixels(9))))
		_, result := play(t, h, turns.TurnRunnerConfig{
			Chat:                  &model.ChatOptions{Model: "m", BaseURL: "http://127.0.0.1:1", Options: map[string]any{"unsupportedMedia": "error"}},
			DispatchInputPipeline: []turns.DispatchMiddleware{middleware.TokenBudget(middleware.Budget{Encoding: "claude", Limit: 10})},
		}, in)
		if !errors.Is(result.Err, host.Code("E_CHAT_UNSUPPORTED_MEDIA")) {
			t.Errorf("%+v", result)
		}
	})
}
