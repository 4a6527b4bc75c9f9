// Command vectors writes the golden vectors in abi/testdata, which test the codecs of all hosts: values.json pins the
// encoding of values, frames.json that of every frame, payload and record. The vectors come from a handwritten table
// and from a reference encoder that shares no code with the codecs.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("testdata"); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text of the files by name.
func generate() (map[string][]byte, error) {
	if err := checkValues(); err != nil {
		return nil, err
	}
	hostErrors, err := errorVectors()
	if err != nil {
		return nil, err
	}
	valuesText, err1 := lines(values)
	framesText, err2 := lines(frameVectors())
	errorsText, err3 := lines(hostErrors)
	return map[string][]byte{"values.json": valuesText, "frames.json": framesText, "host-errors.json": errorsText},
		errors.Join(err1, err2, err3)
}

// lines formats a JSON array with an element per line.
func lines[T any](list []T) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, v := range list {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		b.Write(bytes.TrimSpace(line.Bytes()))
		if i < len(list)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return b.Bytes(), nil
}

// checkValues compares the table with the reference encoder.
func checkValues() error {
	seen := map[string]bool{}
	for _, v := range values {
		if seen[v.Name] {
			return fmt.Errorf("two vectors named %q", v.Name)
		}
		seen[v.Name] = true
		want, err := unhex(v.Hex)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		if v.Only == "read" {
			continue
		}
		source, err := parseSource(string(v.Source))
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		got, err := reference(source, "v", 60)
		if r, ok := err.(refusal); ok {
			if string(r) != v.Refused {
				return fmt.Errorf("%s: the reference refuses %s, the table %q", v.Name, r, v.Refused)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		if v.Refused != "" || got != want {
			return fmt.Errorf("%s: the reference says %x, the table %x%s", v.Name, got, want, v.Refused)
		}
	}
	return nil
}
