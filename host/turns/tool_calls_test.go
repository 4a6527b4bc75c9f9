package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// works is a response that calls the tool "work" once for each n.
func works(ns ...int) hosttest.Response {
	var list []string
	for i, n := range ns {
		list = append(list, fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"work","arguments":"{\"n\":%d}"}}`, i, n, n))
	}
	return hosttest.Response{Body: `data: {"choices":[{"delta":{"tool_calls":[` + strings.Join(list, ",") + `]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"}
}

// workTool is a tool whose handler gets the n of the call.
func workTool(handler func(ctx *turns.DispatchContext, n int) (any, error)) *turns.Tool {
	return &turns.Tool{
		Name: "work", Description: "works", InputSchema: map[string]any{"type": "object"},
		Handler: func(ctx *turns.DispatchContext, args turns.Args) (any, error) {
			return handler(ctx, int(args.Number("n")))
		},
	}
}

// conversation runs a turn of a model with these responses, and returns what was asked of it and told by it.
func conversation(t *testing.T, engine host.Engine, options map[string]any, tool *turns.Tool, responses ...hosttest.Response) (*recorder, *turns.Result, []hosttest.Request, *bytes.Buffer) {
	t.Helper()
	provider, err := hosttest.NewProvider(1, responses...)
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	h, chat := chatHost(t, engine, provider.URL)
	chat.Options = options
	var journal bytes.Buffer
	log, result := play(t, h, turns.TurnRunnerConfig{Chat: chat, Tools: []*turns.Tool{tool}}, turns.TurnInput{Text: "Hi!", Journal: &journal})
	return log, result, provider.Requests(), &journal
}

// replays plays a journal on all engines.
func replays(t *testing.T, recorded *bytes.Buffer) {
	t.Helper()
	for _, engine := range hosttest.Engines(t) {
		r, err := journal.NewReader(bytes.NewReader(recorded.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := journal.Replay(t.Context(), engine, r); err != nil || n < 4 {
			t.Errorf("replay on %s: %d entries, %v", engine.Name(), n, err)
		}
	}
}

// resultsTold are the results that a request tells the model, in order.
func resultsTold(t *testing.T, r hosttest.Request) (list []string) {
	t.Helper()
	var body struct {
		Messages []struct {
			Role, Content string
			ToolCallID    string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, m := range body.Messages {
		if m.Role == "tool" {
			list = append(list, m.ToolCallID+" "+m.Content)
		}
	}
	return list
}

// Two equal calls of one answer run at once and end in reverse order: executionId tells which start, end, report and
// record belong together, while callId, the checksum, is one.
func TestEqualCallsAtOnce(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			var mu sync.Mutex
			begun, second := 0, make(chan struct{})
			tool := workTool(func(*turns.DispatchContext, int) (any, error) {
				mu.Lock()
				begun++
				n := begun
				mu.Unlock()
				if n == 1 {
					<-second
				} else {
					defer close(second)
				}
				return fmt.Sprint("handler ", n), nil
			})
			provider, err := hosttest.NewProvider(1, works(7, 7), hosttest.Response{Body: answer})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			chat.Options = map[string]any{"parallel": 2}
			var stored []*record.ToolCall
			callbacks := noStorage()
			callbacks.StoreToolCall = func(_ turns.Context, r *record.ToolCall) error { stored = append(stored, r); return nil }
			log, result := play(t, h, turns.TurnRunnerConfig{Chat: chat, Tools: []*turns.Tool{tool}, Callbacks: callbacks}, turns.TurnInput{Text: "Hi!"})
			if result.Status != event.Ack {
				t.Fatalf("%+v", result)
			}
			starts, ends := find[*event.ToolExecutionStart](log), find[*event.ToolExecutionEnd](log)
			if len(starts) != 2 || len(ends) != 2 || starts[0].CallID != starts[1].CallID || starts[0].ExecutionID == starts[1].ExecutionID {
				t.Fatalf("starts %+v, ends %+v", starts, ends)
			}
			pairs := map[string]event.ToolExecution{}
			for _, start := range starts {
				pairs[start.ExecutionID] = start.ToolExecution
			}
			if starts[0].ProviderCallID != "c7" || starts[1].ProviderCallID != "c7" {
				t.Errorf("starts %+v", starts)
			}
			for _, end := range ends {
				if pairs[end.ExecutionID] != end.ToolExecution {
					t.Errorf("end %+v fits no start", end.ToolExecution)
				}
				delete(pairs, end.ExecutionID)
			}
			for _, report := range find[*event.ToolCall](log) {
				i := slices.Index([]string{"c7", "c7#2"}, report.ID)
				if i < 0 || report.ProviderCallID != "c7" || report.IsComplete && report.ExecutionID != starts[i].ExecutionID {
					t.Errorf("report %+v", report)
				}
			}
			if len(result.ToolCalls) != 2 || len(stored) != 2 {
				t.Fatalf("calls %+v, records %+v", result.ToolCalls, stored)
			}
			for i, r := range stored {
				if r.ID != []string{"c7", "c7#2"}[i] || r.ExecutionID != starts[i].ExecutionID || r.ProviderCallID != "c7" {
					t.Errorf("record %+v", r)
				}
			}
		})
	}
}

// Three calls run at once and their handlers end in reverse order, the fourth begins when there is room; records,
// results and the next request have the order of the calls.
func TestParallelToolCalls(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			ended := make([]chan struct{}, 5)
			for i := range ended {
				ended[i] = make(chan struct{})
			}
			all := make(chan struct{})
			tool := workTool(func(_ *turns.DispatchContext, n int) (any, error) {
				mu.Lock()
				if running++; running == 3 && most < 3 {
					close(all)
				}
				most = max(most, running)
				mu.Unlock()
				<-all
				if n < 2 {
					<-ended[n+1]
				}
				mu.Lock()
				running--
				mu.Unlock()
				close(ended[n])
				if n == 1 {
					return nil, errors.New("no network")
				}
				return fmt.Sprintf("result %d", n), nil
			})
			log, result, requests, journal := conversation(t, engine, map[string]any{"parallel": 3, "trust": "off"}, tool, works(0, 1, 2, 3), hosttest.Response{Body: answer})
			if result.Status != event.Ack || result.Text != "Hello." || most != 3 {
				t.Fatalf("%+v, %d at once", result, most)
			}
			want := []string{"c0 result 0", "c1 The tool's handler failed: no network", "c2 result 2", "c3 result 3"}
			if got := resultsTold(t, requests[1]); !slices.Equal(got, want) {
				t.Errorf("the model is told %q", got)
			}
			var ends []string
			for _, e := range log.events {
				if c, ok := e.(*event.ToolCall); ok && c.IsComplete {
					ends = append(ends, c.ID)
				}
			}
			// A handler has told that it ends before the turn knows: on a busy machine a later one may overtake it.
			slices.Sort(ends)
			if !slices.Equal(ends, []string{"c0", "c1", "c2", "c3"}) {
				t.Errorf("calls that end: %q", ends)
			}
			replays(t, journal)
		})
	}
}

// Without the option calls run one after another.
func TestToolCallsRunOneAfterAnother(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			var steps []string
			tool := workTool(func(_ *turns.DispatchContext, n int) (any, error) {
				steps = append(steps, fmt.Sprint("begin ", n), fmt.Sprint("end ", n)) // a race if they overlap
				return "", nil
			})
			conversation(t, engine, nil, tool, works(0, 1, 2), hosttest.Response{Body: answer})
			if want := []string{"begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"}; !slices.Equal(steps, want) {
				t.Errorf("got %q", steps)
			}
		})
	}
}

