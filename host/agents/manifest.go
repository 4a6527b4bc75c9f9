package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/internal/wasmfile"
)

// Section is the name of the custom section that an agent's manifest is in.
const Section = "turncore.agent"

// Format is the version of the manifest's format, its member "manifest".
const Format = 1

// Manifest says what an agent is and what it asks for. Its JSON Schema is abi/agents/manifest.schema.json.
type Manifest struct {
	Format      int    `json:"manifest"` // [Format]
	Name        string `json:"name"`
	Version     string `json:"version"`     // such as "1.4.0"
	Description string `json:"description"` // one line
	Turncore    string `json:"turncore"`    // version of the core in the file
	// Imports are the functions that the module imports, as "module.name", sorted. [WithManifest] sets them.
	Imports []string `json:"imports"`
	Tools   []Tool   `json:"tools"` // that the agent brings
	// Options is a JSON Schema of the agent's options; nil if it has none.
	Options    json.RawMessage `json:"options"`
	Executor   bool            `json:"executor"` // whether it brings the executor; otherwise that is the chat executor
	Middleware []Middleware    `json:"middleware"`
	Asks       Asks            `json:"asks"`
}

// Tool is a tool that an agent brings.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`       // of its arguments: an object
	Confirm     bool            `json:"confirm,omitempty"` // whether a person is asked before each call
}

// Middleware is a middleware that an agent brings.
type Middleware struct {
	Pipeline string `json:"pipeline"` // "turnInput", "turnOutput", "dispatchInput" or "dispatchOutput"
	Name     string `json:"name"`
}

// Asks are what an agent needs of its host. All texts "why" are the author's own, one line each.
type Asks struct {
	HTTP        []AskOrigin     `json:"http,omitempty"`
	Credentials []AskCredential `json:"credentials,omitempty"`
	Tools       []Ask           `json:"tools,omitempty"`  // of the host
	Models      []Ask           `json:"models,omitempty"` // by names that the agent gives them
	Stores      []Ask           `json:"stores,omitempty"` // of the host
	Log         int64           `json:"log,omitempty"`    // bytes for each turn; 0 for none
	Quota       *Quota          `json:"quota,omitempty"`  // what a turn may need
}

// Ask is a request for something that has a name.
type Ask struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// AskOrigin is a request for the right to send HTTP requests to an origin.
type AskOrigin struct {
	Origin string `json:"origin"` // such as "https://api.example.com"
	Why    string `json:"why"`
}

// AskCredential is a request for a secret that the host adds to requests to an origin.
type AskCredential struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
	Why    string `json:"why"`
}

// Quota is what a turn may use. A zero field says nothing: in a grant it stands for [DefaultQuota].
type Quota struct {
	Steps   int64 `json:"steps,omitempty"`   // times that the module is entered
	Frames  int64 `json:"frames,omitempty"`  // that it sends
	Effects int64 `json:"effects,omitempty"` // that it asks for: requests, tool calls, answers of models, reads and writes
	Bytes   int64 `json:"bytes,omitempty"`   // that it sends
	Tokens  int64 `json:"tokens,omitempty"`  // of prompts and completions, as models report them
}

// ReadManifest reads the manifest of an agent's file, without running anything. Anything but WebAssembly fails with
// [host.CodeInvalidModule]; one without a manifest, or whose manifest breaks a rule or does not fit the file's imports,
// with [host.CodeAgentManifest], whose message names the fields.
func ReadManifest(file []byte) (*Manifest, error) {
	text, imports, err := scan(file)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, manifestDocument.wrong("the file has no section " + Section)
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(m.Imports, imports) {
		return nil, manifestDocument.wrong("`imports` differs from what the module imports")
	}
	return m, nil
}

// ParseManifest reads the text of a manifest, as the section holds it. It fails like [ReadManifest].
func ParseManifest(text []byte) (*Manifest, error) {
	var m Manifest
	if err := manifestDocument.read(text, &m); err != nil {
		return nil, err
	}
	if string(m.Options) == "null" {
		m.Options = nil
	}
	return &m, m.inconsistent()
}

// inconsistent lists names that occur twice, and what else a schema cannot say.
func (m *Manifest) inconsistent() error {
	var list []string
	field := func(name string, n int, key func(i int) string) {
		seen := map[string]bool{}
		for i := range n {
			if seen[key(i)] {
				list = append(list, fmt.Sprintf("`%s[%d]` occurs twice", name, i))
			}
			seen[key(i)] = true
		}
	}
	field("tools", len(m.Tools), func(i int) string { return m.Tools[i].Name })
	a := &m.Asks
	field("asks.http", len(a.HTTP), func(i int) string { return a.HTTP[i].Origin })
	field("asks.credentials", len(a.Credentials), func(i int) string { return a.Credentials[i].Name + " " + a.Credentials[i].Origin })
	for i, ask := range a.HTTP {
		if defaultPort(ask.Origin) {
			list = append(list, fmt.Sprintf("`asks.http[%d].origin` has the default port of its scheme: leave it out", i))
		}
	}
	for i, ask := range a.Credentials {
		if defaultPort(ask.Origin) {
			list = append(list, fmt.Sprintf("`asks.credentials[%d].origin` has the default port of its scheme: leave it out", i))
		}
	}
	field("asks.tools", len(a.Tools), func(i int) string { return a.Tools[i].Name })
	field("asks.models", len(a.Models), func(i int) string { return a.Models[i].Name })
	field("asks.stores", len(a.Stores), func(i int) string { return a.Stores[i].Name })
	return manifestDocument.wrong(list...)
}

