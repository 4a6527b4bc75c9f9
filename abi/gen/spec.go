package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"strings"
)

const (
	markStart = "<!-- generated: "
	markEnd   = "<!-- end -->"
)

// fillSpec puts the tables into SPEC.md: what is between a line "<!-- generated: NAME… -->" and "<!-- end -->" is
// replaced by the table of each constant group or tuple named.
func (s *source) fillSpec(text []byte) ([]byte, error) {
	var b bytes.Buffer
	skip := false
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == markEnd {
			if !skip {
				return nil, fmt.Errorf("SPEC.md: end mark without a start")
			}
			skip = false
		}
		if skip {
			continue
		}
		b.WriteString(line)
		rest, ok := strings.CutPrefix(line, markStart)
		if !ok {
			continue
		}
		skip = true
		b.WriteString("\n")
		for _, name := range strings.Fields(strings.TrimSuffix(strings.TrimSpace(rest), "-->")) {
			if err := s.specTable(&b, name); err != nil {
				return nil, err
			}
		}
	}
	if skip {
		return nil, fmt.Errorf("SPEC.md: start mark without an end")
	}
	for _, t := range s.types {
		if !strings.Contains(b.String(), "\n**`"+t.Name+"`**") {
			return nil, fmt.Errorf("SPEC.md has no table of %s", t.Name)
		}
	}
	return b.Bytes(), nil
}

func (s *source) specTable(b *bytes.Buffer, name string) error {
	if t := s.find(strings.TrimPrefix(name, "type:")); t != nil && !strings.HasPrefix(name, "const:") {
		op := ""
		if t.Op != 0 {
			op = fmt.Sprintf(" (op %d)", t.Op)
		}
		fmt.Fprintf(b, "**`%s`**%s. %s\n\n| # | field | type | |\n| --- | --- | --- | --- |\n", t.Name, op, cell(tsDoc(t)))
		for i, f := range t.Fields {
			fmt.Fprintf(b, "| %d | `%s` | %s | %s |\n", i, lowerCamel(f.Name), cell(f.Type), cell(f.Doc))
		}
		b.WriteString("\n")
		return nil
	}
	for _, g := range s.groups {
		if g.Name != strings.TrimPrefix(name, "const:") {
			continue
		}
		fmt.Fprintf(b, "**%s.** %s\n\n| value | name | |\n| --- | --- | --- |\n", g.Name, groupDocs[g.Name])
		for _, c := range g.Consts {
			value := c.Value.ExactString()
			if c.Value.Kind() == constant.String {
				value = "`" + constant.StringVal(c.Value) + "`"
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", value, c.Name, cell(c.Doc))
		}
		b.WriteString("\n")
		return nil
	}
	return fmt.Errorf("SPEC.md: no table named %q", name)
}

// cell escapes text for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
