package turns_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/hosttest"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

type search struct {
	Query string    `json:"query" jsonschema:"What to look for"`
	Limit int       `json:"limit" default:"10"`
	Order string    `json:"order,omitempty" enum:"newest,oldest"`
	Since time.Time `json:"since,omitzero"`
	Tags  []string  `json:"tags,omitempty"`
	Near  *spot     `json:"near,omitempty"`
}

type spot struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

var errNoIndex = host.NewError("E_NO_INDEX", "the index is gone", nil)

// calledWith is what a call of a tool comes to.
func calledWith(t *testing.T, h *turns.Host, tool *turns.Tool, args any) (result any, err error) {
	t.Helper()
	play(t, h, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		result, err = tool.Executor(ctx)(args)
		return ctx.Ack()
	}}, turns.TurnInput{})
	return result, err
}

// The function of a typed tool gets arguments of its type, validated and with defaults; its result comes back as it is.
func TestTypedTool(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var got search
		answer := &spot{1, 2}
		tool := turns.NewTool("search", "Finds documents", func(ctx *turns.DispatchContext, args search) (*spot, error) {
			got = args
			switch args.Query {
			case "nothing":
				return nil, nil
			case "broken":
				return answer, errNoIndex
			}
			return answer, ctx.Err()
		})
		for _, c := range []struct {
			name string
			args any
			want search
		}{
			{"defaults", map[string]any{"query": "x"}, search{Query: "x", Limit: 10}},
			{
				"everything", `{"query":"é","limit":5,"order":"newest","since":"2026-11-22T21:05:01Z","tags":["a","b"],"near":{"lat":1,"lon":-2.5}}`,
				search{Query: "é", Limit: 5, Order: "newest", Since: time.Date(2026, 11, 22, 21, 5, 1, 0, time.UTC), Tags: []string{"a", "b"}, Near: &spot{1, -2.5}},
			},
			{"its own type", search{Query: "x", Limit: 1, Order: "oldest"}, search{Query: "x", Limit: 1, Order: "oldest"}},
			{"null where it may be", map[string]any{"query": "x", "tags": nil, "near": nil}, search{Query: "x", Limit: 10}},
		} {
			result, err := calledWith(t, h, tool, c.args)
			if err != nil || result != answer || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: %v, %v, got %+v, want %+v", c.name, result, err, got, c.want)
			}
		}
		for says, args := range map[string]map[string]any{
			"query": {}, "limit": {"query": "x", "limit": 1.5}, "order": {"query": "x", "order": "best"}, "other": {"query": "x", "other": 1},
			"since": {"query": "x", "since": "yesterday"}, "near": {"query": "x", "near": map[string]any{"lat": "north"}},
		} {
			if _, err := calledWith(t, h, tool, args); !errors.Is(err, host.CodeInvalidToolArgs) || !strings.Contains(err.Error(), says) {
				t.Errorf("%v: %v, want %s", args, err, says)
			}
		}
		if result, err := calledWith(t, h, tool, map[string]any{"query": "nothing"}); err != nil || result != (*spot)(nil) {
			t.Errorf("a nil result is %v, %v", result, err)
		}
		result, err := calledWith(t, h, tool, map[string]any{"query": "broken"})
		if result != nil || !errors.Is(err, host.CodeToolDownstreamError) || !errors.Is(err, errNoIndex) || !errors.Is(err, host.Code("E_NO_INDEX")) {
			t.Errorf("a failure is %v, %v", result, err)
		}
	})
}

// large is a number that its schema does not bound as its type does.
type large struct {
	N hundred `json:"n"`
}

type hundred int8

func (hundred) JSONSchema() any { return map[string]any{"type": "integer"} }

