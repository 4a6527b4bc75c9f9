// Package host is the contract between Turncore's Go API and the engines that run the core: what an engine and an
// instance are, how a conversation with a fresh instance begins, which errors there are, and where time and entropy
// come from.
//
// Engines live in packages of their own: [github.com/turncore/turncore/host/wazero] runs the WebAssembly module,
// [github.com/turncore/turncore/host/native] runs the same code in process, and
// [github.com/turncore/turncore/host/engine] picks one. Programs that only want to run turns use
// [github.com/turncore/turncore/host/turns].
package host

import "context"

// Engine is a core that is ready to run: one compiled module, or the core's Go code itself. All methods may be called
// from many goroutines at once.
type Engine interface {
	// Name is the kind of engine, such as "wazero" or "native".
	Name() string
	// ModuleHash identifies the code that runs: the module's SHA-256 in lower-case hex, or "native".
	ModuleHash() string
	// Open starts an instance. Nothing has been said to it yet: its first step must hold Hello, see [Greet].
	Open(ctx context.Context) (Instance, error)
	// Close ends every instance that is still open, then frees what the engine holds.
	Close(ctx context.Context) error
}

// Instance is one running core. It knows nothing but what the frames of its steps have told it.
//
// An instance does one thing at a time: its methods may be called from many goroutines, and wait for one another, in the
// order in which they were called.
type Instance interface {
	// Step hands over a batch of frames, runs the core until all its tasks wait for the host, appends the batch that
	// it answers with to dst and returns the extended slice. The result shares no memory with the instance, and in
	// may be reused when Step has returned.
	//
	// A batch above the agreed frame limit gives [CodeABILimitExceeded] and leaves the instance as it was. Every other
	// error has [CodeInstanceFailed] and is final: the instance has been dropped, and each further call returns the
	// same error.
	Step(dst, in []byte) ([]byte, error)
	// Retire drops the instance because of something that the host found wrong with its answers, and returns the error
	// with [CodeInstanceFailed] that its turns end with. An instance that has failed before keeps its first error.
	Retire(cause error) error
	// MemoryBytes is the size of the instance's memory after its last step, 0 after its end. It does not wait for a step
	// that is under way. The native engine, which shares the program's memory, always says 0.
	MemoryBytes() uint64
	// Close ends the instance and frees its memory. Closing twice is fine.
	Close(ctx context.Context) error
}
