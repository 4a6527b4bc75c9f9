package turns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/model"
)

// Host runs turns: it has an engine, the instance that runners share, and the core's external services. Make one with
// NewHost and pass it to several runners, or let each runner make its own. There is no global host.
type Host struct {
	options HostOptions

	mu       sync.Mutex
	core     *core       // takes turns; nil for none yet
	draining []*core     // have turns to end, and take none
	chosen   host.Engine // by default, so that it is this host's to close
	closed   bool

	flight inFlight // turns of all runners, and dispatches without a turn
}

// HostOptions configure a Host. The zero value is fine.
type HostOptions struct {
	// Engine runs the core. nil means wazero with the module that the program imports, package wasm/full or wasm/core,
	// loaded when the first turn starts. The host does not close an engine given here.
	Engine host.Engine
	// Clock and Entropy are the sources of the core's time and randomness: the machine by default.
	Clock   host.Clock
	Entropy host.Entropy
	// Limits lower what the core may send and keep outstanding; zero fields keep the defaults.
	Limits abi.Limits
	// HTTP sends the requests of the chat executor. nil means http.DefaultTransport.
	HTTP http.RoundTripper
	// Credentials are the credentials for requests, by their names in the core.
	Credentials map[string]model.Credential
	// AllowOrigin reports whether requests and redirects of the core may go to an origin like "https://api.example.com".
	// nil allows the addresses in the program's own configuration: the origin of the chat executor's BaseURL, and the
	// addresses of FetchTool.
	AllowOrigin func(origin string) bool
	// HighWater is the memory of an instance, in bytes, beyond which it takes no further turns: they go to a fresh
	// instance, and the old one ends with its last turn. At most two instances end like this at a time; beyond that, new
	// turns fail with E_OVERLOADED. 0 means 256 MiB.
	HighWater uint64
	// Quota bounds the bytes that the core holds: records, queued writes, open streams and requests, for one turn and
	// for all of an instance. A turn that would exceed a bound fails with E_TURN_QUOTA_EXCEEDED. 0 means 64 MiB for a
	// turn and for an instance 128 MiB, or half of HighWater if that is more, because its memory is up to twice these
	// bytes.
	Quota abi.Quota
	// Verify compares the core's collections with the host's after every step, and ends the instance when they differ.
	// For tests; it takes one more step each time.
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
	if options.Quota.Instance == 0 {
		options.Quota.Instance = max(abi.DefaultInstanceQuota, options.HighWater/2)
	}
	options.Quota.Turn = min(options.Quota.Turn, abi.MaxInt)
	options.Quota.Instance = min(options.Quota.Instance, abi.MaxInt)
	return &Host{options: options}
}

// engine returns the engine. The caller holds h.mu.
func (h *Host) engine(ctx context.Context) (host.Engine, error) {
	switch {
	case h.options.Engine != nil:
		return h.options.Engine, nil
	case h.chosen == nil:
		e, err := defaultEngine(ctx)
		if err != nil {
			return nil, err
		}
		h.chosen = e
	}
	return h.chosen, nil
}

// maxDraining is how many instances may wait for the last of their turns at a time.
const maxDraining = 2

// retryAfter is when a turn that was refused with E_OVERLOADED is worth another try, in ms.
const retryAfter = 1000

// acquire returns a core that can take a turn.
func (h *Host) acquire(ctx context.Context) (*core, error) {
	if h.options.Clock == nil {
		panic("turns: a Host is made by NewHost")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, newError(abi.CodeClosed, "", nil)
	}
	if h.core != nil {
		h.draining = slices.DeleteFunc(h.draining, (*core).dead)
		switch h.core.admit(h.options.HighWater, len(h.draining) < maxDraining) {
		case admitted:
			return h.core, nil
		case full:
			return nil, h.overloaded()
		case drains:
			h.draining = append(h.draining, h.core)
		case ended:
		}
		h.core = nil
	}
	// Loading must not be given up because the turn that happens to need it first is.
	c, err := openCore(context.WithoutCancel(ctx), h)
	if err != nil {
		return nil, err
	}
	h.core = c
	return c, nil
}

// overloaded refuses a turn.
func (h *Host) overloaded() error {
	e := host.NewError(host.CodeOverloaded, fmt.Sprintf("%d instances have grown beyond %d bytes and still have turns to end",
		maxDraining+1, h.options.HighWater), nil)
	e.Details = map[string]any{"retryAfterMs": retryAfter}
	return e
}

// cores are all that may be alive.
func (h *Host) cores() []*core {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.coresLocked()
}

func (h *Host) coresLocked() []*core {
	all := slices.Clone(h.draining)
	if h.core != nil {
		all = append(all, h.core)
	}
	return all
}

// Load loads the module and starts an instance; otherwise the first turn does this.
func (h *Host) Load(ctx context.Context) error {
	_, err := h.acquire(ctx)
	return err
}

// Shutdown closes the host when its turns have ended, dispatches without a turn among them. New turns fail with
// ErrClosed. If ctx ends first, the remaining turns are aborted with ErrClosed, whose cause is that of ctx; they have
// a second to end, and Shutdown returns the cause of ctx.
func (h *Host) Shutdown(ctx context.Context) error {
	late := h.flight.drain(ctx)
	return errors.Join(late, h.Close(context.WithoutCancel(ctx)))
}

// Close ends the instances, and the engine if it is the host's own. Running turns end as failed, with ErrClosed,
// after their missing end events. Use Shutdown to let them finish.
func (h *Host) Close(ctx context.Context) error {
	h.flight.close()
	h.mu.Lock()
	cores, chosen := h.coresLocked(), h.chosen
	h.core, h.draining, h.chosen, h.closed = nil, nil, nil, true
	h.mu.Unlock()
	var errs []error
	for _, c := range cores {
		errs = append(errs, c.close(ctx))
	}
	if chosen != nil {
		errs = append(errs, chosen.Close(ctx))
	}
	return errors.Join(errs...)
}
