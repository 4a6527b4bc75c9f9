package runtime

import "testing"

// Effects and calls are numbered by kind and checksum, separately in each context.
func TestOrdinals(t *testing.T) {
	turn := &Turn{}
	d := &Dispatch{turn: turn}
	d.number = 1
	turn.dispatches = []*Dispatch{d}
	for _, step := range []struct {
		context uint32
		kind    uint8
		want    uint32
	}{{0, 1, 1}, {0, 2, 1}, {0, 1, 2}, {1, 1, 1}, {0, 15, 1}, {0, 2, 2}, {1, 1, 2}, {0, 0, 1}} {
		if got := turn.Ordinal(step.context, step.kind); got != step.want {
			t.Errorf("effect of kind %d in context %d: %d, not %d", step.kind, step.context, got, step.want)
		}
	}
	for i, step := range []struct {
		context  uint32
		checksum string
		want     uint32
	}{{0, "a", 1}, {0, "b", 1}, {0, "a", 2}, {1, "a", 1}} {
		if got := turn.CallOrdinal(step.context, step.checksum); got != step.want {
			t.Errorf("call %d: %d, not %d", i, got, step.want)
		}
	}
}

// Paths number the dispatches opened at a place.
func TestPaths(t *testing.T) {
	turn := &Turn{}
	turn.context.place.seam = inBetween
	if got := turn.openPath(&turn.context); got != "d1" {
		t.Errorf("the turn's own dispatch is %q", got)
	}
	if got := turn.openPath(&turn.context); got != "d2" {
		t.Errorf("the next one is %q", got)
	}
	for range 7 {
		turn.openPath(&turn.context)
	}
	if got := turn.openPath(&turn.context); got != "d10" {
		t.Errorf("the tenth is %q", got)
	}
	d := &Dispatch{turn: turn, path: "d1", iterations: 3, iteration: 2}
	d.number, d.place.seam = 1, inExecute
	turn.dispatches = []*Dispatch{d}
	for _, want := range []string{"d1.2.x.d1", "d1.2.x.d2"} {
		if got := turn.openPath(&d.contextState); got != want {
			t.Errorf("inside it is %q, not %q", got, want)
		}
	}
	if got := string(turn.AppendPath([]byte("at "), 1)); got != "at d1.2.x" {
		t.Errorf("its place is %q", got)
	}
	d.iterations = 0
	if got := string(turn.AppendPath(nil, 1)); got != "d1" {
		t.Errorf("before its first iteration it is %q", got)
	}
}
