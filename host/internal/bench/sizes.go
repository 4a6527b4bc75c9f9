package main

import (
	"context"
	"path/filepath"

	"github.com/turncore/turncore/host/internal/bench/figure"
	"github.com/turncore/turncore/internal/size"
)

// measureSizes weighs the modules below a folder.
func measureSizes(ctx context.Context, dir string) ([]figure.Size, error) {
	sizes := []figure.Size{{Module: "turncore.wasm"}, {Module: "turncore-full.wasm"}, {Module: "turncore-js.wasm"}}
	var files []string
	for i, folder := range []string{"core", "full", "core"} {
		files = append(files, filepath.Join(dir, folder, sizes[i].Module))
	}
	weights, err := size.Weigh(ctx, ".", files...)
	for i, w := range weights {
		sizes[i].Raw, sizes[i].Gzip, sizes[i].Brotli = w.Raw, w.Gzip, w.Brotli
	}
	return sizes, err
}
