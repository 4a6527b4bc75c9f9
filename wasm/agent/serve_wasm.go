//go:build wasip1 || js

package agent

import (
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/wasm/internal/reactor"
)

func init() {
	g := guest.New(reactor.Providers...)
	g.Serve(module{})
	reactor.Serve(g)
}
