package main

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// survivor is a change that nothing has to find, because nothing that it does can be told from outside.
type survivor struct {
	File     string `json:"file"`
	Operator string `json:"operator"`
	Before   string `json:"before"` // the lines that change
	After    string `json:"after"`
	Reason   string `json:"reason"`
}

//go:embed survivors.json
var survivorList []byte

// survivors reads the list of those that are known.
func survivors() (map[survivor]string, error) {
	var list []survivor
	if err := json.Unmarshal(survivorList, &list); err != nil {
		return nil, fmt.Errorf("survivors.json: %w", err)
	}
	reasons := map[survivor]string{}
	for _, s := range list {
		reason := s.Reason
		s.Reason = ""
		if reason == "" || reasons[s] != "" {
			return nil, fmt.Errorf("survivors.json: %q in %s has no reason, or is there twice", s.After, s.File)
		}
		reasons[s] = reason
	}
	return reasons, nil
}

// survivor is how the list names a candidate.
func (c *candidate) survivor() survivor {
	before, after := c.lines()
	return survivor{File: c.source.name, Operator: c.operator, Before: before, After: after}
}

// verdict is what came of a change.
type verdict struct {
	Source   string `json:"source"` // checksum of the file
	File     string `json:"file"`
	Start    int    `json:"start"`
	Operator string `json:"operator"`
	Corpus   string `json:"corpus,omitempty"` // the scenario that killed it
	Unit     string `json:"unit,omitempty"`   // or the test
}

// place is what a verdict is about.
func (v verdict) place() verdict {
	v.Corpus, v.Unit = "", ""
	return v
}

func (c *candidate) place() verdict {
	sum := sha256.Sum256([]byte(c.source.text))
	return verdict{Source: hex.EncodeToString(sum[:8]), File: c.source.name, Start: c.start, Operator: c.operator}
}

// folder is where the candidate's package lies.
func (c *candidate) folder() string { return path.Dir(c.source.name) }

// readVerdicts reads what an earlier run has found, the last of what it says of each place.
func readVerdicts(file string) (map[verdict]verdict, error) {
	known := map[verdict]verdict{}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v verdict
		if json.Unmarshal(lines.Bytes(), &v) == nil { // the last line may have been cut off
			known[v.place()] = v
		}
	}
	return known, nil
}