// An abort tells all calls that run, and no other begins.
func TestAbortOfParallelToolCalls(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			var mu sync.Mutex
			begun := 0
			both := make(chan struct{})
			tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
				mu.Lock()
				if begun++; begun == 2 {
					close(both)
				}
				mu.Unlock()
				<-both
				if n == 0 {
					ctx.Abort(errX)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			})
			_, result, requests, journal := conversation(t, engine, map[string]any{"parallel": 2}, tool, works(0, 1, 2, 3))
			if result.Status != event.Ack && result.Status != event.Aborted || begun != 2 || len(requests) != 1 {
				t.Errorf("%+v, %d calls begun, %d requests", result, begun, len(requests))
			}
			replays(t, journal)
		})
	}
}

// A call that takes too long is given up: its signal is aborted, the model is told, and the turn goes on and ends
// although the handler does not. What the handler does later changes nothing.
func TestToolTimeout(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		for _, ends := range []string{"never", "by its signal", "late", "late, with an artifact", "late, in a panic"} {
			t.Run(engine.Name()+"/"+ends, func(t *testing.T) {
				release, over := make(chan struct{}), make(chan struct{})
				var cause error
				tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
					if n == 1 {
						defer close(over)
						if ends == "by its signal" {
							<-ctx.Done()
							cause = context.Cause(ctx)
							return nil, cause
						}
						if ends == "never" {
							<-release
						}
						<-ctx.Done()
						if !ctx.Aborted() || ctx.ID() == "" || ctx.Err() == nil {
							t.Errorf("aborted: %v, id %q", ctx.Aborted(), ctx.ID())
						}
						switch ends {
						case "late, with an artifact":
							return record.NewSpooledArtifact(record.NewBlob([]byte("late"))), nil
						case "late, in a panic":
							panic("late")
						}
						return "late", nil
					}
					if n == 2 && ends != "never" {
						<-over
					}
					return ctx.Aborted(), nil
				})
				log, result, requests, journal := conversation(t, engine, map[string]any{"toolTimeoutMs": 20, "trust": "off"}, tool, works(1), works(2), hosttest.Response{Body: answer})
				close(release)
				if result.Status != event.Ack || result.Text != "Hello." {
					t.Fatalf("%+v", result)
				}
				late := "c1 The tool exceeded its time limit: more than 20 ms"
				if got := resultsTold(t, requests[1]); !slices.Equal(got, []string{late}) {
					t.Errorf("the model is told %q", got)
				}
				if got := resultsTold(t, requests[2]); len(got) != 2 || !strings.HasSuffix(got[1], " false") && !strings.Contains(got[1], "took longer") {
					t.Errorf("then %q", got)
				}
				if ends == "by its signal" && !errors.Is(cause, host.CodeChatToolTimeout) {
					t.Errorf("the signal's reason is %v", cause)
				}
				starts, endings := len(find[*event.ToolExecutionStart](log)), len(find[*event.ToolExecutionEnd](log))
				if starts != 2 || endings != 2 {
					t.Errorf("%d executions start, %d end", starts, endings)
				}
				replays(t, journal)
			})
		}
	}
}

