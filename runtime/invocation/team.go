package invocation

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/session"
)

// Kind is a kind of agent.
type Kind uint8

// Kinds of agent.
const (
	Host Kind = iota // a generator of host code
	LLM
	Sequential
	Parallel
	Loop
	kinds
)

// Hook is a place where host code is called.
type Hook uint8

// Hooks. abi/session.go says what each gets and answers.
const (
	UserMessage Hook = iota
	BeforeRun
	AfterRun
	OnEvent
	BeforeAgent
	AfterAgent
	BeforeModel
	AfterModel
	ModelError
	BeforeTool
	AfterTool
	ToolError
	Instruction
	GlobalInstruction
	Confirm
	Summary
	SummaryError
	Hooks int = iota
)

// Team is a tree of agents with the plugins around it. Many invocations share one.
type Team struct {
	App     string
	Root    *Agent
	Agents  []*Agent // by number, from 1
	Plugins []Plugin
}

// Plugin is host code that is called for every agent of a team.
type Plugin struct {
	Name  string
	Hooks uint32 // bits by hook
}

// Agent is an agent of a team.
type Agent struct {
	Number      uint32
	Kind        Kind
	Name        string
	Description string
	Parent      *Agent // nil for the root
	Children    []*Agent
	Hooks       [Hooks]uint32 // how many callbacks host code has for each

	// Of an agent with a model.

	Config    *runtime.Config // its tools
	Model     Model           // nil for host code
	OutputKey string          // name in the state for the text of its final answers; empty for none

	instruction, global string
	none                bool // the model sees the events of the invocation alone
	apart, alone        bool // it does not hand over to its parent, or to the other agents of its parent
	longRunning         []string
	confirm, asks       []string // tools that wait for confirmation always, or when the hook says so
	transfer            *runtime.Tool
	mates               []string // names of the agents that it can hand over to
	introduction        string   // what tells the model whom it can hand over to; empty for nobody
	tools               []*agentTool
	options             []byte // of those, a list; nil for none

	rounds int // of a loop; 0 for no bound
}

// Definition is what [NewTeam] makes an agent of.
type Definition struct {
	Kind              Kind
	Name, Description string
	Config            *runtime.Config // of an agent with a model
	Model             Model
	Children          []uint32
	Options           []byte // map, nil for none
	Hooks             []uint32
}

// NewTeam makes a team of agents, of which root is one. It fails with E_INVALID_AGENT.
func NewTeam(app string, root uint32, definitions []Definition, plugins []Plugin) (*Team, error) {
	team := &Team{App: app, Plugins: plugins}
	if app == "" {
		return nil, session.New(session.InvalidAgent, "app", "must be a non-empty string")
	}
	for i := range definitions {
		d := &definitions[i]
		a := &Agent{Number: uint32(i + 1), Kind: d.Kind, Name: d.Name, Description: d.Description, Config: d.Config, Model: d.Model}
		if err := team.admit(a, d); err != nil {
			return nil, err
		}
		team.Agents = append(team.Agents, a)
	}
	for i, a := range team.Agents {
		if err := team.join(a, definitions[i].Children); err != nil {
			return nil, err
		}
	}
	if team.Root = team.agent(root); team.Root == nil || team.Root.Parent != nil {
		return nil, session.New(session.InvalidAgent, "root", "must be an agent without a parent")
	}
	for _, a := range team.Agents {
		if a.Kind == LLM {
			if err := a.offerTransfer(); err != nil {
				return nil, err
			}
			if err := team.offerAgents(a); err != nil {
				return nil, err
			}
		}
	}
	return team, nil
}

func (t *Team) admit(a *Agent, d *Definition) error {
	field, wrong := "name", ""
	switch {
	case a.Name == "" || a.Name == "user" || a.Name == "system":
		wrong = `must be a non-empty string other than "user" and "system"`
	case t.Find(a.Name) != nil:
		wrong = "another agent has it"
	case a.Kind >= kinds:
		field, wrong = "kind", "is unknown"
	case (a.Kind == LLM) != (a.Config != nil):
		field, wrong = "model", "an agent has one if it is an LLM agent"
	case len(d.Hooks) > len(a.Hooks):
		field, wrong = "hooks", "has more than there are"
	}
	if wrong != "" {
		return a.invalid(field, wrong)
	}
	copy(a.Hooks[:], d.Hooks)
	return a.configure(d.Options)
}

