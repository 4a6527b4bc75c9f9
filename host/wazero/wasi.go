package wazero

import (
	"context"
	"errors"
	"sync"

	wz "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/turncore/turncore/host/engine"
)

// wasiDefinitions are all functions of WASI preview 1 with their types.
var wasiDefinitions = sync.OnceValues(func() (map[string]api.FunctionDefinition, error) {
	ctx := context.Background()
	r := wz.NewRuntimeWithConfig(ctx, wz.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	return r.Module(wasi_snapshot_preview1.ModuleName).ExportedFunctionDefinitions(), nil
})

// instantiateWASI gives a runtime the functions of WASI, which [engine.WASICall] serves.
func instantiateWASI(ctx context.Context, r wz.Runtime) error {
	definitions, err := wasiDefinitions()
	if err != nil {
		return err
	}
	b := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	for name, d := range definitions {
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			i := ctx.Value(callerKey{}).(*instance)
			i.module = m // a start function calls before anybody else knows it
			memory, _ := m.Memory().Read(0, m.Memory().Size())
			i.wasi.Memory, i.wasi.Params = memory, stack
			errno, err := i.wasi.Do(name)
			i.wasi.Memory, i.wasi.Params = nil, nil
			var exit engine.ExitError
			switch {
			case errors.As(err, &exit):
				panic(sys.NewExitError(uint32(exit)))
			case err != nil:
				panic(err)
			case len(stack) > 0:
				stack[0] = uint64(errno)
			}
		}), d.ParamTypes(), d.ResultTypes()).Export(name)
	}
	_, err = b.Instantiate(ctx)
	return err
}

// callerKey is the key of the instance in the context of its calls.
type callerKey struct{}
