// Package catalogue has the handlers of the tools that come with the module: time, calculator, memories, and searches
// in what a dispatch has at hand. They do no I/O but to read artifacts. Their descriptions and schemas are the hosts'.
package catalogue

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/value"
)

// Handler returns the handler of a tool by its name; E_INVALID_INITIAL_TOOL_VALUE when there is none.
func Handler(name string) (runtime.Handler, error) {
	switch name {
	case "time":
		return tellTime, nil
	case "calculator":
		return calculator, nil
	case "remember":
		return remember, nil
	case "recall":
		return recall, nil
	case "forget":
		return forget, nil
	case "search_retrievables":
		return searchRetrievables, nil
	case "search_artifacts":
		return searchArtifacts, nil
	}
	return nil, fault.New(fault.InvalidInitialToolValue, "there is no built-in handler "+name)
}

// text reads an argument that is a string.
func text(args []byte, name string) string {
	v, _ := value.Get(args, name)
	s, _ := value.String(v)
	return string(s)
}

// number reads an argument that is a number; otherwise it is without.
func number(args []byte, name string, without float64) float64 {
	v, _ := value.Get(args, name)
	if f, ok := value.Number(v); ok {
		return f
	}
	return without
}
