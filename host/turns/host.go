package turns

import (
	"context"
	"net/http"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
)

// Host is where turns run: an engine, the instance that runners share, and what the core gets from outside. Make one
// with NewHost and give it to several runners, or let each runner make its own. There is no global one.
type Host struct {
	options HostOptions

	mu     sync.Mutex
	core   *core
	chosen host.Engine // by default, so that it is this host's to close
	closed bool
}

// HostOptions configure a Host. The zero value is fine.
type HostOptions struct {
	// Engine runs the core. nil means engine.Default, loaded when the first turn starts. An engine that is given here
	// is not closed with the host.
	Engine host.Engine
	// Clock and Entropy are where the core's time and randomness come from: the machine by default.
	Clock   host.Clock
	Entropy host.Entropy
	// Limits lower what the core may send and keep outstanding; zero fields keep the defaults.
	Limits abi.Limits
	// HTTP sends the requests of the chat executor. nil means http.DefaultTransport.
	HTTP http.RoundTripper
	// Credentials are what requests may carry, by the name that the core uses for them.
	Credentials map[string]Credential
	// AllowOrigin restricts where requests may go, origins being like "https://api.example.com". nil allows all: the
	// options of the chat executor are the program's own.
	AllowOrigin func(origin string) bool
	// HighWater is the memory of an instance, in bytes, beyond which it is replaced when no turn runs in it. 0 means
	// 256 MiB.
	HighWater uint64
	// Verify compares the core's collections with the host's after every step, and ends the instance when they differ.
	// For tests: it takes a step more each time.
	Verify bool
}

// NewHost returns a host. It loads nothing yet.
func NewHost(options HostOptions) *Host {
	if options.Clock == nil {
		options.Clock = host.SystemClock()
	}
	if options.Entropy == nil {
		options.Entropy = host.SystemEntropy()
	}
	if options.HighWater == 0 {
		options.HighWater = 256 << 20
	}
	return &Host{options: options}
}

// engine returns the engine. The caller holds h.mu.
func (h *Host) engine(ctx context.Context) (host.Engine, error) {
	switch {
	case h.options.Engine != nil:
		return h.options.Engine, nil
	case h.chosen == nil:
		e, err := engine.Default(ctx)
		if err != nil {
			return nil, err
		}
		h.chosen = e
	}
	return h.chosen, nil
}

// acquire returns a core that can take a turn.
func (h *Host) acquire(ctx context.Context) (*core, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, newError(abi.CodeInstanceFailed, "the host is closed", nil)
	}
	if h.core != nil && h.core.usable(h.options.HighWater) {
		return h.core, nil
	}
	// Loading must not be given up because the turn that happens to need it first is.
	c, err := openCore(context.WithoutCancel(ctx), h)
	if err != nil {
		return nil, err
	}
	h.core = c
	return c, nil
}

// Load loads the module and starts an instance, which the first turn does otherwise.
func (h *Host) Load(ctx context.Context) error {
	_, err := h.acquire(ctx)
	return err
}

// Close ends the instance, and the engine if it is the host's own. Turns that run end with E_INSTANCE_FAILED.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	c, chosen := h.core, h.chosen
	h.core, h.chosen, h.closed = nil, nil, true
	h.mu.Unlock()
	var err error
	if c != nil {
		err = c.inst.Close(ctx)
		c.fail(newError(abi.CodeInstanceFailed, "the host was closed", nil))
	}
	if chosen != nil {
		if e := chosen.Close(ctx); err == nil {
			err = e
		}
	}
	return err
}