// A time limit that is not reached changes nothing; the context of the call is aborted with that of the dispatch.
func TestToolTimeoutThatIsNotReached(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
				if n == 2 {
					ctx.Abort(errX)
					<-ctx.Done()
					if cause := context.Cause(ctx); !errors.Is(cause, errX) {
						t.Errorf("the signal's reason is %v", cause)
					}
				}
				return ctx.Iteration(), ctx.Err()
			})
			_, result, requests, journal := conversation(t, engine, map[string]any{"toolTimeoutMs": 600_000, "parallel": 2, "trust": "off"}, tool, works(0, 1), works(2))
			if len(requests) != 2 || !slices.Equal(resultsTold(t, requests[1]), []string{"c0 0", "c1 0"}) {
				t.Errorf("%+v, %d requests", result, len(requests))
			}
			replays(t, journal)
		})
	}
}

// A turn that was aborted ends although a handler heeds nothing, when the time of the call is over.
func TestToolTimeoutAfterAnAbort(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			tool := workTool(func(ctx *turns.DispatchContext, _ int) (any, error) {
				ctx.Abort(errX)
				<-release
				return nil, nil
			})
			_, _, requests, journal := conversation(t, engine, map[string]any{"toolTimeoutMs": 20}, tool, works(0, 1))
			if len(requests) != 1 {
				t.Errorf("%d requests", len(requests))
			}
			replays(t, journal)
		})
	}
}

