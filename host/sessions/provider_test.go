package sessions_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// conversations are those with each provider.
type conversations struct {
	System, Message, Key string
	Tool                 struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
	Cases []struct {
		Name, Provider, Model, Base string
		Options                     map[string]any
		Replies                     []struct{ Type, Body string }
		Requests                    []json.RawMessage
		Expect                      struct{ Text string }
	}
}

func readConversations(t *testing.T) (all conversations) {
	t.Helper()
	content, err := os.ReadFile("../../runtime/testdata/providers/conversations.json")
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// While a call waits its model is told. The call and its answer come last, whatever was said in between.
func TestProvidersAnsweredLate(t *testing.T) {
	all := readConversations(t)
	for _, engine := range hosttest.Engines(t) {
		for _, c := range all.Cases {
			t.Run(engine.Name()+"/"+c.Name, func(t *testing.T) {
				var bodies []string
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					reply := c.Replies[min(len(bodies), len(c.Replies)-1)]
					bodies = append(bodies, string(body))
					w.Header().Set("Content-Type", reply.Type)
					_, _ = io.WriteString(w, reply.Body)
				}))
				defer server.Close()
				tool := &turns.Tool{
					Name: all.Tool.Name, Description: all.Tool.Description, InputSchema: all.Tool.InputSchema,
					Handler: func(*turns.DispatchContext, turns.Args) (any, error) { return nil, nil },
				}
				p := stage(t, sessions.Config{Engine: engine, Agent: &sessions.LLMAgent{
					Name: "root", Tools: []*turns.Tool{tool}, LongRunning: []string{tool.Name}, Model: turns.Model{
						Name: c.Model, Provider: model.Provider(c.Provider), BaseURL: server.URL + c.Base, APIKey: all.Key, Options: c.Options,
					},
				}})
				list := p.say("first")
				p.say("second")
				call := sessions.PendingCalls(list)[0]
				p.run(&sessions.Content{Parts: []sessions.Part{{FunctionResponse: &sessions.FunctionResponse{
					ID: call.ID, Name: call.Name, Response: map[string]any{"degrees": 4},
				}}}})
				if len(bodies) != 3 {
					t.Fatalf("%d requests", len(bodies))
				}
				inOrder(t, bodies[1], "first", "Oslo", "pending", "second")
				inOrder(t, bodies[2], "first", "second", c.Expect.Text, "earlier", "Oslo", "degrees")
				if strings.Contains(bodies[2], "pending") {
					t.Errorf("what waited is answered: %s", bodies[2])
				}
			})
		}
	}
}

// inOrder checks that a text has each word once behind the one before.
func inOrder(t *testing.T, text string, words ...string) {
	t.Helper()
	rest := text
	for _, word := range words {
		_, after, ok := strings.Cut(rest, word)
		if !ok {
			t.Fatalf("no %q in %s, behind the words in front of it of %q", word, text, words)
		}
		rest = after
	}
}

// The conversations with each provider, which turns have, too: an agent asks the same. What a provider wants back with
// thoughts and calls goes through events.
func TestProviders(t *testing.T) {
	all := readConversations(t)
	for _, engine := range hosttest.Engines(t) {
		for _, c := range all.Cases {
			t.Run(engine.Name()+"/"+c.Name, func(t *testing.T) {
				n := 0
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil || n == len(c.Replies) {
						t.Errorf("request %d: %v", n, err)
						return
					}
					var got, want any
					// The results of an agent's tools are maps, and the arguments of its calls are values, not the model's text.
					words := strings.NewReplacer(
						"4 degrees in Oslo", `{\"result\":\"4 degrees in Oslo\"}`, `{\"city\": \"Oslo\"}`, `{\"city\":\"Oslo\"}`,
					).Replace(string(c.Requests[n]))
					if err := json.Unmarshal([]byte(words), &want); err != nil {
						t.Error(err)
					}
					if err := json.Unmarshal(body, &got); err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("request %d is\n%s, want\n%s (%v)", n, body, words, err)
					}
					w.Header().Set("Content-Type", c.Replies[n].Type)
					_, _ = io.WriteString(w, c.Replies[n].Body)
					n++
				}))
				defer server.Close()
				tool := &turns.Tool{
					Name: all.Tool.Name, Description: all.Tool.Description, InputSchema: all.Tool.InputSchema,
					Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
						return "4 degrees in " + args.String("city"), nil
					},
				}
				p := stage(t, sessions.Config{Engine: engine, Agent: &sessions.LLMAgent{
					Name: "root", Instruction: all.System, Tools: []*turns.Tool{tool},
					Model: turns.Model{
						Name: c.Model, Provider: model.Provider(c.Provider), BaseURL: server.URL + c.Base, APIKey: all.Key, Options: c.Options,
					},
				}})
				events := p.say(all.Message)
				if got := events[len(events)-1].Text(); n != len(c.Requests) || got != c.Expect.Text {
					t.Errorf("%d requests, text %q", n, got)
				}
			})
		}
	}
}

