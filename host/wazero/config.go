package wazero

import (
	"os"
	"path/filepath"
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
	gc     int    // GOGC of the guest, 0 for Go's default

	interpret bool
}

// WithMemoryLimitPages bounds the memory of each instance, in pages of 64 KiB. An instance that needs more fails. Values
// above 65,536 (4 GiB) count as that, and 0 as 1.
func WithMemoryLimitPages(pages uint32) Option {
	return func(c *config) { c.pages = min(max(pages, 1), 65536) }
}

// WithCacheDir keeps compiled code in dir, which is made if it is missing. Compiling takes half a second, loading what
// was compiled some 30 ms.
//
// The folder holds native code that this program will run: nobody else may be able to write to it.
func WithCacheDir(dir string) Option {
	return func(c *config) { c.cache, c.chosen = dir, true }
}

// WithoutCache compiles afresh every time and writes nothing to disk.
func WithoutCache() Option {
	return func(c *config) { c.cache, c.chosen = "", false }
}

// WithGCPercent sets how much the guest's heap may grow, in percent of what is live, before Go collects it: GOGC inside
// the module. Less takes less memory and more time. 0 keeps Go's default, 100.
func WithGCPercent(percent int) Option {
	return func(c *config) { c.gc = percent }
}

// WithInterpreter runs the module without compiling it to machine code, for platforms where that may not be, and for
// tests. It is some fifty times slower.
func WithInterpreter() Option {
	return func(c *config) { c.interpret = true }
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
	return c
}
