package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/internal/confine"
)

// Module is one instance of the module in a WebAssembly runtime: the four things that only the runtime can do.
//
// Its methods are called by one goroutine at a time, and never after Close. An error of Inbox or Step is final: it says
// why the guest trapped or exited, and Close follows. Messages show only the first line of its text.
type Module interface {
	// Inbox calls [abi.ExportInbox], whose result is an address, or 0 for a batch that is too large.
	Inbox(size uint32) (address uint32, err error)
	// Step calls [abi.ExportStep], whose result has the address of the outbox in the upper 32 bits and its length in
	// the lower 32.
	Step(size uint32) (outbox uint64, err error)
	// Memory returns the linear memory itself, not a copy. It is called again after every call into the guest, which
	// may move the memory.
	Memory() []byte
	// Close frees the instance. It is called once.
	Close(ctx context.Context) error
}

// Core is a core outside a WebAssembly module. Its methods are called like those of [Module].
type Core interface {
	// Inbox returns a buffer for size bytes, nil if that exceeds the core's limit.
	Inbox(size uint32) []byte
	// Step runs the core on the frames in its inbox and returns its answer, valid until the next call.
	Step(in []byte) []byte
	// Close ends the core.
	Close()
}

// ExitError is the error of a [Module] whose guest called proc_exit.
type ExitError uint32

func (e ExitError) Error() string { return fmt.Sprintf("it exited with status %d", uint32(e)) }

// Names that every WASI reactor exports.
const (
	ExportInitialize = "_initialize" // to be called once, before anything else
	ExportMemory     = "memory"
)

// Export is a function that a module must have. Type is in the notation of the WebAssembly text format.
type Export struct{ Name, Type string }

// Exports are the functions that a module must have besides its memory.
var Exports = []Export{
	{ExportInitialize, "[] -> []"},
	{abi.ExportABI, "[] -> [i32]"},
	{abi.ExportInbox, "[i32] -> [i32]"},
	{abi.ExportStep, "[i32] -> [i64]"},
}

// CheckExports lists everything that a module's exports lack, for the error [host.CodeInvalidModule]. typeOf returns
// the type of the exported function with a name, "" for none.
func CheckExports(typeOf func(name string) string, memory bool) []string {
	var wrong []string
	for _, want := range Exports {
		switch have := typeOf(want.Name); have {
		case want.Type:
		case "":
			wrong = append(wrong, "it does not export the function "+want.Name)
		default:
			wrong = append(wrong, fmt.Sprintf("%s has type %s instead of %s", want.Name, have, want.Type))
		}
	}
	if !memory {
		wrong = append(wrong, "it does not export its memory")
	}
	return wrong
}

// FunctionType formats the type of a function for [Export].
func FunctionType(params, results []string) string {
	return fmt.Sprintf("[%s] -> [%s]", strings.Join(params, " "), strings.Join(results, " "))
}

// CheckVersion rejects a module whose [abi.ExportABI] returns another major version.
func CheckVersion(version uint32) error {
	if major := uint16(version >> 16); major != abi.Major {
		return host.VersionError(major, uint16(version))
	}
	return nil
}

// Confine returns a module whose memory can grow to at most pages of 64 KiB and whose tables cannot grow. It returns
// the given slice if there is nothing to change. A module that declares more than a host allows fails with
// [host.CodeInvalidModule]; bytes that are not WebAssembly are returned unchanged, so that the runtime can report their
// fault.
func Confine(module []byte, pages uint32) ([]byte, error) {
	confined, err := confine.Module(module, pages)
	if err != nil {
		return nil, host.NewError(host.CodeInvalidModule, err.Error(), err)
	}
	return confined, nil
}
