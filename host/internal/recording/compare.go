package recording

import (
	"bytes"
	_ "embed" // the list of allowed differences
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
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
	s := fmt.Sprintf("request %d, %s: sent %s, recorded %s", d.Request, d.Path, shown(d.Got), shown(d.Want))
	if d.Why != "" {
		s += " (allowed: " + d.Why + ")"
	}
	return s
}

// shown is a value's JSON text, without the middle of one that is very long.
func shown(v any) string {
	const most, side = 8000, 2000 // bytes
	s := string(text(v))
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:side], "") + fmt.Sprintf(" (%d bytes) ", len(s)-2*side) + strings.ToValidUTF8(s[len(s)-side:], "")
}

// allowance is an entry of the list of allowed differences.
type allowance struct {
	Recording string         `json:"recording"` // name, or * for all
	Path      string         `json:"path"`      // JSON Pointer; * stands for one part
	Got       *regexp.Regexp `json:"got"`       // over the JSON text of what was sent; empty for anything
	Want      *regexp.Regexp `json:"want"`      // the same for what was recorded
	Made      bool           `json:"made"`      // for what was made equal: ids that the provider did not give, and reasoning in tags
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

// Compare tells how a request's body differs in meaning from the recorded request n. What no reader of the protocol can
// tell apart is no difference: the order of keys and of tools' results, absent, null and empty fields, content as a
// string or as text parts, the spelling of the JSON in a tool call's arguments, and that of the bytes of media. Allowed
// differences have their Why set. Media are compared as the member media of a message, with the order of texts and
// media as the member order.
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
	takeNotes(messagesIn(got))
	got, want = normalBody(got), normalBody(want)
	var out []Difference
	report := func(made bool) func(path string, got, want any) {
		return func(path string, got, want any) {
			d := Difference{Request: n, Path: path, Got: got, Want: want}
			d.Why = r.allowed(&d, made)
			out = append(out, d)
		}
	}
	if g, w := messagesIn(got), messagesIn(want); w != nil {
		list, moved := oneSystem(w)
		for i := range w {
			if m := moved[i]; m != nil {
				report(false)("/messages/"+strconv.Itoa(i), nil, m)
			}
		}
		want.(map[string]any)["messages"] = list
		r.alignIDs(n, g, list, report(true))
		leaveOutMedia(g, list, r.messagesBefore(n), report(false))
		r.alignArguments(g, list, report(true))
		r.alignThoughts(n, g, list, report(true))
	}
	Diff("", got, want, report(false))
	return out
}

// messagesBefore are the messages of the request before request n as they are compared, nil for none.
func (r *Recording) messagesBefore(n int) []any {
	if n == 0 {
		return nil
	}
	var body any
	_ = json.Unmarshal(r.Interactions[n-1].Request.Body, &body) // what cannot be read has none
	list, _ := oneSystem(messagesIn(normalBody(body)))
	return list
}

func messagesIn(body any) []any {
	m, _ := body.(map[string]any)
	list, _ := m["messages"].([]any)
	return list
}

// alignIDs gives the calls in got the ids of those in want where the executor and the recorded client both had to make
// one, as the provider gave none or gave one twice, and reports them.
func (r *Recording) alignIDs(n int, got, want []any, report func(path string, got, want any)) {
	times := map[string]int{}
	for _, v := range want {
		for _, call := range callsIn(v) {
			times[string(text(call["id"]))]++
		}
	}
	for i := range min(len(got), len(want)) {
		sent, recorded := callsIn(got[i]), callsIn(want[i])
		if len(sent) != len(recorded) {
			continue
		}
		renamed := map[string]any{}
		for k, call := range sent {
			g, w := call["id"], recorded[k]["id"]
			if reflect.DeepEqual(g, w) || r.gave(n, g) || r.gave(n, w) && times[string(text(w))] < 2 {
				continue
			}
			report("/messages/"+strconv.Itoa(i)+"/tool_calls/"+strconv.Itoa(k)+"/id", g, w)
			renamed[string(text(g))] = w
			if w == nil {
				delete(call, "id")
			} else {
				call["id"] = w
			}
		}
		for _, v := range got[i+1:] {
			m, _ := v.(map[string]any)
			if m["role"] != "tool" {
				break
			}
			if w, ok := renamed[string(text(m["tool_call_id"]))]; ok && w == nil {
				delete(m, "tool_call_id")
			} else if ok {
				m["tool_call_id"] = w
			}
		}
	}
}

// gave tells whether a provider's response before request n has an id.
func (r *Recording) gave(n int, id any) bool {
	text := string(text(id))
	return id != "" && id != nil && r.said(n, text)
}

// said tells whether a provider's response before request n holds a text.
func (r *Recording) said(n int, text string) bool {
	return slices.ContainsFunc(r.Interactions[:n], func(it Interaction) bool { return strings.Contains(it.Response.Body, text) })
}

// callsIn returns the tool calls of a message, nil where one is no object.
func callsIn(message any) (list []map[string]any) {
	m, _ := message.(map[string]any)
	calls, _ := m["tool_calls"].([]any)
	for _, v := range calls {
		call, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		list = append(list, call)
	}
	return list
}

// allowed returns why a difference is allowed, "" if it is not. made says that it is one of what was made equal.
func (r *Recording) allowed(d *Difference, made bool) string {
	for i := range allowances {
		a := &allowances[i]
		if a.Made == made && (a.Recording == "*" || a.Recording == r.Name) && matchPath(a.Path, d.Path) &&
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
	return slices.EqualFunc(strings.Split(pattern, "/"), strings.Split(path, "/"), func(p, q string) bool { return p == "*" || p == q })
}

// Diff reports where two values that came out of JSON differ, each with its JSON Pointer below path: in the order of
// keys and of elements. What is absent is like null.
func Diff(path string, got, want any, report func(path string, got, want any)) {
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			break
		}
		both := maps.Clone(g)
		maps.Copy(both, w)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			Diff(path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k), g[k], w[k], report)
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
			Diff(path+"/"+strconv.Itoa(i), a, b, report)
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
