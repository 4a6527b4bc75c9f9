// Command size weighs files: as they are, and as a web server sends them.
//
//	go -C wasm/size run . FILE...
//
// It prints a JSON object for each file. It is a module of its own, so that who uses Turncore does not get what it needs.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/andybalholm/brotli"
)

// weight is what a file weighs, in bytes.
type weight struct {
	Raw    int `json:"raw"`
	Gzip   int `json:"gzip"`   // level 9
	Brotli int `json:"brotli"` // level 11
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, files []string) error {
	weights := make([]weight, len(files))
	errs := make([]error, len(files))
	var group sync.WaitGroup
	for i, file := range files {
		group.Go(func() { weights[i], errs[i] = weigh(file) })
	}
	group.Wait()
	lines := json.NewEncoder(out)
	for i := range files {
		if errs[i] != nil {
			return errs[i]
		}
		if err := lines.Encode(weights[i]); err != nil {
			return err
		}
	}
	return nil
}

func weigh(file string) (w weight, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return w, err
	}
	w.Raw = len(data)
	w.Brotli, err = compressed(data, func(out io.Writer) io.WriteCloser {
		return brotli.NewWriterLevel(out, brotli.BestCompression)
	})
	if err != nil {
		return w, fmt.Errorf("%s: brotli: %w", file, err)
	}
	w.Gzip, err = compressed(data, func(out io.Writer) io.WriteCloser {
		zip, _ := gzip.NewWriterLevel(out, gzip.BestCompression) // fails for other levels only
		return zip
	})
	if err != nil {
		return w, fmt.Errorf("%s: gzip: %w", file, err)
	}
	return w, nil
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// compressed is how many bytes the data take.
func compressed(data []byte, open func(io.Writer) io.WriteCloser) (int, error) {
	var n counter
	w := open(&n)
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	err := w.Close()
	return int(n), err
}
