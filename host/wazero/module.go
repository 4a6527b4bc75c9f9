package wazero

import (
	"fmt"
	"slices"
	"strings"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
)

// Names that every WASI reactor exports.
const (
	exportInitialize = "_initialize"
	exportMemory     = "memory"
)

// exports are the functions a module must have, with their types.
var exports = []struct {
	name            string
	params, results []api.ValueType
}{
	{exportInitialize, nil, nil},
	{abi.ExportABI, nil, []api.ValueType{api.ValueTypeI32}},
	{abi.ExportInbox, []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}},
	{abi.ExportStep, []api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI64}},
}

// checkModule rejects a module that is not a Turncore module, with a list of all its faults. wasi are the functions
// that it may import.
func checkModule(module wz.CompiledModule, wasi map[string]api.FunctionDefinition) error {
	var wrong []string
	functions := module.ExportedFunctions()
	for _, want := range exports {
		have, ok := functions[want.name]
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("it does not export the function %s", want.name))
		case !slices.Equal(have.ParamTypes(), want.params) || !slices.Equal(have.ResultTypes(), want.results):
			wrong = append(wrong, fmt.Sprintf("%s has type %s instead of %s", want.name,
				typeName(have.ParamTypes(), have.ResultTypes()), typeName(want.params, want.results)))
		}
	}
	if _, ok := module.ExportedMemories()[exportMemory]; !ok {
		wrong = append(wrong, "it does not export its memory")
	}
	for _, f := range module.ImportedFunctions() {
		from, name, _ := f.Import()
		have, ok := wasi[name]
		switch {
		case from != wasi_snapshot_preview1.ModuleName || !ok:
			wrong = append(wrong, fmt.Sprintf("it imports the function %s.%s, which no host provides", from, name))
		case !slices.Equal(have.ParamTypes(), f.ParamTypes()) || !slices.Equal(have.ResultTypes(), f.ResultTypes()):
			wrong = append(wrong, fmt.Sprintf("it imports the function %s.%s with type %s instead of %s", from, name,
				typeName(f.ParamTypes(), f.ResultTypes()), typeName(have.ParamTypes(), have.ResultTypes())))
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
func typeName(params, results []api.ValueType) string {
	names := func(types []api.ValueType) string {
		list := make([]string, len(types))
		for i, t := range types {
			list[i] = api.ValueTypeName(t)
		}
		return strings.Join(list, " ")
	}
	return fmt.Sprintf("[%s] -> [%s]", names(params), names(results))
}
