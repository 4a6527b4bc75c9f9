package mutant

import "testing"

// Each function does what it stands for, and its change when that is chosen.
func TestChanges(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	was := chosen
	defer func() { chosen = was }()
	for name, test := range map[string]struct {
		do        func() any
		off, with any
	}{
		"On":             {func() any { return On(1) }, false, true},
		"Not":            {func() any { return Not(1, true) }, true, false},
		"And":            {func() any { return And(1, true, no) }, false, true},
		"Or":             {func() any { return Or(1, false, yes) }, true, false},
		"Less":           {func() any { return Less(1, 2, 2) }, false, true},
		"LessOrEqual":    {func() any { return LessOrEqual(1, 2, 2) }, true, false},
		"Greater":        {func() any { return Greater(1, 2, 2) }, false, true},
		"GreaterOrEqual": {func() any { return GreaterOrEqual(1, 2, 2) }, true, false},
		"Sum":            {func() any { return Sum(1, 5, 3) }, 8, 2},
		"Difference":     {func() any { return Difference(1, 5, 3) }, 2, 8},
		"Next":           {func() any { return Next(1, 5) }, 5, 6},
		"Previous":       {func() any { return Previous(1, 5) }, 5, 4},
		"Zero":           {func() any { return Zero[any](1, "x") }, "x", nil},
	} {
		chosen = 2
		if got := test.do(); got != test.off {
			t.Errorf("%s: %v without the change", name, got)
		}
		chosen = 1
		if got := test.do(); got != test.with {
			t.Errorf("%s: %v with the change", name, got)
		}
	}
	chosen = 2
	if !And(1, true, yes) || And(1, false, yes) || Or(1, false, no) || !Less(1, 1, 2) || Greater(1, 1, 2) || !Not(1, true) {
		t.Error("an operator is another one without a change")
	}
}
