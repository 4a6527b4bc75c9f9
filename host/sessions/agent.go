package sessions

import (
	"encoding/json"
	"sync/atomic"

	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/turns"
)

// Agent answers messages: an [*LLMAgent], a [*CustomAgent], or a group of agents, [*SequentialAgent], [*ParallelAgent]
// or [*LoopAgent]. Agents make a tree, in which each has a name of its own. Do not change an agent that a runner has.
type Agent interface {
	// AgentName is the agent's name, the author of its events.
	AgentName() string
	node() *node
}

// node is what a tree needs of an agent.
type node struct {
	number            uint32 // from 1
	kind              uint8
	field             string // of the runner's configuration
	name, description string
	children          []Agent
	before, after     []AgentCallback
	llm               *LLMAgent    // nil for others
	custom            *CustomAgent // nil for others
	maxIterations     int          // of a loop
	compaction        *Compaction  // of the root; nil for none
	// What its model is told of its tools, once the core has said it.
	tools atomic.Pointer[[]ToolDeclaration]
}

// AgentCallback runs before or after an agent. A content before the agent answers in its place; one after it is one
// event more. Changes of the state without a content are stored with an event of their own.
type AgentCallback func(ctx *CallbackContext) (*Content, error)

// InstructionFunc gives an instruction for a model call.
type InstructionFunc func(ctx *CallbackContext) (string, error)

// LLMAgent calls a model again and again, until an answer has no function calls. The tools of an answer run at once.
// Each answer is an event, and so are the results of its calls together.
//
// A model is one of Model, Chat and Executor.
type LLMAgent struct {
	Name        string
	Description string // tells other agents' models what the agent is for
	// Instruction is the system prompt. {name} stands for a value of the state, {name?} for one that may be missing.
	Instruction string
	// InstructionFunc gives more of the instruction, which is taken as it is.
	InstructionFunc InstructionFunc
	// GlobalInstruction and GlobalInstructionFunc are in front of the instructions of all agents of the tree. They belong
	// to the root.
	GlobalInstruction     string
	GlobalInstructionFunc InstructionFunc

	// Model is a model behind an API, or one that the host runs itself. Its key becomes a credential of the runner's own
	// host; a given Host has it as for [turns.Config].
	Model turns.Model
	// Chat has all options of the chat executor.
	Chat *model.ChatOptions
	// Executor is a model in Go. It yields the parts of a stream as partial responses, and then one that is not partial.
	//
	// While nothing else happens in the invocation, it runs on the goroutine that takes the events, and yield hands over
	// an event there. It may yield from other goroutines: its caller then takes those events elsewhere, one at a time,
	// while its own goroutine is in the executor. If its code panics there, or ends the goroutine, its own ends likewise,
	// with Run.
	Executor func(ctx *ModelContext, yield func(*Response) error) error

	// Tools are those that the model may call. [NewTool] makes one whose handler gets a [ToolContext].
	Tools []*turns.Tool
	// AgentTools are agents that the model may call as tools.
	AgentTools []*AgentTool
	// LongRunning names tools whose answers come later, from outside. The run goes on if one gives a result at once, and
	// ends if it gives nil.
	LongRunning []string
	// Confirm names tools whose calls wait until a person has confirmed them; ConfirmIf asks for each call.
	Confirm   []string
	ConfirmIf map[string]ConfirmFunc

	// OutputKey is the name in the state for the text of the agent's final answers; "" for none.
	OutputKey string
	// IncludeContents says what of the session the model sees: ContentsDefault or ContentsNone.
	IncludeContents IncludeContents
	// Agents are those that the model may hand the conversation over to.
	Agents []Agent
	// NoTransferToParent and NoTransferToPeers keep the agent from handing over to the agent above it, and to the other
	// agents of that one.
	NoTransferToParent, NoTransferToPeers bool

	BeforeAgent []AgentCallback
	AfterAgent  []AgentCallback
	BeforeModel []BeforeModelCallback
	AfterModel  []AfterModelCallback
	ModelError  []ModelErrorCallback
	BeforeTool  []BeforeToolCallback
	AfterTool   []AfterToolCallback
	ToolError   []ToolErrorCallback

	// WrapTool and WrapModel run around each call of a tool's handler and of a model, as in [turns.Config].
	WrapTool  []turns.ToolWrapper
	WrapModel []model.Wrapper
}

