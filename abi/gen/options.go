package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// optionTable is options.json: the options of the chat executor, and the model providers.
type optionTable struct {
	Common    []*option   `json:"common"` // of every provider
	Own       []*option   `json:"own"`    // of the providers that list them
	Providers []*provider `json:"providers"`
}

// option is an option of the chat executor, or a member of a provider's requests.
type option struct {
	Name string `json:"name"`
	// Type is one of optionTypes, or several of them separated by |.
	Type      string          `json:"type"`
	Required  bool            `json:"required"`
	Min       *int64          `json:"min"`
	Max       *int64          `json:"max"`
	Most      int             `json:"most"`   // elements of a list; 0 for any number
	Values    []string        `json:"values"` // valid values of a string, or of a list's elements
	Default   json.RawMessage `json:"default"`
	Otherwise string          `json:"otherwise"` // the default in words, if there is no Default
	// EngineDefault is the default for an engine if it differs.
	EngineDefault json.RawMessage `json:"engineDefault"`
	Engine        *bool           `json:"engine"` // false: not for an engine
	Field         bool            `json:"field"`  // a field of the model in Go, not an option
	// Core are the values that the core module accepts; nil for all.
	Core    *[]string `json:"core"`
	In      string    `json:"in"` // the member of the request that contains it
	Doc     string    `json:"doc"`
	Members []*option `json:"members"` // of an option that is an object of options
}

// provider is a protocol of a model API.
type provider struct {
	Name    string `json:"name"`
	Go      string `json:"go"` // its name in identifiers
	Title   string `json:"title"`
	Use     string `json:"use"`
	BaseURL string `json:"baseURL"`
	Header  string `json:"header"` // for the key
	Prefix  string `json:"prefix"` // before the key
	// Variables are the environment variables for the commands; nil for an engine.
	Variables *variables `json:"variables"`
	Core      bool       `json:"core"`     // also in the core module
	Engine    bool       `json:"engine"`   // a model that the host runs itself
	Thoughts  string     `json:"thoughts"` // value of the option thoughts for the provider's own field; empty for none
	Options   []string   `json:"options"`  // names of Own
	Members   []*option  `json:"members"`
}

// optionType is the notation of a type.
type optionType struct {
	goType, ts, words string
	shape             string // of a request member in the guest
}

var optionTypes = map[string]optionType{
	"string":    {"string", "string", "string", "Text"},
	"boolean":   {"*bool", "boolean", "boolean", "Boolean"},
	"integer":   {"*int", "number", "integer", "Integer"},
	"number":    {"*float64", "number", "number", "Number"},
	"ms":        {"*time.Duration", "number", "milliseconds", ""},
	"object":    {"map[string]any", "JSONObject", "object", "Object"},
	"string[]":  {"[]string", "readonly string[]", "list of strings", "List"},
	"integer[]": {"[]int", "readonly number[]", "list of integers", "List"},
	"object[]":  {"[]map[string]any", "readonly JSONObject[]", "list of objects", "List"},
	"media[]":   {"[]record.MediaKind", "readonly MediaKind[]", "list", ""},
	"bucket[]":  {"[]string", "readonly Bucket[]", "list", ""},
	"string{}":  {"map[string]string", "Readonly<Record<string, string>>", "object of strings", ""},
	"object{}":  {"map[string]map[string]any", "Readonly<Record<string, JSONObject>>", "object of objects", ""},
	"schema":    {"any", "OutputSchema", "JSON Schema", ""},
	// The members of these are described, and the type is derived from them.
	"retry":        {"*RetryOptions", "RetryOptions", "object", ""},
	"capabilities": {"Capabilities", "ModelCapabilities", "object", ""},
}