// What the schema allows and the type cannot hold is an error that names tool and field.
func TestTypedToolArgumentsThatDoNotFit(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		tool := turns.NewTool("count", "counts", func(*turns.DispatchContext, large) (any, error) { return nil, nil })
		_, err := calledWith(t, h, tool, map[string]any{"n": 300})
		if !errors.Is(err, host.CodeToolDownstreamError) || !errors.Is(err, host.CodeInvalidToolArgs) ||
			!strings.Contains(errors.Unwrap(err).Error(), "count: n: a JSON number 300 does not fit turns_test.hundred") {
			t.Errorf("%v: %v", err, errors.Unwrap(err))
		}
	})
}

// A type that is not fit for a tool is refused by name, with all else that is wrong, wherever the tool is given.
func TestUnfitTypedTools(t *testing.T) {
	type cycle struct {
		Next []map[string]cycleOf `json:"next"`
	}
	for _, c := range []struct {
		tool *turns.Tool
		says []string
	}{
		{turns.NewTool("a", "d", func(*turns.DispatchContext, string) (any, error) { return nil, nil }), []string{"`arguments` of string: string is neither a struct nor a map"}},
		{turns.NewTool("a", "d", func(*turns.DispatchContext, cycle) (any, error) { return nil, nil }), []string{"`arguments.next[].*.again` of turns_test.cycle: turns_test.cycleOf contains itself"}},
		{turns.NewTool("", "", func(*turns.DispatchContext, struct{ F func() }) (mismatched, error) { return mismatched{}, nil }), []string{
			"`name`", "`description`", "`arguments.F` of struct { F func() }: nothing can be decoded into a func()",
			"`result` of turns_test.mismatched: the names differ: JSON has \"limit\", its MarshalMsg has \"lim\"",
		}},
		{turns.NewTool("a", "d", func(*turns.DispatchContext, mismatched) (any, error) { return nil, nil }), []string{"`arguments` of turns_test.mismatched: the names differ"}},
		{turns.NewTool[spot, any]("a", "d", nil), []string{"`handler`"}},
		{giving[chan int](), []string{"`result` of chan int: a chan int cannot be encoded"}},
		{giving[*func()](), []string{"`result` of *func(): a func() cannot be encoded"}},
		{giving[[]map[string]complex64](), []string{"`result.[].*` of []map[string]complex64: a complex64 cannot be encoded"}},
		{giving[map[int]string](), []string{"`result` of map[int]string: map[int]string has keys that are no strings"}},
		{giving[unencodable](), []string{"list[].done` of turns_test.unencodable: a chan struct {} cannot be encoded"}},
	} {
		_, registered := turns.New(t.Context(), turns.Config{Executor: ack, Tools: []*turns.Tool{c.tool}, Engine: hosttest.Engines(t)[0]})
		for _, err := range []error{c.tool.Validate(), registered} {
			if err == nil {
				t.Errorf("%s is taken", c.says)
				continue
			}
			for _, says := range c.says {
				if !strings.Contains(fullText(err), says) {
					t.Errorf("%s, want %s", fullText(err), says)
				}
			}
		}
	}
}

// unencodable is a result with a part that has no encoding.
type unencodable struct {
	Again *unencodable `json:"again"`
	Keys  map[int]any  `json:"keys"`
	List  []struct {
		Done chan struct{} `json:"done"`
	} `json:"list"`
}

// encodable is a result whose parts that have no encoding are left out, or say themselves what they are.
type encodable struct {
	Done   chan struct{} `json:"-"`
	done   func()
	Times  map[time.Time]error
	Any    any
	Number *big.Float
	Again  []encodable
}

// giving is a tool with results of a type.
func giving[Out any]() *turns.Tool {
	return turns.NewTool("a", "d", func(*turns.DispatchContext, struct{}) (out Out, err error) { return out, nil })
}

func TestFitResults(t *testing.T) {
	for _, tool := range []*turns.Tool{
		giving[encodable](), giving[error](), giving[[]byte](), giving[time.Time](), giving[*record.SpooledArtifact](), giving[*record.Media](), giving[[]*record.Media](),
		giving[*record.Tokenizable](), giving[[]record.Record](), giving[json.RawMessage](), giving[map[string]any](), giving[struct{}](),
		giving[sql.NullString](),
	} {
		if err := tool.Validate(); err != nil {
			t.Error(fullText(err))
		}
	}
	_ = encodable{}.done
}

