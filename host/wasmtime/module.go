package wasmtime

import (
	"fmt"
	"strings"

	wt "github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
)

// check rejects a module that is not a Turncore module, with a list of all its faults.
func (e *Engine) check() error {
	functions, memory := map[string]string{}, false
	for _, x := range e.module.Exports() {
		if f := x.Type().FuncType(); f != nil {
			functions[x.Name()] = typeName(f)
		} else if x.Name() == engine.ExportMemory {
			memory = x.Type().MemoryType() != nil
		}
	}
	wrong := engine.CheckExports(func(name string) string { return functions[name] }, memory)
	store := wt.NewStore(e.engine)
	defer store.Close()
	for _, x := range e.module.Imports() {
		if fault := e.checkImport(store, x); fault != "" {
			wrong = append(wrong, fault)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return host.NewError(host.CodeInvalidModule, strings.Join(wrong, "; "), nil)
}

// checkImport says what is wrong with an import, "" for nothing.
func (e *Engine) checkImport(store *wt.Store, x *wt.ImportType) string {
	name := ""
	if x.Name() != nil {
		name = *x.Name()
	}
	full := x.Module() + "." + name
	want := x.Type().FuncType()
	if want == nil {
		return fmt.Sprintf("it imports the %s %s, which no host provides", kindOf(x.Type()), full)
	}
	var have *wt.Func
	if x.Module() == wasi {
		if item := e.linker.Get(store, wasi, name); item != nil {
			have = item.Func()
		}
	}
	if have == nil {
		return fmt.Sprintf("it imports the function %s, which no host provides", full)
	}
	if is := typeName(have.Type(store)); is != typeName(want) {
		return fmt.Sprintf("it imports the function %s with type %s instead of %s", full, typeName(want), is)
	}
	return ""
}

// kindOf names the kind of an import other than a function.
func kindOf(t *wt.ExternType) string {
	switch {
	case t.MemoryType() != nil:
		return "memory"
	case t.TableType() != nil:
		return "table"
	default:
		return "global"
	}
}

// typeName writes a function's type as the WebAssembly text format does.
func typeName(f *wt.FuncType) string {
	names := func(types []*wt.ValType) []string {
		list := make([]string, len(types))
		for i, t := range types {
			list[i] = t.String()
		}
		return list
	}
	return engine.FunctionType(names(f.Params()), names(f.Results()))
}
