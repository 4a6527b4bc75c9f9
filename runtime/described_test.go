package runtime_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
)

// Built-in middleware accepts the arguments and the pipelines that abi/builtins.json describes, and no others.
func TestMiddlewareIsAsDescribed(t *testing.T) {
	text, err := os.ReadFile("../abi/builtins.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Middleware []struct {
			Name      string
			Pipelines []string
			Argument  []struct {
				Name, Type string
				Min        *int64
				Required   bool
			}
		}
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	samples := map[string]any{"string": "x", "integer": 7, "number": 0.5, "object{}": map[string]any{"m": map[string]any{"input": 1, "output": 2}}}
	taken := func(pipeline runtime.Pipeline, name string, arg any) bool {
		text, err := json.Marshal(arg)
		if err != nil {
			t.Fatal(err)
		}
		v, err := value.FromJSON(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = runtime.NewBound(pipeline, name, v)
		return err == nil
	}
	pipelines := []runtime.Pipeline{runtime.TurnInput, runtime.TurnOutput, runtime.DispatchInput, runtime.DispatchOutput}
	for _, m := range described.Middleware {
		whole, pipeline := map[string]any{}, runtime.Pipeline(0)
		var right any = whole
		for _, o := range m.Argument {
			if whole[o.Name] = samples[o.Type]; o.Name == "" {
				right = samples[o.Type]
			} else if o.Name == "reserve" {
				whole[o.Name] = 0
			}
		}
		for _, p := range pipelines {
			if here := slices.Contains(m.Pipelines, p.String()); taken(p, m.Name, right) != here {
				t.Errorf("%s in %s: %v", m.Name, p, !here)
			} else if here {
				pipeline = p
			}
		}
		for _, o := range m.Argument {
			with := func(v any) any {
				if o.Name == "" {
					return v
				}
				changed := map[string]any{}
				for name, old := range whole {
					changed[name] = old
				}
				if changed[o.Name] = v; v == nil {
					delete(changed, o.Name)
				}
				return changed
			}
			if taken(pipeline, m.Name, with(nil)) == o.Required {
				t.Errorf("%s without %s: %v", m.Name, o.Name, o.Required)
			}
			if o.Min != nil && (taken(pipeline, m.Name, with(*o.Min-1)) || !taken(pipeline, m.Name, with(*o.Min))) {
				t.Errorf("%s: %s is not from %d", m.Name, fmt.Sprint(o.Name), *o.Min)
			}
		}
	}
	if len(described.Middleware) != 6 || taken(runtime.DispatchInput, "other", nil) {
		t.Errorf("%d are described", len(described.Middleware))
	}
}
