package main

import "strings"

const ours = "github.com/turncore/turncore/"

// often are the beginnings of the names of functions that every turn runs through, as Go writes them: what is
// rewritten there is worth the bytes it adds, some 15,000 after brotli.
var often = []string{
	"main.", "iter.",

	"runtime.coro", "runtime.malloc", "runtime.newobject", "runtime.growslice", "runtime.makeslice", "runtime.nextFree",
	"runtime.heapSetType", "runtime.deductAssistCredit", "runtime.publicationBarrier", "runtime.slicebytetostring",
	"runtime.gogo", "runtime.mcall", "runtime.memclr", "runtime.memmove", "runtime.typedmem",

	ours + "abi.(*Reader)", ours + "abi.append", ours + "abi.scan", ours + "abi.NewAliasReader", ours + "abi.BytesOf",
	ours + "abi.(*StartTurn)", ours + "abi.(*Call)", ours + "abi.(*Result)", ours + "abi.(*Block)", ours + "abi.(*StoreArgs)",
	ours + "abi.(*ExecuteToolArgs)", ours + "abi.(*ReportArgs)", ours + "abi.(*Sync)", ours + "abi.(*Reply)", ours + "abi.(*End)",
	ours + "abi.(*Delta)", ours + "abi.(*CommitArgs)", ours + "abi.(*ToolArgs)", ours + "abi.(*ExecutorArgs)",
	ours + "abi.(*IterationEndEvent)", ours + "abi.(*ToolStartEvent)", ours + "abi.(*ToolEndEvent)", ours + "abi.(*DispatchEndEvent)",

	ours + "wasm/guest.(*Instance)", ours + "wasm/guest.(*turn)", ours + "wasm/guest.(*coroutine)",

	ours + "runtime.(*Turn)", ours + "runtime.(*Collection)", ours + "runtime.(*records)", ours + "runtime.(*block)", ours + "runtime.NewTurn",
	ours + "runtime.(*Tool)", ours + "runtime.(*Registry)", ours + "runtime.(*pipeline)", ours + "runtime.(*stream)",
	ours + "runtime.(*Dispatch).run", ours + "runtime.(*Dispatch).loop", ours + "runtime.(*Dispatch).iterate", ours + "runtime.(*Dispatch).seams",
	ours + "runtime.(*Dispatch).e", ours + "runtime.(*Dispatch).w", ours + "runtime.(*Dispatch).Store", ours + "runtime.(*Dispatch).Commit",
	ours + "runtime.(*Dispatch).Execute", ours + "runtime.(*Dispatch).scan", ours + "runtime.(*Dispatch).forge", ours + "runtime.(*Dispatch).Ack",
	ours + "runtime.(*Dispatch).Report",
}

// runsOften tells whether a function's name is among them.
func runsOften(name string) bool {
	for _, prefix := range often {
		if strings.HasPrefix(name, notInName.ReplaceAllString(prefix, "_")) {
			return true
		}
	}
	return false
}
