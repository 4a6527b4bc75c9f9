package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ruleTable is rules.json.
type ruleTable struct {
	Kinds   ordered[string] `json:"kinds"`
	Phrases ordered[string] `json:"phrases"`
	// Words of other libraries, each with the fields and events it may mean, most likely first.
	Words ordered[[]string] `json:"words"`
	Types ordered[ruleType] `json:"types"`
}

// ruleType holds the rules of one type.
type ruleType struct {
	Title   string      `json:"title"`
	Code    string      `json:"code"`
	Convert bool        `json:"convert"`
	Fields  []ruleField `json:"fields"`
	Cross   []crossRule `json:"cross"`
}

type ruleField struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Required bool            `json:"required"`
	NonEmpty bool            `json:"nonEmpty"`
	Min      *float64        `json:"min"`
	Max      *float64        `json:"max"`
	Enum     []string        `json:"enum"`
	Class    string          `json:"class"`
	Params   int             `json:"params"`
	Default  json.RawMessage `json:"default"`
	Aliases  []string        `json:"aliases"`
	Item     *ruleField      `json:"item"`
}

type crossRule struct {
	Rule  string `json:"rule"`
	Field string `json:"field"`
	Other string `json:"other"`
}

// ordered is a JSON object whose members keep their order.
type ordered[T any] struct {
	keys   []string
	values map[string]T
}

func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	o.values = map[string]T{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var v T
		if err := dec.Decode(&v); err != nil {
			return err
		}
		name := key.(string)
		o.keys, o.values[name] = append(o.keys, name), v
	}
	return nil
}

func loadRules(path string, codes faults) (*ruleTable, error) {
	table := &ruleTable{}
	if err := readJSON(path, table); err != nil {
		return nil, err
	}
	for _, name := range table.Types.keys {
		t := table.Types.values[name]
		if !slices.ContainsFunc(codes, func(f fault) bool { return f.Code == t.Code }) {
			return nil, fmt.Errorf("%s: %s: unknown code %q", path, name, t.Code)
		}
		names := map[string]bool{}
		for _, f := range t.Fields {
			for _, n := range append([]string{f.Name}, f.Aliases...) {
				if names[n] {
					return nil, fmt.Errorf("%s: %s: two fields named %s", path, name, n)
				}
				names[n] = true
			}
			for _, f := range []*ruleField{&f, f.Item} {
				if f != nil && (table.Kinds.values[f.Kind] == "" || f.Kind == "instance" && f.Class == "" ||
					(f.Min == nil) != (f.Max == nil)) {
					return nil, fmt.Errorf("%s: %s: field %s: incomplete or unknown kind", path, name, f.Name)
				}
			}
			if (f.Kind == "list") != (f.Item != nil) {
				return nil, fmt.Errorf("%s: %s: field %s: a list, and only a list, has an item", path, name, f.Name)
			}
		}
		for _, c := range t.Cross {
			if table.Phrases.values[c.Rule] == "" || !names[c.Field] || !names[c.Other] {
				return nil, fmt.Errorf("%s: %s: unknown rule or field in %v", path, name, c)
			}
		}
	}
	return table, nil
}

func (t *ruleTable) goSource() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "rules.json", "abi")
	b.WriteString("// Kinds of field.\nconst (\n")
	for _, k := range t.Kinds.keys {
		fmt.Fprintf(&b, "\tKind%s Kind = %q\n", upperFirst(k), k)
	}
	b.WriteString(")\n\n// Rules that a violation may name, besides the kinds.\nconst (\n")
	for _, k := range t.Phrases.keys {
		fmt.Fprintf(&b, "\tRule%s = %q\n", upperFirst(k), k)
	}
	b.WriteString(")\n\n// phrases are the words of violations, by kind and by rule.\nvar phrases = map[string]string{\n")
	for _, l := range []ordered[string]{t.Kinds, t.Phrases} {
		for _, k := range l.keys {
			fmt.Fprintf(&b, "\t%q: %q,\n", k, l.values[k])
		}
	}
	b.WriteString("}\n\n// Rules of the types that hosts check before anything reaches the module.\nvar (\n")
	for _, name := range t.Types.keys {
		r := t.Types.values[name]
		fmt.Fprintf(&b, "\t%sRules = &Rules{\n\t\tTitle: %q,\n\t\tCode: Code%s,\n", name, r.Title, goName(r.Code))
		if r.Convert {
			b.WriteString("\t\tConvert: true,\n")
		}
		b.WriteString("\t\tFields: []Field{\n")
		for _, f := range r.Fields {
			fmt.Fprintf(&b, "\t\t\t{%s},\n", f.goSource())
		}
		b.WriteString("\t\t},\n")
		if len(r.Cross) > 0 {
			b.WriteString("\t\tCross: []CrossRule{\n")
			for _, c := range r.Cross {
				fmt.Fprintf(&b, "\t\t\t{Rule: Rule%s, Field: %q, Other: %q},\n", upperFirst(c.Rule), c.Field, c.Other)
			}
			b.WriteString("\t\t},\n")
		}
		b.WriteString("\t}\n")
	}
	b.WriteString(")\n")
	return b.Bytes()
}

