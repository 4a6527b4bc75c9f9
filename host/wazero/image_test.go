package wazero

import (
	"bytes"
	"context"
	"runtime"
	"testing"

	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/wasm/full"
)

// memoryOf is a copy of an instance's memory.
func memoryOf(t *testing.T, i any) (memory []byte) {
	t.Helper()
	i.(*engine.Instance).View(func(live []byte) { memory = bytes.Clone(live) })
	return memory
}

// An instance begins as the module says, whatever others have written to the pages that they share, on whatever memory.
func TestInstancesShareAnImage(t *testing.T) {
	module, ok := full.Module()
	if !ok {
		t.Fatal("this build carries no module: run `make wasm` first")
	}
	for name, options := range map[string][]Option{
		"compiler":     nil,
		"interpreter":  {WithInterpreter()},
		"metered":      {WithFuel(engine.Fuel{})},
		"on Go's heap": {func(c *config) { c.heap = true }},
	} {
		t.Run(name, func(t *testing.T) {
			made := func(options ...Option) *Engine {
				e, err := New(context.Background(), module, options...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = e.Close(context.Background()) })
				return e
			}
			plain, e := made(append(options, WithoutImage())...), made(options...)
			if plain.image != nil || e.image == nil {
				t.Fatal("an engine has an image where it should have none, or none where it should have one")
			}
			if runtime.GOOS == "linux" && (e.image.file == nil) != e.config.heap {
				t.Error("the image is copied where it can be mapped")
			}
			want := memoryOf(t, open(t, plain))
			first := open(t, e)
			if !bytes.Equal(memoryOf(t, first), want) {
				t.Fatal("the first instance begins otherwise than without an image")
			}
			if _, err := first.Step(nil, []byte{}); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(memoryOf(t, first), want) {
				t.Fatal("the step changed nothing")
			}
			first.(*engine.Instance).View(func(live []byte) {
				for at := range live {
					live[at] ^= 0x5a
				}
			})
			if !bytes.Equal(memoryOf(t, open(t, e)), want) {
				t.Error("an instance sees what another one has written")
			}
			if err := first.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(memoryOf(t, open(t, e)), want) {
				t.Error("an instance sees what one has written that has ended")
			}
		})
	}
}