// fullText is an error with all that it wraps.
func fullText(err error) (text string) {
	for ; err != nil; err = errors.Unwrap(err) {
		text += err.Error() + "\n"
	}
	return text
}

type cycleOf struct {
	Again *cycleOf `json:"again"`
}

// Arguments and results whose types have codecs of their own go through them, and the model gets what JSON says.
func TestTypedToolWithCodecs(t *testing.T) {
	provider, err := hosttest.NewProvider(1, asks("c1", "forecast", `{"city":"Oslo","celsius":4,"rain":true}`), says("done"))
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close() //nolint:errcheck // nothing is read from it any more
	var got forecast
	tool := turns.NewTool("forecast", "Tells the weather", func(_ *turns.DispatchContext, args forecast) (forecast, error) {
		got = args
		return forecast{City: "Oslo", Celsius: 20}, nil
	})
	h := turns.NewHost(turns.HostOptions{Engine: hosttest.Engines(t)[0], Verify: true})
	defer h.Close(context.Background()) //nolint:errcheck // nothing is left to report it to
	runner := newRunner(t, turns.TurnRunnerConfig{
		Chat: &model.ChatOptions{Model: "m", BaseURL: provider.URL + "/v1", Options: map[string]any{"trust": "off"}}, Tools: []*turns.Tool{tool}, Host: h,
	})
	result, err := runner.Run(t.Context(), turns.TurnInput{SystemPrompt: "test", Text: "weather?"})
	if err != nil || result.Status != event.Ack {
		t.Fatalf("%+v, %v", result, err)
	}
	if got != (forecast{"Oslo", 4, true}) {
		t.Errorf("the tool got %+v", got)
	}
	if messages, _ := toolMessages(t, provider.Requests()[1]); len(messages) != 1 || messages[0] != `{"city":"Oslo","celsius":20,"rain":false}` {
		t.Errorf("the model got %s", messages)
	}
}

// The model is told the schema of the type.
func TestTypedToolSchema(t *testing.T) {
	tool := turns.NewTool("search", "Finds documents", func(*turns.DispatchContext, search) (any, error) { return nil, nil })
	var got, want any
	text, _ := json.Marshal(tool.InputSchema)
	if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal([]byte(`{"type":"object","properties":{
		"query":{"type":"string","description":"What to look for"},"limit":{"type":"integer","default":10},"order":{"type":"string","enum":["newest","oldest"]},
		"since":{"type":"string","format":"date-time"},"tags":{"type":["null","array"],"items":{"type":"string"}},
		"near":{"type":["null","object"],"properties":{"lat":{"type":"number"},"lon":{"type":"number"}},"required":["lat","lon"],"additionalProperties":false}
		},"required":["query"],"additionalProperties":false}`), &want)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", text)
	}
}

// A tool with Go types: its schema comes from the struct.
func ExampleNewTool() {
	type arguments struct {
		City string `json:"city" jsonschema:"The city, as people call it"`
		Unit string `json:"unit" enum:"celsius,fahrenheit" default:"celsius"`
	}
	type weather struct {
		Degrees float64 `json:"degrees"`
		Sky     string  `json:"sky"`
	}
	tool := turns.NewTool("weather", "Tells the weather of a city", func(_ *turns.DispatchContext, args arguments) (weather, error) {
		if args.City != "Oslo" {
			return weather{}, fmt.Errorf("%s is not known", args.City)
		}
		return weather{Degrees: 4, Sky: "clear"}, nil
	})
	args, err := tool.ValidateArgs(context.Background(), nil, map[string]any{"city": "Oslo"})
	fmt.Println(string(args.JSON()), err)
	_, err = tool.ValidateArgs(context.Background(), nil, map[string]any{"city": "Oslo", "unit": "kelvin"})
	fmt.Println(err != nil)
	// Output:
	// {"city":"Oslo","unit":"celsius"} <nil>
	// true
}
