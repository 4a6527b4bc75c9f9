package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/turns"
)

const answer = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\"lo.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// chatHost is a host with a key for the server at url, and a runner's options for it.
func chatHost(t *testing.T, engine host.Engine, url string) (*turns.Host, *model.ChatOptions) {
	h := turns.NewHost(turns.HostOptions{
		Engine: engine, Verify: true, Clock: host.FixedClock(host.FixedTime),
		Credentials: map[string]model.Credential{"key": model.Bearer("secret", url)},
	})
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h, &model.ChatOptions{Model: "m", BaseURL: url + "/v1", Credential: "key"}
}

func runChat(t *testing.T, h *turns.Host, chat *model.ChatOptions, in turns.TurnInput) (*recorder, *turns.Result) {
	t.Helper()
	return play(t, h, turns.TurnRunnerConfig{Chat: chat}, in)
}

func TestChat(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, hosttest.Response{Body: answer})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			var log bytes.Buffer
			_, result := runChat(t, h, chat, turns.TurnInput{Text: "Hi!", Journal: &log})
			if result.Status != event.Ack || result.Text != "Hello." {
				t.Fatalf("%+v", result)
			}
			requests := provider.Requests()
			if len(requests) != 1 || requests[0].Header.Get("Authorization") != "Bearer secret" || requests[0].Path != "/v1/chat/completions" {
				t.Errorf("requests %+v", requests)
			}
			if bytes.Contains(log.Bytes(), []byte("secret")) {
				t.Error("the journal holds the credential")
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
}

// A turn with retries, their waits and their randomness replays on every engine.
func TestReplayOfRetries(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			date := http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:49:38 GMT"}, "Date": {"Sun, 06 Nov 1994 08:49:37 GMT"}}
			provider, err := hosttest.NewProvider(1,
				hosttest.Response{Status: 503, Header: date, Body: "busy"}, hosttest.Response{Break: -1},
				hosttest.Response{Body: `data: {"error":{"code":429,"message":"slow down"}}` + "\n\n"}, hosttest.Response{Body: answer},
			)
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			chat.Options = map[string]any{"retry": map[string]any{"maxAttempts": 4, "baseDelayMs": 8, "maxDelayMs": 20}}
			var log bytes.Buffer
			events, result := runChat(t, h, chat, turns.TurnInput{Text: "Hi!", Journal: &log})
			if result.Status != event.Ack || result.Text != "Hello." || len(provider.Requests()) != 4 {
				t.Fatalf("%+v after %d requests", result, len(provider.Requests()))
			}
			var reasons []string
			for _, line := range find[*event.Log](events) {
				var payload struct{ Reason string }
				if line.Type == "retry-attempt" && json.Unmarshal(line.Payload, &payload) == nil {
					reasons = append(reasons, payload.Reason)
				}
			}
			if want := []string{"http-status", "transport-error", "provider-error"}; !slices.Equal(reasons, want) {
				t.Errorf("reasons %q", reasons)
			}
			replays(t, &log)
		})
	}
}

func TestHTTPFailures(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, hosttest.Response{Break: -1}, hosttest.Response{Break: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			chat.Options = map[string]any{"retry": map[string]any{"maxAttempts": 2, "baseDelayMs": 1}}
			if _, result := runChat(t, h, chat, turns.TurnInput{Text: "Hi!"}); !errors.Is(result.Err, host.CodeHTTPTransport) {
				t.Errorf("broken connection: %v", result.Err)
			}
			unknown := *chat
			unknown.Credential = "other"
			if _, result := runChat(t, h, &unknown, turns.TurnInput{Text: "Hi!"}); !errors.Is(result.Err, host.CodeCredentialUnknown) {
				t.Errorf("unknown credential: %v", result.Err)
			}
			elsewhere := *chat
			elsewhere.BaseURL = "http://localhost:1/v1"
			if _, result := runChat(t, h, &elsewhere, turns.TurnInput{Text: "Hi!"}); !errors.Is(result.Err, host.CodeCredentialUnknown) {
				t.Errorf("a credential for another origin: %v", result.Err)
			}
			closed := turns.NewHost(turns.HostOptions{Engine: engine, AllowOrigin: func(string) bool { return false }})
			defer closed.Close(context.Background())
			if _, result := runChat(t, closed, &model.ChatOptions{Model: "m", BaseURL: provider.URL}, turns.TurnInput{Text: "Hi!"}); !errors.Is(result.Err, host.CodeHTTPNotAllowed) {
				t.Errorf("an origin that is not allowed: %v", result.Err)
			}
		})
	}
}

