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
// One goroutine at a time calls its methods, and none after Close. An error of Inbox or Step is final: it says why the
// guest trapped or exited, and Close is the next call. Only the first line of its text is shown.
type Module interface {
	// Inbox calls [abi.ExportInbox], whose result is an address, or 0 for a batch that is too large.
	Inbox(size uint32) (address uint32, err error)
	// Step calls [abi.ExportStep], whose result is the address of the outbox in the upper 32 bits and its length in the
	// lower ones.
	Step(size uint32) (outbox uint64, err error)
	// Memory is the linear memory as it is, not a copy. It is asked for again after every call into the guest, which may
	// have moved it.
	Memory() []byte
	// Close frees the instance. It is called once.
	Close(ctx context.Context) error
}

// Core is a core that runs outside of a WebAssembly module. Its methods are called like those of [Module].
type Core interface {
	// Inbox returns a buffer for size bytes, nil if that is over the core's limit.
	Inbox(size uint32) []byte
	// Step runs the core on the frames in its inbox, and returns its answer, which is valid until the next call.
	Step(in []byte) []byte
	// Close ends the core.
	Close()
}

// ExitError is what the methods of a [Module] return when the guest has called proc_exit.
type ExitError uint32

func (e ExitError) Error() string { return fmt.Sprintf("it exited with status %d", uint32(e)) }

// Names that every WASI reactor exports.
const (
	ExportInitialize = "_initialize" // a function to call once, before anything else
	ExportMemory     = "memory"
)

// Export is a function that a module must have. Its type is written as in the WebAssembly text format.
type Export struct{ Name, Type string }

// Exports are the functions that a module must have, beside its memory.
var Exports = []Export{
	{ExportInitialize, "[] -> []"},
	{abi.ExportABI, "[] -> [i32]"},
	{abi.ExportInbox, "[i32] -> [i32]"},
	{abi.ExportStep, "[i32] -> [i64]"},
}

// CheckExports says everything that a module's exports lack: a list of complaints for the error with
// [host.CodeInvalidModule]. typeOf returns the type of the function that the module exports under a name, "" for none.
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

// FunctionType writes the type of a function as [Export] has it.
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

// Confine returns a module whose memory can grow to so many pages of 64 KiB and whose tables cannot grow. It is the given
// slice if there is nothing to change. A module that declares more than a host can allow gives [host.CodeInvalidModule];
// bytes that are no WebAssembly come back as they are, for the runtime to say what is wrong with them.
func Confine(module []byte, pages uint32) ([]byte, error) {
	confined, err := confine.Module(module, pages)
	if err != nil {
		return nil, host.NewError(host.CodeInvalidModule, err.Error(), err)
	}
	return confined, nil
}
