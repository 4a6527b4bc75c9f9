// Package corpus has the modules that want to harm their host: host/testdata/hostile has their sources, with a table of
// what each does, which limit ends it, and the error that says so.
package corpus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/testmodule/wat"
)

// Module is a row of the table.
type Module struct {
	Name   string
	File   string
	Does   string
	Limit  string    // that ends it
	Code   host.Code // of the error
	Says   string    // words in it
	Frames string    // the name of what it answers the start of a turn with; "" for nothing
	Then   string    // and what it answers what follows with
	JS     *struct { // the error in JavaScript, if it is another one
		Code host.Code
		Says string
	}
}

// Corpus is the table, with what the modules say.
type Corpus struct {
	Modules []Module
	folder  string
	frames  map[string][]byte
}

// Load reads the table of a folder. turn is the number that the host gives to the first turn of an instance.
func Load(folder string, turn uint32) (*Corpus, error) {
	text, err := os.ReadFile(filepath.Join(folder, "table.json"))
	if err != nil {
		return nil, err
	}
	c := &Corpus{folder: folder, frames: frames(turn)}
	if err := json.Unmarshal(text, &c.Modules); err != nil {
		return nil, fmt.Errorf("table.json: %w", err)
	}
	return c, nil
}

// Assemble returns a module's file.
func (c *Corpus) Assemble(m Module) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(c.folder, m.File))
	if err != nil {
		return nil, err
	}
	prelude, err := os.ReadFile(filepath.Join(c.folder, "prelude.wat"))
	if err != nil {
		return nil, err
	}
	c.frames["frames"], c.frames["then"] = c.frames[m.Frames], c.frames[m.Then]
	file, err := wat.Assemble(string(source), string(prelude), c.frames)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.File, err)
	}
	return file, nil
}
