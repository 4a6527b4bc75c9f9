package runtime

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// valueFrom converts a JSON text to a value.
func valueFrom(text string) []byte {
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func toolNamed(t testing.TB, name, schema string) *Tool {
	t.Helper()
	tool := &Tool{Number: 1, Name: name, InputSchema: valueFrom(schema)}
	if err := tool.Compile(); err != nil {
		t.Fatal(err)
	}
	return tool
}

// callTool announces a call, runs a tool and completes the call, as an executor does.
func (s *seam) callTool(id string, fine bool) error {
	tool := toolNamed(s.t, "calc", `{"type":"object"}`)
	if s.handler == nil {
		s.play.handler = func(*seam, *CallTool) ([]byte, error) { return nil, nil }
	}
	args := valueFrom(`{"a":1}`)
	if err := s.d.ReportToolCall(id, ToolCallReport{Tool: "calc", HasTool: true, Args: args}); err != nil {
		return err
	}
	if _, err := s.d.ExecuteTool(s.task, tool, args, ToolRun{Keep: true}); (err == nil) != fine {
		return err
	}
	return s.d.ReportToolCall(id, ToolCallReport{HostHas: true, Complete: true})
}

// D1 to D5 and D10.
func TestExecuteTool(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"number"},"unit":{"type":"string","default":"m"}},"required":["n"],"additionalProperties":false}`
	for _, c := range []struct {
		name, args string
		result     error
		code       fault.Code
		want       string
	}{
		{"D1 valid", `{"n":5}`, nil, "", "xS xE(false)"},
		{"D4 invalid", `{"m":5}`, nil, fault.InvalidToolArgs, ""},
		{"D10 no conversion", `{"n":"5"}`, nil, fault.InvalidToolArgs, ""},
		{"D5 the handler fails", `{"n":5}`, errX, fault.ToolDownstreamError, "xS xE(true)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := toolNamed(t, "measure", schema)
			ran := 0
			p := &play{t: t}
			p.handler = func(s *seam, call *CallTool) ([]byte, error) {
				ran++
				if !value.Equal(call.Args, valueFrom(`{"n":5,"unit":"m"}`)) || call.Tool != tool || call.Context != 1 || !call.Run.Keep {
					t.Errorf("call %+v", call)
				}
				if s.events[len(s.events)-1].Kind != EventToolExecutionStart {
					t.Error("the handler ran before toolExecutionStart")
				}
				return []byte("\xa1r"), c.result
			}
			p.executor = func(s *seam) error {
				result, err := s.d.ExecuteTool(s.task, tool, valueFrom(c.args), ToolRun{Keep: true})
				switch {
				case c.code == "" && (err != nil || string(result.Value) != "\xa1r" || result.Effect != s.effects):
					t.Errorf("result %+v, %v", result, err)
				case c.code != "" && !errors.Is(err, c.code):
					t.Errorf("error %v, want %s", err, c.code)
				case c.result != nil && errors.Unwrap(err) != c.result:
					t.Errorf("the cause is %v", errors.Unwrap(err))
				}
				return s.ack()
			}
			p.run()
			p.want(strings.TrimRight(began+c.want, " ") + " " + acked)
			if c.want == "" {
				if ran != 0 {
					t.Error("the handler ran")
				}
				return
			}
			start, end := p.events[3].payload.(*CallTool), p.events[4].payload.(*ToolEndEvent)
			if start.Tool.Name != "measure" || !value.Equal(start.Args, valueFrom(`{"n":5,"unit":"m"}`)) || end.Tool != "measure" || end.CallID != start.CallID {
				t.Errorf("events %+v, %+v", start, end)
			}
			if raw, _ := value.Checksum("measure", valueFrom(c.args)); start.CallID != raw || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(raw) {
				t.Errorf("call id %s, want the checksum of the raw arguments, %s", start.CallID, raw)
			}
		})
	}
}

func TestViolationsAreListed(t *testing.T) {
	p := &play{t: t}
	p.executor = func(s *seam) error {
		tool := toolNamed(t, "x", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`)
		_, err := s.d.ExecuteTool(s.task, tool, valueFrom(`{"a":1}`), ToolRun{})
		var f *fault.Error
		if !errors.As(err, &f) || value.Len(f.Details) != 2 || f.Status != 422 || f.Fatal {
			t.Errorf("error %+v", f)
		}
		// A list that grows with the arguments has a limit.
		many := value.AppendMapHeader(nil, 300)
		for i := range 300 {
			many = value.AppendNil(value.AppendString(many, strconv.Itoa(i)))
		}
		tool = toolNamed(s.t, "x", `{"type":"object","additionalProperties":false}`)
		_, err = s.d.ExecuteTool(s.task, tool, many, ToolRun{})
		if !errors.As(err, &f) || value.Len(f.Details) != 100 {
			t.Errorf("%d violations", value.Len(f.Details))
		}
		return s.ack()
	}
	p.run()
}

