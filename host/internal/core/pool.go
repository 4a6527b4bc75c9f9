package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turncore/turncore/host"
)

// Pool holds the instances of a host: those that take turns, and those that are draining. A turn stays in the instance
// that it began in.
type Pool struct {
	Options
	// Given is the engine that the program chose. If nil, Default makes one, which the pool closes.
	Given   host.Engine
	Default func(ctx context.Context) (host.Engine, error)
	// Size is how many instances take turns, 1 at least. PerTurn gives each turn an instance of its own instead.
	Size    int
	PerTurn bool
	// HighWater is the size of an instance's memory, in bytes, above which it takes no further turns.
	HighWater uint64
	// MaxAge is how long an instance takes turns; 0 for no bound.
	MaxAge time.Duration

	choosing sync.Mutex // held while the engine is made
	chosen   host.Engine
	starts   sync.WaitGroup // instances that are starting

	mu       sync.Mutex
	taking   []*Core            // take turns, the oldest first
	starting int                // that will join them
	started  chan struct{}      // is closed when one has started or failed to; nil while nobody waits
	draining []*Core            // finish their turns and take no others
	single   map[*Core]struct{} // with PerTurn: all that are alive
	spare    *Core              // of them, one that has had no turn
	closed   bool
}

// engine returns the engine, and makes it first if necessary.
func (p *Pool) engine(ctx context.Context) (host.Engine, error) {
	if p.Given != nil {
		return p.Given, nil
	}
	p.choosing.Lock()
	defer p.choosing.Unlock()
	if p.chosen == nil {
		e, err := p.Default(ctx)
		if err != nil {
			return nil, err
		}
		p.chosen = e
	}
	return p.chosen, nil
}

// minDraining is how many instances may drain at a time, at least: as many as take turns if they are more.
const minDraining = 2

// mayDrain is how many instances may drain at a time.
func (p *Pool) mayDrain() int { return max(p.Size, minDraining) }

// retryAfter is when to retry a turn that failed with E_OVERLOADED, in ms.
const retryAfter = 1000

// Acquire returns a core that can take a turn: of those that take turns the one with the fewest, and a fresh one rather
// than one that has turns, as long as there are fewer than Size. The core keeps a place for the turn until it enters,
// or until Release.
//
// A core that is starting is waited for whether or not ctx ends: the turn then begins as an aborted one.
func (p *Pool) Acquire(ctx context.Context) (*Core, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.PerTurn {
		return p.acquireSingle(ctx)
	}
	for {
		if p.closed {
			return nil, host.NewError(host.CodeClosed, "", nil)
		}
		best, load := p.leastLoaded()
		switch {
		case best != nil && (load == 0 || len(p.taking)+p.starting >= max(p.Size, 1)):
		case len(p.taking)+p.starting < max(p.Size, 1):
			c, err := p.start(ctx)
			if err == nil {
				p.taking = append(p.taking, c)
				c.claim()
				return c, nil
			}
			// The turn fails only if there is no other core for it.
			if best, _ = p.leastLoaded(); best == nil || p.closed {
				return nil, err
			}
		case p.starting > 0:
			p.awaitStart()
			continue
		default:
			return nil, p.overloaded()
		}
		if best.claim() {
			return best, nil
		}
	}
}

// leastLoaded returns the core with the fewest turns, the oldest of several; nil if none takes turns. Those that have
// ended or are to drain leave the list. The caller holds p.mu.
func (p *Pool) leastLoaded() (best *Core, load int) {
	p.draining = slices.DeleteFunc(p.draining, (*Core).dead)
	p.taking = slices.DeleteFunc(p.taking, func(c *Core) bool {
		aged := p.MaxAge > 0 && time.Since(c.born) > p.MaxAge
		verdict, turns := c.admit(p.HighWater, aged, len(p.draining) < p.mayDrain())
		switch verdict {
		case admitted:
			if best == nil || turns < load {
				best, load = c, turns
			}
		case drains:
			p.draining = append(p.draining, c)
		}
		return verdict == drains || verdict == ended
	})
	return best, load
}

// start starts a core, without p.mu, which the caller holds.
func (p *Pool) start(ctx context.Context) (*Core, error) {
	ctx = context.WithoutCancel(ctx)
	c, err := p.open(ctx)
	if !p.closed {
		return c, err
	}
	if err == nil {
		_ = c.close(ctx) // it has no turns
	}
	return nil, host.NewError(host.CodeClosed, "", nil)
}

