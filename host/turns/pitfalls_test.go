package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// The last part of an answer is never overtaken by its end, whatever goroutine sends it and however soon the end
// follows.
func TestLastPartIsNotLost(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			const parts = 20
			model := &model.Engine{Generate: func(_ context.Context, _ *model.Request, send func(model.Part) error) error {
				for i := range parts - 1 {
					if err := send(model.Part{Text: fmt.Sprint(i, " ")}); err != nil {
						return err
					}
				}
				last := make(chan error)
				go func() {
					runtime.Gosched()
					last <- send(model.Part{Text: "end", Finish: "stop"})
				}()
				return <-last
			}}
			runner, err := turns.New(t.Context(), turns.Config{Model: turns.Model{Engine: model}, Engine: engine})
			if err != nil {
				t.Fatal(err)
			}
			defer runner.Close()
			for range 50 {
				result, err := runner.Run(t.Context(), turns.Input{Message: "count"})
				if err != nil || !strings.HasSuffix(result.Text, fmt.Sprint(parts-2, " end")) {
					t.Fatalf("%+v, %v", result, err)
				}
			}
		})
	}
}

// A result of 5 MB stays out of the prompt, whatever the provider's protocol.
func TestLongResultsStayOutOfPrompts(t *testing.T) {
	text, err := os.ReadFile("../../runtime/testdata/providers/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	var all providerCases
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("0123456789abcde\n", 5<<20/16)
	played := 0
	for _, engine := range hosttest.Engines(t) {
		for _, c := range all.Cases {
			if len(c.Replies) < 2 {
				continue
			}
			played++
			t.Run(engine.Name()+"/"+c.Name, func(t *testing.T) {
				var requests [][]byte
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil || len(requests) == len(c.Replies) {
						t.Errorf("request %d: %v", len(requests), err)
						return
					}
					w.Header().Set("Content-Type", c.Replies[len(requests)].Type)
					_, _ = io.WriteString(w, c.Replies[len(requests)].Body)
					requests = append(requests, body)
				}))
				defer server.Close()
				tool := &turns.Tool{
					Name: all.Tool.Name, Description: all.Tool.Description, InputSchema: all.Tool.InputSchema,
					Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return long, nil },
				}
				runner, err := turns.New(t.Context(), turns.Config{
					Model: turns.Model{Name: c.Model, Provider: model.Provider(c.Provider), BaseURL: server.URL + c.Base, APIKey: all.Key, Options: c.Options},
					Tools: []*turns.Tool{tool}, Engine: engine, System: all.System,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				result, err := runner.Run(t.Context(), turns.Input{Message: all.Message})
				if err != nil || result.Status != event.Ack || len(result.ToolCalls) == 0 {
					t.Fatalf("%+v, %v", result, err)
				}
				last := requests[len(requests)-1]
				if len(last) > 32<<10 || !bytes.Contains(last, []byte("5242880 bytes")) || !bytes.Contains(last, []byte("artifact_grep")) {
					t.Errorf("a request of %d bytes: %.2000s", len(last), last)
				}
			})
		}
	}
	if played < 6 {
		t.Errorf("%d conversations", played)
	}
}

// A turn that is killed behind any of its commits leaves what it had committed. Another turn goes on from there, no
// tool runs twice, and the conversation comes out as if nothing had happened.
func TestResumeAfterAnyCommit(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		t.Run(engine.Name(), func(t *testing.T) {
			const steps = 3
			play := func(kill int) (log []string, ran int) {
				store := store.NewInMemory()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				commits := 0
				// A model that knows from its context alone how far it is.
				model := &model.Engine{
					Capabilities: model.Capabilities{Tools: "native"},
					Generate: func(_ context.Context, r *model.Request, send func(model.Part) error) error {
						done := 0
						for _, m := range r.Messages {
							if m.Role == "tool" {
								done++
							}
						}
						if done == steps {
							return send(model.Part{Text: "done", Finish: "stop"})
						}
						return send(model.Part{ToolCall: &model.ToolCall{ID: fmt.Sprint("c", done), Name: "work", Arguments: fmt.Sprintf(`{"n":%d}`, done)}, Finish: "tool_calls"})
					},
				}
				counting := &countingStore{InMemory: store, applied: func() {
					if commits++; commits == kill {
						stop()
					}
				}}
				tool := workTool(func(_ *turns.DispatchContext, n int) (any, error) {
					ran++
					return fmt.Sprint("result ", n), nil
				})
				runner, err := turns.New(t.Context(), turns.Config{Model: turns.Model{Engine: model}, Engine: engine, Tools: []*turns.Tool{tool}, Store: counting})
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				result, err := finished(runner.Run(ctx, turns.Input{Message: "work"}))
				if err == nil && result.Status != event.Ack {
					result, err = finished(runner.Run(t.Context(), turns.Input{}))
				}
				if err != nil || result.Status != event.Ack {
					t.Fatalf("killed behind commit %d: %+v, %v", kill, result, err)
				}
				records, err := store.Load(t.Context(), turns.DefaultSession, "")
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range records.Messages {
					log = append(log, string(m.Role)+": "+m.Content)
				}
				for _, c := range records.ToolCalls {
					log = append(log, fmt.Sprint(c.ID, " ", string(c.Args), " ", c.Results))
				}
				return log, ran
			}
			want, ran := play(0)
			if ran != steps || len(want) != 2+steps {
				t.Fatalf("%d calls, %q", ran, want)
			}
			for kill := 1; kill <= steps+1; kill++ {
				if got, n := play(kill); !slices.Equal(got, want) || n != steps {
					t.Errorf("killed behind commit %d: %d calls, %q, want %q", kill, n, got, want)
				}
			}
		})
	}
}

// countingStore tells of each commit.
type countingStore struct {
	*store.InMemory
	applied func()
}

func (s *countingStore) Commit(ctx context.Context, session string, c store.Commit) (string, error) {
	revision, err := s.InMemory.Commit(ctx, session, c)
	s.applied()
	return revision, err
}