// guestWords returns the words of other libraries for internal/suggestion: text is smaller than a table.
func (t *ruleTable) guestWords() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "rules.json", "suggestion")
	b.WriteString("// words are words of other libraries, each on a line with its possible meanings.\nconst words = `")
	for i, k := range t.Words.keys {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(k + " " + strings.Join(t.Words.values[k], " "))
	}
	b.WriteString("`\n")
	return b.Bytes()
}

func (f *ruleField) goSource() string {
	parts := []string{}
	add := func(name, value string) { parts = append(parts, name+": "+value) }
	if f.Name != "" {
		add("Name", strconv.Quote(f.Name))
	}
	add("Kind", "Kind"+upperFirst(f.Kind))
	if f.Required {
		add("Required", "true")
	}
	if f.NonEmpty {
		add("NonEmpty", "true")
	}
	if f.Min != nil {
		add("Range", fmt.Sprintf("&Range{%v, %v}", *f.Min, *f.Max))
	}
	if len(f.Enum) > 0 {
		add("Enum", fmt.Sprintf("%#v", f.Enum))
	}
	if f.Class != "" {
		add("Class", strconv.Quote(f.Class))
	}
	if f.Params > 0 {
		add("Params", strconv.Itoa(f.Params))
	}
	if len(f.Default) > 0 {
		add("Default", strconv.Quote(string(f.Default)))
	}
	if len(f.Aliases) > 0 {
		add("Aliases", fmt.Sprintf("%#v", f.Aliases))
	}
	if f.Item != nil {
		add("Item", "&Field{"+f.Item.goSource()+"}")
	}
	return strings.Join(parts, ", ")
}

