package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
)

// Bounds on a document's text.
const (
	maxManifest   = 1 << 20 // bytes
	maxGrant      = 1 << 18 // bytes
	maxNesting    = 64      // levels of lists and objects
	maxViolations = 32      // that an error lists
)

// document is a kind of JSON document with a schema. JavaScript's is js/src/agents/schema.ts: both say the same about
// the same text, as abi/testdata/grants holds them to.
type document struct {
	what   string // for errors: "manifest"
	code   host.Code
	most   int // bytes
	schema func() *schema
}

var (
	manifestDocument = document{"manifest", host.CodeAgentManifest, maxManifest, compiled(manifestSchema)}
	grantDocument    = document{"grant", host.CodeAgentGrant, maxGrant, compiled(grantSchema)}
)

// schema is the part of JSON Schema that the schemas of agents use. A title says what a value must be.
type schema struct {
	Ref                  string             `json:"$ref"`
	Defs                 map[string]*schema `json:"$defs"`
	Title                string             `json:"title"`
	Type                 any                `json:"type"`
	Const                any                `json:"const"`
	Enum                 []string           `json:"enum"`
	Pattern              string             `json:"pattern"`
	MinLength            int                `json:"minLength"`
	MaxLength            int                `json:"maxLength"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
	Items                *schema            `json:"items"`
	MinItems             int                `json:"minItems"`
	MaxItems             int                `json:"maxItems"`
	UniqueItems          bool               `json:"uniqueItems"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	MinProperties        int                `json:"minProperties"`
	MaxProperties        int                `json:"maxProperties"`
	PropertyNames        *schema            `json:"propertyNames"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`

	pattern *regexp.Regexp
	others  *schema // of AdditionalProperties; nil for any
	closed  bool    // there may be no other properties
}

// compiled returns a schema that is read when it is first needed.
func compiled(text string) func() *schema {
	return sync.OnceValue(func() *schema {
		var root schema
		if err := json.Unmarshal([]byte(text), &root); err != nil {
			panic("agents: a schema is malformed: " + err.Error())
		}
		root.prepare(root.Defs)
		return &root
	})
}

// prepare replaces references by what they refer to, and compiles patterns.
func (s *schema) prepare(defs map[string]*schema) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		*s = *defs[name]
	}
	if s.Pattern != "" && s.pattern == nil {
		s.pattern = regexp.MustCompile(s.Pattern)
	}
	switch text := string(s.AdditionalProperties); text {
	case "", "true":
	case "false":
		s.closed = true
	default:
		s.others = &schema{}
		if err := json.Unmarshal(s.AdditionalProperties, s.others); err != nil {
			panic("agents: a schema is malformed: " + err.Error())
		}
		s.others.prepare(defs)
	}
	s.Items.prepare(defs)
	s.PropertyNames.prepare(defs)
	for _, p := range s.Properties {
		p.prepare(defs)
	}
}

// read parses a text, checks it against the schema and fills in v.
func (d document) read(text []byte, v any) error {
	if len(text) > d.most {
		return d.wrong(fmt.Sprintf("it has %d bytes, at most %d are allowed", len(text), d.most))
	}
	if !utf8.Valid(text) {
		return d.wrong("it is no UTF-8")
	}
	if deeper(text, maxNesting) {
		return d.wrong(fmt.Sprintf("it is nested more than %d levels deep", maxNesting))
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return d.wrong("it is no JSON")
	}
	if err := d.wrong(repeated(text)...); err != nil {
		return err
	}
	if err := d.check(value); err != nil {
		return err
	}
	// Numbers such as 1e3 are whole, too: written again they look it.
	plain, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(plain, v)
	}
	if err != nil {
		return d.wrong(err.Error())
	}
	return nil
}

// check lists everything that is wrong with a parsed document.
func (d document) check(value any) error {
	c := checker{what: "the " + d.what}
	c.check("", value, d.schema())
	return d.wrong(c.list...)
}

// wrong returns the error with a list of violations, nil if there are none.
func (d document) wrong(list ...string) error {
	if len(list) == 0 {
		return nil
	}
	shown := list
	if len(list) > maxViolations {
		shown = append(slices.Clone(list[:maxViolations]), "and more")
	}
	err := host.NewError(d.code, strings.Join(shown, "; "), nil)
	err.Details = shown
	return err
}

// repeated lists the members of a JSON text that occur twice in their object: readers would disagree about which
// counts.
func repeated(text []byte) (list []string) {
	dec := json.NewDecoder(bytes.NewReader(text))
	var read func(path string)
	read = func(path string) {
		switch t, _ := dec.Token(); t {
		case json.Delim('{'):
			seen := map[string]bool{}
			for dec.More() {
				key, _ := dec.Token()
				name, _ := key.(string)
				at := join(path, name)
				if seen[name] {
					list = append(list, "`"+at+"` occurs twice")
				}
				seen[name] = true
				read(at)
			}
		case json.Delim('['):
			for i := 0; dec.More(); i++ {
				read(path + "[" + strconv.Itoa(i) + "]")
			}
		default:
			return
		}
		_, _ = dec.Token() // the closing bracket; the text is valid
	}
	read("")
	return list
}

