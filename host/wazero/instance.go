package wazero

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/fair"
)

// Values of the byte behind a step's input. The host writes one value, and the guest writes the other at the end of
// the step. So the host recognizes a call that returned for another reason.
const (
	markRunning = 0xc1 // msgpack's unused byte
	markDone    = 0x00
)

// errClosed is the reason for the failure of a closed instance.
var errClosed = errors.New("the instance is closed")

// errSleep ends a guest that wants to sleep: a waiting step would hold up all turns, and on hosts whose clock stands
// still it would never end.
var errSleep = errors.New("the guest wants to sleep, which a step may not")

// Bounds on sleeps in one step: their number, and the nanoseconds of each. The host returns from a sleep at once. A
// dying Go runtime sleeps for a millisecond at a time before it prints the reason.
const (
	naps = 16
	nap  = 1_000_000
)

// instance is a running module.
type instance struct {
	engine *Engine

	mu          fair.Mutex
	failed      error // why it has ended
	module      api.Module
	memory      api.Memory
	inbox, step api.Function
	stack       [1]uint64
	stderr      stderr
	naps        int // in this step

	size atomic.Uint64 // of the memory, after the last step
}

// sleep stands in for the real thing.
func (i *instance) sleep(ns int64) {
	if i.naps++; ns > nap || i.naps > naps {
		panic(errSleep)
	}
}

// instantiate starts the module and lists the instance with its engine.
func (e *Engine) instantiate(ctx context.Context) (*instance, error) {
	i := &instance{engine: e, mu: fair.NewMutex()}
	e.starting.RLock()
	defer e.starting.RUnlock()
	if e.closed {
		return nil, i.fail(errors.New("the engine is closed"))
	}

	config := wz.NewModuleConfig().
		WithName(""). // anonymous: there may be many
		WithStartFunctions(exportInitialize).
		WithStdout(&i.stderr).WithStderr(&i.stderr).
		WithSysNanotime().WithSysWalltime().WithRandSource(rand.Reader).
		WithNanosleep(i.sleep)
	if e.config.gc != 0 {
		config = config.WithEnv("GOGC", strconv.Itoa(e.config.gc))
	}
	allocate := newMemory
	if e.config.heap {
		allocate = newHeapMemory
	}
	ctx = experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(allocate))

	module, err := e.runtime.InstantiateModule(ctx, e.module, config)
	if err != nil {
		return nil, i.fail(fmt.Errorf("start: %w", err))
	}
	i.module, i.memory = module, module.Memory()
	i.inbox, i.step = module.ExportedFunction(abi.ExportInbox), module.ExportedFunction(abi.ExportStep)
	i.measure()

	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[i] = struct{}{}
	return i, nil
}

// checkVersion asks the module which ABI it speaks.
func (i *instance) checkVersion() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.module.ExportedFunction(abi.ExportABI).CallWithStack(context.Background(), i.stack[:]); err != nil {
		return i.drop(err)
	}
	version := uint32(i.stack[0])
	if major := uint16(version >> 16); major != abi.Major {
		return host.VersionError(major, uint16(version))
	}
	return nil
}

// Step implements [host.Instance].
func (i *instance) Step(dst, in []byte) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed != nil {
		return dst, i.failed
	}
	i.stderr.reset()
	i.naps = 0

	// No context: to cancel a call from outside, the code must be compiled for it, which is 7 times slower.
	ctx := context.Background()
	size := uint32(min(uint64(len(in)), 1<<31-2))
	i.stack[0] = uint64(size)
	if err := i.inbox.CallWithStack(ctx, i.stack[:]); err != nil {
		return dst, i.drop(err)
	}
	inbox := uint32(i.stack[0])
	if inbox == 0 || int(size) != len(in) {
		return dst, host.NewError(host.CodeABILimitExceeded, fmt.Sprintf("a step's input of %d bytes", len(in)), nil)
	}
	buffer, ok := i.memory.Read(inbox, size+1)
	if !ok {
		return dst, i.drop(fmt.Errorf("the inbox of %d bytes at %#x is outside of the memory", size+1, inbox))
	}
	buffer[copy(buffer, in)] = markRunning

	i.stack[0] = uint64(size)
	if err := i.step.CallWithStack(ctx, i.stack[:]); err != nil {
		return dst, i.drop(err)
	}
	if mark, ok := i.memory.ReadByte(inbox + size); !ok || mark != markDone {
		return dst, i.drop(errors.New("the step returned before its end"))
	}
	i.measure()
	at, length := uint32(i.stack[0]>>32), uint32(i.stack[0])
	if length == 0 {
		return dst, nil
	}
	out, ok := i.memory.Read(at, length)
	switch {
	case !ok:
		return dst, i.drop(fmt.Errorf("the outbox of %d bytes at %#x is outside of the memory", length, at))
	case length > abi.MaxStepOutput:
		return dst, i.drop(fmt.Errorf("the step gave %d bytes, more than %d", length, abi.MaxStepOutput))
	}
	return append(dst, out...), nil
}

// Retire implements [host.Instance].
func (i *instance) Retire(cause error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.drop(cause)
}

// MemoryBytes implements [host.Instance].
func (i *instance) MemoryBytes() uint64 { return i.size.Load() }

// measure records the size of the memory. The caller holds the lock.
func (i *instance) measure() {
	if size := uint64(i.memory.Size()); size != i.size.Load() {
		i.size.Store(size)
	}
}

// Close implements [host.Instance].
func (i *instance) Close(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failed != nil {
		return nil
	}
	i.fail(errClosed)
	i.engine.forget(i)
	return i.module.Close(ctx)
}

// drop ends the instance and returns its final error. The caller holds the lock.
func (i *instance) drop(cause error) error {
	if i.failed != nil {
		return i.failed
	}
	i.fail(cause)
	i.engine.forget(i)
	_ = i.module.Close(context.Background()) // the reason why it is closed says more
	return i.failed
}

// fail records the reason of the instance's end.
func (i *instance) fail(cause error) error {
	detail := reason(cause)
	if said := i.stderr.String(); said != "" {
		detail += "; its last lines on stderr:\n" + said
	}
	i.failed = host.NewError(host.CodeInstanceFailed, detail, cause)
	i.size.Store(0)
	return i.failed
}

// reason is the first line of an error: after it wazero prints the module's stack.
func reason(err error) string {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf("it exited with status %d", exit.ExitCode())
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
