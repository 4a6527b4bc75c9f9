package runtime

import (
	"strconv"
	"testing"
)

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
	}{{0, 1, 1}, {0, 2, 1}, {0, 1, 2}, {1, 1, 1}, {0, 15, 1}, {0, 2, 2}, {1, 1, 2}, {0, 0, 1}, {1, 34, 1}, {1, 34, 2}, {1, 35, 1}} {
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

// What was counted in a seam does not count in the next one.
func TestSeamsCountAnew(t *testing.T) {
	turn := &Turn{}
	count := func() [6]any {
		turn.Ordinal(0, 3)
		turn.CallOrdinal(0, "a")
		turn.CallOrdinal(0, "b")
		turn.openPath(&turn.context)
		return [6]any{
			turn.Ordinal(0, 3), turn.Ordinal(0, 4), turn.CallOrdinal(0, "a"), turn.CallOrdinal(0, "b"), turn.CallOrdinal(0, "c"),
			string(turn.openPath(&turn.context)),
		}
	}
	for _, seam := range []byte{inInput, inOutput} {
		turn.context.place.enter(seam)
		want := [6]any{uint32(2), uint32(1), uint32(2), uint32(2), uint32(1), string(seam) + ".d2"}
		if got := count(); got != want {
			t.Errorf("in seam %c: %v, not %v", seam, got, want)
		}
	}
	turn.context.place.enter(inStart)
	if b, a := turn.CallOrdinal(0, "b"), turn.CallOrdinal(0, "a"); b != 1 || a != 1 {
		t.Errorf("another first call: b %d and a %d, not 1 and 1", b, a)
	}
}

// Paths number the dispatches opened at a place.
func TestPaths(t *testing.T) {
	turn := &Turn{}
	for n := 1; n <= 10; n++ {
		if got, want := string(turn.openPath(&turn.context)), "d"+strconv.Itoa(n); got != want {
			t.Errorf("the turn's dispatch %d is %q, not %q", n, got, want)
		}
	}
	d := &Dispatch{turn: turn, path: []byte("d1")}
	d.number = 1
	turn.dispatches = []*Dispatch{d}
	if got := string(turn.AppendPath(nil, 1)); got != "d1" {
		t.Errorf("before its first iteration it is %q", got)
	}
	for ; d.iterations < 1012; d.iterations++ {
		d.enterIteration()
		d.place.enter(inBetween)
		if got, want := string(turn.AppendPath(nil, 1)), "d1."+strconv.Itoa(d.iterations); got != want {
			t.Fatalf("at the start of iteration %d it is %q, not %q", d.iterations, got, want)
		}
	}
	d.place.enter(inExecute)
	if got := string(turn.AppendPath([]byte("at "), 1)); got != "at d1.1011.x" {
		t.Errorf("its place is %q", got)
	}
	for _, want := range []string{"d1.1011.x.d1", "d1.1011.x.d2"} {
		if got := string(turn.openPath(&d.contextState)); got != want {
			t.Errorf("inside it is %q, not %q", got, want)
		}
	}
}
