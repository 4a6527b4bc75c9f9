package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/turncore/turncore/host"
)

// Pool holds the instances of a host: one that takes turns, and those that are draining.
type Pool struct {
	Options
	// Given is the engine that the program chose. If nil, Default makes one, which the pool closes.
	Given   host.Engine
	Default func(ctx context.Context) (host.Engine, error)
	// HighWater is the size of an instance's memory, in bytes, above which it takes no further turns.
	HighWater uint64

	mu       sync.Mutex
	current  *Core       // takes turns; nil before the first
	draining []*Core     // finish their turns and take no others
	chosen   host.Engine // made by Default
	closed   bool
}

// engine returns the engine. The caller holds p.mu.
func (p *Pool) engine(ctx context.Context) (host.Engine, error) {
	switch {
	case p.Given != nil:
		return p.Given, nil
	case p.chosen == nil:
		e, err := p.Default(ctx)
		if err != nil {
			return nil, err
		}
		p.chosen = e
	}
	return p.chosen, nil
}

// maxDraining is how many instances may drain at a time.
const maxDraining = 2

// retryAfter is when to retry a turn that failed with E_OVERLOADED, in ms.
const retryAfter = 1000

// Acquire returns a core that can take a turn.
func (p *Pool) Acquire(ctx context.Context) (*Core, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, host.NewError(host.CodeClosed, "", nil)
	}
	if p.current != nil {
		p.draining = slices.DeleteFunc(p.draining, (*Core).dead)
		switch p.current.admit(p.HighWater, len(p.draining) < maxDraining) {
		case admitted:
			return p.current, nil
		case full:
			return nil, p.overloaded()
		case drains:
			p.draining = append(p.draining, p.current)
		case ended:
		}
		p.current = nil
	}
	// Do not give up loading because the turn that needs it first is aborted.
	ctx = context.WithoutCancel(ctx)
	engine, err := p.engine(ctx)
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, engine, p.Options)
	if err != nil {
		return nil, err
	}
	p.current = c
	return c, nil
}

// overloaded is the error for a rejected turn.
func (p *Pool) overloaded() error {
	e := host.NewError(host.CodeOverloaded, fmt.Sprintf("%d instances have grown beyond %d bytes and still have turns to end",
		maxDraining+1, p.HighWater), nil)
	e.Details = map[string]any{"retryAfterMs": retryAfter}
	return e
}

// Open returns a core that can take a turn, with the runner open in it.
func (p *Pool) Open(ctx context.Context, d Definition) (*Core, *Runner, error) {
	for {
		c, err := p.Acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		if r, dead, err := c.Runner(d); !dead {
			return c, r, err
		}
	}
}

// CloseRunner forgets a runner in all instances.
func (p *Pool) CloseRunner(d Definition) {
	p.mu.Lock()
	cores := p.cores()
	p.mu.Unlock()
	for _, c := range cores {
		c.CloseRunner(d)
	}
}

// cores lists all instances that may be alive. The caller holds p.mu.
func (p *Pool) cores() []*Core {
	all := slices.Clone(p.draining)
	if p.current != nil {
		all = append(all, p.current)
	}
	return all
}

// Close ends the instances with their turns, and the engine if Default made it.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	cores, chosen := p.cores(), p.chosen
	p.current, p.draining, p.chosen, p.closed = nil, nil, nil, true
	p.mu.Unlock()
	var errs []error
	for _, c := range cores {
		errs = append(errs, c.close(ctx))
	}
	if chosen != nil {
		errs = append(errs, chosen.Close(ctx))
	}
	return errors.Join(errs...)
}
