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

// fillPage puts tables into a page: what is between a line "<!-- generated: NAME… -->" and "<!-- end -->" is replaced by
// what table writes for the names.
func fillPage(path string, text []byte, table func(b *bytes.Buffer, names []string) error) ([]byte, error) {
	var b bytes.Buffer
	skip := false
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == markEnd {
			if !skip {
				return nil, fmt.Errorf("%s: end mark without a start", path)
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
		names := strings.Fields(strings.TrimSuffix(strings.TrimSpace(rest), "-->"))
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: start mark without a name", path)
		}
		if err := table(&b, names); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if skip {
		return nil, fmt.Errorf("%s: start mark without an end", path)
	}
	return b.Bytes(), nil
}

// fillSpec fills SPEC.md, which must have a table for each tuple and each group of constants. other writes the tables that
// are none of these.
func (s *source) fillSpec(text []byte, other func(b *bytes.Buffer, names []string) (known bool, err error)) ([]byte, error) {
	there := map[string]bool{}
	out, err := fillPage("SPEC.md", text, func(b *bytes.Buffer, names []string) error {
		if known, err := other(b, names); known || err != nil {
			return err
		}
		for _, name := range names {
			if err := s.specTable(b, name, there); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range s.types {
		if !there["type:"+t.Name] {
			return nil, fmt.Errorf("SPEC.md: no table has the tuple %s", t.Name)
		}
	}
	for _, g := range s.groups {
		if !there["const:"+g.Name] {
			return nil, fmt.Errorf("SPEC.md: no table has the constants %s", g.Name)
		}
	}
	return out, nil
}

// specTable writes the table of a tuple or of a group of constants, and notes it in there.
func (s *source) specTable(b *bytes.Buffer, name string, there map[string]bool) error {
	if t := s.find(strings.TrimPrefix(name, "type:")); t != nil && !strings.HasPrefix(name, "const:") {
		there["type:"+t.Name] = true
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
		there["const:"+g.Name] = true
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
	return fmt.Errorf("no table named %q", name)
}

// cell escapes text for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
