package wasmtime_test

import (
	"context"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/testmodule"
	"github.com/turncore/turncore/host/wasmtime"
)

// fine is a small module that starts, and whose steps fail.
func fine() []byte { return testmodule.Text{Exports: testmodule.Fine()}.Encode() }

// with is a small module, one of whose functions does something else.
func with(export string, code ...byte) []byte {
	return testmodule.Text{Exports: testmodule.Changed(export, func(e *testmodule.Export) { e.Code = code })}.Encode()
}

// forever are instructions that never end.
var forever = []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x00} // loop br 0 end unreachable

// spinning is a small module one of whose functions never ends.
func spinning(export string) []byte { return with(export, forever...) }

// done are instructions that end a step as it should end, without an answer: the byte behind the input is 0.
var done = []byte{
	0x41, 0x80, 0x08, 0x20, 0, 0x6a, // i32.const 1024, local.get 0, i32.add
	0x41, 0, 0x3a, 0, 0, // i32.const 0, i32.store8
	0x42, 0, // i64.const 0
}

// moody is a small module whose steps never end if they have one byte of input. Others do nothing.
func moody() []byte {
	return with(abi.ExportStep, append([]byte{
		0x20, 0, 0x41, 1, 0x46, // local.get 0, i32.const 1, i32.eq
		0x04, 0x40, 0x03, 0x40, 0x0c, 0, 0x0b, 0x0b, // if loop br 0 end end
	}, done...)...)
}

// growing is a small module whose memory grows in each step by as many pages as there are bytes of input. It traps when
// it gets none.
func growing() []byte {
	return with(abi.ExportStep, append([]byte{
		0x20, 0, 0x40, 0, 0x41, 0x7f, 0x46, // local.get 0, memory.grow, i32.const -1, i32.eq
		0x04, 0x40, 0x00, 0x0b, // if unreachable end
	}, done...)...)
}

// newEngine returns an engine of a module that ends with the test.
func newEngine(t testing.TB, module []byte, options ...wasmtime.Option) *wasmtime.Engine {
	t.Helper()
	e, err := wasmtime.New(context.Background(), module, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func open(t testing.TB, e *wasmtime.Engine) host.Instance {
	t.Helper()
	i, err := e.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}
