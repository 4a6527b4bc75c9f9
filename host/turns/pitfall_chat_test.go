package turns_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// pieces is a body that comes in pieces, the last of which may come with the end.
type pieces struct {
	list    []string
	withEOF bool
	open    *atomic.Int64
	pause   func()
}

func (p *pieces) Read(to []byte) (int, error) {
	if len(p.list) == 0 {
		return 0, io.EOF
	}
	if p.pause != nil && len(p.list) == 1 {
		p.pause()
	}
	n := copy(to, p.list[0])
	if p.list[0] = p.list[0][n:]; p.list[0] == "" {
		p.list = p.list[1:]
	}
	if p.withEOF && len(p.list) == 0 {
		return n, io.EOF
	}
	return n, nil
}

func (p *pieces) Close() error {
	if p.open != nil {
		p.open.Add(-1)
		p.open = nil
	}
	return nil
}

// network answers requests of a host.
type network func(r *http.Request) (io.ReadCloser, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := n(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
}

// The last bytes of an answer are not lost when they come together with the end, when they come late, and when no blank
// line follows them.
func TestLastBytesAreNotLost(t *testing.T) {
	whole := strings.SplitAfter(answer, "\n\n")
	last := whole[1]
	for _, engine := range hosttest.Engines(t) {
		for _, end := range []string{last, strings.TrimRight(last, "\n"), last + "data: [DONE]\n\n"} {
			for _, withEOF := range []bool{false, true} {
				for name, pause := range map[string]func(){"at once": nil, "yielding": runtime.Gosched, "late": func() { time.Sleep(time.Millisecond) }} {
					h := turns.NewHost(turns.HostOptions{Engine: engine, HTTP: network(func(*http.Request) (io.ReadCloser, error) {
						return &pieces{list: []string{whole[0], end}, withEOF: withEOF, pause: pause}, nil
					})})
					for range 10 {
						_, result := play(t, h, turns.TurnRunnerConfig{Chat: &model.ChatOptions{Model: "m", BaseURL: "http://model.test/v1"}}, turns.TurnInput{Text: "Hi!"})
						if result.Status != event.Ack || result.Text != "Hello." {
							t.Errorf("%s, %q %s, with the end %v: %+v", engine.Name(), end, name, withEOF, result)
						}
					}
					if err := h.Close(context.Background()); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// Five turns of a session whose calls all have one id, or none: each call keeps the artifact that its result has
// become, and the model is told of each under an id of its own.
func TestSpooledResultsOfFiveTurns(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		for _, id := range []string{`"id":"call_0",`, `"id":"",`, ``} {
			asked := 0
			var last string
			h := turns.NewHost(turns.HostOptions{Engine: engine, HTTP: network(func(r *http.Request) (io.ReadCloser, error) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				last = string(body)
				if asked++; asked%2 == 0 {
					return io.NopCloser(strings.NewReader(answer)), nil
				}
				call := fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,%s"function":{"name":"work","arguments":"{\"n\":%d}"}}]},"finish_reason":"tool_calls"}]}`, id, asked/2)
				return io.NopCloser(strings.NewReader("data: " + call + "\n\n")), nil
			})})
			text := func(n int) string { return strings.Repeat(fmt.Sprintf("result %d\n", n), 50) }
			store := store.NewInMemory()
			runner, err := turns.New(t.Context(), turns.Config{
				Model: turns.Model{Name: "m", BaseURL: "http://model.test/v1", Options: map[string]any{"trust": "off", "spoolResultsOver": 100}},
				Tools: []*turns.Tool{workTool(func(_ *turns.DispatchContext, n int) (any, error) { return text(n), nil })}, Store: store, Host: h,
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if result, err := runner.Run(t.Context(), turns.Input{Message: "work"}); err != nil || result.Status != event.Ack {
					t.Fatalf("%s: %+v, %v", id, result, err)
				}
			}
			records, err := store.Load(t.Context(), turns.DefaultSession, "")
			if err != nil {
				t.Fatal(err)
			}
			ids := map[string]bool{}
			for n, call := range records.ToolCalls {
				artifact, ok := call.Results.(*record.SpooledArtifact)
				if !ok {
					t.Fatalf("%s: call %d has %T", id, n, call.Results)
				}
				if got, err := artifact.AsString(t.Context()); err != nil || got != text(n) {
					t.Errorf("%s: call %d has %.20q, %v", id, n, got, err)
				}
				if ids[call.ID] = true; n < 5 && strings.Count(last, "Artifact "+call.ID+" ") != 1 {
					t.Errorf("%s: the model is not told of %s once: %s", id, call.ID, last)
				}
			}
			if len(ids) != 5 {
				t.Errorf("%s: ids %v", id, ids)
			}
			if err := runner.Close(); err != nil {
				t.Error(err)
			}
			if err := h.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}

// An abort at any event of a conversation with a model ends it as aborted and not as failed; afterwards no answer is
// open and no goroutine is left.
func TestAbortLeavesNothingOpen(t *testing.T) {
	call := works(0).Body
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			var open atomic.Int64
			asked := 0
			h := turns.NewHost(turns.HostOptions{Engine: engine, HTTP: network(func(r *http.Request) (io.ReadCloser, error) {
				if err := r.Context().Err(); err != nil {
					return nil, err
				}
				asked++
				body := call
				if asked%2 == 0 {
					body = answer
				}
				open.Add(1)
				return &pieces{list: strings.SplitAfter(body, "\n\n"), open: &open}, nil
			})})
			abortAt := func(at int) (seen int, result *turns.Result) {
				asked = 0
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := newRunner(t, turns.TurnRunnerConfig{
					Chat: &model.ChatOptions{Model: "m", BaseURL: "http://model.test/v1"}, Host: h, Callbacks: noStorage(),
					Tools: []*turns.Tool{workTool(func(ctx *turns.DispatchContext, _ int) (any, error) {
						runtime.Gosched()
						return "done", ctx.Err()
					})},
				})
				result, err := finished(r.Run(ctx, turns.TurnInput{SystemPrompt: "test", Text: "Hi!", OnEvent: func(event.Event) {
					if seen == at {
						cancel()
						// The abort comes from another goroutine: here it has time to.
						time.Sleep(time.Millisecond)
					}
					seen++
				}}))
				if err != nil {
					t.Fatal(err)
				}
				return seen, result
			}
			total, result := abortAt(-1)
			if result.Status != event.Ack || total < 12 {
				t.Fatalf("%+v, %d events", result, total)
			}
			before := runtime.NumGoroutine()
			aborted := 0
			for at := range total {
				_, result := abortAt(at)
				switch result.Status {
				case event.Aborted:
					aborted++
				case event.Ack:
					if at < total/2 {
						t.Errorf("event %d of %d: %+v", at, total, result)
					}
				default:
					t.Errorf("event %d of %d: %+v", at, total, result)
				}
			}
			for range 500 { // those that end a moment later
				if open.Load() == 0 && runtime.NumGoroutine() <= before {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if n := runtime.NumGoroutine(); open.Load() != 0 || n > before || aborted < total/2 {
				t.Errorf("%s: %d answers are open, %d goroutines became %d, %d of %d were aborted", engine.Name(), open.Load(), before, n, aborted, total)
			}
			if err := h.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}
