// Command write writes the hostile modules into a folder, NAME.wasm each, for hosts in other languages.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/turncore/turncore/host/hostile/internal/corpus"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: write SOURCES FOLDER")
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func write(sources, folder string) error {
	c, err := corpus.Load(sources, 1) // as in JavaScript
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, m := range c.Modules {
		file, err := c.Assemble(m)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, m.Name+".wasm"), file, 0o644); err != nil {
			return err
		}
	}
	return nil
}
