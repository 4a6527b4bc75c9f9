package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// documents say what members of the bodies in a session's document must be: "string", "boolean" or "integer", an object
// for a map whose members have forms, an array of one for a list. nil is of every form, and so is what a map's form
// does not name.
type documents map[string]any

func loadDocuments(path string) (documents, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d documents
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range d.names() {
		if err := checkForm(d[name]); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, name, err)
		}
	}
	return d, nil
}

// names are those of all forms, in order.
func (d documents) names() []string { return slices.Sorted(maps.Keys(d)) }

func checkForm(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if err := checkForm(member); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		if len(v) == 1 {
			return checkForm(v[0])
		}
	case string:
		if v == "string" || v == "boolean" || v == "integer" {
			return nil
		}
	}
	return fmt.Errorf("%v is no form", v)
}

func (d documents) goSource() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader+"// What the bodies in a session's document must be.\nvar (\n", "documents.json", "store")
	for _, name := range d.names() {
		fmt.Fprintf(&b, "\t%sForm = ", name)
		goForm(&b, d[name])
		b.WriteString("\n")
	}
	b.WriteString(")\n")
	return b.Bytes()
}

func goForm(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("form{}")
			return
		}
		b.WriteString("form{\n")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(b, "%q: ", name)
			goForm(b, v[name])
			b.WriteString(",\n")
		}
		b.WriteString("}")
	case []any:
		b.WriteString("listOf{")
		goForm(b, v[0])
		b.WriteString("}")
	default:
		fmt.Fprintf(b, "kind(%q)", v)
	}
}

func (d documents) typeScript() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/documents.json")
	b.WriteString("/** What a value must be: one of these, a map whose members have forms, or a list of elements of a form. */\n")
	b.WriteString("export type Form =\n  'string' | 'boolean' | 'integer' | { readonly [name: string]: Form } | readonly [Form];\n\n")
	b.WriteString("/** What the bodies in a session's document must be. */\nexport const FORMS = {\n")
	for _, name := range d.names() {
		fmt.Fprintf(&b, "  %s: ", name)
		tsForm(&b, d[name], "  ")
		b.WriteString(",\n")
	}
	b.WriteString("} satisfies { readonly [name: string]: Form };\n")
	return b.Bytes()
}

func tsForm(b *bytes.Buffer, v any, indent string) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteString("{\n")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(b, "%s  %s: ", indent, name)
			tsForm(b, v[name], indent+"  ")
			b.WriteString(",\n")
		}
		b.WriteString(indent + "}")
	case []any:
		b.WriteString("[")
		tsForm(b, v[0], indent)
		b.WriteString("]")
	default:
		fmt.Fprintf(b, "'%s'", v)
	}
}
