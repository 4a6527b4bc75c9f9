package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// guestOptions returns the numbers and names of options for runtime/chat. The decoder is handwritten: a table of kinds
// and targets would be larger than its switch.
func (t *optionTable) guestOptions() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "options.json", "chat")
	b.WriteString("// Bounds, defaults and values of options.\nconst (\n")
	var lists []string
	emit := func(prefix string, o *option) {
		name := prefix + camel(o.Name)
		if o.Min != nil {
			fmt.Fprintf(&b, "\tmin%s = %d\n", name, *o.Min)
		}
		if o.Max != nil {
			fmt.Fprintf(&b, "\tmax%s = %d\n", name, *o.Max)
		}
		if o.Type == "string" && len(o.Values) > 0 && o.Core == nil && o.Name != "thoughts" {
			fmt.Fprintf(&b, "\toneOf%s = %q\n", name, "must be one of "+strings.Join(o.Values, ", "))
		}
		switch {
		case o.Type == "integer[]":
			lists = append(lists, fmt.Sprintf("var default%s = []int{%s}\n", name, strings.Trim(compact(o.Default), "[]")))
		case (o.Type == "integer" || o.Type == "ms") && len(o.Default) > 0:
			fmt.Fprintf(&b, "\tdefault%s = %s\n", name, o.Default)
		}
		if o.Most > 0 {
			fmt.Fprintf(&b, "\t// Max%s is the maximum length of the option %s.\n\tMax%s = %d\n", name, o.Name, name, o.Most)
		}
	}
	var names, ofEngines []string
	for _, o := range t.all() {
		if ofEngine(o) {
			ofEngines = append(ofEngines, o.Name)
			continue
		}
		names = append(names, o.Name)
		emit("", o)
		for _, m := range o.Members {
			emit(camel(o.Name), m)
		}
	}
	b.WriteString(")\n\n")
	b.WriteString(strings.Join(lists, "\n"))
	fmt.Fprintf(&b, "\n// ofSome are the options that only some providers take: those that name them in their Protocol.\n")
	fmt.Fprintf(&b, "var ofSome = []string{%s}\n", quotedList(t.ofSome()))
	b.WriteString("\n// Names of options, of those of engines only, and of the members of retry.\n")
	fmt.Fprintf(&b, "const (\n\toptionNames = %q\n\tengineNames = %q\n\tretryNames = %q\n)\n",
		strings.Join(names, " "), strings.Join(ofEngines, " "), t.membersOf("retry"))
	return b.Bytes()
}

// membersOf lists the names of an option's members.
func (t *optionTable) membersOf(name string) string {
	var names []string
	for _, m := range t.find(name).Members {
		names = append(names, m.Name)
	}
	return strings.Join(names, " ")
}

// ofEngine reports whether an option is for engines only: package provider reads it.
func ofEngine(o *option) bool { return o.Type == "capabilities" || o.Name == "toolChoice" }

// ofSome lists the options that some providers have of their own and others do not. Package provider reads those of
// engines.
func (t *optionTable) ofSome() (names []string) {
	for _, o := range t.Own {
		taken := func(p *provider) bool { return slices.Contains(p.Options, o.Name) }
		if !ofEngine(o) && slices.ContainsFunc(t.Providers, func(p *provider) bool { return !taken(p) }) {
			names = append(names, o.Name)
		}
	}
	return names
}

// quotedList formats names as the elements of a slice.
func quotedList(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return `"` + strings.Join(names, `", "`) + `"`
}

// guestProviders returns the names, addresses and request members for internal/provider.
func (t *optionTable) guestProviders() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "options.json", "provider")
	b.WriteString("import \"github.com/turncore/turncore/runtime/chat\"\n")
	b.WriteString("\n// capabilityNames are the names of an engine's capabilities.\n")
	fmt.Fprintf(&b, "const capabilityNames = %q\n", t.membersOf("capabilities"))
	for _, p := range t.Providers {
		unit := p.unit()
		fmt.Fprintf(&b, "\n// %s.\nconst (\n\t%sName = %q\n", p.Title, unit, p.Name)
		if p.BaseURL != "" {
			fmt.Fprintf(&b, "\t%sBaseURL = %q\n", unit, p.BaseURL)
		}
		if p.Thoughts != "" {
			fmt.Fprintf(&b, "\t%sThoughts = %q // value of the option thoughts\n", unit, p.Thoughts)
		}
		b.WriteString(")\n")
		own := slices.DeleteFunc(t.ofSome(), func(name string) bool { return !slices.Contains(p.Options, name) })
		if len(own) > 0 {
			fmt.Fprintf(&b, "\n// %sOptions are options that not every provider takes.\n", unit)
			fmt.Fprintf(&b, "var %sOptions = []string{%s}\n", unit, quotedList(own))
		}
		if len(p.Members) == 0 {
			continue
		}
		// Those that belong in an object of the request come first.
		members, inside := slices.Clone(p.Members), 0
		slices.SortStableFunc(members, func(a, b *option) int { return cmp.Compare(b.In, a.In) })
		for ; inside < len(members) && members[inside].In != ""; inside++ {
			if into := members[0].In; members[inside].In != into {
				panic(p.Name + ": members go into " + into + " and " + members[inside].In)
			}
		}
		name := unit + "Members"
		if inside > 0 {
			into := members[0].In
			fmt.Fprintf(&b, "\n// %s is how many of %s, from the first on, go into %s.\n", unit+camel(into), name, into)
			fmt.Fprintf(&b, "const %s = %d\n", unit+camel(into), inside)
		}
		fmt.Fprintf(&b, "\nvar %s = []chat.Member{\n", name)
		for _, m := range members {
			fmt.Fprintf(&b, "\t{%s},\n", m.member())
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// member formats the fields of a chat.Member.
func (o *option) member() string {
	var shapes []string
	for _, one := range o.types() {
		shapes = append(shapes, "chat.Shape"+optionTypes[one].shape)
	}
	s := fmt.Sprintf("Name: %q, Shape: %s", o.Name, strings.Join(shapes, " | "))
	if !o.bounded() {
		return s
	}
	most := "chat.Unbounded"
	if o.Max != nil {
		most = strconv.FormatInt(*o.Max, 10)
	}
	return s + fmt.Sprintf(", Bounded: true, Min: %d, Max: %s", *o.Min, most)
}

// hostOptions returns the typed options of package model.
func (t *optionTable) hostOptions() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "options.json", "model")
	b.WriteString("import (\n\t\"time\"\n\n\t\"github.com/turncore/turncore/host/record\"\n)\n")
	for _, group := range []struct {
		name, doc string
		fields    []*option
	}{
		{"RetryOptions", "select the failed requests to repeat, and the delays between them. Nil fields have their defaults.", t.find("retry").Members},
		{"Capabilities", "describe an engine. Zero values are the defaults.", t.find("capabilities").Members},
		{"CommonOptions", "are options of models of any provider. Nil and empty fields have their defaults.", t.Common},
	} {
		fmt.Fprintf(&b, "\n// %s %s\ntype %[1]s struct {\n", group.name, group.doc)
		goFields(&b, group.fields)
		b.WriteString("}\n")
	}
	for _, p := range t.apis() {
		fmt.Fprintf(&b, "\n// %sOptions are options of models behind %s.\n", p.Go, p.Title)
		b.WriteString("// Members of requests have the API's names.\n")
		fmt.Fprintf(&b, "type %sOptions struct {\n\tCommonOptions\n", p.Go)
		goFields(&b, t.options(p))
		goFields(&b, p.Members)
		b.WriteString("}\n\n")
		b.WriteString("// Map returns the options in the form of the Options of turns.Model and [ChatOptions].\n")
		fmt.Fprintf(&b, "func (o %sOptions) Map() map[string]any { return optionMap(o) }\n", p.Go)
	}
	return b.Bytes()
}