// invalid is the error of an agent that cannot be.
func (a *Agent) invalid(field, what string) error {
	return session.New(session.InvalidAgent, joined("agent ", quote(a.Name), ": ", field), what)
}

// configure reads an agent's options.
func (a *Agent) configure(options []byte) error {
	if options == nil {
		return nil
	}
	if value.KindOf(options) != value.KindMap {
		return a.invalid("options", "must be a map")
	}
	var c value.Cursor
	for c.Over(options); c.Next(); {
		if err := a.option(string(c.Key), c.Value); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) option(name string, v []byte) error {
	kept := [len(optionNames)]any{
		&a.instruction, &a.global, &a.OutputKey, &a.apart, &a.alone, &a.longRunning, &a.confirm, &a.asks,
	}
	ok := false
	switch i := slices.Index(optionNames[:], name); {
	case name == "maxIterations":
		n, isInt := value.Int(v)
		a.rounds, ok = int(n), a.Kind == Loop && isInt && n > 0 && n < 1<<31
	case a.Kind != LLM:
	case i >= 0:
		ok = readOption(v, kept[i])
	case name == "includeContents":
		text, _ := value.String(v)
		a.none = string(text) == "none"
		ok = a.none || string(text) == "default"
	case name == "agentTools":
		a.options, ok = v, value.KindOf(v) == value.KindList
	}
	if !ok {
		return a.invalid(name, "is unknown to this kind of agent, or has the wrong type")
	}
	if a.OutputKey == "" {
		return nil
	}
	return session.CheckName(a.OutputKey)
}

// optionNames are the names of the options that an LLM agent keeps as they are.
var optionNames = [...]string{
	"instruction", "globalInstruction", "outputKey", "disallowTransferToParent", "disallowTransferToPeers", "longRunning", "confirm",
	"confirmHook",
}

// readOption reads an option to where it is kept.
func readOption(v []byte, at any) (ok bool) {
	switch to := at.(type) {
	case *string:
		var text []byte
		text, ok = value.String(v)
		*to = string(text)
	case *bool:
		*to, ok = value.Bool(v)
	case *[]string:
		if ok = value.KindOf(v) == value.KindList; !ok {
			return false
		}
		var c value.Cursor
		for c.Over(v); ok && c.Next(); {
			var text []byte
			text, ok = value.String(c.Value)
			*to = append(*to, string(text))
		}
	}
	return ok
}

func isTrue(v []byte) bool {
	b, _ := value.Bool(v)
	return b
}

// join gives an agent its children.
func (t *Team) join(a *Agent, children []uint32) error {
	for _, number := range children {
		child := t.agent(number)
		if child == nil || child.Parent != nil || number <= a.Number {
			return a.invalid("agents", "an agent of the list has two parents, or stands before its parent")
		}
		child.Parent = a
		a.Children = append(a.Children, child)
	}
	return nil
}

func (t *Team) agent(number uint32) *Agent {
	if number == 0 || number > uint32(len(t.Agents)) {
		return nil
	}
	return t.Agents[number-1]
}

// Find returns the agent of a name, nil if there is none.
//
//go:noinline
func (t *Team) Find(name string) *Agent {
	for _, a := range t.Agents {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// keeps reports whether an agent that answered last answers the next message, too: it and all above it must be able to
// hand over.
func (a *Agent) keeps() bool {
	for ; a.Parent != nil; a = a.Parent {
		if a.Kind != LLM || a.apart {
			return false
		}
	}
	return a.Kind == LLM
}

// root is the agent at the top of an agent's tree.
//
//go:noinline
func (a *Agent) root() *Agent {
	for a.Parent != nil {
		a = a.Parent
	}
	return a
}