// A result whose text is longer than the option says becomes an artifact that the model reads; up to that length it is
// told as it is.
func TestSpooledResults(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 64) // 1024 bytes
	list := make([]any, 200)                        // [0,0,…]: 401 bytes of JSON
	for i := range list {
		list[i] = 0
	}
	bytesOf := func(size int, class string) string {
		return fmt.Sprintf("Artifact c0 (%s, %d bytes,", class, size)
	}
	tests := []struct {
		name   string
		over   any // the option; nil for its default
		result any
		want   string // what the model is told begins with this
	}{
		{"text", 1023, long, bytesOf(1024, "SpooledArtifact")},
		{"text of that length", 1024, long, long},
		{"never", 0, strings.Repeat(long, 100), long},
		{"by default", nil, strings.Repeat(long, 33), bytesOf(33<<10, "SpooledArtifact")},
		{"up to the default", nil, strings.Repeat(long, 32), long},
		{"bytes", 1023, []byte(long), bytesOf(1024, "SpooledArtifact")},
		{"rendered text", 1023, record.NewDynamicTokenizable(func(context.Context) (string, error) { return long, nil }), bytesOf(1024, "SpooledArtifact")},
		{"a value", 400, list, bytesOf(401, "SpooledJsonArtifact")},
		{"a value of that length", 401, list, "[0,0,"},
		{"an object", 10, map[string]any{"key": "value\n"}, bytesOf(17, "SpooledJsonArtifact")},
		{"bytes that are no text", 10, []byte{0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9}, bytesOf(14, "SpooledJsonArtifact")},
		{"a number", 1, 12345, "12345"},
	}
	for _, engine := range hosttest.Engines(t) {
		for _, tt := range tests {
			t.Run(engine.Name()+"/"+tt.name, func(t *testing.T) {
				tool := workTool(func(*turns.DispatchContext, int) (any, error) { return tt.result, nil })
				options := map[string]any{"trust": "off"}
				if tt.over != nil {
					options["spoolResultsOver"] = tt.over
				}
				_, result, requests, journal := conversation(t, engine, options, tool, works(0), hosttest.Response{Body: answer})
				if result.Status != event.Ack {
					t.Fatalf("%+v", result)
				}
				if got := resultsTold(t, requests[1]); len(got) != 1 || !strings.HasPrefix(got[0], "c0 "+tt.want) {
					t.Errorf("the model is told %.200q", got)
				}
				replays(t, journal)
			})
		}
	}
}

// What the stash has under "chatExecutor" takes the place of options, in the iterations that have it.
func TestOptionsInTheStash(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			provider, err := hosttest.NewProvider(1, works(0), works(1), hosttest.Response{Body: answer}, works(0))
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			h, chat := chatHost(t, engine, provider.URL)
			chat.Options = map[string]any{"temperature": 0}
			tool := workTool(func(ctx *turns.DispatchContext, n int) (any, error) {
				if n == 0 {
					return "", ctx.Stash().Set("chatExecutor", map[string]any{"model": "other", "temperature": 1, "tool_choice": "required"})
				}
				ctx.Stash().Delete("chatExecutor")
				return "", nil
			})
			var recorded bytes.Buffer
			_, result := play(t, h, turns.TurnRunnerConfig{Chat: chat, Tools: []*turns.Tool{tool}}, turns.TurnInput{Text: "Hi!", Journal: &recorded})
			if result.Text != "Hello." {
				t.Fatalf("%+v", result)
			}
			for i, want := range []string{`"model":"m"`, `"model":"other"`, `"model":"m"`} {
				body := string(provider.Requests()[i].Body)
				if changed := i == 1; !strings.Contains(body, want) || strings.Contains(body, `"temperature":1`) != changed || strings.Contains(body, `"tool_choice":"required"`) != changed {
					t.Errorf("request %d: %s", i, body)
				}
			}
			replays(t, &recorded)

			tool = workTool(func(ctx *turns.DispatchContext, _ int) (any, error) {
				return "", ctx.Stash().Set("chatExecutor", map[string]any{"temperature": "warm", "spoolResultsOver": -1})
			})
			_, result = play(t, h, turns.TurnRunnerConfig{Chat: chat, Tools: []*turns.Tool{tool}}, turns.TurnInput{Text: "Hi!"})
			if !errors.Is(result.Err, host.CodeChatInvalidOptions) || !strings.Contains(result.Err.Error(), "`stash.chatExecutor.temperature`") || !strings.Contains(result.Err.Error(), "`stash.chatExecutor.spoolResultsOver`") {
				t.Errorf("%+v", result)
			}
			if n := len(provider.Requests()); n != 4 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
