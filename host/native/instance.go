package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/fair"
)

// instance is one core.
type instance struct {
	engine *Engine

	mu     fair.Mutex
	core   core // nil after the end
	failed error
}

// Step implements [host.Instance]. It copies frames in and out, so that neither side sees later changes of the
// other's memory.
func (i *instance) Step(dst, in []byte) (out []byte, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed != nil {
		return dst, i.failed
	}
	// A panic ends the instance. So does runtime.Goexit, which cannot be stopped: it ends the caller's goroutine too.
	completed := false
	defer func() {
		if !completed {
			out, err = dst, i.drop(panicked(recover()))
		}
	}()
	if uint64(len(in)) < 1<<31 {
		if inbox := i.core.Inbox(uint32(len(in))); inbox != nil {
			inbox = inbox[:copy(inbox, in)]
			answer := i.core.Step(inbox)
			completed = true
			if len(answer) > abi.MaxStepOutput {
				return dst, i.drop(fmt.Errorf("the step gave %d bytes, more than %d", len(answer), abi.MaxStepOutput))
			}
			return append(dst, answer...), nil
		}
	}
	completed = true
	return dst, host.NewError(host.CodeABILimitExceeded, fmt.Sprintf("a step's input of %d bytes", len(in)), nil)
}

// Retire implements [host.Instance].
func (i *instance) Retire(cause error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.drop(cause)
}

// MemoryBytes returns 0: the instance's memory is the program's.
func (i *instance) MemoryBytes() uint64 { return 0 }

// Close implements [host.Instance].
func (i *instance) Close(context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = i.drop(errors.New("the instance is closed"))
	return nil
}

// drop ends the instance and returns its final error. The caller holds the lock.
func (i *instance) drop(cause error) error {
	if i.failed == nil {
		i.failed = failure(cause)
		i.core.Close()
		i.core = nil
		i.engine.forget(i)
	}
	return i.failed
}
