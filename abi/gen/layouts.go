package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"slices"
	"strconv"
	"strings"
)

// meanings lists the meanings of fields whose names do not show them.
var meanings = map[string]string{
	"EmitArgs.Kind":          "EventKind",
	"EmitArgs.Payload":       "@EventKind",
	"GateClosedEvent.Result": "GateResult",
}

// asNumbers are the groups whose numbers a journal shows as numbers.
var asNumbers = []string{"Op", "Level", "Part", "Scope"}

// meaning is the meaning of a field beyond its type: the group of a number; @ and a group for a value whose tuple
// depends on the preceding number of that group; values for byte strings of consecutive values.
func (s *source) meaning(t *tuple, f field) string {
	if m, ok := meanings[t.Name+"."+f.Name]; ok {
		return m
	}
	if c, ok := choices[t.Name]; ok && f.Name == c.field {
		return "@" + c.group
	}
	if f.Type == "bin?" && f.Name != "Body" && t.Name != "Chunk" {
		return "values"
	}
	if f.Type == "u8" {
		for _, name := range []string{f.Name, f.Name + "Kind", t.Name + f.Name} {
			if s.group(name) != nil && !slices.Contains(asNumbers, name) {
				return name
			}
		}
	}
	return f.Type
}

// ofSessions are the groups with further numbers of a group, which are those of sessions and invocations.
var ofSessions = map[string]string{"EffectKind": "SessionEffect", "Method": "SessionMethod"}

// bodies are the tuples of the collections' records.
var bodies = map[string]string{
	"Memories": "Memory", "Retrievables": "Retrievable", "Messages": "Message", "Thoughts": "Thought", "ToolCalls": "ToolCall",
	"Tools": "ToolDef",
}

// layouts are the tables for showing journals: the name and meaning of every tuple's elements.
type layouts struct {
	tuples [][2]string // name and fields, each name:type, separated by spaces
	tables []layoutsTable
}

type layoutsTable struct {
	name, doc string
	groups    []layoutsGroup
}

type layoutsGroup struct {
	name    string
	members []layoutsMember
}

type layoutsMember struct {
	number int64
	name   string
}

// list formats the members in Go or TypeScript.
func (g layoutsGroup) list(quote func(string) string) []string {
	list := make([]string, len(g.members))
	for i, m := range g.members {
		list[i] = fmt.Sprintf("%d: %s", m.number, quote(m.name))
	}
	return list
}

// shown returns the tables.
func (s *source) shown() *layouts {
	l := &layouts{}
	used := map[string]bool{"Op": true}
	for _, t := range s.types {
		var fields []string
		for _, f := range t.Fields {
			meaning := s.meaning(t, f)
			used[meaning] = true
			fields = append(fields, lowerCamel(f.Name)+":"+meaning)
		}
		l.tuples = append(l.tuples, [2]string{t.Name, strings.Join(fields, " ")})
	}
	groups := layoutsTable{name: "groups", doc: "the names of numbers"}
	payloads := layoutsTable{name: "payloads", doc: "the tuples that go with numbers"}
	for _, g := range s.groups {
		if !used[g.Name] {
			continue
		}
		group, payload := layoutsGroup{name: g.Name}, layoutsGroup{name: g.Name}
		add := func(prefix string, consts []enumerator) {
			for _, c := range consts {
				n, _ := constant.Int64Val(c.Value)
				name := lowerCamel(prefix + c.Name)
				if g.Name == "Op" {
					name = c.Name
				}
				group.members = append(group.members, layoutsMember{n, name})
				if tuple := s.shownPayload(g.Name, c); tuple != "" {
					payload.members = append(payload.members, layoutsMember{n, tuple})
				}
			}
		}
		add("", g.Consts)
		if more := s.group(ofSessions[g.Name]); more != nil {
			add("session", more.Consts)
		}
		groups.groups = append(groups.groups, group)
		if len(payload.members) > 0 {
			payloads.groups = append(payloads.groups, payload)
		}
	}
	l.tables = []layoutsTable{groups, payloads}
	return l
}

// shownPayload is the tuple for a constant of a group.
func (s *source) shownPayload(group string, c enumerator) string {
	switch group {
	case "Collection":
		return bodies[c.Name]
	case "Method", "EffectKind", "EventKind":
		return s.payload(c)
	}
	return ""
}

func (l *layouts) goSource() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, goHeader, "the types of abi", "journal")
	b.WriteString("// tuples are the fields of every tuple, each a name and a type.\nvar tuples = map[string]string{\n")
	for _, t := range l.tuples {
		fmt.Fprintf(&b, "%q: %q,\n", t[0], t[1])
	}
	b.WriteString("}\n")
	for _, table := range l.tables {
		fmt.Fprintf(&b, "\n// %s are %s.\nvar %[1]s = map[string]map[int64]string{\n", table.name, table.doc)
		for _, g := range table.groups {
			fmt.Fprintf(&b, "%q: {%s},\n", g.name, strings.Join(g.list(strconv.Quote), ", "))
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func (l *layouts) typeScript() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "the types of abi")
	b.WriteString("/** The fields of every tuple, each a name and a type. */\nexport const TUPLES: Readonly<Record<string, string>> = {\n")
	for _, t := range l.tuples {
		b.WriteString(fitting(fmt.Sprintf("  %s: %s,\n", t[0], tsString(t[1])), fmt.Sprintf("  %s:\n    %s,\n", t[0], tsString(t[1]))))
	}
	b.WriteString("};\n")
	for _, table := range l.tables {
		fmt.Fprintf(&b, "\n/** %s. */\nexport const %s: Readonly<Record<string, Readonly<Record<number, string>>>> = {\n",
			upperFirst(table.doc), strings.ToUpper(table.name))
		for _, g := range table.groups {
			members := g.list(tsString)
			b.WriteString(fitting(fmt.Sprintf("  %s: { %s },\n", g.name, strings.Join(members, ", ")),
				fmt.Sprintf("  %s: {\n    %s,\n  },\n", g.name, strings.Join(members, ",\n    "))))
		}
		b.WriteString("};\n")
	}
	return b.Bytes()
}
