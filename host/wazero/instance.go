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

// Values of the byte behind a step's input. The host puts one there and the guest another when the step has ended, so
// that a call which returned for any other reason is not taken for one.
const (
	markRunning = 0xc1 // msgpack's unused byte
	markDone    = 0x00
)

// errClosed is why an instance that was closed fails.
var errClosed = errors.New("the instance is closed")

// errSleep ends a guest that wants to sleep: a step that waits would hold up everybody's turns, and on hosts whose
// clock stands still it would never end.
var errSleep = errors.New("the guest wants to sleep, which a step may not")

// What a guest may sleep in one step: so many times so many nanoseconds, which are over at once. Go's runtime naps for a
// millisecond at a time before it prints why it dies.
const (
	naps = 16
	nap  = 1_000_000
)

// instance is a module at work.
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

	// No context: cancelling a call from outside would need code that is compiled for it, 7 times slower.
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

// measure notes how large the memory is. The caller holds the lock.
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

// drop ends the instance and returns the error that it ended with. The caller holds the lock.
func (i *instance) drop(cause error) error {
	if i.failed != nil {
		return i.failed
	}
	i.fail(cause)
	i.engine.forget(i)
	_ = i.module.Close(context.Background()) // the reason why it is closed says more
	return i.failed
}

// fail notes why the instance is no more.
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
