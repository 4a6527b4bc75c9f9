package conformance

import (
	"slices"

	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
)

// catalogueTool returns a tool of the catalogue.
func catalogueTool(name string, options map[string]any) *turns.Tool {
	if name == "fetch" {
		return fetchTool(options)
	}
	if len(options) > 0 {
		panic(malformed("the tool %q of the catalogue has no options", name))
	}
	all := append([]*turns.Tool{tools.Time(), tools.Calculator(), tools.Retrievables(), tools.Artifacts()}, tools.Memory()...)
	if i := slices.IndexFunc(all, func(t *turns.Tool) bool { return t.Name == name }); i >= 0 {
		return all[i]
	}
	panic(malformed("the catalogue has no tool %q", name))
}
