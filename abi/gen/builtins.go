package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// builtinTable is builtins.json: the middleware and tools in the module, and their arguments in OpenRunner.
type builtinTable struct {
	Middleware []builtinMiddleware            `json:"middleware"`
	Tools      map[string]builtinToolArgument `json:"tools"`
	catalogue  ordered[catalogueTool]
}

type builtinMiddleware struct {
	Name      string    `json:"name"`
	Pipelines []string  `json:"pipelines"`
	Code      string    `json:"code"` // of the error it nacks with
	Doc       string    `json:"doc"`
	Argument  []*option `json:"argument"` // an entry without a name is the argument itself
}

// builtinToolArgument is a tool's configuration, besides the model's arguments.
type builtinToolArgument struct {
	Core     bool      `json:"core"`
	Argument []*option `json:"argument"`
}

// catalogueTool is a tool of catalogue/tools.json.
type catalogueTool struct {
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func loadBuiltins(path string, tools []byte, codes faults) (*builtinTable, error) {
	t := &builtinTable{}
	if err := readJSON(path, t); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(tools, &t.catalogue); err != nil {
		return nil, err
	}
	for _, m := range t.Middleware {
		if m.Code != "" && !slices.ContainsFunc(codes, func(f fault) bool { return f.Code == m.Code }) {
			return nil, fmt.Errorf("%s: %s: unknown code %q", path, m.Name, m.Code)
		}
		if err := checkOptions(m.Argument); err != nil || m.Doc == "" || len(m.Pipelines) == 0 {
			return nil, fmt.Errorf("%s: %s is incomplete: %v", path, m.Name, err)
		}
	}
	for name, tool := range t.Tools {
		if _, known := t.catalogue.values[name]; !known {
			return nil, fmt.Errorf("%s: the catalogue has no tool %s", path, name)
		}
		if err := checkOptions(tool.Argument); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, name, err)
		}
	}
	return t, nil
}

// table writes the table "middleware" or "tools" for pages.
func (t *builtinTable) table(b *bytes.Buffer, names []string) (known bool, err error) {
	switch names[0] {
	case "middleware":
		b.WriteString("| middleware | pipelines | argument | nacks with | |\n| --- | --- | --- | --- | --- |\n")
		for _, m := range t.Middleware {
			code := ""
			if m.Code != "" {
				code = "`" + m.Code + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", m.Name, strings.Join(m.Pipelines, ", "), argument(m.Argument), code, cell(m.Doc))
		}
		b.WriteString("\n")
		for _, m := range t.Middleware {
			argumentRows(b, m.Name, m.Argument)
		}
		return true, nil
	case "tools":
		b.WriteString("| tool | argument | module | |\n| --- | --- | --- | --- |\n")
		for _, name := range t.catalogue.keys {
			module, taken := "core", "nil"
			if tool, special := t.Tools[name]; special {
				if taken = argument(tool.Argument); !tool.Core {
					module = "full"
				}
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, taken, module, cell(t.catalogue.values[name].Description))
		}
		b.WriteString("\n")
		for _, name := range t.catalogue.keys {
			argumentRows(b, name, t.Tools[name].Argument)
		}
		return true, nil
	}
	return false, nil
}

// argument describes an argument for a table.
func argument(list []*option) string {
	switch {
	case len(list) == 0:
		return "nil"
	case list[0].Name == "":
		return list[0].words()
	}
	return "map, below"
}

// argumentRows formats the members of an argument that is a map.
func argumentRows(b *bytes.Buffer, name string, list []*option) {
	if len(list) == 0 || list[0].Name == "" {
		return
	}
	fmt.Fprintf(b, "| of `%s` | value | default | |\n| --- | --- | --- | --- |\n", name)
	for _, o := range list {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", o.Name, cell(o.words()), cell(o.without()), cell(o.Doc))
	}
	b.WriteString("\n")
}
