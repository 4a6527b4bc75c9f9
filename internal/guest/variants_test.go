package guest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
)

// strangers are values that may stand where another one belongs.
var strangers = [][]byte{
	value.AppendNil(nil), value.AppendBool(nil, true), value.AppendInt(nil, 0), value.AppendInt(nil, 1), value.AppendInt(nil, -1),
	value.AppendInt(nil, 1<<31), value.AppendInt(nil, 1<<53),
	{0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	value.AppendNumber(nil, 1.5), value.AppendString(nil, ""), value.AppendString(nil, "x"), value.AppendString(nil, "\xff"),
	value.AppendString(nil, strings.Repeat("x", 70000)), value.AppendBytes(nil, []byte{1}),
	{0x90},
	{0x91, 0xc0},
	{0x92, 1, 0xa1, 'x'},
	{0x80},
	{0x81, 0xa1, 'x', 1},
	{0x81, 1, 1},
	{0x82, 0xa1, 'x', 1, 0xa1, 'x', 2},
	deep(64),
}

// deep is a list in a list, so many of them.
func deep(n int) []byte { return append(slices.Repeat([]byte{0x91}, n), 0xc0) }

// eachVariant gives the encodings in which one value within v is another one, is left out or stands twice.
func eachVariant(v []byte, fn func(what string, v []byte)) {
	for i, s := range strangers {
		fn(fmt.Sprintf(" = stranger %d", i), s)
	}
	kind, size, n := value.Head(v, 0)
	elements := int(n)
	switch kind {
	case value.KindBytes: // records one behind another
		parts, ok := split(v[size:])
		if !ok {
			return
		}
		for i, part := range parts {
			eachVariant(part, func(what string, part []byte) {
				all := slices.Concat(slices.Concat(parts[:i]...), part, slices.Concat(parts[i+1:]...))
				fn(fmt.Sprint("<", i, ">", what), value.AppendBytes(nil, all))
			})
		}
		return
	case value.KindMap:
		elements *= 2
	case value.KindList:
	default:
		return
	}
	parts, _ := split(v[size:])
	for i, part := range parts[:elements] {
		eachVariant(part, func(what string, part []byte) {
			fn(fmt.Sprint("[", i, "]", what), slices.Concat(v[:size], slices.Concat(parts[:i]...), part, slices.Concat(parts[i+1:]...)))
		})
	}
	if kind == value.KindList && elements > 0 {
		fn(" without the last", slices.Concat(value.AppendListHeader(nil, elements-1), slices.Concat(parts[:elements-1]...)))
		fn(" with the first twice", slices.Concat(value.AppendListHeader(nil, elements+1), parts[0], slices.Concat(parts...)))
	}
}

// split parts values that stand one behind another.
func split(b []byte) (parts [][]byte, ok bool) {
	for len(b) > 0 {
		rest, err := value.Skip(b, value.MaxDepth)
		if err != nil {
			return nil, false
		}
		parts = append(parts, b[:len(b)-len(rest)])
		b = rest
	}
	return parts, true
}

// carryOn answers what an instance asks for, and starts an invocation of the team that a frame may have opened.
func carryOn(w *wire) {
	answer := abi.Value(schemaOf(`{"content":{"role":"model","parts":[{"text":"t"}]},"turnComplete":true}`))
	w.step(startInvocation(7, 6))
	for range 40 {
		effects := w.effects
		if len(effects) == 0 {
			return
		}
		var batch []byte
		for _, e := range effects {
			r := &abi.Result{Op: abi.OpResult, Turn: e.Turn, Effect: e.Effect}
			if e.Kind == abi.SessionEffectModel {
				r.Value = answer
			}
			batch = r.Append(batch)
		}
		w.take(w.in.Step(batch))
	}
}

// Any value in a frame may be any other one: the instance says so or takes it, and goes on.
func TestExchangedValues(t *testing.T) {
	n := 0
	for name, s := range samples() {
		eachVariant(s.frame.Append(nil), func(what string, frame []byte) {
			w := s.on(t)
			w.take(w.in.Step(frame))
			carryOn(w)
			for number, turn := range w.in.turns {
				if turn.served != nil && len(turn.effects) == 0 {
					t.Errorf("%s%s: invocation %d waits for nothing", name, what, number)
				}
			}
			give(t, w, nil, name+what)
			n++
		})
	}
	t.Logf("%d frames", n)
}
