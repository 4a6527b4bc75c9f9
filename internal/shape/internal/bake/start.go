package bake

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// Lowest readings of the clocks, in nanoseconds and seconds. Go's runtime takes a monotonic clock that shows zero for a
// broken one.
const (
	monotonic = 1
	wall      = 0
)

// Bounds on naps: their number, and the nanoseconds of each.
const (
	maxNaps = 16
	maxNap  = 1_000_000
)

// patience bounds a start, which takes a second, or some on a slow machine.
var patience = 30 * time.Second

// image is what an instance consists of between two calls.
type image struct {
	memory  []byte
	globals []uint64
}

// start runs the module's _initialize, and returns what it has made.
func (m *module) start(ctx context.Context) (*image, error) {
	endless := fmt.Errorf("it has not ended after %v: an init function or the value of a package variable may loop for ever", patience)
	bounded, cancel := context.WithTimeoutCause(ctx, patience, endless)
	defer cancel()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCloseOnContextDone(true))
	defer runtime.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, fmt.Errorf("bake: %w", err)
	}
	var said bytes.Buffer
	random := bytes.NewReader(entropy[:]) // Go's runtime draws once
	naps := 0
	config := wazero.NewModuleConfig().
		WithStartFunctions(initialize).
		WithStdout(&said).WithStderr(&said).
		WithNanotime(func() int64 { return monotonic }, sys.ClockResolution(1)).
		WithWalltime(func() (sec int64, nsec int32) { return wall, 0 }, sys.ClockResolution(1)).
		WithNanosleep(func(ns int64) {
			// A dying program naps before it says why. With a clock that stands still, others would sleep for ever.
			if naps++; naps > maxNaps || ns > maxNap {
				panic("the module sleeps at its start")
			}
		}).
		WithRandSource(random)
	instance, err := runtime.InstantiateWithConfig(bounded, m.transparent(), config)
	switch {
	case err != nil && bounded.Err() != nil:
		return nil, fmt.Errorf("bake: %s: %w", initialize, context.Cause(bounded))
	case err != nil && said.Len() > 0: // it says more than a trace of functions without names
		return nil, fmt.Errorf("bake: %s fails: %s", initialize, bytes.TrimSpace(said.Bytes()))
	case err != nil:
		return nil, fmt.Errorf("bake: %s: %w", initialize, err)
	case said.Len() > 0:
		return nil, fmt.Errorf("bake: %s writes %q", initialize, said.Bytes())
	case random.Len() > 0:
		return nil, fmt.Errorf("bake: %s leaves %d of %d random bytes", initialize, random.Len(), len(entropy))
	}
	memory := instance.Memory()
	view, _ := memory.Read(0, memory.Size())
	made := &image{memory: bytes.Clone(view)}
	for i := range m.globals {
		made.globals = append(made.globals, instance.ExportedGlobal(exportOf(i)).Get())
	}
	return made, nil
}
