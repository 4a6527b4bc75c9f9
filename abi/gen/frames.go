package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"strings"
	"unicode"
)

// tsName is the TypeScript name of a tuple. Frames and records get a suffix, for the package has other things of
// the same name.
func (t *tuple) tsName() string {
	switch {
	case t.Op != 0:
		return t.Name + "Frame"
	case t.File == "record.go":
		return t.Name + "Record"
	case t.Name == "Middleware":
		return "MiddlewareDef"
	}
	return t.Name
}

func (s *source) find(name string) *tuple {
	for _, t := range s.types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// lowerCamel turns CallID into callId and URL into url.
func lowerCamel(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		first := i == 0
		afterUpper := i > 0 && unicode.IsUpper(runes[i-1])
		beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		plural := i+1 < len(runes) && runes[i+1] == 's' && i+2 == len(runes)
		if first || afterUpper && (!beforeLower || plural) {
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tsType is the TypeScript type of a field.
func (s *source) tsType(kind string) string {
	if rest, ok := strings.CutSuffix(kind, "?"); ok {
		return s.tsType(rest) + " | null"
	}
	if rest, ok := strings.CutSuffix(kind, "[]"); ok {
		return s.tsType(rest) + "[]"
	}
	switch kind {
	case "u8", "u16", "u32", "u64", "i32", "i64", "f64":
		return "number"
	case "str":
		return "string"
	case "bool":
		return "boolean"
	case "bin", "raw", "value":
		return "Uint8Array"
	}
	return s.find(kind).tsName()
}

func (s *source) typeScript() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "the Go types in abi/")
	major, minor := s.version()
	fmt.Fprintf(&b, "/** Major version of the ABI: a module of another one is refused. */\nexport const ABI_MAJOR = %s;\n", major)
	fmt.Fprintf(&b, "/** Minor version of the ABI: a minor only adds. */\nexport const ABI_MINOR = %s;\n\n", minor)
	for _, g := range s.groups {
		fmt.Fprintf(&b, "/** %s */\nexport const %s = {\n", groupDocs[g.Name], g.Name)
		for _, c := range g.Consts {
			if c.Doc != "" {
				fmt.Fprintf(&b, "  /** %s */\n", c.Doc)
			}
			key, value := c.Name, c.Value.ExactString()
			if c.Value.Kind() == constant.String {
				value = tsString(constant.StringVal(c.Value))
			}
			fmt.Fprintf(&b, "  %s: %s,\n", key, value)
		}
		b.WriteString("} as const;\n\n")
	}
	for _, t := range s.types {
		name := t.tsName()
		fmt.Fprintf(&b, "/** %s */\n", tsDoc(t))
		fields := make([]string, len(t.Fields))
		index := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			kind := s.tsType(f.Type)
			if i == 0 && t.Op != 0 {
				kind = "typeof Op." + t.Name
			}
			fields[i] = lowerCamel(f.Name) + ": " + kind
			index[i] = fmt.Sprintf("%s: %d", lowerCamel(f.Name), i)
		}
		b.WriteString(tsWrap("export type "+name+" = [", "]", fields))
		fmt.Fprintf(&b, "/** Places of the fields of {@link %s}. */\n", name)
		b.WriteString(tsObject("export const "+t.Name+"Field = ", index, " as const"))
		b.WriteString("\n")
	}
	b.WriteString(`/**
 * Every tuple's fields in order: u8 to u64 and i32, i64 are integers of that range, in their shortest form; f64 is
 * always a float64, str a string, bool, bin a byte string, value one value of user code's, raw a tuple or value that
 * other fields tell apart; other words name a tuple. A question mark behind means nil or the thing, brackets a list.
 */
`)
	b.WriteString("export const LAYOUTS = {\n")
	for _, t := range s.types {
		kinds := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			kinds[i] = "'" + f.Type + "'"
		}
		line := fmt.Sprintf("  %s: [%s],\n", t.Name, strings.Join(kinds, ", "))
		if len(line) > 101 {
			line = fmt.Sprintf("  %s: [\n    %s,\n  ],\n", t.Name, strings.Join(kinds, ",\n    "))
		}
		b.WriteString(line)
	}
	b.WriteString("} as const;\n")
	return b.Bytes()
}

var groupDocs = map[string]string{
	"Op":             "First element of a frame. 1 to 31 travel from host to guest, 33 to 63 from guest to host.",
	"Feature":        "Feature bits of Hello and Welcome.",
	"Export":         "Names of the exports of a module.",
	"ExecutorKind":   "Who runs the executor.",
	"Callback":       "Bits of OpenRunner's callbacks.",
	"MiddlewareKind": "Kinds of middleware.",
	"ToolFlag":       "Bits of a tool's flags.",
	"Collision":      "What happens when a tool's name is taken.",
	"EditKind":       "Kinds of edit.",
	"Collection":     "Collections of a context.",
	"Scope":          "Bits of an event's scope.",
	"SyncKind":       "Kinds of sync.",
	"Signal":         "How a dispatch was signalled.",
	"Status":         "How something ended.",
	"Method":         "Methods of Call.",
	"Level":          "Levels of the structured log.",
	"Stream":         "Streams of ReportArgs.",
	"EffectKind":     "Kinds of effect.",
	"Pipeline":       "Pipelines of MiddlewareArgs.",
	"Write":          "Kinds of write in a Delta.",
	"EventKind":      "Kinds of event.",
	"Results":        "Where the results of a tool call event are.",
	"Settle":         "Ways to settle a gate.",
	"GateResult":     "How a gate was settled.",
	"Redirect":       "What becomes of a redirect.",
	"Read":           "Ways to read an artifact.",
	"Part":           "First elements of parts.",
}

func (s *source) version() (major, minor string) { return s.major.ExactString(), s.minor.ExactString() }

func tsDoc(t *tuple) string {
	doc := t.Doc
	if rest, ok := strings.CutPrefix(doc, t.Name+" "); ok {
		doc = rest
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}

// tsWrap writes a tuple type on one line if it fits, and a field a line otherwise, as prettier does.
func tsWrap(start, end string, items []string) string {
	if line := start + strings.Join(items, ", ") + end + ";\n"; len(line) <= 101 {
		return line
	}
	return start + "\n  " + strings.Join(items, ",\n  ") + ",\n" + end + ";\n"
}

func tsObject(start string, items []string, after string) string {
	if line := start + "{ " + strings.Join(items, ", ") + " }" + after + ";\n"; len(line) <= 101 {
		return line
	}
	return start + "{\n  " + strings.Join(items, ",\n  ") + ",\n}" + after + ";\n"
}
