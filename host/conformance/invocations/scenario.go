package invocations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/turncore/turncore/host/sessions"
)

// File is one file of the corpus: the scenarios of a topic.
type File struct {
	Topic     string
	About     string
	Scenarios []*Scenario
}

// Scenario describes agents, what callers do, and the required result.
type Scenario struct {
	ID     string // unique in the corpus, "topic/name"
	Marks  string // of the log's lines, see conformance.Log.Marks
	Title  string // the behaviour it shows
	Covers []int  // numbers of described behaviour

	Agents  []*AgentSpec // the root first
	Plugins []*PluginSpec
	// Compaction says when sessions are summed up; nil for never.
	Compaction *CompactionSpec
	Main       []*Step
	Fault      Fault
	Expect     Expect
}

// Fault is what goes wrong with a scenario's store, or with its caller. Appends and events are counted over the whole
// scenario, from 1; 0 is never. Creating a session is an append.
type Fault struct {
	Fails  int // the append that stores nothing and fails
	Lost   int // the append that stores, and fails nevertheless
	Writer int // the append before which somebody else appends to the session
	Leaves int // the event at which the caller leaves
	Gone   int // the event at which the process is gone: the steps that follow are done on another host
	Dies   int // the append that stores, and behind which the process is gone
}

// Expect is what must come of a scenario. What is nil is not compared.
type Expect struct {
	Delivered []string // events in words
	Final     []bool   // whether each of them is final
	Stored    []string
	Ends      []string // codes of what callers do, "ok" for none
	State     map[string]any
	Saw       []map[string]any // members of lines that the log must have
}

// AgentSpec describes an agent.
type AgentSpec struct {
	Name, Kind, Description, Instruction, GlobalInstruction, OutputKey, IncludeContents string
	Agents, LongRunning, Confirm, ConfirmHook                                           []string
	AgentTools                                                                          []AgentToolSpec
	DisallowTransferToParent, DisallowTransferToPeers                                   bool
	MaxIterations                                                                       int
	Model                                                                               []Answers
	Tools                                                                               map[string][]*Act
	Script                                                                              [][]*Operation
	Hooks                                                                               map[string][]*Act
}

// AgentToolSpec describes an agent that is a tool.
type AgentToolSpec struct {
	Agent             string
	InputSchema       json.RawMessage
	SkipSummarization bool
}

// CompactionSpec says when sessions are summed up. Summaries are what the host's function gives; nil lets a model sum
// up.
type CompactionSpec struct {
	Invocations, Tokens, Overlap, Keep int
	Summaries                          []*Act
}

// PluginSpec describes a plugin.
type PluginSpec struct {
	Name  string
	Hooks map[string][]*Act
}

// Act is what a callback or a handler does at one of its calls.
type Act struct {
	Value, Result json.RawMessage
	Fail          string
	Nothing       bool
	State         map[string]any
	See           []string
	Actions       *Flags
	Wait          int
	Save          map[string]string
	Abort         bool
}

// Flags are the actions that an act sets.
type Flags struct {
	Escalate, SkipSummarization bool
	TransferToAgent             string
	StateDelta                  map[string]any
	ArtifactDelta               map[string]int
}

// Operation is what a generator does.
type Operation struct {
	Yield              *sessions.Event
	Set                map[string]any
	See                []string
	Load, Message      bool
	Hold               bool // waits until nobody wants it to go on
	Run, Fail, Finally string
}

// Answers are what a model gives at one call.
type Answers []*Answer

// Answer is an answer of a model, or a part of one.
type Answer struct {
	Text, Part, Thought, Fail, See string
	Calls                          []*Call
	Response                       *sessions.Event // its members that an answer of a model has
	Hold                           bool            // waits until nobody wants the answer
}

// Call is a call of a function.
type Call struct {
	Name string
	ID   *string // nil to count
	Args map[string]any
}

// UnmarshalJSON reads an answer, or a list of them.
func (a *Answers) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]*Answer)(a))
	}
	*a = Answers{{}}
	return json.Unmarshal(text, (*a)[0])
}

// UnmarshalJSON reads an answer, or its text.
func (a *Answer) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &a.Text)
	}
	type plain Answer
	return strict(text, (*plain)(a))
}

// UnmarshalJSON reads a call, or its function's name.
func (c *Call) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &c.Name)
	}
	type plain Call
	return strict(text, (*plain)(c))
}

// Step is what a caller does. One of the members is set.
type Step struct {
	Create, Run, Rewind, Append, Retry, Load, Delete, Fork *Target
	Two                                                    []*sessions.Event
}

// Target is a session with what is done to it.
type Target struct {
	User, Session string // "u" and "s" if empty

	State         map[string]any  // of create
	Message       *Message        // of run
	StopAfter     int             // of run: leaves at this event
	MaxModelCalls int             // of run; it holds for all runs of the scenario
	Load          bool            // of run: loads the session at each event
	Before        int             // of rewind: a run, from 1
	ID            *string         // of rewind: an invocation
	Event         *sessions.Event // of append and retry
	Others        int             // of retry: how many of its attempts somebody else is faster
	Change        bool            // of append: the caller changes the event afterwards
	To            string          // of fork: the session that it makes
	UpTo          int             // of fork: the last event that it takes, from 1; 0 for all
}

// Message is what a user says.
type Message struct{ sessions.Content }

// UnmarshalJSON reads a content, or its text.
func (m *Message) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return m.Content.UnmarshalJSON(text)
	}
	var words string
	err := json.Unmarshal(text, &words)
	m.Content = *sessions.Text(words)
	return err
}

// key are the user and the id of the session.
func (t *Target) key() (user, session string) {
	user, session = t.User, t.Session
	if user == "" {
		user = "u"
	}
	if session == "" {
		session = "s"
	}
	return user, session
}

// together reports whether code of the scenario runs at once: then the order of what it writes to the log tells
// nothing.
func (s *Scenario) together() bool {
	return slices.ContainsFunc(s.Agents, func(a *AgentSpec) bool {
		return a.Kind == "parallel" || slices.ContainsFunc(a.Model, func(list Answers) bool {
			return slices.ContainsFunc(list, func(of *Answer) bool { return len(of.Calls) > 1 })
		})
	})
}

// agent finds the description of an agent.
func (s *Scenario) agent(name string) (*AgentSpec, error) {
	for _, a := range s.Agents {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("there is no agent %s", name)
}

// Load reads the corpus: all files *.json at the top of a file system.
func Load(corpus fs.FS) ([]*File, error) {
	if _, err := fs.Stat(corpus, "."); err != nil { // which Glob takes for an empty folder
		return nil, fmt.Errorf("invocations: the folder of the corpus: %w", err)
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
		if err := strict(text, f); err != nil {
			return nil, fmt.Errorf("invocations: %s: %w", name, err)
		}
		for _, s := range f.Scenarios {
			if !strings.HasPrefix(s.ID, f.Topic+"/") || seen[s.ID] {
				return nil, fmt.Errorf("invocations: %s: the id %q is not of the topic %q, or there twice", name, s.ID, f.Topic)
			}
			seen[s.ID] = true
			if len(s.Agents) == 0 || len(s.Main) == 0 {
				return nil, fmt.Errorf("invocations: %s has no agents, or no main", s.ID)
			}
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, errors.New("invocations: there is no scenario: the folder has no files *.json")
	}
	return files, nil
}

// strict decodes a text whose members must be known.
func strict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}
