package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

// measureSizes weighs the modules below a folder. The command that does it is a module of its own; build/weights keeps
// what it says.
func measureSizes(ctx context.Context, dir string) ([]figure.Size, error) {
	sizes := []figure.Size{{Module: "turncore.wasm"}, {Module: "turncore-full.wasm"}, {Module: "turncore-js.wasm"}}
	kept, err := filepath.Abs("build/weights")
	if err != nil {
		return nil, err
	}
	args := []string{"-C", "wasm/size", "run", ".", "-keep", kept}
	for i, folder := range []string{"core", "full", "core"} {
		path, err := filepath.Abs(filepath.Join(dir, folder, sizes[i].Module))
		if err != nil {
			return nil, err
		}
		args = append(args, path)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("weigh the modules: %w", err)
	}
	lines := json.NewDecoder(bytes.NewReader(out))
	for i := range sizes {
		if err := lines.Decode(&sizes[i]); err != nil {
			return nil, fmt.Errorf("weigh %s: %w", sizes[i].Module, err)
		}
	}
	return sizes, nil
}
