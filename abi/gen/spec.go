package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"slices"
	"strings"
	"unicode"
)

const (
	markStart = "<!-- generated: "
	markEnd   = "<!-- end -->"
)

// fillPage inserts tables into a page: between the lines "<!-- generated: NAME… -->" and "<!-- end -->" it puts the
// tables for the names.
func fillPage(path string, text []byte, table func(b *bytes.Buffer, section string, names []string) error) ([]byte, error) {
	var b bytes.Buffer
	skip := false
	section := ""
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
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
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
		if err := table(&b, section, names); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if skip {
		return nil, fmt.Errorf("%s: start mark without an end", path)
	}
	return b.Bytes(), nil
}

// fillSpec fills SPEC.md, which must have a table for each tuple and each group of constants. other writes all other
// tables.
func (s *source) fillSpec(text []byte, other func(b *bytes.Buffer, names []string) (known bool, err error)) ([]byte, error) {
	there := map[string]string{}
	out, err := fillPage("SPEC.md", text, func(b *bytes.Buffer, section string, names []string) error {
		if names[0] == "index" {
			s.index(b, there)
			return nil
		}
		if known, err := other(b, names); known || err != nil {
			return err
		}
		for _, name := range names {
			if err := s.specTable(b, name, section, there); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, t := range s.types {
		if there["type:"+t.Name] == "" {
			return nil, fmt.Errorf("SPEC.md: no table has the tuple %s", t.Name)
		}
	}
	for _, g := range s.groups {
		if there["const:"+g.Name] == "" {
			return nil, fmt.Errorf("SPEC.md: no table has the constants %s", g.Name)
		}
	}
	return out, nil
}

// columns is how wide a paragraph may be.
const columns = 120

// specTable writes the table of a tuple or of a group of constants, and records its section.
func (s *source) specTable(b *bytes.Buffer, name, section string, there map[string]string) error {
	if t := s.find(strings.TrimPrefix(name, "type:")); t != nil && !strings.HasPrefix(name, "const:") {
		there["type:"+t.Name] = section
		op := ""
		if t.Op != 0 {
			op = fmt.Sprintf(" (op %d)", t.Op)
		}
		b.WriteString(wrap("", fmt.Sprintf("**`%s`**%s. %s", t.Name, op, tsDoc(t)), columns))
		b.WriteString("\n| # | field | type | |\n| --- | --- | --- | --- |\n")
		for i, f := range t.Fields {
			fmt.Fprintf(b, "| %d | `%s` | %s | %s |\n", i, lowerCamel(f.Name), cell(f.Type), cell(f.Doc))
		}
		b.WriteString("\n")
		return nil
	}
	if g := s.group(strings.TrimPrefix(name, "const:")); g != nil {
		there["const:"+g.Name] = section
		b.WriteString(wrap("", fmt.Sprintf("**%s.** %s", g.Name, g.Doc), columns))
		b.WriteString("\n| value | name | |\n| --- | --- | --- |\n")
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

// index lists the section of each tuple and each group of constants. It comes last.
func (s *source) index(b *bytes.Buffer, there map[string]string) {
	row := func(name, what, section string) {
		number, _, _ := strings.Cut(section, ".")
		fmt.Fprintf(b, "| `%s` | %s | [%s](#%s) |\n", name, what, number, anchor(section))
	}
	b.WriteString("| name | | section |\n| --- | --- | --- |\n")
	names := make([]string, 0, len(there))
	for key := range there {
		_, name, _ := strings.Cut(key, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if t := s.find(name); t != nil && there["type:"+name] != "" {
			what := "tuple"
			if t.Op != 0 {
				what = fmt.Sprintf("frame, op %d", t.Op)
			}
			row(name, what, there["type:"+name])
		}
		if section := there["const:"+name]; section != "" {
			row(name, "numbers", section)
		}
	}
	b.WriteString("\n")
}

// anchor is GitHub's anchor for a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