// The model gives the second part when the caller has the first one.
func TestPartsOfAnAnswerAreDeliveredAtOnce(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		delivered := make(chan struct{}, 1)
		taken := func(ctx context.Context) error {
			select {
			case <-delivered:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, part := range []string{"Hel", "lo"} {
				fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", part)
				w.(http.Flusher).Flush()
				if taken(r.Context()) != nil {
					return
				}
			}
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		}))
		defer server.Close()
		own := &model.Engine{Name: "own", Generate: func(ctx context.Context, _ *model.Request, send func(model.Part) error) error {
			for _, part := range []string{"Hel", "lo"} {
				if err := cmp.Or(send(model.Part{Text: part}), taken(ctx)); err != nil {
					return err
				}
			}
			return nil
		}}
		unlimited := map[string]any{"requestTimeoutMs": 0, "idleTimeoutMs": 0, "totalTimeoutMs": 0}
		for name, from := range map[string]turns.Model{
			"provider":                     {Name: "m", BaseURL: server.URL},
			"provider without time limits": {Name: "m", BaseURL: server.URL, Options: unlimited},
			"engine":                       {Engine: own},
		} {
			t.Run(engine.Name()+"/"+name, func(t *testing.T) {
				p := stage(t, sessions.Config{Engine: engine, Agent: &sessions.LLMAgent{Name: "root", Model: from}})
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				var list []*sessions.Event
				for e, err := range p.r.Run(ctx, input(sessions.Text("hello"))) {
					if err != nil {
						t.Fatal(err)
					}
					if list = append(list, e); e.Partial {
						delivered <- struct{}{}
					}
				}
				p.is("delivered", shown(list...), "~root:Hel ~root:lo root:Hello")
			})
		}
	}
}

// A model behind an API is asked at once, also where it is the first thing that code of the host runs, or runs beside.
func TestModelsAreAskedAtOnce(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		asked := make(chan struct{}, 1)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked <- struct{}{}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}`+"\n\n"+
				`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
		}))
		defer server.Close()
		model := &sessions.LLMAgent{Name: "m", Model: turns.Model{Name: "m", BaseURL: server.URL}}
		runs := &sessions.CustomAgent{Name: "c", Agents: []sessions.Agent{model}, Run: func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
			for e, err := range ctx.RunAgent(model) {
				if err != nil {
					return err
				}
				if err := yield(e); err != nil {
					return err
				}
			}
			<-asked
			return nil
		}}
		beside := &sessions.ParallelAgent{Name: "p", Agents: []sessions.Agent{
			model,
			&sessions.CustomAgent{Name: "c", Run: func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
				select {
				case <-asked:
					return yield(said("asked"))
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}},
		}}
		for want, agent := range map[string]sessions.Agent{"~m:Hello m:Hello": runs, "~m:Hello m:Hello c:asked": beside} {
			p := stage(t, sessions.Config{Engine: engine, Agent: agent})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			list, err := p.r.Collect(ctx, input(sessions.Text("hello")))
			cancel()
			if err != nil {
				t.Errorf("%s: %v", engine.Name(), err)
			}
			p.is("delivered", shown(list...), want)
		}
	}
}

// Data in a message reaches a model as the attachments of a turn's message do.
func TestMedia(t *testing.T) {
	for _, engine := range hosttest.Engines(t) {
		var bodies []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			bodies = append(bodies, string(body))
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"candidates":[{"content":{"parts":[{"text":"A cat."}]},"finishReason":"STOP"}]}`)
		}))
		defer server.Close()
		p := stage(t, sessions.Config{Engine: engine, Agent: &sessions.LLMAgent{Name: "root", Model: turns.Model{
			Name: "m", Provider: model.Gemini, BaseURL: server.URL, APIKey: "k", Options: map[string]any{"stream": false},
		}}})
		p.run(&sessions.Content{Parts: []sessions.Part{
			{Text: "What are these?"},
			{InlineData: &sessions.Blob{MIMEType: "image/png", Data: []byte("a picture")}},
			{InlineData: &sessions.Blob{MIMEType: "audio/wav", Data: []byte("a sound!")}},
			{FileData: &sessions.File{URI: "https://files.example/a.pdf", MIMEType: "application/pdf"}},
			{FileData: &sessions.File{URI: "https://files.example/b"}},
		}})
		p.say("Sure?")
		if len(bodies) != 2 {
			t.Fatalf("%s: %d requests", engine.Name(), len(bodies))
		}
		for i, body := range bodies {
			for _, part := range []string{
				`"inlineData":{"mimeType":"image/png","data":"YSBwaWN0dXJl"}`, `"inlineData":{"mimeType":"audio/wav","data":"YSBzb3VuZCE="}`,
				`[image d1 \"image.png\", image/png]`, `What are these?\n[fileData: https://files.example/b]`,
				`"fileData":{"mimeType":"application/pdf","fileUri":"https://files.example/a.pdf"}`,
			} {
				if !strings.Contains(body, part) {
					t.Errorf("%s: request %d lacks %s: %s", engine.Name(), i, part, body)
				}
			}
		}
	}
}
