package turns

import (
	"context"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/exchange"
)

// maxChunk is the largest part of a body that goes to the core at once, in bytes.
const maxChunk = 64 << 10

// request sends a request of the core and hands it what comes back.
func (e *effect) request(ctx context.Context, args *abi.HTTPArgs, media []exchange.Splice, allow func(origin string) bool) error {
	core := e.turn.core
	client := exchange.Client{Transport: core.host.options.HTTP, Credentials: core.host.options.Credentials}
	return client.Do(ctx, args, media, allow, min(maxChunk, core.maxBody()), e.send)
}

// allowedOrigins tells where a request of the effect may go: where the host lets it, or else where the program has said
// that the dispatch goes. The caller holds t.mu.
func (e *effect) allowedOrigins() func(origin string) bool {
	t := e.turn
	if allow := t.core.host.options.AllowOrigin; allow != nil {
		return allow
	}
	var origins []string
	config := t.config
	if d := e.context.dispatch; d != nil {
		config = d.config
	}
	if config.chat != nil {
		base := chatURL(config.chat)
		if base == "" {
			return func(string) bool { return true } // a provider that only the core knows, and where it is
		}
		origins = append(origins, exchange.Origin(base))
	}
	for _, tools := range [][]*Tool{t.tools.runner, t.tools.own} {
		for _, tool := range tools {
			origins = append(origins, tool.origins()...)
		}
	}
	return func(origin string) bool { return slices.Contains(origins, origin) }
}

// send hands the core a part of the answer. It tells whether more is wanted.
func (e *effect) send(f *abi.Chunk) bool {
	t := e.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.running[e.number] != e {
		return false
	}
	f.Turn, f.Effect, f.Elapsed = t.number, e.number, t.tick()
	a := actor{busy: true}
	if err := t.exchange(&a, f); err != nil && !t.closed {
		t.perish(t.core.inst.Retire(err))
	}
	t.await(&a)
	return !t.closed
}