// open is start for a pool that may be closed meanwhile. What the program's own code does in its engine does not
// matter: those who wait go on.
func (p *Pool) open(ctx context.Context) (*Core, error) {
	p.starting++
	p.starts.Add(1)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.starts.Done()
		p.starting--
		if p.started != nil {
			close(p.started)
			p.started = nil
		}
	}()
	engine, err := p.engine(ctx)
	if err != nil {
		return nil, err
	}
	return open(ctx, engine, p.Options)
}

// awaitStart waits until a core has started, without p.mu, which the caller holds.
func (p *Pool) awaitStart() {
	if p.started == nil {
		p.started = make(chan struct{})
	}
	started := p.started
	p.mu.Unlock()
	<-started
	p.mu.Lock()
}

// acquireSingle returns a core for one turn. The caller holds p.mu.
func (p *Pool) acquireSingle(ctx context.Context) (*Core, error) {
	if p.closed {
		return nil, host.NewError(host.CodeClosed, "", nil)
	}
	if c := p.spare; c != nil {
		p.spare = nil
		if c.claim() {
			return c, nil
		}
	}
	c, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	c.single = true
	c.ended = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.single, c)
	}
	if p.single == nil {
		p.single = make(map[*Core]struct{})
	}
	p.single[c] = struct{}{}
	c.claim()
	return c, nil
}

// Release gives up the place that Acquire has kept in a core.
func (p *Pool) Release(c *Core) {
	if p.PerTurn {
		p.mu.Lock()
		keep := p.spare == nil && !p.closed && !c.dead()
		if keep {
			p.spare = c
		}
		p.mu.Unlock()
		if !keep {
			c.drain()
		}
	}
	c.release()
}

// overloaded is the error for a rejected turn.
func (p *Pool) overloaded() error {
	e := host.NewError(host.CodeOverloaded, fmt.Sprintf("%d instances have grown beyond %d bytes and still have turns to end",
		len(p.taking)+len(p.draining), p.HighWater), nil)
	e.Details = map[string]any{"retryAfterMs": retryAfter}
	return e
}

// Open is Acquire for a core with the runner open in it.
func (p *Pool) Open(ctx context.Context, d Definition) (*Core, *Runner, error) {
	return p.acquireWith(ctx, func(c *Core) (*Runner, bool, error) { return c.Runner(d) })
}

// OpenTeam is Acquire for a core with the team open in it.
func (p *Pool) OpenTeam(ctx context.Context, t Team) (*Core, *Runner, error) {
	return p.acquireWith(ctx, func(c *Core) (*Runner, bool, error) { return c.Team(t) })
}

func (p *Pool) acquireWith(ctx context.Context, open func(c *Core) (r *Runner, dead bool, err error)) (*Core, *Runner, error) {
	for {
		c, err := p.Acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		r, dead, err := open(c)
		switch {
		case !dead && err == nil:
			return c, r, nil
		case !dead:
			p.Release(c)
			return nil, nil, err
		}
		p.Release(c)
	}
}

// CloseRunner forgets the runner of a Definition or of a Team in all instances.
func (p *Pool) CloseRunner(d any) {
	p.mu.Lock()
	cores := p.cores()
	p.mu.Unlock()
	for _, c := range cores {
		c.CloseRunner(d)
	}
}

// cores lists all instances that may be alive, in the order in which they were started. The caller holds p.mu.
func (p *Pool) cores() []*Core {
	all := slices.Concat(p.draining, p.taking)
	for c := range p.single {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Core) int { return cmp.Compare(a.serial, b.serial) })
	return all
}

// Close ends the instances with their turns, and the engine if Default made it. It waits for instances that are
// starting.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.starts.Wait()

	p.mu.Lock()
	cores := p.cores()
	p.taking, p.draining, p.single, p.spare = nil, nil, nil, nil
	p.mu.Unlock()
	var errs []error
	for _, c := range cores {
		errs = append(errs, c.close(ctx))
	}
	p.choosing.Lock()
	chosen := p.chosen
	p.chosen = nil
	p.choosing.Unlock()
	if chosen != nil {
		errs = append(errs, chosen.Close(ctx))
	}
	return errors.Join(errs...)
}