func TestToolAfterTheDispatch(t *testing.T) {
	tool := toolNamed(t, "calc", `{"type":"object"}`)
	p := &play{t: t, executor: ackOnce}
	p.pipelines[TurnOutput] = []middleware{func(s *seam, next func()) error {
		if _, err := s.turn.DispatchContext(1).ExecuteTool(s.task, tool, valueFrom(`{}`), ToolRun{Keep: true}); !errors.Is(err, fault.CallAfterEnd) {
			t.Errorf("error %v", err)
		}
		next()
		return nil
	}}
	p.run()
	p.want(began + acked)
}

// D8, as far as the core is concerned.
func TestCompileRefuses(t *testing.T) {
	for name, tool := range map[string]*Tool{
		"no name":       {InputSchema: valueFrom(`{"type":"object"}`)},
		"no schema":     {Name: "x"},
		"another type":  {Name: "x", InputSchema: valueFrom(`{"type":"string"}`)},
		"no type":       {Name: "x", InputSchema: valueFrom(`{}`)},
		"broken schema": {Name: "x", InputSchema: valueFrom(`{"type":"object","properties":5}`)},
		"not supported": {Name: "x", InputSchema: valueFrom(`{"type":"object","properties":{"a":{"pattern":"("}}}`)},
		"no map":        {Name: "x", InputSchema: valueFrom(`[1]`)},
		"no value":      {Name: "x", InputSchema: []byte{0xc1}},
		"list of types": {Name: "x", InputSchema: valueFrom(`{"type":["object","null"]}`)},
	} {
		if err := tool.Compile(); !errors.Is(err, fault.InvalidInitialToolValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func names(r *Registry, visible bool) string {
	var list []string
	if visible {
		r.Visible(func(t *Tool) bool { list = append(list, t.Name); return true })
	} else {
		for _, t := range r.tools {
			list = append(list, t.Name)
		}
	}
	return strings.Join(list, " ")
}

// D11, D12 and D17.
func TestRegistry(t *testing.T) {
	r := &Registry{}
	c2 := &Tool{Number: 9, Name: "c"}
	for _, name := range []string{"c", "a", "b"} {
		if err := r.Register(&Tool{Name: name}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Register(c2, false); !errors.Is(err, fault.ToolAlreadyRegistered) || !strings.Contains(err.Error(), "c") {
		t.Errorf("error %v", err)
	}
	if err := r.Register(c2, true); err != nil || names(r, false) != "c a b" {
		t.Errorf("%v, %s", err, names(r, false))
	}
	if got, ok := r.Get("c"); !ok || got != c2 {
		t.Errorf("got %+v", got)
	}
	r.SetHidden([]string{"a", "later"})
	if names(r, true) != "c b" || names(r, false) != "c a b" {
		t.Errorf("visible %s, all %s", names(r, true), names(r, false))
	}
	if _, ok := r.Get("a"); !ok {
		t.Error("a hidden tool cannot be called")
	}
	_ = r.Register(&Tool{Name: "later"}, false)
	if names(r, true) != "c b" {
		t.Errorf("a name hidden beforehand shows: %s", names(r, true))
	}
	r.Unregister("a")
	_ = r.Register(&Tool{Name: "a"}, false)
	if names(r, true) != "c b a" {
		t.Errorf("the hidden mark survived: %s", names(r, true))
	}
}

// B45 as changed by decision 19, and the separate registry of each context.
func TestRegistriesOfContexts(t *testing.T) {
	p := &play{t: t, config: Config{Tools: []*Tool{{Number: 1, Name: "open"}, {Number: 2, Name: "shy", Hidden: true}}}}
	p.pipelines[TurnInput] = []middleware{func(s *seam, next func()) error {
		_ = s.turn.Registry(0).Register(&Tool{Number: 70000, Name: "own"}, false)
		next()
		return nil
	}}
	p.executor = func(s *seam) error {
		if names(s.d.Tools(), true) != "open own" || names(s.d.Tools(), false) != "open shy own" {
			t.Errorf("visible %s, all %s", names(s.d.Tools(), true), names(s.d.Tools(), false))
		}
		s.turn.Registry(1).Unregister("open")
		s.turn.Registry(1).SetHidden(nil)
		if names(s.d.Tools(), true) != "shy own" {
			t.Errorf("visible %s", names(s.d.Tools(), true))
		}
		return s.ack()
	}
	p.pipelines[TurnOutput] = []middleware{func(s *seam, next func()) error {
		if all, visible := names(s.turn.Registry(0), false), names(s.turn.Registry(0), true); all != "open shy own" || visible != "open own" {
			t.Errorf("the dispatch changed the turn's registry: visible %s, all %s", visible, all)
		}
		next()
		return nil
	}}
	for range 2 { // the runner's does not change, either
		p.run()
	}
}

func TestToolsByNumber(t *testing.T) {
	p := &play{t: t, executor: ackOnce, config: Config{Tools: []*Tool{{Number: 1, Name: "a"}}}}
	p.run()
	p.turn.Define(&Tool{Number: 65536, Name: "b"})
	for number, want := range map[uint32]string{1: "a", 65536: "b", 2: ""} {
		tool, ok := p.turn.ToolByNumber(number)
		if ok != (want != "") || ok && tool.Name != want {
			t.Errorf("%d: %+v", number, tool)
		}
	}
}

// C5 and C6: absent parts keep earlier values.
func TestReportToolCall(t *testing.T) {
	p := &play{t: t}
	args := valueFrom(`{"query":"hello"}`)
	const sum = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e"
	p.executor = func(s *seam) error {
		s.must(s.d.ReportToolCall("t", ToolCallReport{Tool: "search", HasTool: true}))
		s.turn.SetElapsed(5)
		s.must(s.d.ReportToolCall("t", ToolCallReport{Args: args}))
		s.must(s.d.ReportToolCall("t", ToolCallReport{HostHas: true, IsError: true, HasIsError: true}))
		s.must(s.d.ReportToolCall("t", ToolCallReport{Kept: 4}))
		s.must(s.d.ReportToolCall("t", ToolCallReport{Results: []byte("\xa1r"), Complete: true}))
		if err := s.d.ReportToolCall("t", ToolCallReport{}); !isSealed(err) {
			t.Errorf("a report after the last: %v", err)
		}
		if err := s.d.ReportToolCall("u", ToolCallReport{Tool: "x", HasTool: true, Args: []byte{0xc1}}); !errors.Is(err, fault.InvalidToolArgs) {
			t.Errorf("malformed arguments: %v", err)
		}
		return s.ack()
	}
	p.run()
	for i, want := range []ToolCallEvent{
		{ID: "t", Tool: "search"},
		{ID: "t", Tool: "search", Args: args, Checksum: sum},
		{ID: "t", Tool: "search", Args: args, Checksum: sum, IsError: true, HostHas: true},
		{ID: "t", Tool: "search", Args: args, Checksum: sum, IsError: true, Kept: 4},
		{ID: "t", Tool: "search", Args: args, Checksum: sum, IsError: true, Results: []byte("\xa1r"), Complete: true},
	} {
		got := p.events[3+i].payload.(*ToolCallEvent)
		if got.ID != want.ID || got.Tool != want.Tool || !bytes.Equal(got.Args, want.Args) || got.Checksum != want.Checksum || got.Created != 0 ||
			got.Complete != want.Complete || got.IsError != want.IsError || got.HostHas != want.HostHas || got.Kept != want.Kept || !bytes.Equal(got.Results, want.Results) {
			t.Errorf("report %d: %+v, want %+v", i, got, want)
		}
	}
}
