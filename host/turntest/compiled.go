package turntest

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/wazero"
)

// mostUnused is how many modules stay compiled that no test uses.
const mostUnused = 4

// compiled is a module that tests share, whatever they grant it.
type compiled struct {
	sum   [sha256.Size]byte
	tests int // that use it

	mu     sync.Mutex  // held while it is compiled
	engine host.Engine // nil before
}

// modules are those of this process, the one that was asked for last at the end.
var modules struct {
	mu   sync.Mutex
	list []*compiled
}

// compileOnce returns an engine for an agent's module, metered as agents.Load does it. Tests that ask for the same
// bytes share the compiled code and none of its instances. To close the engine is to use it no longer.
func compileOnce(ctx context.Context, module []byte) (host.Engine, error) {
	c := use(sha256.Sum256(module))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.engine == nil {
		e, err := compile(ctx, module)
		if err != nil {
			_ = c.leave(ctx) // the reason says more
			return nil, err
		}
		c.engine = e
	}
	return &lent{Engine: c.engine, of: c}, nil
}

// compile compiles a module. Nothing of it belongs to the bubble of testing/synctest in which a test asks for it first.
func compile(ctx context.Context, module []byte) (host.Engine, error) {
	e, err := wazero.New(ctx, module, wazero.WithFuel(engine.Fuel{}))
	if err != nil {
		return nil, err
	}
	first, err := e.Open(ctx) // the instance that New has made
	if err == nil {
		err = first.Close(ctx)
	}
	if err != nil {
		_ = e.Close(ctx) // likewise
		return nil, err
	}
	return e, nil
}

// use finds a module, or adds it to the list.
func use(sum [sha256.Size]byte) *compiled {
	modules.mu.Lock()
	defer modules.mu.Unlock()
	c := &compiled{sum: sum}
	if i := slices.IndexFunc(modules.list, func(c *compiled) bool { return c.sum == sum }); i >= 0 {
		c = modules.list[i]
		modules.list = slices.Delete(modules.list, i, i+1)
	}
	modules.list = append(modules.list, c)
	c.tests++
	return c
}

// leave says that a test is done with a module. The process keeps a few for its next tests.
func (c *compiled) leave(ctx context.Context) error {
	modules.mu.Lock()
	c.tests--
	var left []*compiled
	unused := 0
	for i, c := range slices.Backward(modules.list) {
		if c.tests > 0 {
			continue
		}
		if unused++; unused > mostUnused || c.engine == nil {
			modules.list = slices.Delete(modules.list, i, i+1)
			left = append(left, c)
		}
	}
	modules.mu.Unlock()
	var errs []error
	for _, c := range left {
		if c.engine != nil {
			errs = append(errs, c.engine.Close(ctx))
		}
	}
	return errors.Join(errs...)
}

// lent is the engine of a compiled module for one test.
type lent struct {
	host.Engine
	of   *compiled
	once sync.Once
}

// Close leaves the module to other tests. The host of an agent has closed its instances before.
func (l *lent) Close(ctx context.Context) (err error) {
	l.once.Do(func() { err = l.of.leave(ctx) })
	return err
}
