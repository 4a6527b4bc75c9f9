//go:build wasip1 || js

// Command module is the Turncore core module: package guest behind the three exports of the ABI. With the build tag
// full it is the full module, whose chat executor knows all providers and which has sessions; with turnsonly besides,
// it has none, which tells what they weigh.
package main

import (
	"github.com/turncore/turncore/internal/guest"
	"github.com/turncore/turncore/wasm/internal/reactor"
)

func init() { reactor.Serve(guest.New(reactor.Providers...)) }
