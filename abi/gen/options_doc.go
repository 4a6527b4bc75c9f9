package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// table writes a table for pages: "options NAME…", "providers", "variables", or "members".
func (t *optionTable) table(b *bytes.Buffer, names []string) (known bool, err error) {
	switch names[0] {
	case "options":
		return true, t.optionRows(b, names[1:])
	case "providers":
		t.providerRows(b)
		return true, nil
	case "variables":
		t.variableRows(b)
		return true, nil
	case "members":
		t.memberRows(b)
		return true, nil
	}
	return false, nil
}

// optionRows formats a table of options: the named ones, or all if there are no names.
func (t *optionTable) optionRows(b *bytes.Buffer, names []string) error {
	var list []*option
	for _, name := range names {
		o := t.find(name)
		if o == nil {
			return fmt.Errorf("no option named %q", name)
		}
		list = append(list, o)
	}
	if len(names) == 0 {
		list = t.all()
	}
	b.WriteString("| option | value | default | |\n| --- | --- | --- | --- |\n")
	for _, o := range list {
		if len(o.Members) == 0 {
			t.optionRow(b, "", o)
			continue
		}
		for _, m := range o.Members {
			t.optionRow(b, o.Name+".", m)
		}
	}
	b.WriteString("\n")
	return nil
}

func (t *optionTable) optionRow(b *bytes.Buffer, prefix string, o *option) {
	value := o.words()
	doc := o.Doc
	if own := prefix == "" && slices.Contains(t.Own, o); own || strings.HasPrefix(prefix, "capabilities") {
		var of []string
		for _, p := range t.Providers {
			if slices.Contains(p.Options, strings.TrimSuffix(prefix+o.Name, "."+o.Name)) || own && slices.Contains(p.Options, o.Name) {
				of = append(of, p.label())
			}
			if o.Name == "thoughts" && p.Thoughts != "" {
				value += fmt.Sprintf(", `%s` (%s)", p.Thoughts, p.label())
			}
		}
		if len(of) < len(t.Providers) {
			doc += " Of " + strings.Join(of, ", ") + "."
		}
	}
	if o.Core != nil && len(*o.Core) == 0 {
		doc += " Only in the full module."
	} else if o.Core != nil {
		doc += " The core module has `" + strings.Join(*o.Core, "` and `") + "` only."
	}
	if o.Engine != nil && !*o.Engine {
		doc += " Not for an engine."
	}
	fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", prefix, o.Name, cell(value), cell(o.without()), cell(doc))
}

// without describes the default.
func (o *option) without() string {
	switch {
	case o.Required:
		return "required"
	case len(o.EngineDefault) > 0:
		return "`" + compact(o.Default) + "`; of an engine `" + compact(o.EngineDefault) + "`"
	case len(o.Default) > 0:
		return "`" + compact(o.Default) + "`"
	}
	return o.Otherwise
}

// label is the provider's name on a page.
func (p *provider) label() string {
	if p.Engine {
		return "an engine"
	}
	return "`" + p.Name + "`"
}

func (t *optionTable) providerRows(b *bytes.Buffer) {
	b.WriteString("| provider | for | base URL | the key goes into | module |\n| --- | --- | --- | --- | --- |\n")
	for _, p := range t.apis() {
		module := "full"
		if p.Core {
			module = "core"
		}
		fmt.Fprintf(b, "| `%s` | %s | `%s` | `%s` | %s |\n", p.Name, cell(p.Use), p.BaseURL, p.Header, module)
	}
	b.WriteString("\n")
}

func (t *optionTable) memberRows(b *bytes.Buffer) {
	b.WriteString("| provider | options of its own | members of its requests |\n| --- | --- | --- |\n")
	for _, p := range t.Providers {
		members := make([]string, len(p.Members))
		for i, m := range p.Members {
			members[i] = "`" + m.Name + "` (" + m.words() + ")"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s |\n", p.label(), strings.Join(p.Options, "`, `"), cell(strings.Join(members, ", ")))
	}
	b.WriteString("\n")
}