func (t *ruleTable) typeScript() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "abi/rules.json")
	fmt.Fprintf(&b, "/** Kinds of field. */\nexport type FieldKind =\n  | %s;\n", strings.Join(tsQuoted(t.Kinds.keys), "\n  | "))
	b.WriteString(`
/** The rules of a field, or of a list's entries. */
export interface FieldRules {
  /** What the value must be. */
  readonly kind: FieldKind;
  /** Absent, undefined and null are violations. */
  readonly required?: boolean;
  /** An empty string or list is a violation; an empty Tokenizable is none. */
  readonly nonEmpty?: boolean;
  /** Smallest number. */
  readonly min?: number;
  /** Largest number. */
  readonly max?: number;
  /** The strings that are allowed. */
  readonly enum?: readonly string[];
  /** Name of the class, for kind instance. */
  readonly class?: string;
  /** Most parameters that a function may declare: it is never called with more. */
  readonly params?: number;
  /** Value of an absent field. */
  readonly default?: unknown;
  /** Other names of the field. */
  readonly aliases?: readonly string[];
  /** Rules of the entries, for kind list. */
  readonly item?: FieldRules;
}

/** A rule that concerns two fields. */
export interface CrossRule {
`)
	rules := []string{}
	for _, name := range t.Types.keys {
		for _, c := range t.Types.values[name].Cross {
			if r := "'" + c.Rule + "'"; !slices.Contains(rules, r) {
				rules = append(rules, r)
			}
		}
	}
	fmt.Fprintf(&b, "  readonly rule: %s;\n", strings.Join(rules, " | "))
	b.WriteString(`  readonly field: string;
  readonly other: string;
}

/** The rules of a type. */
export interface TypeRules {
  /** What the type is called in a sentence. */
  readonly title: string;
  /** Code of the error that lists the violations. */
  readonly code: string;
  /** Strings that spell a number or a boolean are taken for it. */
  readonly convert?: boolean;
  readonly fields: Readonly<Record<string, FieldRules>>;
  readonly cross?: readonly CrossRule[];
}

/** The words of violations, by kind and by rule. */
export const PHRASES = {
`)
	for _, l := range []ordered[string]{t.Kinds, t.Phrases} {
		for _, k := range l.keys {
			fmt.Fprintf(&b, "  %s: %s,\n", k, tsString(l.values[k]))
		}
	}
	b.WriteString("} as const;\n\n/** Words of other libraries, with the fields and events they may mean, most likely first. */\n" +
		"export const WORDS: Readonly<Record<string, readonly string[]>> = {\n")
	for _, k := range t.Words.keys {
		fmt.Fprintf(&b, "  %s: [%s],\n", k, strings.Join(tsQuoted(t.Words.values[k]), ", "))
	}
	b.WriteString("};\n")
	for _, name := range t.Types.keys {
		r := t.Types.values[name]
		// A constant for each type: a bundle holds those that it uses.
		fmt.Fprintf(&b, "\n/** The rules of %s. */\nexport const %s = {\n  title: '%s',\n  code: '%s',\n", name, rulesName(name), r.Title, r.Code)
		if r.Convert {
			b.WriteString("  convert: true,\n")
		}
		b.WriteString("  fields: {\n")
		for _, f := range r.Fields {
			b.WriteString(f.typeScriptLines("    ", f.Name))
		}
		b.WriteString("  },\n")
		if len(r.Cross) > 0 {
			cross := make([]string, len(r.Cross))
			for i, c := range r.Cross {
				cross[i] = fmt.Sprintf("{ rule: '%s', field: '%s', other: '%s' }", c.Rule, c.Field, c.Other)
			}
			b.WriteString(tsList("  ", "cross", cross))
		}
		b.WriteString("} as const satisfies TypeRules;\n")
	}
	return b.Bytes()
}

// rulesName is the constant that has a type's rules.
func rulesName(kind string) string {
	return strings.ToLower(kind[:1]) + kind[1:] + "Rules"
}

// tsList formats an array like prettier: several objects go on a line each.
func tsList(indent, key string, items []string) string {
	line := indent + key + ": [" + strings.Join(items, ", ") + "],\n"
	if len(line) <= 101 && len(items) < 2 {
		return line
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s: [\n", indent, key)
	for _, item := range items {
		fmt.Fprintf(&b, "%s  %s,\n", indent, item)
	}
	return b.String() + indent + "],\n"
}

func (f *ruleField) typeScriptLines(indent, key string) string {
	parts := f.typeScriptParts()
	return fitting(indent+key+": { "+strings.Join(parts, ", ")+" },\n",
		indent+key+": {\n"+indent+"  "+strings.Join(parts, ",\n"+indent+"  ")+",\n"+indent+"},\n")
}

func (f *ruleField) typeScriptParts() []string {
	parts := []string{"kind: " + tsString(f.Kind)}
	add := func(name, value string) { parts = append(parts, name+": "+value) }
	if f.Required {
		add("required", "true")
	}
	if f.NonEmpty {
		add("nonEmpty", "true")
	}
	if f.Min != nil {
		add("min", fmt.Sprint(*f.Min))
		add("max", fmt.Sprint(*f.Max))
	}
	if len(f.Enum) > 0 {
		add("enum", "["+strings.Join(tsQuoted(f.Enum), ", ")+"]")
	}
	if f.Class != "" {
		add("class", tsString(f.Class))
	}
	if f.Params > 0 {
		add("params", strconv.Itoa(f.Params))
	}
	if len(f.Default) > 0 {
		add("default", doubleQuoted.ReplaceAllString(string(f.Default), "'$1'"))
	}
	if len(f.Aliases) > 0 {
		add("aliases", "["+strings.Join(tsQuoted(f.Aliases), ", ")+"]")
	}
	if f.Item != nil {
		add("item", "{ "+strings.Join(f.Item.typeScriptParts(), ", ")+" }")
	}
	return parts
}

var doubleQuoted = regexp.MustCompile(`"([^"']*)"`)