// deeper reports whether lists and objects of a JSON text are nested more than n levels deep.
func deeper(text []byte, n int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > n {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// checker collects violations, in an order that depends on the document alone.
type checker struct {
	what string
	list []string
}

func (c *checker) add(path, text string) {
	if path == "" {
		path = c.what
	} else {
		path = "`" + path + "`"
	}
	c.list = append(c.list, path+" "+text)
}

func (c *checker) check(path string, value any, s *schema) {
	if len(c.list) > maxViolations {
		return
	}
	if wrong := s.wrong(value); wrong != "" {
		if s.Title != "" && path != "" {
			wrong = "must be " + s.Title
		}
		c.add(path, wrong)
		return
	}
	switch value := value.(type) {
	case []any:
		seen := map[any]bool{}
		for i, entry := range value {
			at := path + "[" + strconv.Itoa(i) + "]"
			if _, text := entry.(string); text && s.UniqueItems {
				if seen[entry] {
					c.add(at, "occurs twice")
					continue
				}
				seen[entry] = true
			}
			if s.Items != nil {
				c.check(at, entry, s.Items)
			}
		}
	case map[string]any:
		c.object(path, value, s)
	}
}

func (c *checker) object(path string, value map[string]any, s *schema) {
	for _, name := range s.Required {
		if _, there := value[name]; !there {
			c.add(join(path, name), "is missing")
		}
	}
	names := make([]string, 0, len(value))
	for name := range value {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := join(path, name)
		switch p := s.Properties[name]; {
		case p != nil:
			c.check(at, value[name], p)
		case s.closed:
			c.add(at, "is unknown")
		case s.PropertyNames != nil && s.PropertyNames.wrong(name) != "":
			c.add(at, "is not "+s.PropertyNames.Title)
		case s.others != nil:
			c.check(at, value[name], s.others)
		}
		if len(c.list) > maxViolations {
			return
		}
	}
}

// wrong says what is wrong with a value itself, not with what it contains; "" for nothing.
func (s *schema) wrong(value any) string {
	if s.Const != nil && value != s.Const {
		return fmt.Sprintf("must be %v", s.Const)
	}
	if s.Enum != nil {
		if text, _ := value.(string); !slices.Contains(s.Enum, text) {
			return "must be one of " + strings.Join(s.Enum, ", ")
		}
	}
	if want := s.types(); want != nil && !slices.Contains(want, typeOf(value)) &&
		(typeOf(value) != "integer" || !slices.Contains(want, "number")) {
		return "must be " + article(want[0])
	}
	switch value := value.(type) {
	case string:
		n := utf8.RuneCountInString(value)
		switch {
		case n < s.MinLength:
			return fmt.Sprintf("must have at least %d characters", s.MinLength)
		case s.MaxLength > 0 && n > s.MaxLength:
			return fmt.Sprintf("must have at most %d characters", s.MaxLength)
		case s.pattern != nil && !s.pattern.MatchString(value):
			return "must be one line of plain text"
		}
	case float64:
		switch {
		case s.Minimum != nil && value < *s.Minimum:
			return fmt.Sprintf("must be at least %v", *s.Minimum)
		case s.Maximum != nil && value > *s.Maximum:
			return fmt.Sprintf("must be at most %.0f", *s.Maximum)
		}
	case []any:
		switch {
		case len(value) < s.MinItems:
			return fmt.Sprintf("must have at least %d entries", s.MinItems)
		case s.MaxItems > 0 && len(value) > s.MaxItems:
			return fmt.Sprintf("must have at most %d entries", s.MaxItems)
		}
	case map[string]any:
		switch {
		case len(value) < s.MinProperties:
			return fmt.Sprintf("must have at least %d members", s.MinProperties)
		case s.MaxProperties > 0 && len(value) > s.MaxProperties:
			return fmt.Sprintf("must have at most %d members", s.MaxProperties)
		}
	}
	return ""
}

// types are the types that a value may have, nil for any.
func (s *schema) types() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		list := make([]string, len(t))
		for i, name := range t {
			list[i], _ = name.(string)
		}
		return list
	}
	return nil
}

// typeOf is the JSON Schema type of a value.
func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
			return "integer"
		}
	}
	return "number"
}

// article is a type in words.
func article(name string) string {
	switch name {
	case "object":
		return "an object"
	case "array":
		return "a list"
	case "string":
		return "a text"
	case "boolean":
		return "true or false"
	case "integer":
		return "a whole number"
	}
	return "a number"
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]{0,63}$`)

// join is the path of a member.
func join(path, name string) string {
	switch {
	case !plainName.MatchString(name):
		return path + `["` + shown(name) + `"]`
	case path == "":
		return name
	}
	return path + "." + name
}

// shown is a name as an error shows it: cut, and without what would do something to a terminal.
func shown(name string) string {
	runes := []rune(name)
	end := ""
	if len(runes) > 64 {
		runes, end = runes[:64], "…"
	}
	for i, r := range runes {
		switch {
		case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == '`', r == utf8.RuneError:
			runes[i] = '?'
		}
	}
	return string(runes) + end
}

// canonical writes a value as JSON whose members are in order.
func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
