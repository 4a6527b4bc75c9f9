package collections

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An order behaves like a slice of handles, and copies do not see what the original does.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var o Order
	var model []int64
	type copied struct {
		o     Order
		model []int64
	}
	var copies []copied
	next := int64(1)
	pick := func() int64 {
		if len(model) == 0 {
			return 0
		}
		return model[rng.IntN(len(model))]
	}
	for range 5000 {
		switch n := rng.IntN(10); n {
		case 0, 1, 2:
			count := 1 + rng.IntN(5)
			o.Add(next, count)
			for i := range count {
				model = append(model, next+int64(i))
			}
			next += int64(count) + int64(rng.IntN(2))
		case 3, 4:
			if h := pick(); o.Remove(h) {
				model = slices.DeleteFunc(model, func(m int64) bool { return m == h })
			} else if h != 0 {
				t.Fatalf("handle %d was not removed", h)
			}
		case 5, 6:
			if h := pick(); h != 0 {
				o.Replace(h, -next)
				model[slices.Index(model, h)] = -next
				next++
			}
		case 7:
			before := pick()
			o.Insert(-next, before)
			at := len(model)
			if before != 0 {
				at = slices.Index(model, before)
			}
			model = slices.Insert(model, at, -next)
			next++
		case 8:
			copies = append(copies, copied{o.Snapshot(), slices.Clone(model)})
		case 9:
			if rng.IntN(50) == 0 {
				o.Clear()
				model = nil
			}
		}
		if o.count != len(model) {
			t.Fatalf("count %d, want %d", o.count, len(model))
		}
	}
	copies = append(copies, copied{o, model})
	for i, c := range copies {
		if got := slices.Collect(c.o.All); !slices.Equal(got, c.model) {
			t.Fatalf("copy %d differs: %v, want %v", i, got, c.model)
		}
	}
	if h := pick(); h != 0 && (!o.Has(h) || o.Has(next)) {
		t.Error("has")
	}
}
