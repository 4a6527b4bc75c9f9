package wasmtime

import (
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/turncore/turncore/host/engine"
)

// DefaultMemoryLimitPages bounds an instance's memory unless [WithMemoryLimitPages] says otherwise: 512 MiB.
const DefaultMemoryLimitPages = 8192

// Option changes how an engine is made.
type Option func(*config)

type config struct {
	pages   uint32
	cache   string // folder, "" for none
	chosen  bool   // the user named the folder, so failing to use it is an error
	gc      uint32 // percent, 0 for Go's default
	fuel    engine.Fuel
	timeout time.Duration // 0 for none
}

// WithMemoryLimitPages bounds the memory of each instance, in pages of 64 KiB. An instance that needs more fails.
// Values above 65,536 (4 GiB) count as 65,536, and 0 as 1.
func WithMemoryLimitPages(pages uint32) Option {
	return func(c *config) { c.pages = min(max(pages, 1), 65536) }
}

// WithCacheDir keeps compiled code in dir, and creates dir if it is missing. Compiling takes seconds, loading compiled
// code some 20 ms.
//
// This program runs the native code in the folder: make sure that nobody else can write to it.
func WithCacheDir(dir string) Option {
	return func(c *config) { c.cache, c.chosen = dir, true }
}

// WithoutCache compiles the module every time and writes nothing to disk.
func WithoutCache() Option {
	return func(c *config) { c.cache, c.chosen = "", false }
}

// WithGCPercent sets GOGC inside the module: how much the guest's heap may grow, in percent of the live heap, before
// a collection. Lower values take less memory and more time. 0 or less keeps Go's default, 100.
func WithGCPercent(percent int) Option {
	return func(c *config) { c.gc = uint32(min(max(percent, 0), math.MaxInt32)) }
}

// WithFuel bounds what the module's code may do as it starts and in each step, for modules that are not trusted: one
// that uses more ends with [host.CodeInstanceFailed], and an [engine.FuelError] as its cause. Amounts that are not
// positive stand for [engine.DefaultStartFuel] and [engine.DefaultStepFuel]. A module uses the same on every machine
// and engine.
func WithFuel(fuel engine.Fuel) Option {
	if fuel.Start <= 0 {
		fuel.Start = engine.DefaultStartFuel
	}
	if fuel.Step <= 0 {
		fuel.Step = engine.DefaultStepFuel
	}
	return func(c *config) { c.fuel = fuel }
}

// WithStepTimeout bounds the time that an instance may take to start, and for each step, for modules that are not
// trusted: one that takes more ends with [host.CodeInstanceFailed], and an [engine.TimeoutError] as its cause. It ends
// when the time is over, and before a sixteenth of it more is, at best a millisecond. 0 or less bounds nothing.
//
// The time is that of the clock: it counts while other programs have the processor. Make it a thousand times what a
// step takes.
func WithStepTimeout(timeout time.Duration) Option {
	return func(c *config) { c.timeout = max(timeout, 0) }
}

func newConfig(options []Option) config {
	c := config{pages: DefaultMemoryLimitPages}
	dir, err := os.UserCacheDir()
	if err == nil {
		c.cache = filepath.Join(dir, "turncore", "wasmtime")
	}
	for _, option := range options {
		option(&c)
	}
	return c
}
