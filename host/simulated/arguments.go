package simulated

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

var (
	numbers     = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
	quoted      = regexp.MustCompile(`"([^"]*)"`)
	capitalised = regexp.MustCompile(`\b[A-Z][\pL]+`)
	expression  = regexp.MustCompile(`[(\d][\d\s.+*/()-]*[\d)]`)
)

// arguments finds values for a schema's properties in a text and returns them as JSON text.
func arguments(text string, schema json.RawMessage) string {
	var s struct {
		Properties ordered `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // a schema that is none has no properties
	var out bytes.Buffer
	out.WriteByte('{')
	source := finder{text: text, numbers: numbers.FindAllString(text, -1)}
	for _, p := range s.Properties {
		value, ok := source.find(p)
		if !ok {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		name, _ := marshal(p.name)
		out.Write(name)
		out.WriteByte(':')
		out.WriteString(value)
	}
	out.WriteByte('}')
	return out.String()
}

// finder hands out what a text holds, each piece once.
type finder struct {
	text    string
	numbers []string
	strings int
}

func (f *finder) find(p property) (string, bool) {
	if len(p.Enum) > 0 {
		for _, e := range p.Enum {
			var s string
			if json.Unmarshal(e, &s) == nil && strings.Contains(strings.ToLower(f.text), strings.ToLower(s)) {
				return string(e), true
			}
		}
		return string(p.Enum[0]), true
	}
	switch p.Type {
	case "number", "integer":
		if len(f.numbers) == 0 {
			return "1", true
		}
		n := f.numbers[0]
		f.numbers = f.numbers[1:]
		if p.Type == "integer" {
			n, _, _ = strings.Cut(n, ".")
		}
		return n, true
	case "boolean":
		return "true", true
	case "string":
		text, _ := marshal(f.string(p.name))
		return string(text), true
	}
	return "", false
}

// string returns the next quoted part of the text, what looks like an expression, the next name in it, or all of it.
func (f *finder) string(property string) string {
	n := f.strings
	f.strings++
	if q := quoted.FindAllStringSubmatch(f.text, -1); n < len(q) {
		return q[n][1]
	}
	if property == "expression" {
		if e := expression.FindString(f.text); e != "" {
			return strings.TrimSpace(e)
		}
	}
	names := capitalised.FindAllStringIndex(f.text, -1)
	if len(names) > 0 && names[0][0] == 0 {
		names = names[1:] // the first word of a sentence is no name
	}
	if n < len(names) {
		return f.text[names[n][0]:names[n][1]]
	}
	return f.text
}

// property is one of a schema's, by its name.
type property struct {
	name string
	Type string            `json:"type"`
	Enum []json.RawMessage `json:"enum"`
}

// ordered are properties in the order of their text.
type ordered []property

// UnmarshalJSON implements json.Unmarshaler.
func (o *ordered) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		p := property{}
		_ = json.Unmarshal(raw, &p) // true and false are schemas without a type
		p.name, _ = name.(string)
		*o = append(*o, p)
	}
	return nil
}

// marshal encodes without escaping for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
