package turns_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// callWork is an executor that calls the tool "work" with an n and keeps the outcome.
func callWork(n int, result *any, failed *error) turns.Executor {
	return func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		*result, *failed = ctx.Tools().Get("work").Executor(ctx)(map[string]any{"n": n}, "p1")
		return ctx.Ack()
	}
}

// wrapperOf is the place that an error of a wrapper names; "" if the error leads to none.
func wrapperOf(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, is := err.(*host.Error); is && e.Name == "WrapperError" { //nolint:errorlint // each link is looked at
			place, _, _ := strings.Cut(e.Message, ":")
			return place
		}
	}
	return ""
}

func TestWrapTool(t *testing.T) {
	type key struct{}
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var order []string
		var seen turns.ToolInvocation
		outer := func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
			order = append(order, "outer")
			seen = *call
			result, err := next(context.WithValue(ctx, key{}, "span"), call)
			return fmt.Sprint(result, "!"), err
		}
		inner := func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
			order = append(order, fmt.Sprint("inner ", ctx.Value(key{})))
			if err := call.SetArgs(map[string]any{"n": 5}); err != nil {
				return nil, err
			}
			return next(ctx, call)
		}
		var handlerKey string
		tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
			handlerKey = ctx.IdempotencyKey()
			return fmt.Sprint(n, " ", ctx.Value(key{})), nil
		})
		var result any
		var failed error
		log, _ := play(t, h, turns.TurnRunnerConfig{
			Tools: []*turns.Tool{tool}, Executor: callWork(4, &result, &failed), WrapTool: []turns.ToolWrapper{outer, inner},
		}, turns.TurnInput{TurnID: "t"})
		if failed != nil || result != "5 span!" {
			t.Errorf("%v, %v", result, failed)
		}
		if !slices.Equal(order, []string{"outer", "inner span"}) {
			t.Errorf("%q", order)
		}
		start := find[*event.ToolExecutionStart](log)[0]
		if seen.Tool != tool || seen.CallID != start.CallID || seen.ExecutionID != start.ExecutionID || seen.ProviderCallID != "p1" ||
			seen.TurnID != "t" || seen.DispatchID != start.DispatchID || seen.Iteration != 0 || seen.Attempt != 1 ||
			seen.IdempotencyKey != handlerKey || !strings.HasPrefix(handlerKey, "t.d1.0.x.") {
			t.Errorf("%+v beside %+v, key %q", seen, start, handlerKey)
		}
	})
}

// A wrapper answers from a cache, refuses, repeats, and fails in any way.
func TestWrapToolAnswers(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		type wrapper = turns.ToolWrapper
		for name, c := range map[string]struct {
			wrap   wrapper
			result any
			cause  error
			place  string
			calls  int
		}{
			"cache": {func(*turns.DispatchContext, *turns.ToolInvocation, turns.ToolNext) (any, error) { return "kept", nil }, "kept", nil, "", 0},
			"refuses": {func(*turns.DispatchContext, *turns.ToolInvocation, turns.ToolNext) (any, error) {
				return nil, errX
			}, nil, errX, "wrapTool[1]", 0},
			"repeats": {func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				result, err := next(ctx, call)
				if err != nil {
					result, err = next(ctx, call)
				}
				return result, err
			}, "done", nil, "", 2},
			"passes on": {func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				result, err := next(ctx, call)
				if err != nil {
					err = fmt.Errorf("in span: %w", err)
				}
				return result, err
			}, nil, errX, "", 1},
			"panics": {func(*turns.DispatchContext, *turns.ToolInvocation, turns.ToolNext) (any, error) { panic(errX) }, nil, errX, "wrapTool[1]", 0},
			"panics with what it got": {func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				_, err := next(ctx, call)
				panic(err)
			}, nil, errX, "", 1},
		} {
			calls := 0
			tool := workTool(func(*turns.DispatchContext, int) (any, error) {
				if calls++; calls == 1 {
					return nil, errX
				}
				return "done", nil
			})
			through := func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				return next(ctx, call)
			}
			var result any
			var failed error
			play(t, h, turns.TurnRunnerConfig{
				Tools: []*turns.Tool{tool}, Executor: callWork(4, &result, &failed), WrapTool: []wrapper{through, c.wrap},
			}, turns.TurnInput{})
			if result != c.result || !errors.Is(failed, c.cause) || wrapperOf(failed) != c.place || calls != c.calls {
				t.Errorf("%s: %v, %v (at %q) after %d calls", name, result, failed, wrapperOf(failed), calls)
			}
			if c.cause != nil && !errors.Is(failed, host.CodeToolDownstreamError) {
				t.Errorf("%s: %v", name, failed)
			}
			var caught *host.PanicError
			if name == "panics" && (!errors.As(failed, &caught) || !bytes.Contains(caught.Stack, []byte("wrap_test"))) {
				t.Errorf("%v leads to no panic", failed)
			}
		}
	})
}

