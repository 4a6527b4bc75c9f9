package wasmtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/engine"
	"github.com/turncore/turncore/host/internal/testmodule/wat"
	"github.com/turncore/turncore/host/wasmtime"
)

// hostile is a row of the table of host/testdata/hostile: a module that wants to harm its host.
type hostile struct {
	Name, File, Limit, Says, Frames string
	Code                            host.Code
}

// hostiles are the modules that an engine ends: others say frames that only a host finds wrong.
func hostiles(t *testing.T) (list []hostile, files map[string][]byte) {
	t.Helper()
	const folder = "../testdata/hostile"
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var table []hostile
	if err := json.Unmarshal([]byte(read("table.json")), &table); err != nil {
		t.Fatal(err)
	}
	prelude, files := read("prelude.wat"), map[string][]byte{}
	nothing := map[string][]byte{"welcome": nil, "reply": nil, "frames": nil, "then": nil}
	for _, h := range table {
		switch {
		case h.Frames != "", h.Limit == "known frames", strings.Contains(h.Limit, "greeting"):
			continue
		}
		file, err := wat.Assemble(read(h.File), prelude, nothing)
		if err != nil {
			t.Fatalf("%s: %v", h.File, err)
		}
		list, files[h.Name] = append(list, h), file
	}
	return list, files
}

// ending loads a module and has it do what its modules do at the start of a turn, and returns how that ends.
func ending(file []byte, options ...wasmtime.Option) error {
	ctx := context.Background()
	options = append(options, wasmtime.WithoutCache(), wasmtime.WithMemoryLimitPages(1024))
	e, err := wasmtime.New(ctx, file, options...)
	if err != nil {
		return err
	}
	defer e.Close(ctx)
	i, err := e.Open(ctx)
	if err != nil {
		return err
	}
	for _, op := range []byte{abi.OpHello, abi.OpStartTurn} {
		if _, err := i.Step(nil, []byte{0x91, op}); err != nil {
			return err
		}
	}
	return nil
}

// Hostile modules end within their limits, by fuel and by time, and garbage is collected meanwhile.
func TestHostileModules(t *testing.T) {
	list, files := hostiles(t)
	stop, collected := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				collected <- n
				return
			case <-time.After(10 * time.Millisecond):
				runtime.GC()
			}
		}
	}()
	timed := 0
	for _, h := range list {
		t.Run(h.Name, func(t *testing.T) {
			says := h.Says
			if says == "stack overflow" {
				says = "call stack exhausted" // Wasmtime's words
			}
			err := ending(files[h.Name], wasmtime.WithFuel(engine.Fuel{Start: 5e6, Step: 5e6}))
			var coded *host.Error
			if !errors.As(err, &coded) || coded.Code != h.Code || !strings.Contains(err.Error(), says) {
				t.Fatalf("%v, want %s: %s", err, h.Code, says)
			}
			if !strings.HasPrefix(h.Limit, "fuel of") {
				return
			}
			timed++
			err = ending(files[h.Name], wasmtime.WithStepTimeout(30*time.Millisecond))
			var over *engine.TimeoutError
			if !errors.Is(err, host.CodeInstanceFailed) || !errors.As(err, &over) {
				t.Errorf("%v, want its time to be over", err)
			}
		})
	}
	close(stop)
	if n := <-collected; len(list) < 50 || timed < 25 || n == 0 {
		t.Errorf("%d modules, %d of them ended by time, %d collections", len(list), timed, n)
	}
}
