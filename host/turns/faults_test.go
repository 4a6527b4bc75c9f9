package turns_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/internal/faulty"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// faultTools are the tools that the table of faults names.
func faultTools() []*turns.Tool {
	tool := func(name, schema string, handler turns.ToolHandler) *turns.Tool {
		return &turns.Tool{Name: name, Description: name, InputSchema: []byte(schema), Handler: handler}
	}
	return []*turns.Tool{
		tool("add", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`,
			func(_ *turns.DispatchContext, args turns.Args) (any, error) {
				return fmt.Sprint(args.Number("a") + args.Number("b")), nil
			}),
		tool("size", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`,
			func(_ *turns.DispatchContext, args turns.Args) (any, error) {
				return strconv.Itoa(utf8.RuneCountInString(args.String("text"))), nil
			}),
		tool("look", `{"type":"object"}`, func(*turns.DispatchContext, turns.Args) (any, error) { return "seen", nil }),
		tool("fail", `{"type":"object"}`, func(*turns.DispatchContext, turns.Args) (any, error) { return nil, errors.New("broken") }),
	}
}

// faultTurn is what a turn against the faulty provider has shown.
type faultTurn struct {
	text, thoughts strings.Builder
	calls          []*event.ToolCall
	logs           []string
	full           map[string]string // of streams that are not complete
	marked         bool              // a stream said that it was broken off
	problems       []string
}

func (f *faultTurn) hear(ev event.Event) {
	problem := func(format string, args ...any) { f.problems = append(f.problems, fmt.Sprintf(format, args...)) }
	delta := func(kind string, e *event.StreamDelta) {
		key := kind + " " + e.ID
		full, open := f.full[key]
		if !open {
			f.full[key] = ""
		}
		if e.Full != full+e.Delta {
			problem("%s: %d bytes and a delta of %d make %d", key, len(full), len(e.Delta), len(e.Full))
		}
		f.full[key] = e.Full
		if e.IsComplete {
			delete(f.full, key)
		} else if e.IsInterrupted {
			problem("%s is interrupted and not complete", key)
		}
		f.marked = f.marked || e.IsInterrupted
	}
	switch ev := ev.(type) {
	case *event.Message:
		f.text.WriteString(ev.Delta)
		delta("message", &ev.StreamDelta)
	case *event.Thought:
		f.thoughts.WriteString(ev.Delta)
		delta("thought", &ev.StreamDelta)
	case *event.ToolCall:
		if ev.IsComplete {
			f.calls = append(f.calls, ev)
		}
	case *event.Log:
		if ev.Level != event.LevelTrace && ev.Level != event.LevelDebug {
			f.logs = append(f.logs, ev.Type)
		}
	case *event.DispatchEnd:
		for key := range f.full {
			problem("%s is not complete", key)
		}
	}
}

// runFault runs a case and lists all that is not as it should be.
func runFault(t *testing.T, h *turns.Host, server *faulty.Server, c *faulty.Case) []string {
	store := store.NewInMemory()
	word := strings.ReplaceAll(t.Name(), "/", "_")
	r, err := turns.NewTurnRunner(turns.TurnRunnerConfig{
		Chat:      &model.ChatOptions{Model: "m", BaseURL: strings.Replace(c.BaseURL, "SESSION", word, 1), Options: c.Options},
		Callbacks: turns.StoreCallbacks(store), Tools: faultTools(), Host: h, MaxIterations: 8,
		TurnInputPipeline: []turns.TurnMiddleware{turns.LoadConversation(store)},
	})
	if err != nil {
		return []string{err.Error()}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seen := &faultTurn{full: map[string]string{}}
	in := turns.TurnInput{SystemPrompt: "test", Text: "Hi!", OnEvent: func(ev event.Event) {
		seen.hear(ev)
		if c.Abort == "text" && ev.Kind() == event.KindMessage {
			cancel()
		}
		if line, ok := ev.(*event.Log); ok && c.Abort == "retry" && line.Type == "retry-attempt" {
			cancel()
		}
	}}
	if c.Abort == "request" {
		go func() {
			server.Arrived(word, c.Name)
			cancel()
		}()
	}
	result, err := finished(r.Run(ctx, in))
	if err != nil {
		return []string{err.Error()}
	}
	wrong := seen.compare(c, result)
	got := server.Seen(word, c.Name)
	if got.Requests != c.Expect.Requests || len(got.Problems) > 0 {
		wrong = append(wrong, fmt.Sprintf("%d requests, not %d; %q", got.Requests, c.Expect.Requests, got.Problems))
	}
	records, err := store.Load(t.Context(), turns.DefaultSession, "")
	if err != nil {
		return append(wrong, err.Error())
	}
	var stored faulty.Stored
	for _, m := range records.Messages {
		if m.Role == "assistant" {
			stored.Messages++
		}
	}
	stored.Thoughts, stored.ToolCalls = len(records.Thoughts), len(records.ToolCalls)
	if stored != c.Expect.Stored {
		wrong = append(wrong, fmt.Sprintf("stored %+v, not %+v", stored, c.Expect.Stored))
	}
	// The provider has no more faults in store: the session goes on.
	if c.GoesOn {
		next, err := finished(r.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "And now?"}))
		if err != nil || next.Status != event.Ack || next.Text != faulty.Good {
			wrong = append(wrong, fmt.Sprintf("the next turn: %+v, %v", next, err))
		}
		if got := server.Seen(word, c.Name); len(got.Problems) > 0 {
			wrong = append(wrong, fmt.Sprintf("the next turn: %q", got.Problems))
		}
	}
	return wrong
}