// A handler that panics has failed, as its wrappers see it: the error is none of theirs.
func TestWrappersOfAPanickingHandler(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		tool := workTool(func(*turns.DispatchContext, int) (any, error) { panic(errX) })
		var seen, failed error
		var result any
		play(t, h, turns.TurnRunnerConfig{
			Tools: []*turns.Tool{tool}, Executor: callWork(4, &result, &failed),
			WrapTool: []turns.ToolWrapper{func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				got, err := next(ctx, call)
				seen = err
				return got, err
			}},
		}, turns.TurnInput{})
		var caught *host.PanicError
		if !errors.As(seen, &caught) || !errors.Is(failed, errX) || wrapperOf(failed) != "" {
			t.Errorf("the wrapper saw %v, the call failed with %v (at %q)", seen, failed, wrapperOf(failed))
		}
	})
}

// Of a wrapper that has returned, next runs nothing.
func TestNextAfterTheEnd(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var late turns.ToolNext
		var in context.Context
		var with *turns.ToolInvocation
		calls := 0
		tool := workTool(func(*turns.DispatchContext, int) (any, error) { calls++; return "x", nil })
		var result any
		var failed error
		play(t, h, turns.TurnRunnerConfig{
			Tools: []*turns.Tool{tool}, Executor: callWork(1, &result, &failed),
			WrapTool: []turns.ToolWrapper{func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				late, in, with = next, ctx, call
				return "early", nil
			}},
		}, turns.TurnInput{})
		if _, err := late(in, with); !errors.Is(err, host.CodeCallAfterEnd) || calls != 0 || result != "early" {
			t.Errorf("%v after %d calls, %v", err, calls, result)
		}
	})
}

// Next without a call runs nothing, and the error says so.
func TestNextWithoutACall(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		tool := workTool(func(*turns.DispatchContext, int) (any, error) { t.Error("it ran"); return "x", nil })
		var result any
		var failed error
		play(t, h, turns.TurnRunnerConfig{
			Tools: []*turns.Tool{tool}, Executor: callWork(1, &result, &failed),
			WrapTool: []turns.ToolWrapper{func(ctx *turns.DispatchContext, _ *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				return next(ctx, nil)
			}},
		}, turns.TurnInput{})
		if !errors.Is(failed, host.CodeInvalidValue) || wrapperOf(failed) != "wrapTool[0]" || !strings.Contains(failed.Error(), "what next was given: must be a call") {
			t.Errorf("%v", failed)
		}
	})
}

// Calls of a chat executor run at once, each inside wrappers of its own; a gate inside a tool waits inside them too,
// and an artifact goes through them as it is.
func TestWrapToolAtOnce(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, works(1, 2, 3), hosttest.Response{Body: answer})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			chat.Options = map[string]any{"parallel": 3}
			var together sync.WaitGroup
			together.Add(3)
			var spans atomic.Int32
			tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
				switch n {
				case 1:
					return ctx.WaitFor(ctx, turns.Gate{ID: "g", Reason: "why", Payload: 1, CreatedAt: instant})
				case 2:
					return record.NewSpooledArtifact(record.NewBlob([]byte("a\nb\n"))), nil
				}
				return "three", nil
			})
			r := newRunner(t, turns.TurnRunnerConfig{
				Chat: chat, Tools: []*turns.Tool{tool}, Host: h,
				WrapTool: []turns.ToolWrapper{func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
					together.Done()
					together.Wait() // all of them are inside
					defer spans.Add(1)
					return next(ctx, call)
				}},
			})
			turns.Listen(r, func(e *event.TurnGateOpen) {
				if err := e.Gate.Resolve("approved"); err != nil {
					t.Error(err)
				}
			})
			var journal bytes.Buffer
			result, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "Hi!", Journal: &journal})
			if err != nil || spans.Load() != 3 || len(result.ToolCalls) != 3 {
				t.Fatalf("%+v, %v, %d spans", result, err, spans.Load())
			}
			kinds := map[string]bool{}
			for _, call := range result.ToolCalls {
				kinds[fmt.Sprintf("%T", call.Results)] = true
			}
			if !kinds["*record.SpooledArtifact"] || !kinds["string"] {
				t.Errorf("results are %v", kinds)
			}
			replays(t, &journal)
		})
	}
}