func loadOptions(path string) (*optionTable, error) {
	t := &optionTable{}
	if err := readJSON(path, t); err != nil {
		return nil, err
	}
	if err := checkOptions(t.all()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, o := range t.all() {
		if o.Doc == "" || len(o.Default) == 0 && o.Otherwise == "" && !o.Required && len(o.Members) == 0 {
			return nil, fmt.Errorf("%s: option %s needs a doc and a default", path, o.Name)
		}
	}
	for i, p := range t.Providers {
		if p.Name == "" || p.Go == "" || p.Title == "" || p.Use == "" || (p.BaseURL == "" || p.Header == "" || p.Variables == nil) != p.Engine {
			return nil, fmt.Errorf("%s: provider %d is incomplete", path, i)
		}
		if v := p.Variables; v != nil && (v.BaseURL == "") == (v.Host == "") {
			return nil, fmt.Errorf("%s: provider %s needs one variable of its address", path, p.Name)
		}
		for _, name := range p.Options {
			if t.find(name) == nil {
				return nil, fmt.Errorf("%s: provider %s has the unknown option %s", path, p.Name, name)
			}
		}
		if err := checkOptions(t.of(p)); err != nil {
			return nil, fmt.Errorf("%s: provider %s: %w", path, p.Name, err)
		}
	}
	return t, nil
}

// checkOptions checks the options of one object.
func checkOptions(list []*option) error {
	seen := map[string]bool{}
	for _, o := range list {
		if seen[o.Name] {
			return fmt.Errorf("option %s occurs twice", o.Name)
		}
		seen[o.Name] = true
		for _, one := range o.types() {
			if _, ok := optionTypes[one]; !ok {
				return fmt.Errorf("option %s has the unknown type %q", o.Name, one)
			}
		}
		if o.Doc != "" && !strings.HasSuffix(o.Doc, ".") {
			return fmt.Errorf("doc of option %s must end with a period", o.Name)
		}
		if err := checkOptions(o.Members); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return nil
}

// types returns the types that a value may have.
func (o *option) types() []string { return strings.Split(o.Type, "|") }

// bounded reports whether the option is a number within bounds.
func (o *option) bounded() bool { return o.Min != nil || o.Max != nil }

// all returns the options of all providers.
func (t *optionTable) all() []*option { return slices.Concat(t.Common, t.Own) }

// find returns the option with a name, nil for none.
func (t *optionTable) find(name string) *option {
	for _, o := range t.all() {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// apis returns the providers other than engines.
func (t *optionTable) apis() []*provider {
	return slices.DeleteFunc(slices.Clone(t.Providers), func(p *provider) bool { return p.Engine })
}

// options returns a provider's own options, other than members of requests.
func (t *optionTable) options(p *provider) (list []*option) {
	for _, name := range p.Options {
		o := *t.find(name)
		if name == "thoughts" && p.Thoughts != "" {
			o.Values = append(slices.Clone(o.Values), p.Thoughts)
		}
		list = append(list, &o)
	}
	return list
}

// of returns all options of a provider.
func (t *optionTable) of(p *provider) []*option {
	common := slices.DeleteFunc(slices.Clone(t.Common), func(o *option) bool {
		return p.Engine && o.Engine != nil && !*o.Engine
	})
	return slices.Concat(common, t.options(p), p.Members)
}

// fallback is the default: JSON, or words.
func (o *option) fallback() string {
	if len(o.Default) > 0 {
		return compact(o.Default)
	}
	return o.Otherwise
}

// compact formats a JSON text for documents: a space after each comma and colon.
func compact(text json.RawMessage) string {
	s := strings.Join(strings.Fields(string(text)), " ")
	return strings.NewReplacer("[ ", "[", " ]", "]", "{ ", "{", " }", "}").Replace(s)
}

// goDescribed are the initialisms in names of options.
var goDescribed = map[string]string{"Json": "JSON", "Url": "URL"}

// camel turns max_tokens and responseJsonSchema into MaxTokens and ResponseJSONSchema.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		b.WriteString(upperFirst(word))
	}
	out := b.String()
	for from, to := range goDescribed {
		out = strings.ReplaceAll(out, from, to)
	}
	return out
}

// goField is the name of the option's field in Go; times have no unit there.
func (o *option) goField() string {
	if o.Type == "ms" {
		return camel(strings.TrimSuffix(o.Name, "Ms"))
	}
	return camel(o.Name)
}

func (o *option) goType() string {
	types := o.types()
	if len(types) > 1 {
		return "any"
	}
	return optionTypes[types[0]].goType
}

func (o *option) tsType() string {
	if o.Min != nil && o.Max != nil && *o.Min == *o.Max {
		return strconv.FormatInt(*o.Min, 10)
	}
	if len(o.Values) > 0 && o.Type == "string" {
		return strings.Join(tsQuoted(o.Values), " | ")
	}
	var names []string
	for _, one := range o.types() {
		names = append(names, optionTypes[one].ts)
	}
	return strings.Join(names, " | ")
}

// words describe the values of an option for a table.
func (o *option) words() string {
	if len(o.Values) > 0 {
		quoted := "`" + strings.Join(o.Values, "`, `") + "`"
		if o.Type == "string" {
			return quoted
		}
		return "list of " + quoted
	}
	var names []string
	for _, one := range o.types() {
		names = append(names, optionTypes[one].words)
	}
	return strings.Join(names, " or ") + o.bounds()
}

func (o *option) bounds() string {
	switch {
	case o.Most > 0:
		return fmt.Sprintf(", at most %d", o.Most)
	case !o.bounded():
		return ""
	case o.Max == nil || *o.Max == maxInteger:
		return fmt.Sprintf(" from %d", *o.Min)
	case *o.Min == *o.Max:
		return fmt.Sprintf(", %d", *o.Min)
	}
	return fmt.Sprintf(" from %d to %d", *o.Min, *o.Max)
}

// maxInteger is the largest integer of values.
const maxInteger = 1<<53 - 1

// unit is the name of a provider in unexported identifiers, such as openAI and gemini.
func (p *provider) unit() string {
	switch {
	case p.Engine:
		return "model"
	case strings.HasPrefix(p.Go, "OpenAI"):
		return "openAI" + strings.TrimPrefix(p.Go, "OpenAI")
	}
	return strings.ToLower(p.Go[:1]) + p.Go[1:]
}
