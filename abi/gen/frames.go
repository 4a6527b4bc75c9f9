package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"strings"
	"unicode"
)

// tsName is the TypeScript name of a tuple. Frames and records get a suffix, since the package uses some of the names
// otherwise.
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

// upperFirst turns nonEmpty into NonEmpty.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// constants returns the constants in TypeScript.
func (s *source) constants() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, tsHeader, "the Go types in abi/")
	fmt.Fprintf(&b, "/** Major version of the ABI: a module of another one is refused. */\nexport const ABI_MAJOR = %s;\n", s.major)
	fmt.Fprintf(&b, "/** Minor version of the ABI: a minor only adds. */\nexport const ABI_MINOR = %s;\n\n", s.minor)
	for _, g := range s.groups {
		fmt.Fprintf(&b, "/** %s */\nexport const %s = {\n", g.Doc, g.Name)
		for _, c := range g.Consts {
			if c.Doc != "" {
				fmt.Fprintf(&b, "  /** %s */\n", c.Doc)
			}
			value := c.Value.ExactString()
			if c.Value.Kind() == constant.String {
				value = tsString(constant.StringVal(c.Value))
			}
			fmt.Fprintf(&b, "  %s: %s,\n", c.Name, value)
		}
		b.WriteString("} as const;\n\n")
	}
	return b.Bytes()
}

// tsDoc is the doc of a tuple without its Go name: "NackArgs of MethodNack" becomes "Arguments of MethodNack".
func tsDoc(t *tuple) string {
	doc := strings.TrimPrefix(t.Doc, t.Name+" ")
	switch {
	case strings.HasPrefix(doc, "is "):
		doc = doc[len("is "):]
	case !strings.HasPrefix(doc, "of "):
	case strings.HasSuffix(t.Name, "Args"):
		doc = "arguments " + doc
	case strings.HasSuffix(t.Name, "Result"):
		doc = "result " + doc
	default:
		doc = t.Doc
	}
	return upperFirst(doc)
}
