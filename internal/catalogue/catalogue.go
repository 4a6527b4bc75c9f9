// Package catalogue has the handlers of the tools that come with the module: time, calculator, memories, searches in
// what a dispatch has at hand. They do no I/O but to read artifacts. Their descriptions and schemas are the hosts'.
package catalogue

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// Fetch makes the handler of fetch, which is package fetch's, of its options. It is nil in the core module; the full
// one sets it before anything else runs.
var Fetch func(options []byte) (runtime.Handler, error)

var handlers = map[string]runtime.Handler{
	"time":                tellTime,
	"calculator":          calculator,
	"remember":            remember,
	"recall":              recall,
	"forget":              forget,
	"search_retrievables": searchRetrievables,
	"search_artifacts":    searchArtifacts,
}

// Handler returns the handler of a tool by its name, with its argument, a value; E_INVALID_INITIAL_TOOL_VALUE when
// there is none, or the argument breaks a rule.
func Handler(name string, arg []byte) (runtime.Handler, error) {
	switch h := handlers[name]; {
	case h != nil:
		return h, nil
	case name == "fetch" && Fetch != nil:
		return Fetch(arg)
	case name == "fetch":
		return nil, fault.New(fault.InvalidInitialToolValue, "the handler of fetch is not in this module, but in turncore-full.wasm")
	}
	return nil, fault.New(fault.InvalidInitialToolValue, "there is no built-in handler "+name)
}

// number reads an argument that is a number; otherwise it is without.
func number(args []byte, name string, without float64) float64 {
	v, _ := value.Get(args, name)
	if f, ok := value.Number(v); ok {
		return f
	}
	return without
}
