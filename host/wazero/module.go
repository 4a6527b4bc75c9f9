package wazero

import (
	"fmt"
	"slices"
	"strings"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
)

// checkModule rejects a module that is not a Turncore module, with a list of all its faults. wasi are the functions
// that it may import.
func checkModule(module wz.CompiledModule, wasi map[string]api.FunctionDefinition) error {
	functions := module.ExportedFunctions()
	typeOf := func(name string) string {
		f, ok := functions[name]
		if !ok {
			return ""
		}
		return typeName(f)
	}
	_, memory := module.ExportedMemories()[engine.ExportMemory]
	wrong := engine.CheckExports(typeOf, memory)
	for _, f := range module.ImportedFunctions() {
		from, name, _ := f.Import()
		have, ok := wasi[name]
		switch {
		case from != wasi_snapshot_preview1.ModuleName || !ok:
			wrong = append(wrong, fmt.Sprintf("it imports the function %s.%s, which no host provides", from, name))
		case !slices.Equal(have.ParamTypes(), f.ParamTypes()) || !slices.Equal(have.ResultTypes(), f.ResultTypes()):
			wrong = append(wrong, fmt.Sprintf("it imports the function %s.%s with type %s instead of %s", from, name,
				typeName(f), typeName(have)))
		}
	}
	for _, m := range module.ImportedMemories() {
		from, name, _ := m.Import()
		wrong = append(wrong, fmt.Sprintf("it imports the memory %s.%s, which no host provides", from, name))
	}
	if len(wrong) == 0 {
		return nil
	}
	return host.NewError(host.CodeInvalidModule, strings.Join(wrong, "; "), nil)
}

// typeName writes a function's type as the WebAssembly text format does.
func typeName(f api.FunctionDefinition) string {
	names := func(types []api.ValueType) []string {
		list := make([]string, len(types))
		for i, t := range types {
			list[i] = api.ValueTypeName(t)
		}
		return list
	}
	return engine.FunctionType(names(f.ParamTypes()), names(f.ResultTypes()))
}
