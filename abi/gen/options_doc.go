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

// optionRows is a table of options: those of names, or all without names.
func (t *optionTable) optionRows(b *bytes.Buffer, names []string) error {
	list := slices.Concat(t.Common, t.Own)
	if len(names) > 0 {
		var chosen []option
		for _, name := range names {
			i := slices.IndexFunc(list, func(o option) bool { return o.Name == name })
			if i < 0 {
				return fmt.Errorf("no option named %q", name)
			}
			chosen = append(chosen, list[i])
		}
		list = chosen
	}
	b.WriteString("| option | value | default | |\n| --- | --- | --- | --- |\n")
	for i := range list {
		o := &list[i]
		if len(o.Members) == 0 {
			t.optionRow(b, "", o)
			continue
		}
		for j := range o.Members {
			t.optionRow(b, o.Name+".", &o.Members[j])
		}
	}
	b.WriteString("\n")
	return nil
}

func (t *optionTable) optionRow(b *bytes.Buffer, prefix string, o *option) {
	value := o.words()
	doc := o.Doc
	if own := prefix == "" && t.own(o.Name) != nil; own || strings.HasPrefix(prefix, "capabilities") {
		var of []string
		for i := range t.Providers {
			p := &t.Providers[i]
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
	what := o.Otherwise
	switch {
	case o.Required:
		what = "required"
	case len(o.Default) > 0:
		what = "`" + compact(o.Default) + "`"
		if len(o.EngineDefault) > 0 {
			what += "; of an engine `" + compact(o.EngineDefault) + "`"
		}
	}
	if o.Engine != nil && !*o.Engine {
		doc += " Not for an engine."
	}
	fmt.Fprintf(b, "| `%s%s` | %s | %s | %s |\n", prefix, o.Name, cell(value), cell(what), cell(doc))
}

// label is the provider in a page.
func (p *provider) label() string {
	if p.Engine {
		return "an engine"
	}
	return "`" + p.Name + "`"
}

func (t *optionTable) providerRows(b *bytes.Buffer) {
	b.WriteString("| provider | for | base URL | the key goes into | module |\n| --- | --- | --- | --- | --- |\n")
	for i := range t.Providers {
		p := &t.Providers[i]
		if p.Engine {
			continue
		}
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
	for i := range t.Providers {
		p := &t.Providers[i]
		members := make([]string, len(p.Members))
		for j := range p.Members {
			members[j] = "`" + p.Members[j].Name + "` (" + p.Members[j].words() + ")"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s |\n", p.label(), strings.Join(p.Options, "`, `"), cell(strings.Join(members, ", ")))
	}
	b.WriteString("\n")
}
