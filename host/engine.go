// Package host is the contract between Turncore's Go API and the engines that run the core: engines, instances, the
// greeting of a fresh instance, errors, and the sources of time and entropy.
//
// Engines live in packages of their own: [github.com/turncore/turncore/host/wazero] runs the WebAssembly module,
// [github.com/turncore/turncore/host/native] runs the same code in process, and
// [github.com/turncore/turncore/host/engine] has what engines share, for those who write one. Programs that only run
// turns use [github.com/turncore/turncore/host/turns].
package host

import "context"

// Engine is a core ready to run: one compiled module, or the core's Go code itself. All methods may be called from
// many goroutines at once.
type Engine interface {
	// Name is the kind of engine, such as "wazero" or "native".
	Name() string
	// ModuleHash identifies the running code: the module's SHA-256 in lower-case hex, or "native".
	ModuleHash() string
	// Open starts an instance. Its first step must contain Hello, see [Greet].
	Open(ctx context.Context) (Instance, error)
	// Close ends every open instance, then frees the engine's resources.
	Close(ctx context.Context) error
}

// Instance is one running core. It knows only the frames of its steps.
//
// An instance does one thing at a time: its methods may be called from many goroutines, and the calls run one after
// another, in order.
type Instance interface {
	// Step passes a batch of frames to the core, runs the core until all its tasks wait for the host, appends the
	// answering batch to dst and returns the extended slice. The result shares no memory with the instance, and in may
	// be reused after Step has returned.
	//
	// A batch above the agreed frame limit fails with [CodeABILimitExceeded] and does not change the instance. Every
	// other error has [CodeInstanceFailed] and is final: the instance is dropped, and each further call returns the same
	// error.
	Step(dst, in []byte) ([]byte, error)
	// Retire drops the instance because the host found a fault in its answers. It returns the error, with
	// [CodeInstanceFailed], for the instance's turns. An instance that has already failed keeps its first error.
	Retire(cause error) error
	// MemoryBytes is the size of the instance's memory after its last step, 0 after its end. It does not wait for a
	// running step. The native engine, which shares the program's memory, always returns 0.
	MemoryBytes() uint64
	// Close ends the instance and frees its memory. Closing twice is allowed.
	Close(ctx context.Context) error
}
