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

// constants returns the constants in TypeScript.
func (s *source) constants() []byte {
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
