package wazero

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
	pages  uint32
	cache  string // folder, "" for none
	chosen bool   // the user named the folder, so failing to use it is an error
	heap   bool   // keep linear memory on Go's heap
	gc     uint32 // percent, 0 for Go's default
	fuel   engine.Fuel
	copies bool // of the module's data, for each instance

	timeout   time.Duration // 0 for none
	interpret bool
}

// WithMemoryLimitPages bounds the memory of each instance, in pages of 64 KiB. An instance that needs more fails.
// Values above 65,536 (4 GiB) count as 65,536, and 0 as 1.
func WithMemoryLimitPages(pages uint32) Option {
	return func(c *config) { c.pages = min(max(pages, 1), 65536) }
}

// WithCacheDir keeps compiled code in dir, and creates dir if it is missing. Compiling takes half a second, loading
// compiled code some 30 ms.
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
// positive stand for [engine.DefaultStartFuel] and [engine.DefaultStepFuel]. Counting takes up to a tenth of the time
// of a turn.
//
// The module has its fuel in slices. After each it comes back to Go, so that garbage is collected and other goroutines
// run while it works; how much fuel it has does not matter to them.
func WithFuel(fuel engine.Fuel) Option {
	return func(c *config) { c.fuel = filled(fuel) }
}

// filled is fuel with the defaults in place of what is not positive.
func filled(fuel engine.Fuel) engine.Fuel {
	if fuel.Start <= 0 {
		fuel.Start = engine.DefaultStartFuel
	}
	if fuel.Step <= 0 {
		fuel.Step = engine.DefaultStepFuel
	}
	return fuel
}

// WithStepTimeout bounds the time that an instance may take to start, and for each step, for modules that are not
// trusted: one that takes more ends with [host.CodeInstanceFailed], and an [engine.TimeoutError] as its cause. The
// module counts fuel, as [WithFuel] has it do, and looks at the clock after each slice, some tens of microseconds for
// most code. 0 or less bounds nothing.
//
// The time is that of the clock: it counts while other programs have the processor. Make it a thousand times what a
// step takes.
func WithStepTimeout(timeout time.Duration) Option {
	return func(c *config) { c.timeout = max(timeout, 0) }
}

// WithInterpreter runs the module without compiling it to machine code, for platforms that do not allow it, and for
// tests. It is some fifty times slower.
func WithInterpreter() Option {
	return func(c *config) { c.interpret = true }
}

// WithoutImage starts each instance with a copy of the module's data. Otherwise instances share the pages of an image
// of the memory until they write to them, where the system can do that: they start faster and take less memory.
func WithoutImage() Option {
	return func(c *config) { c.copies = true }
}

func newConfig(options []Option) config {
	c := config{pages: DefaultMemoryLimitPages}
	dir, err := os.UserCacheDir()
	if err == nil {
		c.cache = filepath.Join(dir, "turncore")
	}
	for _, option := range options {
		option(&c)
	}
	if c.interpret {
		c.cache, c.chosen = "", false // it holds machine code
	}
	if c.timeout > 0 {
		c.fuel = filled(c.fuel)
	}
	return c
}
