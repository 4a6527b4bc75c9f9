package recording

import (
	"bytes"
	_ "embed" // the list of allowed differences
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Difference is a place where a request differs in meaning from the recorded one.
type Difference struct {
	Request int    // number of the interaction, from 0
	Path    string // JSON Pointer within the request's body
	Got     any    // nil if absent
	Want    any
	Why     string // of an allowed difference; empty otherwise
}

// String tells the difference in one line.
func (d Difference) String() string {
	s := fmt.Sprintf("request %d, %s: sent %s, recorded %s", d.Request, d.Path, text(d.Got), text(d.Want))
	if d.Why != "" {
		s += " (allowed: " + d.Why + ")"
	}
	return s
}

// allowance is an entry of the list of allowed differences.
type allowance struct {
	Recording string         `json:"recording"` // name, or * for all
	Path      string         `json:"path"`      // JSON Pointer; * stands for one part
	Got       *regexp.Regexp `json:"got"`       // over the JSON text of what was sent; empty for anything
	Want      *regexp.Regexp `json:"want"`      // the same for what was recorded
	Why       string         `json:"why"`
}

//go:embed differences.json
var differencesJSON []byte

var allowances = func() []allowance {
	var list []allowance
	if err := json.Unmarshal(differencesJSON, &list); err != nil {
		panic("differences.json: " + err.Error())
	}
	return list
}()

// Compare tells how a request's body differs in meaning from the recorded request n. What no reader of the protocol
// can tell apart is no difference: the order of keys, absent and null fields, content as a string or as text parts,
// and the spelling of the JSON in a tool call's arguments. Allowed differences have their Why set.
func (r *Recording) Compare(n int, body []byte) []Difference {
	if n >= len(r.Interactions) {
		return []Difference{{Request: n, Got: "a request", Want: nil}}
	}
	var got, want any
	if err := json.Unmarshal(body, &got); err != nil {
		return []Difference{{Request: n, Got: "no JSON: " + err.Error()}}
	}
	if err := json.Unmarshal(r.Interactions[n].Request.Body, &want); err != nil {
		return []Difference{{Request: n, Want: "no JSON: " + err.Error()}}
	}
	var out []Difference
	diff("", normal(got, ""), normal(want, ""), func(path string, got, want any) {
		out = append(out, Difference{Request: n, Path: path, Got: got, Want: want})
	})
	for i := range out {
		out[i].Why = r.allowed(&out[i])
	}
	return out
}

func (r *Recording) allowed(d *Difference) string {
	for i := range allowances {
		a := &allowances[i]
		if (a.Recording == "*" || a.Recording == r.Name) && matchPath(a.Path, d.Path) &&
			a.Got.Match(text(d.Got)) && a.Want.Match(text(d.Want)) {
			return a.Why
		}
	}
	return ""
}

// text is a value's JSON text as people write it: < and > are themselves.
func text(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // v came out of JSON, or is a string
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func matchPath(pattern, path string) bool {
	p, q := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		if p[i] != "*" && p[i] != q[i] {
			return false
		}
	}
	return true
}

// normal brings a body into the form that is compared.
func normal(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = normal(e, k)
			}
		}
		if parts, ok := out["content"].([]any); ok {
			if s, ok := textParts(parts); ok {
				out["content"] = s
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = normal(e, "")
		}
		return out
	case string:
		if key == "arguments" {
			var args any
			if json.Unmarshal([]byte(v), &args) == nil {
				return args
			}
		}
	}
	return v
}

// textParts joins a content list that holds nothing but text.
func textParts(parts []any) (string, bool) {
	var s strings.Builder
	for _, p := range parts {
		m, ok := p.(map[string]any)
		text, isText := m["text"].(string)
		if !ok || !isText || m["type"] != "text" || len(m) != 2 {
			return "", false
		}
		s.WriteString(text)
	}
	return s.String(), true
}

func diff(path string, got, want any, report func(path string, got, want any)) {
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			break
		}
		keys := map[string]bool{}
		for k := range g {
			keys[k] = true
		}
		for k := range w {
			keys[k] = true
		}
		sorted := make([]string, 0, len(keys))
		for k := range keys {
			sorted = append(sorted, k)
		}
		sort.Strings(sorted)
		for _, k := range sorted {
			diff(path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k), g[k], w[k], report)
		}
		return
	case []any:
		w, ok := want.([]any)
		if !ok {
			break
		}
		for i := range max(len(g), len(w)) {
			var a, b any
			if i < len(g) {
				a = g[i]
			}
			if i < len(w) {
				b = w[i]
			}
			diff(path+"/"+strconv.Itoa(i), a, b, report)
		}
		return
	}
	if !reflect.DeepEqual(got, want) {
		report(path, got, want)
	}
}

// sameJSON tells whether two JSON texts mean the same; texts that are no JSON are compared as they are.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return string(a) == string(b)
	}
	return reflect.DeepEqual(x, y)
}
