package turns_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// outputCases are turns whose answers must match a schema, which every host plays.
type outputCases struct {
	System, Message, Key string
	Schema               json.RawMessage
	Tool                 struct {
		Name, Description string
		InputSchema       json.RawMessage
	}
	Cases []struct {
		Name, Provider, Model, Base, Path string
		Schema                            json.RawMessage
		Tools                             bool
		Options                           map[string]any
		Replies                           []struct{ Type, Body string }
		Requests                          []any
		Expect                            struct {
			Status, Code, Message, Text string
			Object                      any
			Usage                       turns.Usage
			Partials                    []any
		}
	}
	Objects []struct {
		Name    string
		Deltas  []string
		Objects []any
	}
}

func readOutputCases(t *testing.T) (all outputCases) {
	t.Helper()
	text, err := os.ReadFile("../../runtime/testdata/providers/outputs.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all.Cases) < 20 || len(all.Objects) < 13 {
		t.Fatalf("%d cases and %d lists of objects: %v", len(all.Cases), len(all.Objects), err)
	}
	return all
}

func TestOutputs(t *testing.T) {
	all := readOutputCases(t)
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
					if err := json.Unmarshal(body, &request); err != nil || !reflect.DeepEqual(request, c.Requests[n]) || r.RequestURI != c.Path {
						want, _ := json.Marshal(c.Requests[n])
						t.Errorf("request %d to %s is\n%s, want\n%s (%v)", n, r.RequestURI, body, want, err)
					}
					w.Header().Set("Content-Type", c.Replies[n].Type)
					_, _ = io.WriteString(w, c.Replies[n].Body)
					n++
				}))
				defer server.Close()
				config := turns.Config{
					Model: turns.Model{
						Name: c.Model, Provider: model.Provider(c.Provider), BaseURL: server.URL + c.Base, APIKey: all.Key, Options: c.Options,
					},
					Engine: engine, System: all.System, Schema: all.Schema,
				}
				if c.Schema != nil {
					config.Schema = string(c.Schema)
				}
				if c.Tools {
					config.Tools = []*turns.Tool{{
						Name: all.Tool.Name, Description: all.Tool.Description, InputSchema: all.Tool.InputSchema,
						Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
							return "4 degrees in " + args.String("city"), nil
						},
					}}
				}
				runner, err := turns.New(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				stream := runner.Stream(t.Context(), turns.Input{Message: all.Message})
				partials := []any{}
				var last error
				for object, err := range turns.PartialObjects[any](stream) {
					if last = err; err == nil {
						partials = append(partials, object)
					}
				}
				if !reflect.DeepEqual(partials, c.Expect.Partials) {
					t.Errorf("partial objects %v, want %v", partials, c.Expect.Partials)
				}
				result, err := finished(stream.Result())
				if err != nil || result.Status.String() != c.Expect.Status || n != len(c.Requests) || result.Usage != c.Expect.Usage {
					t.Fatalf("%d requests, %+v, %v", n, result, err)
				}
				object, err := turns.Object[any](result)
				records, loadErr := runner.Store().Load(t.Context(), turns.DefaultSession, "")
				if loadErr != nil {
					t.Fatal(loadErr)
				}
				messages := records.Messages
				if c.Expect.Code == "" {
					if err != nil || last != nil || !reflect.DeepEqual(object, c.Expect.Object) {
						t.Errorf("object %v, %v, %v", object, err, last)
					}
					if got := messages[len(messages)-1].Content; len(messages) != 2 || got != result.Text {
						t.Errorf("%d messages, the last one is %q", len(messages), got)
					}
					return
				}
				var own *host.Error
				if !errors.As(err, &own) || err != last || string(own.Code) != c.Expect.Code || !strings.HasSuffix(own.Message, c.Expect.Message) {
					t.Fatalf("object %v, %v, want %s %s", object, err, c.Expect.Code, c.Expect.Message)
				}
				if c.Expect.Text != "" {
					details, _ := own.Details.(map[string]any)
					if violations, _ := details["violations"].([]any); details["text"] != c.Expect.Text || len(violations) != 1 {
						t.Errorf("details %v", own.Details)
					}
				}
				if len(messages) != 1 {
					t.Errorf("%d messages are stored", len(messages))
				}
			})
		}
	}
}

func TestPartialObjects(t *testing.T) {
	all := readOutputCases(t)
	for _, c := range all.Objects {
		runner, err := turns.New(t.Context(), turns.Config{
			Engine: hosttest.Engines(t)[0],
			Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
				for _, delta := range c.Deltas {
					if err := h.ReportMessage("m", delta, false); err != nil {
						return err
					}
				}
				return errors.Join(h.ReportMessage("m", "", true), d.Ack())
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		stream := runner.Stream(t.Context(), turns.Input{Message: "hi"})
		got := []any{}
		for object, err := range turns.PartialObjects[any](stream) {
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
			got = append(got, object)
		}
		if !reflect.DeepEqual(got, c.Objects) {
			t.Errorf("%s: %v, want %v", c.Name, got, c.Objects)
		}
		for range turns.PartialObjects[any](stream) {
			break // does not abort the turn
		}
		if result, err := stream.Result(); err != nil || result.Status != event.Ack {
			t.Errorf("%s: %+v, %v", c.Name, result, err)
		}
		runner.Close()
	}
}

func TestSchemaOptions(t *testing.T) {
	engine := hosttest.Engines(t)[0]
	for want, config := range map[string]turns.Config{
		"`schema` needs a `model`": {Executor: func(d *turns.DispatchContext, _ *turns.Helpers) error { return d.Ack() }, Schema: `{}`},
		"`schema` must be":         {Model: turns.Model{Name: "m"}, Schema: `[]`},
		"`schema` cannot be used":  {Model: turns.Model{Name: "m"}, Schema: map[string]any{"type": "thing"}},
		"E_CHAT_INVALID_OPTIONS":   {Model: turns.Model{Name: "m"}, Schema: `{`},
		"`schemaMode` must be one": {Model: turns.Model{Name: "m", Options: map[string]any{"schemaMode": "x"}}, Schema: `{}`},
	} {
		config.Engine = engine
		if _, err := turns.New(t.Context(), config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// All objects of a long answer together are a multiple of its length.
func TestPartialObjectsOfALongAnswer(t *testing.T) {
	const n = 20_000
	runner, err := turns.New(t.Context(), turns.Config{
		Engine: hosttest.Engines(t)[0],
		Executor: func(d *turns.DispatchContext, h *turns.Helpers) error {
			errs := []error{h.ReportMessage("m", "[0", false)}
			for range n {
				errs = append(errs, h.ReportMessage("m", ",123456789", false))
			}
			return errors.Join(append(errs, h.ReportMessage("m", "]", true), d.Ack())...)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	size, count, last := 0, 0, 0
	for object, err := range turns.PartialObjects[json.RawMessage](runner.Stream(t.Context(), turns.Input{Message: "hi"})) {
		if err != nil {
			t.Fatal(err)
		}
		last = len(object)
		size += last
		count++
	}
	if last != 10*n+3 || size > 40*last || count < 100 {
		t.Errorf("%d objects of %d bytes, the last one of %d", count, size, last)
	}
}
