package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/fair"
)

// Values of the byte after a step's input. The host writes one value, and the guest writes the other at the end of the
// step. So the host detects a call that returned for another reason.
const (
	markRunning = 0xc1 // msgpack's unused byte
	markDone    = 0x00
)

var (
	// errClosed is the reason for the failure of a closed instance, and failedClosed that failure if its guest has said
	// nothing: most instances end so.
	errClosed    = errors.New("the instance is closed")
	failedClosed = host.NewError(host.CodeInstanceFailed, errClosed.Error(), errClosed)
	// errTooLarge rejects a batch above the core's limit.
	errTooLarge = errors.New("the input is too large")
)

// Instance is one running core. It implements [host.Instance] for every engine.
type Instance struct {
	of *Instances

	mu     fair.Mutex
	failed error  // why the instance ended
	module Module // nil if core runs
	core   Core
	guest  Guest

	size atomic.Uint64 // of the memory, after the last step
}

var _ host.Instance = (*Instance)(nil)

// Step implements [host.Instance]. It copies frames in and out, so that neither side sees later changes of the
// other's memory. A panic ends the instance. So does [runtime.Goexit], which cannot be stopped: it ends the caller's
// goroutine too.
func (i *Instance) Step(dst, in []byte) (out []byte, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed != nil {
		return dst, i.failed
	}
	returned := false
	defer func() {
		if !returned {
			out, err = dst, i.drop(panicked(recover()))
		}
	}()
	answer, err := i.exchange(in)
	returned = true
	switch {
	case err == errTooLarge:
		return dst, host.NewError(host.CodeABILimitExceeded, fmt.Sprintf("a step's input of %d bytes", len(in)), nil)
	case err != nil:
		return dst, i.drop(err)
	case len(answer) > abi.MaxStepOutput:
		return dst, i.drop(fmt.Errorf("the step gave %d bytes, more than %d", len(answer), abi.MaxStepOutput))
	}
	out = append(dst, answer...)
	if i.guest.GCPercent != 0 {
		if err := i.sendGCPercent(); err != nil {
			return dst, i.drop(err)
		}
	}
	return out, nil
}

// sendGCPercent passes the setting on, once. A guest that does not know the frame answers Fault, and goes on. The
// caller holds the lock.
func (i *Instance) sendGCPercent() error {
	frame := abi.Append(nil, &abi.GCPercent{Percent: i.guest.GCPercent})
	i.guest.GCPercent = 0
	_, err := i.exchange(frame)
	return err
}

// exchange runs a step and returns the answer in the core's memory. The caller holds the lock.
func (i *Instance) exchange(in []byte) ([]byte, error) {
	if len(in) >= math.MaxInt32 { // room for one more byte
		return nil, errTooLarge
	}
	if i.core != nil {
		inbox := i.core.Inbox(uint32(len(in)))
		if inbox == nil {
			return nil, errTooLarge
		}
		return i.core.Step(inbox[:copy(inbox, in)]), nil
	}
	i.guest.begin()
	i.refuel()
	size := uint32(len(in))
	inbox, err := i.module.Inbox(size)
	switch {
	case err != nil:
		return nil, i.spent(err)
	case inbox == 0:
		return nil, errTooLarge
	}
	buffer := within(i.module.Memory(), inbox, size+1)
	if buffer == nil {
		return nil, fmt.Errorf("the inbox of %d bytes at %#x is outside of the memory", size+1, inbox)
	}
	buffer[copy(buffer, in)] = markRunning
	outbox, err := i.module.Step(size)
	if err != nil {
		return nil, i.spent(err)
	}
	memory := i.module.Memory()
	i.measure(memory)
	if mark := within(memory, inbox+size, 1); mark == nil || mark[0] != markDone {
		return nil, errors.New("the step returned before its end")
	}
	at, length := uint32(outbox>>32), uint32(outbox)
	if length == 0 {
		return nil, nil
	}
	answer := within(memory, at, length)
	if answer == nil {
		return nil, fmt.Errorf("the outbox of %d bytes at %#x is outside of the memory", length, at)
	}
	return answer, nil
}

// within returns size bytes at an address, nil if they are outside the memory.
func within(memory []byte, at, size uint32) []byte {
	end := uint64(at) + uint64(size)
	if end > uint64(len(memory)) {
		return nil
	}
	return memory[at:end:end]
}

// measure records the size of the memory. The caller holds the lock.
func (i *Instance) measure(memory []byte) {
	if size := uint64(len(memory)); size != i.size.Load() {
		i.size.Store(size)
	}
}

// View lets read inspect the memory between two steps, for tests and debuggers. It does nothing after the instance's
// end, or for a core without a memory of its own.
func (i *Instance) View(read func(memory []byte)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.module != nil {
		read(i.module.Memory())
	}
}

// Retire implements [host.Instance].
func (i *Instance) Retire(cause error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.drop(cause)
}

// MemoryBytes implements [host.Instance].
func (i *Instance) MemoryBytes() uint64 { return i.size.Load() }

// Close implements [host.Instance].
func (i *Instance) Close(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed != nil {
		return nil
	}
	return i.end(ctx, errClosed)
}

// drop ends the instance and returns its final error. The caller holds the lock.
func (i *Instance) drop(cause error) error {
	if i.failed == nil {
		_ = i.end(context.Background(), cause) // cause says why it is closed
	}
	return i.failed
}

// end records the reason of the instance's end and frees it. The caller holds the lock.
func (i *Instance) end(ctx context.Context, cause error) error {
	i.failed = i.guest.failure(cause)
	i.size.Store(0)
	i.of.forget(i)
	core, module := i.core, i.module
	i.core, i.module, i.guest = nil, nil, Guest{}
	if core != nil {
		core.Close()
		return nil
	}
	return module.Close(ctx)
}

// failure is the error of an instance that ends. It includes the guest's output during the step.
func (g *Guest) failure(cause error) error {
	detail, _, _ := strings.Cut(cause.Error(), "\n") // runtimes append the module's stack
	if said := g.stderr.String(); said != "" {
		detail += "; its last lines on stderr:\n" + said
	} else if cause == errClosed {
		return failedClosed
	}
	return host.NewError(host.CodeInstanceFailed, detail, cause)
}

// panicked turns the value of a panic into an error.
func panicked(cause any) error {
	switch cause := cause.(type) {
	case nil:
		return errors.New("the step's goroutine ended")
	case error:
		return fmt.Errorf("panic: %w", cause)
	default:
		return fmt.Errorf("panic: %v", cause)
	}
}