// AgentTool is an agent that a model may call as a tool, by the agent's name and description. It sees the arguments as
// what the user says, and nothing of the conversation. Its events are neither stored nor delivered: what they change in
// the state is stored with the result, which is the text of its last answer. It cannot wait for an answer from outside:
// a call of its own that would fails the invocation with E_INVALID_AGENT. The option toolTimeoutMs of the agent that
// calls does not bound it: its own model and tools have the bounds of its model's options.
type AgentTool struct {
	// Agent is at the root of a tree of its own. Several agents may have it as a tool.
	Agent Agent
	// InputSchema is a JSON Schema of the arguments, which the agent gets as JSON. Without one it gets a text named
	// request.
	InputSchema json.RawMessage
	// SkipSummarization ends the agent whose model has called the tool with its result, which no model sees.
	SkipSummarization bool
}

// IncludeContents says what of a session a model sees.
type IncludeContents string

const (
	// ContentsDefault is all that its branch has.
	ContentsDefault IncludeContents = ""
	// ContentsNone is the current invocation alone.
	ContentsNone IncludeContents = "none"
)

// Callbacks of models and tools. The first one that gives something decides: the others are not called. nil leaves
// things as they are.
type (
	// BeforeModelCallback may answer in the model's place.
	BeforeModelCallback func(ctx *CallbackContext) (*Response, error)
	// AfterModelCallback may replace an answer, or a part of a stream of one.
	AfterModelCallback func(ctx *CallbackContext, r *Response) (*Response, error)
	// ModelErrorCallback may answer in place of a model that failed. The error is the executor's own, or a [*host.Error]
	// with a code.
	ModelErrorCallback func(ctx *CallbackContext, err error) (*Response, error)
	// BeforeToolCallback may give a result in the tool's place: any value that JSON has.
	BeforeToolCallback func(ctx *CallbackContext, call *ToolCall) (any, error)
	// AfterToolCallback may replace a tool's result.
	AfterToolCallback func(ctx *CallbackContext, call *ToolCall, result any) (any, error)
	// ToolErrorCallback may give a result in place of a tool that failed. Otherwise the model gets the error.
	ToolErrorCallback func(ctx *CallbackContext, call *ToolCall, reason string) (any, error)
	// ConfirmFunc says whether a person must confirm a call; nil lets it run.
	ConfirmFunc func(ctx *CallbackContext, call *ToolCall) (*Ask, error)
)

// ToolCall is a call of a tool.
type ToolCall struct {
	Tool string // its name
	ID   string // of the function call
	Args map[string]any
}

// Ask is what a person is asked before a call runs, beside the tool's name and its arguments.
type Ask struct {
	Hint    string // "" for none
	Payload any    // nil for none
}

// CustomAgent is an agent in Go.
type CustomAgent struct {
	Name        string
	Description string
	// Run gives the agent's events. See [AgentFunc].
	Run AgentFunc
	// Agents are those that Run may run with [Context.RunAgent].
	Agents      []Agent
	BeforeAgent []AgentCallback
	AfterAgent  []AgentCallback
}

// AgentFunc is the code of an agent. yield stores and delivers an event, and returns when the caller asks for the next
// one. When it fails, the agent must end: with E_INVOCATION_STOPPED the caller wants no more events. The function's
// error is that of the invocation.
type AgentFunc func(ctx *Context, yield func(*Event) error) error

// SequentialAgent runs its agents one after another.
type SequentialAgent struct {
	Name        string
	Description string
	Agents      []Agent
	BeforeAgent []AgentCallback
	AfterAgent  []AgentCallback
}

// ParallelAgent runs its agents at once, each in a branch of its own: none sees the others' events. The order of their
// events does not depend on time: the n-th of each comes in the order of the agents. One that fails stops the others,
// as a caller does who leaves: their contexts end with E_INVOCATION_STOPPED.
type ParallelAgent struct {
	Name        string
	Description string
	Agents      []Agent
	BeforeAgent []AgentCallback
	AfterAgent  []AgentCallback
}

// LoopAgent runs its agents one after another, again and again, until an event has Actions.Escalate. Loops around it go
// on.
type LoopAgent struct {
	Name          string
	Description   string
	Agents        []Agent
	MaxIterations int // 0 sets no bound
	BeforeAgent   []AgentCallback
	AfterAgent    []AgentCallback
}

// AgentName implements Agent.
func (a *LLMAgent) AgentName() string { return a.Name }

// AgentName implements Agent.
func (a *CustomAgent) AgentName() string { return a.Name }

// AgentName implements Agent.
func (a *SequentialAgent) AgentName() string { return a.Name }

// AgentName implements Agent.
func (a *ParallelAgent) AgentName() string { return a.Name }

// AgentName implements Agent.
func (a *LoopAgent) AgentName() string { return a.Name }