// span is what telemetry keeps of a call.
type span struct {
	name     string
	status   int
	failed   bool
	bytes    int
	attempts []int
}

// The request may be repeated, changed, answered from a cache and refused; what comes back passes through.
func TestWrapModel(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, hosttest.Response{Status: 503, Body: "busy"}, hosttest.Response{Body: answer})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			chat.Options = map[string]any{"retry": map[string]any{"baseDelayMs": 1}}
			var s span
			cache := map[string][]model.Chunk{}
			telemetry := func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error, next model.Next) error {
				s.name = fmt.Sprint(call.Provider, " ", call.Model)
				s.attempts = append(s.attempts, call.Attempt)
				call.Headers["traceparent"] = "00-1"
				err := next(ctx, call, func(c model.Chunk) error {
					s.status, s.bytes = max(s.status, c.Status), s.bytes+len(c.Data)
					return send(c)
				})
				s.failed = err != nil
				return err
			}
			caching := func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error, next model.Next) error {
				if kept, hit := cache[string(call.Body)]; hit {
					for _, c := range kept {
						if err := send(c); err != nil {
							return err
						}
					}
					return nil
				}
				var all []model.Chunk
				err := next(ctx, call, func(c model.Chunk) error { all = append(all, c); return send(c) })
				if err == nil && all[0].Status == 200 {
					cache[string(call.Body)] = all
				}
				return err
			}
			config := turns.TurnRunnerConfig{Chat: chat, WrapModel: []model.Wrapper{telemetry, caching}}
			var journal bytes.Buffer
			for range 2 {
				journal.Reset()
				_, result := play(t, h, config, turns.TurnInput{Text: "Hi!", Journal: &journal})
				if result.Status != event.Ack || result.Text != "Hello." {
					t.Fatalf("%+v", result)
				}
				replays(t, &journal)
			}
			requests := provider.Requests()
			if len(requests) != 2 || requests[1].Header.Get("Traceparent") != "00-1" || requests[1].Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("%+v", requests)
			}
			if s.name != "openai m" || s.status != 503 || s.failed || s.bytes < 2*len(answer) || !slices.Equal(s.attempts, []int{1, 2, 1}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Whatever a wrapper of a model does, the turn ends and says where it came from.
func TestWrapModelFails(t *testing.T) {
	type send = func(model.Chunk) error
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, slices.Repeat([]hosttest.Response{{Body: answer}}, 8)...)
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			for name, c := range map[string]struct {
				wrap  model.Wrapper
				want  error
				place string
			}{
				"refuses": {func(context.Context, *model.Invocation, send, model.Next) error { return errX }, errX, "wrapModel[0]"},
				"panics":  {func(context.Context, *model.Invocation, send, model.Next) error { panic(errX) }, errX, "wrapModel[0]"},
				"no answer": {
					func(context.Context, *model.Invocation, send, model.Next) error { return nil },
					host.CodeChatStreamError, "",
				},
				"no status": {func(_ context.Context, _ *model.Invocation, s send, _ model.Next) error {
					return s(model.Chunk{Data: []byte("x")})
				}, host.CodeInvalidValue, "wrapModel[0]"},
				"two answers": {func(_ context.Context, _ *model.Invocation, s send, _ model.Next) error {
					return errors.Join(s(model.Chunk{Status: 200}), s(model.Chunk{Status: 200}))
				}, host.CodeInvalidValue, "wrapModel[0]"},
				"elsewhere": {func(ctx context.Context, call *model.Invocation, s send, next model.Next) error {
					call.URL = "http://127.0.0.1:1/v1"
					return next(ctx, call, s)
				}, host.CodeHTTPNotAllowed, ""},
				"late": {func(ctx context.Context, call *model.Invocation, s send, next model.Next) error {
					failed := make(chan error, 1)
					time.AfterFunc(time.Millisecond, func() { failed <- next(ctx, call, s) })
					return <-failed
				}, nil, ""},
			} {
				_, result := play(t, h, turns.TurnRunnerConfig{Chat: chat, WrapModel: []model.Wrapper{c.wrap}}, turns.TurnInput{Text: "Hi!"})
				if (c.want == nil) != (result.Status == event.Ack) || !errors.Is(result.Err, c.want) || wrapperOf(result.Err) != c.place {
					t.Errorf("%s: %v, %v (at %q)", name, result.Status, result.Err, wrapperOf(result.Err))
				}
			}
		})
	}
}

