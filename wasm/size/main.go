// Command size weighs files: as they are, and as a web server sends them.
//
//	go -C wasm/size run . [-keep FOLDER] FILE...
//
// It prints a JSON object for each file. A module takes ten seconds, once for the same bytes if a folder keeps what was
// said of them. It is a module of its own, so that who uses Turncore does not get what it needs.
package main

import (
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	folder := flag.String("keep", "", "`folder` for what files weigh; none is kept without it")
	flag.Parse()
	if err := run(os.Stdout, *folder, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, folder string, files []string) error {
	weights := make([]weight, len(files))
	errs := make([]error, len(files))
	var group sync.WaitGroup
	for i, file := range files {
		group.Go(func() { weights[i], errs[i] = weighed(folder, file) })
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

// weighed is what a file weighs, as a folder keeps it or else as it is found out. No folder keeps nothing.
func weighed(folder, file string) (w weight, err error) {
	data, err := os.ReadFile(file)
	switch {
	case err != nil:
		return w, err
	case folder == "":
		return weigh(file, data)
	}
	sum := sha256.New()
	_, _ = sum.Write([]byte(source + dependencies)) // never fails
	_, _ = sum.Write(data)
	path := filepath.Join(folder, hex.EncodeToString(sum.Sum(nil)[:16])+".json")
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &w) == nil {
		return w, nil
	}
	if w, err = weigh(file, data); err != nil {
		return w, err
	}
	return w, keep(path, w)
}

// What is kept depends on them, too.
var (
	//go:embed main.go
	source string
	//go:embed go.sum
	dependencies string
)

// keep writes a weight to a file in one step, for others read it meanwhile.
func keep(path string, w weight) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".weight-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func weigh(file string, data []byte) (w weight, err error) {
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
