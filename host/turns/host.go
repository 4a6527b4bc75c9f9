package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/core"
	"github.com/turncore/turncore/host/internal/guard"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
)

// Host runs turns: it has an engine, the instances that runners share, and the core's external services. Make one with
// NewHost and pass it to several runners, or let each runner make its own. There is no global host.
type Host struct {
	options HostOptions
	cores   core.Pool
	flight  turn.Flight // turns of all runners, and dispatches without a turn
}

// HostOptions configure a Host. The zero value is fine.
type HostOptions struct {
	// Engine runs the core. nil means wazero with the module that the program imports, package wasm/full or wasm/core,
	// loaded when the first turn starts. The host does not close an engine given here.
	Engine host.Engine
	// Clock and Entropy are the sources of the core's time and randomness: the machine by default. A time beyond 2^53-1 ms
	// keeps a turn from starting, with E_INVALID_VALUE.
	Clock   host.Clock
	Entropy host.Entropy
	// Limits lower what the core may send and keep outstanding; zero fields keep the defaults. Limits too low for any turn
	// keep the core from starting: E_INVALID_VALUE names the field and the least that it takes.
	Limits abi.Limits
	// HTTP sends the requests of the chat executor. nil means http.DefaultTransport.
	HTTP http.RoundTripper
	// Credentials are the credentials for requests, by their names in the core.
	Credentials map[string]model.Credential
	// AllowOrigin reports whether requests and redirects of the core may go to an origin like "https://api.example.com".
	// nil allows the addresses in the program's own configuration: the origin of the chat executor's BaseURL, and the
	// addresses of tools.Fetch.
	AllowOrigin func(origin string) bool
	// Instances is how many instances of the core run turns side by side; 0 means one for each CPU, as runtime.GOMAXPROCS
	// counts them, and PerTurn an instance of its own for each turn. A turn stays in the instance that it began in: the
	// one with the fewest turns. An instance starts when a turn would have to share one with others, so that turns one
	// after the other need one. Runners, histories and gates are the same whichever instance a turn is in; each instance
	// is told of them when its first turn needs them.
	Instances int
	// HighWater is the memory of an instance, in bytes, beyond which it takes no further turns: they go to a fresh
	// instance, and the old one ends with its last turn. At a time as many instances end like this as there are Instances,
	// two at least; when all others have grown as well, new turns fail with E_OVERLOADED. 0 means 256 MiB.
	HighWater uint64
	// MaxAge is how long an instance takes turns, before a fresh one does in its place and it ends with its last turn; 0
	// sets no bound.
	MaxAge time.Duration
	// Quota bounds the bytes that the core holds: records, queued writes, open streams and requests, for one turn and
	// for all of an instance. A turn that would exceed a bound fails with E_TURN_QUOTA_EXCEEDED. 0 means 64 MiB for a
	// turn and for an instance 128 MiB, or half of HighWater if that is more, because its memory is up to twice these
	// bytes.
	Quota abi.Quota
	// Verify compares the core's collections with the host's after every step, and ends the instance when they differ.
	// For tests; it takes one more step each time.
	Verify bool
}

// PerTurn gives each turn an instance of its own, see HostOptions.Instances. Nothing that a turn leaves in the core
// meets another one, and a turn that ends its instance ends no other. It costs the start of an instance for each turn,
// and each is told of the histories that its turn uses.
const PerTurn = -1

// NewHost returns a host. It loads nothing yet. It panics for Instances below PerTurn and for a negative MaxAge.
func NewHost(options HostOptions) *Host {
	switch {
	case options.Instances < PerTurn:
		panic(fmt.Sprintf("turns: HostOptions.Instances is %d", options.Instances))
	case options.MaxAge < 0:
		panic(fmt.Sprintf("turns: HostOptions.MaxAge is %s", options.MaxAge))
	}
	if options.Clock == nil {
		options.Clock = host.SystemClock()
	}
	if options.Entropy == nil {
		options.Entropy = host.SystemEntropy()
	}
	options.HighWater = cmp.Or(options.HighWater, 256<<20)
	options.Quota.Turn = min(options.Quota.Turn, abi.MaxInt)
	options.Quota.Instance = min(cmp.Or(options.Quota.Instance, max(abi.DefaultInstanceQuota, options.HighWater/2)), abi.MaxInt)
	h := &Host{options: options}
	h.cores.Options = core.Options{
		Clock: options.Clock, Entropy: options.Entropy, Limits: options.Limits, Quota: options.Quota, Verify: options.Verify,
	}
	h.cores.Given, h.cores.Default = options.Engine, defaultEngine
	h.cores.HighWater, h.cores.MaxAge = options.HighWater, options.MaxAge
	h.cores.Size, h.cores.PerTurn = cmp.Or(options.Instances, runtime.GOMAXPROCS(0)), options.Instances == PerTurn
	return h
}

func init() {
	guard.Attach = func(host any, g *guard.Guard) { host.(*Host).cores.Guard = g }
}

// pool has the instances.
func (h *Host) pool() *core.Pool {
	if h.cores.Clock == nil {
		panic("turns: a Host is made by NewHost")
	}
	return &h.cores
}

// Load loads the module and starts an instance; otherwise the first turn does this.
func (h *Host) Load(ctx context.Context) error {
	c, err := h.pool().Acquire(ctx)
	if err != nil {
		return err
	}
	h.pool().Release(c)
	return nil
}

// Shutdown closes the host when its turns have ended, dispatches without a turn among them. New turns fail with
// ErrClosed. If ctx ends first, the remaining turns are aborted with ErrClosed, whose cause is that of ctx; they have
// a second to end, and Shutdown returns the cause of ctx.
func (h *Host) Shutdown(ctx context.Context) error {
	late := h.flight.Drain(ctx)
	return errors.Join(late, h.Close(context.WithoutCancel(ctx)))
}

// Close ends the instances, and the engine if it is the host's own. Running turns end as failed, with ErrClosed,
// after their missing end events. Use Shutdown to let them finish.
func (h *Host) Close(ctx context.Context) error {
	h.flight.Close()
	return h.cores.Close(ctx)
}
