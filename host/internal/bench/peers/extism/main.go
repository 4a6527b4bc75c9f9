// Command extism measures the nearest thing that Extism's Go SDK has to an effect: a plugin calls a function of its
// host with 1 KiB and gets 1 KiB back. It is a module of its own, so that Turncore does not depend on Extism.
//
//	go run . -guest GUEST.wasm    prints the figure as JSON for ../../report
package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

// effects to a call of the plugin. The call itself costs as much as some of them and is shared by all.
const effects = 100

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "extism:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("extism", flag.ContinueOnError)
	guest := flags.String("guest", "", "the plugin, built from ./guest")
	samples := flags.Int("samples", 2000, "how many samples to take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	module, err := os.ReadFile(*guest)
	if err != nil {
		return err
	}
	effect := extism.NewHostFunctionWithStack("effect", func(_ context.Context, p *extism.CurrentPlugin, stack []uint64) {
		request, err := p.ReadBytes(stack[0])
		if err == nil {
			stack[0], err = p.WriteBytes(request)
		}
		if err != nil {
			panic(err) // ends the call, which then fails
		}
	}, []extism.ValueType{extism.ValueTypePTR}, []extism.ValueType{extism.ValueTypePTR})
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: module}}}
	plugin, err := extism.NewPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, []extism.HostFunction{effect})
	if err != nil {
		return err
	}
	defer plugin.Close(ctx)

	input := binary.LittleEndian.AppendUint64(nil, effects)
	sample := func() (float64, error) {
		start := time.Now()
		exit, _, err := plugin.Call("effects", input)
		if err == nil && exit != 0 {
			err = fmt.Errorf("the plugin returned %d", exit)
		}
		return float64(time.Since(start).Nanoseconds()) / 1000 / effects, err
	}
	for range *samples / 10 { // warm-up
		if _, err := sample(); err != nil {
			return err
		}
	}
	list := make([]float64, *samples)
	for i := range list {
		if list[i], err = sample(); err != nil {
			return err
		}
	}
	row := figure.Summarize(figure.Effect, figure.Wazero, figure.Micros, list)
	return json.NewEncoder(os.Stdout).Encode([]figure.Peer{{
		Peer: "Extism Go SDK " + version(), Title: "host function call, 1 KiB each way", Unit: figure.Micros,
		Median: row.Median, P10: row.P10, P90: row.P90, Figure: figure.Effect, Engine: figure.Wazero, AtLeast: 6,
	}})
}

// version is that of Extism's module.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/extism/go-sdk" {
				return dep.Version
			}
		}
	}
	return ""
}
