package turns_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/internal/provider"
)

// providerCases are conversations with each provider, which every host plays.
type providerCases struct {
	System, Message, Key string
	Tool                 struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
	Cases []struct {
		Name, Provider, Model, Base, Path string
		Key                               [2]string // header, and what stands before the key in it
		Options                           map[string]any
		Replies                           []struct{ Type, Body string }
		Requests                          []any
		Expect                            struct {
			Text      string
			Thoughts  []string
			ToolCalls []struct {
				ID, Tool string
				Args     json.RawMessage
				Results  string
			}
			Usage turns.Usage
		}
	}
}

func TestProviders(t *testing.T) {
	text, err := os.ReadFile("../../runtime/testdata/providers/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	var all providerCases
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
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
					var request any
					if err := json.Unmarshal(body, &request); err != nil || !reflect.DeepEqual(request, c.Requests[n]) {
						want, _ := json.Marshal(c.Requests[n])
						t.Errorf("request %d is\n%s, want\n%s (%v)", n, body, want, err)
					}
					if got, want := r.Header.Get(c.Key[0]), c.Key[1]+all.Key; r.RequestURI != c.Path || got != want {
						t.Errorf("request %d: to %s, %s %q", n, r.RequestURI, c.Key[0], got)
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
				runner, err := turns.New(t.Context(), turns.Config{
					Model: turns.Model{
						Name: c.Model, Provider: model.Provider(c.Provider), BaseURL: server.URL + c.Base, APIKey: all.Key, Options: c.Options,
					},
					Tools: []*turns.Tool{tool}, Engine: engine, System: all.System,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				result, err := runner.Run(t.Context(), turns.Input{Message: all.Message})
				if err != nil || result.Status != event.Ack {
					t.Fatalf("%+v, %v", result, err)
				}
				if n != len(c.Requests) || result.Text != c.Expect.Text || result.Usage != c.Expect.Usage {
					t.Errorf("%d requests, text %q, usage %+v", n, result.Text, result.Usage)
				}
				records, err := runner.Store().Load(t.Context(), turns.DefaultSession, "")
				if err != nil {
					t.Fatal(err)
				}
				thoughts := []string{}
				for _, thought := range records.Thoughts {
					thoughts = append(thoughts, thought.Content)
				}
				if !slices.Equal(thoughts, c.Expect.Thoughts) {
					t.Errorf("thoughts %q, want %q", thoughts, c.Expect.Thoughts)
				}
				if len(result.ToolCalls) != len(c.Expect.ToolCalls) {
					t.Fatalf("calls %+v", result.ToolCalls)
				}
				for i, want := range c.Expect.ToolCalls {
					var args bytes.Buffer
					if err := json.Compact(&args, want.Args); err != nil {
						t.Fatal(err)
					}
					if got := result.ToolCalls[i]; want.ID != "" && got.ID != want.ID || got.Tool != want.Tool || string(got.Args) != args.String() || got.Results != any(want.Results) {
						t.Errorf("call %+v, want %+v", got, want)
					}
				}
			})
		}
	}
}

// What hosts know of providers is what the core has.
func TestProvidersOfTheCore(t *testing.T) {
	known := model.Providers()
	for _, p := range provider.All {
		protocol := p.Protocol()
		name := model.Provider(protocol.Name)
		if protocol.BaseURL == "" {
			continue // an engine's
		}
		if !slices.Contains(known, name) || name.BaseURL() != protocol.BaseURL {
			t.Errorf("%s is at %q, want %q", name, name.BaseURL(), protocol.BaseURL)
		}
		known = slices.DeleteFunc(known, func(k model.Provider) bool { return k == name })
	}
	if len(known) > 0 {
		t.Errorf("the core has no %q", known)
	}
	if got := model.Provider("other").BaseURL(); got != "" {
		t.Errorf("an unknown one is at %q", got)
	}
	if _, err := turns.New(t.Context(), turns.Config{Engine: hosttest.Engines(t)[0], Model: turns.Model{Name: "m", Provider: "other", APIKey: "x"}}); err == nil || !strings.Contains(err.Error(), "`provider` must be one of openai, ") {
		t.Errorf("an unknown one: %v", err)
	}
}
