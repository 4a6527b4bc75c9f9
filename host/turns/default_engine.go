package turns

import (
	"context"
	"errors"
	"log/slog"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/inprocess"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/internal/carried"
)

// defaultEngine is what runs the core where no engine was named: wazero with the module that the program imports. Where
// the program carries none but imports package native, as in a checkout before `make wasm`, it is the native engine,
// and a line in the log says so.
func defaultEngine(ctx context.Context) (host.Engine, error) {
	e, err := wazero.Default(ctx)
	switch {
	case err == nil:
		return e, nil
	case inprocess.New != nil && (errors.Is(err, carried.ErrNone) || errors.Is(err, carried.ErrNotBuilt)):
		slog.WarnContext(ctx, "turncore: this build carries no WebAssembly module, the core runs natively and without isolation; `make wasm` builds the module, releases carry it")
		return inprocess.New(), nil
	}
	return nil, err
}