// Wrappers see an engine's answer as lines of its parts, and may give one themselves.
func TestWrapEngine(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var requests []model.Request
		var bodies []string
		var lines int
		_, result := play(t, h, turns.TurnRunnerConfig{
			Chat: &model.ChatOptions{Engine: scripted(&requests)}, Tools: []*turns.Tool{weather},
			WrapModel: []model.Wrapper{func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error, next model.Next) error {
				bodies = append(bodies, fmt.Sprint(call.Provider, call.Model, call.URL, call.Iteration))
				if call.Iteration == 1 {
					return send(model.Chunk{Data: []byte(`{"text":"From the cache.","finish":"stop"}` + "\n")})
				}
				return next(ctx, call, func(c model.Chunk) error { lines += bytes.Count(c.Data, []byte("\n")); return send(c) })
			}},
		}, turns.TurnInput{Text: "Hi!"})
		if result.Status != event.Ack || result.Text != "From the cache." || len(requests) != 1 || lines < 3 {
			t.Errorf("%+v, %d requests, %d lines", result, len(requests), lines)
		}
		if !slices.Equal(bodies, []string{"scripted0", "scripted1"}) {
			t.Errorf("%q", bodies)
		}
	})
}

// A panic of an engine is what next fails with: wrappers see it, and it is none of theirs.
func TestWrapPanickingEngine(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		engine := scripted(&[]model.Request{})
		engine.Generate = func(context.Context, *model.Request, func(model.Part) error) error { panic(errX) }
		var seen []error
		telemetry := func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error, next model.Next) error {
			err := next(ctx, call, send)
			seen = append(seen, err)
			return err
		}
		for _, wrappers := range [][]model.Wrapper{nil, {telemetry, telemetry}} {
			_, result := play(t, h, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Engine: engine}, WrapModel: wrappers}, turns.TurnInput{Text: "Hi!"})
			var panicked *host.PanicError
			if result.Status != event.Nack || !errors.As(result.Err, &panicked) || panicked.Value != any(errX) || wrapperOf(result.Err) != "" {
				t.Errorf("%d wrappers: %v, %v", len(wrappers), result.Status, result.Err)
			}
		}
		if len(seen) != 2 || seen[0] == nil || seen[1] == nil {
			t.Errorf("the wrappers saw %v", seen)
		}
	})
}

// A wrapper that waits for ever is told of the abort, and what it sends afterwards is refused.
func TestWrapperOfAnAbortedTurn(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		late := make(chan error, 1)
		r := newRunner(t, turns.TurnRunnerConfig{
			Chat: &model.ChatOptions{Engine: scripted(&[]model.Request{})}, Host: h,
			WrapModel: []model.Wrapper{func(ctx context.Context, _ *model.Invocation, send func(model.Chunk) error, _ model.Next) error {
				cancel()
				<-ctx.Done()
				late <- send(model.Chunk{Data: []byte("{}\n")})
				return nil
			}},
		})
		var ends []event.CallStatus
		turns.Listen(r, func(e *event.ModelCallEnd) { ends = append(ends, e.Status) })
		result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test", Text: "Hi!"}))
		if err != nil || result.Status != event.Aborted || <-late == nil || !slices.Equal(ends, []event.CallStatus{event.CallAborted}) {
			t.Errorf("%+v, %v, %v", result, err, ends)
		}
	})
}

// A dispatch inside a turn has the turn's wrappers around its own.
func TestWrappersOfADispatchInside(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var order []string
		note := func(name string) []turns.ToolWrapper {
			return []turns.ToolWrapper{func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
				order = append(order, name+" "+call.DispatchID[len(call.DispatchID)-2:])
				return next(ctx, call)
			}}
		}
		tool := workTool(func(*turns.DispatchContext, int) (any, error) { return "x", nil })
		var result any
		var failed error
		play(t, h, turns.TurnRunnerConfig{
			Tools: []*turns.Tool{tool}, WrapTool: note("turn"),
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				_, err := turns.Dispatch(ctx, turns.DispatchInput{
					Source: ctx, Executor: callWork(1, &result, &failed), WrapTool: note("dispatch"),
				})
				return errors.Join(err, ctx.Ack())
			},
		}, turns.TurnInput{})
		if failed != nil || !slices.Equal(order, []string{"turn d2", "dispatch d2"}) {
			t.Errorf("%q, %v", order, failed)
		}
	})
}

