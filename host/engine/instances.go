package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/fair"
)

// Instances are the instances of an engine. The zero value is empty.
type Instances struct {
	// starting is read-locked while an instance starts, so that the engine is not closed meanwhile.
	starting sync.RWMutex
	closed   bool

	mu   sync.Mutex
	open map[*Instance]struct{}
}

// Open starts an instance of a module. start connects the guest's output and sleeps to g, calls [ExportInitialize], and
// returns the module. If it fails, it must free everything first. The error has [host.CodeInstanceFailed], unless start
// gave it another code.
func (s *Instances) Open(start func(g *Guest) (Module, error)) (*Instance, error) {
	return s.add(func(i *Instance) (err error) {
		if i.module, err = start(&i.guest); err == nil {
			i.measure(i.module.Memory())
		}
		return err
	})
}

// OpenCore starts a core that runs in this process, without a module.
func (s *Instances) OpenCore(start func() Core) (*Instance, error) {
	return s.add(func(i *Instance) error {
		i.core = start()
		return nil
	})
}

func (s *Instances) add(start func(*Instance) error) (*Instance, error) {
	i := &Instance{of: s, mu: fair.NewMutex()}
	s.starting.RLock()
	defer s.starting.RUnlock()
	if s.closed {
		return nil, i.guest.failure(errors.New("the engine is closed"))
	}
	if err := start(i); err != nil {
		var coded *host.Error
		if errors.As(err, &coded) {
			return nil, err
		}
		return nil, i.guest.failure(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*Instance]struct{})
	}
	s.open[i] = struct{}{}
	return i, nil
}

// forget removes an ended instance from the list.
func (s *Instances) forget(i *Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, i)
}

// Close ends all instances, each after its current step, and prevents further starts.
func (s *Instances) Close(ctx context.Context) error {
	s.starting.Lock()
	s.closed = true
	s.starting.Unlock()

	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.open))
	s.mu.Unlock()
	var errs []error
	for _, i := range open {
		errs = append(errs, i.Close(ctx))
	}
	return errors.Join(errs...)
}
