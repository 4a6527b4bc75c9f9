package wazero

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/wasm/full"
)

// An instance has no table with an object for each of the module's functions: with the stacks of its calls it takes
// some tens of kilobytes besides its memory.
func TestInstancesAreSmall(t *testing.T) {
	module, ok := full.Module()
	if !ok {
		t.Fatal("this build carries no module: run `make wasm` first")
	}
	for name, options := range map[string][]Option{"plain": nil, "metered": {WithFuel(engine.Fuel{})}} {
		t.Run(name, func(t *testing.T) {
			e, err := New(context.Background(), module, options...)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close(context.Background())
			open(t, e)
			// What else allocates meanwhile is not the instance's: the smallest counts.
			least := uint64(math.MaxUint64)
			for range 10 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				i := open(t, e)
				runtime.ReadMemStats(&after)
				most := uint64(64 << 10)
				if e.image.file == nil { // the memory is on the heap too
					most += uint64(len(memoryOf(t, i))) * 2
				}
				least = min(least, max(after.TotalAlloc-before.TotalAlloc, most)-most)
			}
			if least > 0 {
				t.Errorf("a further instance takes %d bytes more than it may", least)
			}
		})
	}
}