// compare lists what the turn has shown that the case does not expect.
func (f *faultTurn) compare(c *faulty.Case, result *turns.Result) []string {
	want := &c.Expect
	wrong := f.problems
	same := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wrong = append(wrong, fmt.Sprintf("%s: %.300q, not %.300q", what, fmt.Sprint(got), fmt.Sprint(want)))
		}
	}
	same("status", result.Status, want.Status)
	code, said := "", ""
	var e *host.Error
	if result.Status != event.Aborted && errors.As(result.Err, &e) {
		code, said = string(e.Code), e.Error()
	}
	same("error", code, want.Error)
	for _, part := range want.Says {
		if !strings.Contains(said, part) {
			wrong = append(wrong, fmt.Sprintf("%q is not in %.500q", part, said))
		}
	}
	if text := f.text.String(); want.Size > 0 {
		same("size of the text", len(text), want.Size)
	} else {
		same("text", text, want.Text)
	}
	same("thoughts", f.thoughts.String(), want.Thoughts)
	same("a mark", f.marked, want.Interrupted)
	same("interrupted", result.Interrupted, want.Interrupted && f.text.Len() > 0)
	same("logs", strings.Join(f.logs, " "), strings.Join(want.Logs, " "))
	var calls []faulty.Call
	for _, call := range want.Calls {
		calls = append(calls, slices.Repeat([]faulty.Call{call}, max(call.Times, 1))...)
	}
	same("calls", len(f.calls), len(calls))
	ids := map[string]bool{}
	for i, got := range f.calls {
		if ids[got.ID] {
			wrong = append(wrong, fmt.Sprintf("the id %q is used twice", got.ID))
		}
		ids[got.ID] = true
		if i < len(calls) && (got.Tool != calls[i].Tool || got.IsError != calls[i].Error || !strings.Contains(fmt.Sprint(got.Results), calls[i].Result)) {
			wrong = append(wrong, fmt.Sprintf("call %d: %.100q failed: %v %.300q, not %+v", i, got.Tool, got.IsError, fmt.Sprint(got.Results), calls[i]))
		}
	}
	return wrong
}

// What providers get wrong, and what lies between them and a host: each fault of the table ends as the table says.
func TestFaults(t *testing.T) {
	server, err := faulty.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting
			h := turns.NewHost(turns.HostOptions{Engine: engine, Verify: true})
			defer h.Close(context.Background())
			todo := make(chan *faulty.Case)
			var workers sync.WaitGroup
			for range 8 {
				workers.Go(func() {
					for c := range todo {
						for _, wrong := range runFault(t, h, server, c) {
							t.Errorf("%s (%s): %s", c.Name, c.About, wrong)
						}
					}
				})
			}
			for _, c := range server.Cases {
				todo <- c
			}
			close(todo)
			workers.Wait()
			t.Logf("%d cases", len(server.Cases))
		})
	}
}
