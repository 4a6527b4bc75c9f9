package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/turncore/turncore/host/internal/bench/figure"
)

// measureSizes weighs the modules below a folder, as they are and as a web server would send them.
func measureSizes(dir string) ([]figure.Size, error) {
	sizes := []figure.Size{{Module: "turncore.wasm"}, {Module: "turncore-full.wasm"}, {Module: "turncore-js.wasm"}}
	folders := []string{"core", "full", "core"}
	errs := make([]error, len(sizes))
	var wg sync.WaitGroup
	for i := range sizes {
		wg.Go(func() { errs[i] = weigh(filepath.Join(dir, folders[i]), &sizes[i]) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

func weigh(dir string, s *figure.Size) error {
	module, err := os.ReadFile(filepath.Join(dir, s.Module))
	if err != nil {
		return err
	}
	s.Raw = len(module)
	var zipped, brotlied bytes.Buffer
	zip, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, w := range []io.WriteCloser{zip, brotli.NewWriterLevel(&brotlied, brotli.BestCompression)} {
		if _, err := w.Write(module); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	s.Gzip, s.Brotli = zipped.Len(), brotlied.Len()
	return nil
}
