// Command adk-go measures an invocation of Google's agent development kit for Go: in this process, and as a WebAssembly
// module on wazero. It is a module of its own, so that Turncore does not depend on the kit.
//
//	go run . -guest GUEST.wasm    prints the figures as JSON for ../../report
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/internal/bench/peers/adk-go/invocation"
)

// before is how many invocations a session has had in which one more is measured.
const before = 50

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "adk-go:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("adk-go", flag.ContinueOnError)
	guest := flags.String("guest", "", "the module, built from ./guest")
	if err := flags.Parse(args); err != nil {
		return err
	}
	kit, err := invocation.New()
	if err != nil {
		return err
	}
	alone, err := kit.Alone(ctx, 5000)
	if err != nil {
		return err
	}
	further, err := kit.Further(ctx, 100, before)
	if err != nil {
		return err
	}
	inside, err := measureGuest(ctx, *guest)
	if err != nil {
		return err
	}
	title := "invocation with a tool call, in a session that is made for it and deleted"
	native := peer(title+", native", figure.Invocation, alone)
	native.AtLeast = 1.3
	late := peer(fmt.Sprintf("the same in a session of %d, native", before), figure.Invocation50, further)
	module := peer(title+", on wazero", figure.Invocation, inside)
	module.AtLeast = 8
	return json.NewEncoder(os.Stdout).Encode([]figure.Peer{native, late, module})
}

func peer(title, figureID string, samples []float64) figure.Peer {
	row := figure.Summarize(figureID, figure.Wazero, figure.Micros, samples)
	return figure.Peer{
		Peer: "google.golang.org/adk " + version(), Title: title, Unit: row.Unit, Median: row.Median, P10: row.P10, P90: row.P90,
		Figure: row.Figure, Engine: row.Engine,
	}
}

// measureGuest has the module measure itself.
func measureGuest(ctx context.Context, name string) ([]float64, error) {
	module, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	config := wazero.NewModuleConfig().WithStdout(&out).WithStderr(os.Stderr).WithSysNanotime().WithSysWalltime().WithSysNanosleep()
	if _, err := r.InstantiateWithConfig(ctx, module, config); err != nil {
		return nil, err
	}
	var samples []float64
	return samples, json.Unmarshal(out.Bytes(), &samples)
}

// version is the kit's.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "google.golang.org/adk/v2" {
				return m.Version
			}
		}
	}
	return "of unknown version"
}
