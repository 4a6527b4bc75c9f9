package wire_test

import (
	"math"
	"testing"

	"github.com/turncore/turncore/host/internal/wire"
)

// A value that contains itself is named where it does, as hosts in JavaScript name it; one that is only deep is not
// called so.
func TestCycle(t *testing.T) {
	m := map[string]any{"a": 1}
	m["self"] = []any{m}
	ring := make([]any, 2)
	ring[1] = ring
	shared := map[string]any{}
	var deep any = []any{}
	for range 61 {
		deep = []any{deep}
	}
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"a map":            {m, "v.self[0]: the value contains itself"},
		"a list":           {map[string]any{"b c": ring}, `v["b c"][1]: the value contains itself`},
		"within a Map":     {wire.Map{{Key: "k", Value: m}}, "v.k.self[0]: the value contains itself"},
		"deep":             {deep, "v: the value is nested deeper than 60 levels"},
		"shared, and deep": {[]any{shared, shared, deep}, "v: the value is nested deeper than 60 levels"},
		"infinite":         {math.Inf(1), "v: Infinity has no encoding"},
		"less":             {[]any{math.Inf(-1)}, "v[0]: -Infinity has no encoding"},
		"a function":       {func() {}, "v: a function cannot be encoded"},
	} {
		if out, err := wire.Append([]byte("x"), c.v, "v"); err == nil || err.Error() != c.want || string(out) != "x" {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
	if _, err := wire.Append(nil, []any{shared, shared}, "v"); err != nil {
		t.Errorf("a value twice: %v", err)
	}
}
