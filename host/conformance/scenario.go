package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
)

// File is one file of the corpus: the scenarios of a topic.
type File struct {
	Topic     string      `json:"topic"`
	About     string      `json:"about"`
	Scenarios []*Scenario `json:"scenarios"`
}

// Scenario describes the functions of a program and the required result.
type Scenario struct {
	ID     string   `json:"id"`     // unique in the corpus, "topic/name"
	Title  string   `json:"title"`  // the behaviour it shows
	Marks  string   `json:"marks"`  // of the log's lines, see Log.Marks
	Covers []string `json:"covers"` // numbers of described behaviour and of decisions: "A1", "D4"
	Needs  []string `json:"needs"`  // features that a host must have to play it

	Host    *HostSpec            `json:"host"` // bounds of an instance of the scenario's own
	Errors  map[string]ErrorSpec `json:"errors"`
	Records map[string]any       `json:"records"`
	Tools   map[string]ToolSpec  `json:"tools"`
	Texts   map[string]TextSpec  `json:"texts"`
	Runner  *RunnerSpec          `json:"runner"`
	Network []Answer             `json:"network"` // to requests, one after the other; one more fails
	Main    Script               `json:"main"`
	// EachStorageCallFails makes hosts play it once more for each storage call: see [Failing].
	EachStorageCallFails bool `json:"eachStorageCallFails"`
	// Fails is the number of the storage call that fails with the error X, from 1; 0 for none.
	Fails  int   `json:"-"`
	Expect []any `json:"expect"`
}

// HostSpec lowers the bounds of a host; zero fields keep the defaults.
type HostSpec struct {
	Limits abi.Limits `json:"limits"`
	Quota  abi.Quota  `json:"quota"`
}

// ErrorSpec is an error that scripts throw, by name.
type ErrorSpec struct {
	Message *string `json:"message"` // the name if absent
	Code    string  `json:"code"`
	Cause   string  `json:"cause"` // name of another one
	Value   any     `json:"value"` // thrown in place of an error
}

// ToolSpec describes a tool: one of the catalogue, or one of the scenario's own.
type ToolSpec struct {
	Catalogue   string          `json:"catalogue"` // name of a tool of the catalogue
	Options     map[string]any  `json:"options"`   // its options
	Name        any             `json:"name"`      // its key if absent
	Description any             `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"` // its members keep their order
	Handler     Script          `json:"handler"`
	Validate    Script          `json:"validate"` // the program's own validation
	Meta        map[string]any  `json:"meta"`
	Ephemeral   any             `json:"ephemeral"`
	Trusted     any             `json:"trusted"`
	OnCollision any             `json:"onCollision"`
	Artifact    bool            `json:"artifact"`            // an ArtifactTool
	Class       any             `json:"artifactConstructor"` // gives the class of artifacts for its results, where a tool can have one
}

// RunnerSpec configures a runner or a dispatch.
type RunnerSpec struct {
	Executor       Script            `json:"executor"`
	Chat           map[string]any    `json:"chat"` // options of the executor inside the core, instead of Executor
	TurnInput      []Script          `json:"turnInput"`
	TurnOutput     []Script          `json:"turnOutput"`
	DispatchInput  []Entry           `json:"dispatchInput"`
	DispatchOutput []Entry           `json:"dispatchOutput"`
	Storage        map[string]Script `json:"storage"`    // scripts of storage callbacks; those without one do nothing
	Store          bool              `json:"store"`      // the callbacks are a store's, except those with a script
	Tokenizers     map[string]Script `json:"tokenizers"` // scripts of tokenizers, which count words otherwise
	Tools          []string          `json:"tools"`
	MaxIterations  int               `json:"maxIterations"`
	WrapTool       []Script          `json:"wrapTool"`   // around calls of tools' handlers, the outermost first
	WrapModel      []Script          `json:"wrapModel"`  // around calls of models
	Omit           []string          `json:"omit"`       // required fields that are left out
	OlderNames     bool              `json:"olderNames"` // use the older names of the dispatch pipelines, if they exist
	Raw            map[string]any    `json:"raw"`        // fields to pass instead, for hosts without static types
}

