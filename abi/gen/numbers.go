package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// enumeration is a type of the guest with the values of a group of constants.
type enumeration struct {
	group   string
	typ     string   // in the guest; the type and its doc are handwritten
	pattern string   // of names: %s is the constant's
	only    []string // constants; nil for all
}

// numbered lists the guest's files of enumerations. The guest does not import package abi.
var numbered = []struct {
	path, pkg string
	imports   string
	enums     []enumeration
}{
	{"runtime/numbers_gen.go", "runtime", `import "github.com/turncore/turncore/runtime/record"`, []enumeration{
		{group: "EventKind", typ: "EventKind", pattern: "Event%s"},
		{group: "Scope", typ: "Scope", pattern: "Scope%s"},
		{group: "Status", typ: "Status", pattern: "Status%s"},
		{group: "SyncKind", typ: "SyncOp", pattern: "Sync%s"},
		{group: "Signal", typ: "int64", pattern: "Signal%s"},
		{group: "Collection", typ: "record.Kind", pattern: "Kind%s", only: []string{"Stash", "Tools"}},
		{group: "Pipeline", typ: "Pipeline", pattern: "%s"},
		{group: "Stream", typ: "StreamKind", pattern: "%sStream"},
		{group: "Write", typ: "WriteOp", pattern: "Write%s"},
		{group: "GateResult", typ: "GateResult", pattern: "Gate%s"},
		{group: "Read", typ: "ReadOp", pattern: "Read%s"},
		{group: "Redirect", typ: "RedirectOp", pattern: "Redirect%s"},
	}},
	{"runtime/record/numbers_gen.go", "record", "", []enumeration{
		{
			group: "Collection", typ: "Kind", pattern: "%s",
			only: []string{"Instructions", "Memories", "Retrievables", "Messages", "Thoughts", "ToolCalls"},
		},
		{group: "Part", typ: "PartKind", pattern: "%sPart"},
	}},
	{"runtime/chat/numbers_gen.go", "chat", "", []enumeration{
		{group: "Level", typ: "Level", pattern: "%s"},
	}},
}

// numbers returns the files of enumerations by their paths.
func (s *source) numbers() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, file := range numbered {
		var b bytes.Buffer
		fmt.Fprintf(&b, goHeader+"%s\n", "the Go types in abi/", file.pkg, file.imports)
		for _, e := range file.enums {
			g := s.group(e.group)
			if g == nil {
				return nil, fmt.Errorf("%s: no constants %s", file.path, e.group)
			}
			written := 0
			fmt.Fprintf(&b, "\n// %s\nconst (\n", g.Doc)
			for _, c := range g.Consts {
				if e.only != nil && !slices.Contains(e.only, c.Name) {
					continue
				}
				written++
				fmt.Fprintf(&b, "\t%s %s = %s", fmt.Sprintf(e.pattern, c.Name), e.typ, c.Value.ExactString())
				if c.Doc != "" {
					fmt.Fprintf(&b, " // %s", c.Doc)
				}
				b.WriteString("\n")
			}
			b.WriteString(")\n")
			if e.only != nil && written != len(e.only) {
				return nil, fmt.Errorf("%s: %s lacks one of %s", file.path, e.group, strings.Join(e.only, ", "))
			}
		}
		files[file.path] = b.Bytes()
	}
	return files, nil
}