// A redirect to another origin loses the credential, one to a forbidden origin is not followed.
func TestRedirects(t *testing.T) {
	var seen []string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(answer))
	}))
	defer target.Close()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
	}))
	defer source.Close()
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			seen = nil
			h, chat := chatHost(t, engine, source.URL)
			if _, result := runChat(t, h, chat, turns.TurnInput{Text: "Hi!"}); !errors.Is(result.Err, host.CodeHTTPNotAllowed) {
				t.Errorf("redirect to an origin that nobody named: %v", result.Err)
			}
			if len(seen) != 1 {
				t.Errorf("the redirect was followed: %q", seen)
			}
			seen = nil
			wide := turns.NewHost(turns.HostOptions{
				Engine: engine, Credentials: map[string]model.Credential{chat.Credential: model.Bearer("secret", source.URL)},
				AllowOrigin: func(origin string) bool { return origin == source.URL || origin == target.URL },
			})
			defer wide.Close(context.Background())
			if _, result := runChat(t, wide, chat, turns.TurnInput{Text: "Hi!"}); result.Text != "Hello." {
				t.Errorf("%+v", result)
			}
			if len(seen) != 2 || seen[0] != "Bearer secret" || seen[1] != "" {
				t.Errorf("credentials sent: %q", seen)
			}
			narrow := turns.NewHost(turns.HostOptions{Engine: engine, AllowOrigin: func(origin string) bool { return origin == source.URL }})
			defer narrow.Close(context.Background())
			if _, result := runChat(t, narrow, &model.ChatOptions{Model: "m", BaseURL: source.URL}, turns.TurnInput{Text: "Hi!"}); !errors.Is(result.Err, host.CodeHTTPNotAllowed) {
				t.Errorf("redirect to a forbidden origin: %v", result.Err)
			}
		})
	}
}

func TestAbortDuringRequest(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, hosttest.Response{Body: strings.SplitAfterN(answer, "\n\n", 2)[0], Hold: true})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			r := newRunner(t, turns.TurnRunnerConfig{Chat: chat, Host: h})
			ctx, cancel := context.WithCancel(t.Context())
			turns.Listen(r, func(*event.Message) { cancel() })
			result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test", Text: "Hi!"}))
			if err != nil || result.Status != event.Aborted {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

// The front door, with a tool, against the simulated provider.
func TestFrontDoor(t *testing.T) {
	server := httptest.NewServer(&simulated.Provider{})
	defer server.Close()
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			tool := calc()
			runner, err := turns.New(t.Context(), turns.Config{
				Model: turns.Model{Name: "simulated", BaseURL: server.URL + "/v1", APIKey: "k"}, Tools: []*turns.Tool{tool}, Engine: engine,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			stream := runner.Stream(t.Context(), turns.Input{Message: "Please use calc with a = 41", Session: "s"})
			kinds := map[event.Kind]int{}
			for ev, err := range stream.Events() {
				if err != nil {
					t.Fatal(err)
				}
				kinds[ev.Kind()]++
			}
			result, err := stream.Result()
			if err != nil || result.Status != event.Ack || len(result.ToolCalls) != 1 || result.Text == "" {
				t.Fatalf("%+v, %v", result, err)
			}
			if kinds[event.KindTurnStart] != 1 || kinds[event.KindTurnEnd] != 1 || kinds[event.KindToolExecutionEnd] != 1 {
				t.Errorf("events %v", kinds)
			}
			// A second turn begins with what the first one left.
			if result, err = runner.Run(t.Context(), turns.Input{Message: "And now?", Session: "s"}); err != nil || result.Status != event.Ack {
				t.Fatalf("%+v, %v", result, err)
			}
			records, err := runner.Store().Load(t.Context(), "s", "")
			if err != nil || len(records.Messages) < 4 || len(records.ToolCalls) != 1 {
				t.Errorf("%d messages, %d tool calls, %v", len(records.Messages), len(records.ToolCalls), err)
			}
			if others, err := runner.Store().Load(t.Context(), "t", ""); err != nil || len(others.Messages) != 0 {
				t.Errorf("another session: %v, %v", others, err)
			}
		})
	}
}

func TestFrontDoorRefuses(t *testing.T) {
	engine := hosttest.Engines(t)[0]
	if _, err := turns.New(t.Context(), turns.Config{Engine: engine}); !errors.Is(err, host.CodeInvalidTurnRunnerConfig) {
		t.Errorf("neither model nor executor: %v", err)
	}
	if _, err := turns.New(t.Context(), turns.Config{Engine: engine, Model: turns.Model{Name: "m", Options: map[string]any{"thoughts": 1}}}); !errors.Is(err, host.CodeChatInvalidOptions) {
		t.Errorf("a wrong option: %v", err)
	}
	runner, err := turns.New(t.Context(), turns.Config{Engine: engine, Executor: nothing})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	result, err := finished(runner.Run(t.Context(), turns.Input{Message: "Hi!"}))
	if err != nil || !errors.Is(result.Err, host.CodeMaxIterations) || result.Iterations != turns.DefaultMaxIterations+1 {
		t.Errorf("%+v, %v", result, err)
	}
	stream := runner.Stream(t.Context(), turns.Input{Message: "Hi!", Stash: map[string]any{turns.SessionKey: "x"}})
	for ev, err := range stream.Events() {
		if ev != nil || !errors.Is(err, host.CodeInvalidTurnContext) {
			t.Errorf("refused input: %v, %v", ev, err)
		}
	}
	for range runner.Stream(t.Context(), turns.Input{Message: "Hi!"}).Events() {
		break // aborts the turn
	}
}
