package turns_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/journal"
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

// Three calls run at once and end in reverse order, the fourth begins when there is room; records, results and the next
// request have the order of the calls.
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
			if result.Status != turns.Ack || result.Text != "Hello." || most != 3 {
				t.Fatalf("%+v, %d at once", result, most)
			}
			want := []string{"c0 result 0", "c1 The tool's handler failed: no network", "c2 result 2", "c3 result 3"}
			if got := resultsTold(t, requests[1]); !slices.Equal(got, want) {
				t.Errorf("the model is told %q", got)
			}
			var ends []string
			for _, e := range log.events {
				if c, ok := e.(*turns.ToolCallEvent); ok && c.IsComplete {
					ends = append(ends, c.ID)
				}
			}
			if len(ends) != 4 || slices.Index(ends, "c2") > slices.Index(ends, "c1") || slices.Index(ends, "c1") > slices.Index(ends, "c0") {
				t.Errorf("calls end in the order %q", ends)
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
			if result.Status != turns.Ack && result.Status != turns.Aborted || begun != 2 || len(requests) != 1 {
				t.Errorf("%+v, %d calls begun, %d requests", result, begun, len(requests))
			}
			replays(t, journal)
		})
	}
}