// TextSpec is a text for a model: static, or dynamic.
type TextSpec struct {
	Static  string `json:"static"`
	Dynamic Script `json:"dynamic"` // returns the text, if set
	Alone   Script `json:"alone"`   // returns it to a reader without a context; Dynamic if absent
}

// Entry is an entry of a dispatch pipeline: a script, nothing, or a middleware of the core's with its argument.
type Entry struct {
	Script  Script
	Builtin string
	Arg     any
}

// UnmarshalJSON reads a list of steps, null, or an object of one member.
func (e *Entry) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return json.Unmarshal(text, &e.Script)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	if len(members) != 1 {
		return fmt.Errorf("pipeline entry %s has not one member", text)
	}
	e.Builtin, e.Arg = only(members)
	return nil
}

// Script is a list of steps, done in order.
type Script []Step

// Step is one action of a function.
type Step struct {
	Op  string
	Arg any
	// At, From and Call are the iteration, the least iteration and the number of the call in which the step is done; -1
	// for any.
	At, From, Call int
	Try            bool
}

// stepFields are the members of a step that are not its operation.
var stepFields = []string{"at", "from", "call", "try"}

// UnmarshalJSON reads a step: the name of an operation without an argument, or an object.
func (s *Step) UnmarshalJSON(text []byte) error {
	*s = Step{At: -1, From: -1, Call: -1}
	if text[0] == '"' {
		return json.Unmarshal(text, &s.Op)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for name, into := range map[string]any{"at": &s.At, "from": &s.From, "call": &s.Call, "try": &s.Try} {
		if raw, there := members[name]; there {
			if err := json.Unmarshal(raw, into); err != nil {
				return fmt.Errorf("step %s: %s: %w", text, name, err)
			}
		}
	}
	for name, raw := range members {
		if slices.Contains(stepFields, name) {
			continue
		}
		if s.Op != "" {
			return fmt.Errorf("step %s: both %s and %s", text, s.Op, name)
		}
		s.Op = name
		if err := json.Unmarshal(raw, &s.Arg); err != nil {
			return err
		}
	}
	if _, known := operations[s.Op]; !known {
		return fmt.Errorf("step %s: there is no operation %q", text, s.Op)
	}
	return nil
}

// Load reads the corpus: all files *.json at the top of a file system.
func Load(corpus fs.FS) ([]*File, error) {
	if _, err := fs.Stat(corpus, "."); err != nil { // which Glob takes for an empty folder
		return nil, fmt.Errorf("conformance: the folder of the corpus: %w", err)
	}
	names, err := fs.Glob(corpus, "*.json")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var files []*File
	seen := map[string]bool{}
	for _, name := range names {
		text, err := fs.ReadFile(corpus, name)
		if err != nil {
			return nil, err
		}
		f := &File{}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(f); err != nil {
			return nil, fmt.Errorf("conformance: %s: %w", name, err)
		}
		for _, s := range f.Scenarios {
			if !strings.HasPrefix(s.ID, f.Topic+"/") || seen[s.ID] {
				return nil, fmt.Errorf("conformance: %s: the id %q is not of the topic %q, or there twice", name, s.ID, f.Topic)
			}
			seen[s.ID] = true
			if len(s.Expect) == 0 {
				return nil, fmt.Errorf("conformance: %s expects nothing", s.ID)
			}
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, errors.New("conformance: there is no scenario: the folder has no files *.json")
	}
	return files, nil
}

// Playable reports whether a host with the given features can play the scenario.
func (s *Scenario) Playable(features ...string) bool {
	return !slices.ContainsFunc(s.Needs, func(need string) bool { return !slices.Contains(features, need) })
}