// goFields writes the fields of a struct of options.
func goFields(b *bytes.Buffer, list []*option) {
	for _, o := range list {
		if o.Field {
			continue
		}
		if doc := o.goDoc(); doc != "" {
			b.WriteString(wrap("\t// ", doc, 118))
		}
		fmt.Fprintf(b, "\t%s %s `option:%q`\n", o.goField(), o.goType(), o.Name)
	}
}

// goDoc is the Go comment of an option.
func (o *option) goDoc() string {
	s := o.Doc
	for _, v := range o.Values {
		s = strings.ReplaceAll(s, "`"+v+"`", strconv.Quote(v))
	}
	if len(o.Values) > 0 && (o.Type != "string" || !o.tellsValues()) {
		word := "One"
		if o.Type != "string" {
			word = "Any"
		}
		s += " " + word + ` of "` + strings.Join(o.Values, `", "`) + `".`
	}
	if what := o.fallback(); what != "" {
		var ms int64
		if o.Type == "ms" && json.Unmarshal(o.Default, &ms) == nil && ms > 0 {
			what = (time.Duration(ms) * time.Millisecond).String()
			for _, zero := range [...]string{"m0s", "h0m"} {
				if strings.HasSuffix(what, zero) {
					what = what[:len(what)-2]
				}
			}
		}
		s += " Default: " + what + "."
	}
	return strings.TrimSpace(strings.ReplaceAll(s, "`", ""))
}

// tellsValues reports whether the doc names all values.
func (o *option) tellsValues() bool {
	for _, v := range o.Values {
		if !strings.Contains(o.Doc, "`"+v+"`") {
			return false
		}
	}
	return true
}

// wrap breaks a text into lines of a maximum width, each after a prefix.
func wrap(prefix, text string, columns int) string {
	var b strings.Builder
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(prefix)+len(line)+1+len(word) > columns {
			b.WriteString(prefix + line + "\n")
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return b.String() + prefix + line + "\n"
}

// hostProviders returns package model's data about providers.
func (t *optionTable) hostProviders() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "options.json", "model")
	b.WriteString("// Providers.\nconst (\n")
	for _, p := range t.apis() {
		fmt.Fprintf(&b, "\t%s Provider = %q // %s\n", p.Go, p.Name, p.Title)
	}
	b.WriteString(")\n\n// providerAPIs are the APIs of the providers, in the order of [Providers].\n")
	b.WriteString("var providerAPIs = [...]providerAPI{\n")
	for _, p := range t.apis() {
		fmt.Fprintf(&b, "\t{%s, %q, %q, %q},\n", p.Go, p.BaseURL, p.Header, p.Prefix)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

// typedOptions returns the option types by provider, and the values that options may have, for a test of the host.
func (t *optionTable) typedOptions() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "options.json", "turns_test")
	b.WriteString("import \"github.com/turncore/turncore/host/model\"\n\n")
	b.WriteString("// typedOptions are the options of each provider.\n")
	b.WriteString("var typedOptions = map[model.Provider]interface{ Map() map[string]any }{\n")
	for _, p := range t.apis() {
		fmt.Fprintf(&b, "\tmodel.%s: &model.%[1]sOptions{},\n", p.Go)
	}
	b.WriteString("}\n\n// optionValues are the only valid values of options.\nvar optionValues = map[string][]string{\n")
	for _, o := range t.all() {
		if len(o.Values) > 0 && !ofEngine(o) {
			fmt.Fprintf(&b, "\t%q: {%s},\n", o.Name, quotedList(o.Values))
		}
	}
	b.WriteString("}\n")
	return b.Bytes()
}