// Text is the manifest as the section holds it: JSON whose members are in order. It fails for a manifest that breaks a
// rule.
func (m *Manifest) Text() ([]byte, error) {
	whole := *m
	whole.Format = Format
	if whole.Imports == nil {
		whole.Imports = []string{}
	}
	if whole.Tools == nil {
		whole.Tools = []Tool{}
	}
	if whole.Middleware == nil {
		whole.Middleware = []Middleware{}
	}
	text, err := canonical(&whole)
	if err != nil {
		return nil, host.NewError(host.CodeAgentManifest, err.Error(), err)
	}
	if _, err := ParseManifest(text); err != nil {
		return nil, err
	}
	return text, nil
}

// WithManifest returns a file with a manifest at its end, instead of one that it has. It sets m.Imports from the file.
func WithManifest(file []byte, m *Manifest) ([]byte, error) {
	_, imports, err := scan(file)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, manifestDocument.wrong("there is none")
	}
	m.Imports = imports
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(file)+len(text)+32), wasmfile.Header...)
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		id, body := r.Section()
		if !isManifest(id, body) {
			out = wasmfile.AppendSized(append(out, id), body)
		}
	}
	section := wasmfile.AppendSized(nil, []byte(Section))
	return wasmfile.AppendSized(append(out, wasmfile.Custom), append(section, text...)), nil
}

// isManifest reports whether a section is the manifest's.
func isManifest(id byte, body []byte) bool {
	return id == wasmfile.Custom && (&wasmfile.Reader{Rest: body}).Name() == Section
}

// scan reads the sections of a file: the manifest's text, nil for none, and what the module imports.
func scan(file []byte) (text []byte, imports []string, err error) {
	if !bytes.HasPrefix(file, []byte(wasmfile.Header)) {
		return nil, nil, host.NewError(host.CodeInvalidModule, "it is no WebAssembly", nil)
	}
	malformed := host.NewError(host.CodeInvalidModule, "a section is malformed", nil)
	names := map[string]bool{}
	for r := (wasmfile.Reader{Rest: file[len(wasmfile.Header):]}); len(r.Rest) > 0; {
		id, body := r.Section()
		s := wasmfile.Reader{Rest: body}
		switch {
		case r.Failed:
			return nil, nil, malformed
		case id == wasmfile.Import:
			if !readImports(&s, names) {
				return nil, nil, malformed
			}
		case id == wasmfile.Custom && s.Name() == Section:
			if text != nil {
				return nil, nil, manifestDocument.wrong("the file has two sections " + Section)
			}
			text = s.Bytes(uint32(len(s.Rest)))
		}
	}
	return text, append([]string{}, slices.Sorted(maps.Keys(names))...), nil
}

// readImports adds the names of a section of imports.
func readImports(r *wasmfile.Reader, names map[string]bool) bool {
	for range r.Uint() {
		module := r.Name()
		names[module+"."+r.Name()] = true
		switch r.Byte() {
		case 0: // a function
			r.Uint()
		case 1: // a table
			r.Byte()
			skipLimits(r)
		case 2: // a memory
			skipLimits(r)
		case 3: // a global
			r.Bytes(2)
		default:
			return false
		}
		if r.Failed {
			return false
		}
	}
	return len(r.Rest) == 0
}

func skipLimits(r *wasmfile.Reader) {
	if r.Byte()&1 != 0 {
		r.Uint()
	}
	r.Uint()
}

// Differs returns the error of a manifest that does not say what the module says of itself: said is the text of the
// module's own description, with the members of a manifest without "turncore" and "imports". The message names the
// fields that differ.
func (m *Manifest) Differs(said []byte) error {
	var own map[string]json.RawMessage
	if len(said) > maxManifest || deeper(said, maxNesting) || json.Unmarshal(said, &own) != nil || own == nil {
		return manifestDocument.wrong("what the module says of itself is no JSON object of at most 1 MiB")
	}
	text, err := m.Text()
	if err != nil {
		return err
	}
	var written map[string]json.RawMessage
	if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	delete(written, "turncore")
	delete(written, "imports")
	var list []string
	for name := range own {
		if _, there := written[name]; !there {
			list = append(list, name)
		}
	}
	for name, value := range written {
		if !sameJSON(value, own[name]) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	for i, name := range list {
		list[i] = "`" + join("", name) + "` differs from what the module says of itself"
	}
	return manifestDocument.wrong(list...)
}

// sameJSON reports whether two texts are the same value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