func TestWrappersThatAreNone(t *testing.T) {
	_, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Callbacks: noStorage(), Executor: nothing, WrapTool: []turns.ToolWrapper{nil}, WrapModel: []model.Wrapper{nil},
	})
	if !errors.Is(err, host.CodeInvalidTurnRunnerConfig) || !strings.Contains(err.Error(), "`wrapTool[0]` must be a function") ||
		!strings.Contains(err.Error(), "`wrapModel[0]` must be a function") {
		t.Error(err)
	}
	_, err = turns.Dispatch(t.Context(), turns.DispatchInput{Executor: nothing, WrapModel: []model.Wrapper{nil}})
	if err == nil || !strings.Contains(err.Error(), "`wrapModel[0]` must be a function") {
		t.Error(err)
	}
}

// Who asks for the calls of models hears of every one, in order with everything else; without that, nothing changes.
func TestModelCallEvents(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			usage := strings.Replace(answer, "data: [DONE]", `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`+"\n\ndata: [DONE]", 1)
			var logs [2]*recorder
			for asks := range 2 {
				provider, err := hosttest.NewProvider(1, hosttest.Response{Status: 503, Body: "busy"}, hosttest.Response{Break: -1}, hosttest.Response{Body: usage})
				if err != nil {
					t.Fatal(err)
				}
				defer provider.Close()
				h, chat := chatHost(t, engine, provider.URL)
				chat.Options = map[string]any{"retry": map[string]any{"baseDelayMs": 1}}
				r := newRunner(t, turns.TurnRunnerConfig{Chat: chat, Host: h})
				logs[asks] = &recorder{}
				r.OnAny(logs[asks].add)
				if asks == 1 {
					turns.Listen(r, func(*event.ModelCallStart) {})
				}
				var journal bytes.Buffer
				if _, err := r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "Hi!", Journal: &journal}); err != nil {
					t.Fatal(err)
				}
				replays(t, &journal)
			}
			var without, with []string
			for i, ev := range logs[1].events {
				if ev.Meta().Seq != uint32(i+1) {
					t.Errorf("event %d has the number %d", i+1, ev.Meta().Seq)
				}
				if _, is := ev.(*event.ModelCallStart); is {
					continue
				}
				if _, is := ev.(*event.ModelCallEnd); !is {
					with = append(with, word(ev))
				}
			}
			for _, ev := range logs[0].events {
				without = append(without, word(ev))
			}
			if !slices.Equal(with, without) {
				t.Errorf("%q\n%q", with, without)
			}
			starts, ends := find[*event.ModelCallStart](logs[1]), find[*event.ModelCallEnd](logs[1])
			if len(starts) != 3 || len(ends) != 3 {
				t.Fatalf("%d starts, %d ends", len(starts), len(ends))
			}
			for i, e := range ends {
				if e.ModelCall != (event.ModelCall{Provider: "openai", Model: "m", Attempt: i + 1}) || e.ModelCall != starts[i].ModelCall || e.DispatchID == "" || e.Iteration != 0 {
					t.Errorf("%+v", e)
				}
			}
			if e := ends[0]; e.Status != event.CallError || e.HTTPStatus != 503 || e.Err != nil || !e.FirstTokenAt.IsZero() {
				t.Errorf("%+v", e)
			}
			if e := ends[1]; e.Status != event.CallError || e.HTTPStatus != 0 || !errors.Is(e.Err, host.CodeHTTPTransport) {
				t.Errorf("%+v", e)
			}
			e := ends[2]
			if e.Status != event.CallOK || e.HTTPStatus != 200 || e.FirstTokenAt.IsZero() || e.Usage == nil || *e.Usage != (event.TokenUsage{PromptTokens: 7, CompletionTokens: 3, TotalTokens: 10}) {
				t.Errorf("%+v %v", e, e.Usage)
			}
			line, err := e.MarshalJSON()
			if err != nil || !strings.Contains(string(line), `"provider":"openai","model":"m","attempt":3,"status":"ok","httpStatus":200,"startedAt":`) ||
				!strings.Contains(string(line), `"usage":{"promptTokens":7,"completionTokens":3,"totalTokens":10}`) {
				t.Errorf("%s, %v", line, err)
			}
		})
	}
}
