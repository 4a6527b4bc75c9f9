package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/wazero"
	"github.com/turncore/turncore/wasm/core"
)

// started is what a process that was started for it has measured, in nanoseconds from the bytes in hand.
type started struct {
	Instance int64
	Turn     int64
}

// engineNames are what newEngine knows.
var engineNames = []string{wazero.Name, native.Name}

// newEngine makes an engine. wazero keeps compiled code in the folder cache.
func newEngine(ctx context.Context, name, cache string, module []byte) (host.Engine, error) {
	if name == native.Name {
		return native.New(), nil
	}
	return wazero.New(ctx, module, wazero.WithCacheDir(cache))
}

// moduleBytes are what wazero runs.
func moduleBytes(name string) ([]byte, error) {
	module, ok := core.Module()
	if !ok && name != native.Name {
		return nil, fmt.Errorf("this build carries no module: run `make wasm` first")
	}
	return module, nil
}

// startOnce is the process: it loads the core, or the module of a file, runs a turn and says when it had which.
func startOnce(ctx context.Context, name, cache, file string) error {
	module, err := moduleBytes(name)
	if file != "" {
		module, err = os.ReadFile(file)
	}
	if err != nil {
		return err
	}
	begun := time.Now()
	e, err := newEngine(ctx, name, cache, module)
	if err != nil {
		return err
	}
	c, err := newConversation(e, 0, func(config *turns.TurnRunnerConfig) { err = config.Host.Load(ctx) })
	if err != nil {
		return err
	}
	var s started
	s.Instance = time.Since(begun).Nanoseconds()
	if err := c.turn(); err != nil {
		return err
	}
	s.Turn = time.Since(begun).Nanoseconds()
	return json.NewEncoder(os.Stdout).Encode(s)
}

// measureStart starts processes of this very program. A process that has run before has warmed what the first turn of a
// program finds cold.
func measureStart(ctx context.Context, p pace, name, cache string) ([]figure.Row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var instance, turn []float64
	for range p.starts {
		cmd := exec.CommandContext(ctx, self, "-start", name, "-cache", cache)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		var s started
		if err := json.Unmarshal(out, &s); err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		instance = append(instance, float64(s.Instance)/1e6)
		turn = append(turn, float64(s.Turn)/1e6)
	}
	return []figure.Row{
		figure.Summarize(figure.Instance, name, figure.Millis, instance),
		figure.Summarize(figure.FirstTurn, name, figure.Millis, turn),
	}, nil
}
