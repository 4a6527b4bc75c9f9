// Package shape gives what Go's linker makes of a main package for GOOS=wasip1 the shape that hosts get: rewritten, and
// started ahead.
package shape

import (
	"context"
	"slices"
	"strings"

	"github.com/turncore/turncore/internal/confine"
	"github.com/turncore/turncore/internal/shape/internal/bake"
	"github.com/turncore/turncore/internal/shape/internal/peephole"
	"github.com/turncore/turncore/internal/shape/internal/segments"
)

// Shape says what is made of a linked file. Each part can be left out, to see what a fault comes from.
type Shape struct {
	Rewrite bool // by the packages peephole and segments
	Bake    bool // started once: what begins is an initialised instance
}

// Shipped is what hosts get.
var Shipped = Shape{Rewrite: true, Bake: true}

// Apply gives a linked file its shape. Hosts in JavaScript allow the memory that it may grow to.
func (s Shape) Apply(ctx context.Context, file []byte) (_ []byte, err error) {
	if s.Rewrite {
		if file, err = peephole.Rewrite(file); err != nil {
			return nil, err
		}
	}
	if s.Bake {
		if file, err = bake.Module(ctx, file); err != nil {
			return nil, err
		}
	}
	if s.Rewrite {
		if file, err = segments.Rewrite(file); err != nil {
			return nil, err
		}
	}
	return confine.Module(file, confine.BuiltPages)
}

// Count returns a file that counts what it executes, by function: see [peephole.Count].
func Count(file []byte) ([]byte, error) { return peephole.Count(file) }

// seldom are packages that no turn spends its time in: nothing is inlined in them, which makes the
// compressed module 14 KB smaller.
var seldom = []string{
	"internal/catalogue", "internal/pattern", "internal/provider/grammar", "internal/suggestion",
	"runtime/internal/jsonpath", "runtime/internal/markdown", "runtime/internal/yaml",
	"runtime/invocation", "runtime/session",
}

// Flags returns what go build needs to compile a package for the shape, with build tags of the package's own. goroot is
// the folder of Go's library; files that the flags name are written to dir, which must be there until the package is
// built.
func (s Shape) Flags(goroot, dir string, tags ...string) ([]string, error) {
	overlay, err := s.overlay(goroot, dir)
	if err != nil {
		return nil, err
	}
	flags := []string{"-trimpath", "-buildvcs=false", "-overlay=" + overlay}
	if s.Bake {
		tags = append(slices.Clone(tags), "baked")
	}
	if len(tags) > 0 {
		flags = append(flags, "-tags="+strings.Join(tags, ","))
	}
	for _, name := range seldom {
		flags = append(flags, "-gcflags=github.com/turncore/turncore/"+name+"=-l")
	}
	return flags, nil
}
