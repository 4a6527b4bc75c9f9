package abi

// Sessions and invocations, of modules with FeatureSessions. A session's events are values, maps whose members SPEC.md
// lists; so are agents' options, answers of models, and actions.

// OpenAgents gives the guest a tree of agents and the plugins around it. Answered by Reply with turn 0. CloseRunner
// closes it.
type OpenAgents struct {
	Op      uint8
	Runner  uint32 // chosen by the host, > 0, unique among the open runners of the instance
	Call    uint32
	App     string // name of the application, which scopes sessions and state
	Root    uint32 // number of the agent that answers first
	Agents  []AgentDef
	Plugins []PluginDef
}

// AgentDef defines an agent. Children come behind their parents, and each has one parent.
type AgentDef struct {
	Number      uint32 // its place in the list, from 1
	Kind        uint8  // AgentHost, AgentLLM, …
	Name        string // unique in the tree
	Description string
	Runner      uint32   // AgentLLM: an open runner, whose executor is the model and whose tools are the agent's; 0 for others
	Children    []uint32 // numbers of its agents, in order
	Options     Value    // map, as the kind has; nil for none
	Hooks       []uint32 // how many callbacks host code has for each hook, by its number; missing ones are 0
}

// Kinds of agent.
const (
	AgentHost       uint8 = 0 // a generator of the host
	AgentLLM        uint8 = 1
	AgentSequential uint8 = 2
	AgentParallel   uint8 = 3
	AgentLoop       uint8 = 4
)

// PluginDef defines a plugin.
type PluginDef struct {
	Name  string
	Hooks uint32 // bits: 1 << the number of each hook that it has
}

// Hooks, which host code has as callbacks of an agent or as parts of a plugin. The comment names the value that a hook
// gets and what its answer is; an answer is nil, or a map of "value" and "actions", each if there is one.
const (
	HookUserMessage       uint8 = 0  // plugins: the message's content → a content in its place
	HookBeforeRun         uint8 = 1  // plugins: nil → a content that answers instead of the agent
	HookAfterRun          uint8 = 2  // plugins: nil → nil
	HookEvent             uint8 = 3  // plugins: an event → an event in its place
	HookBeforeAgent       uint8 = 4  // nil → a content that answers instead of the agent
	HookAfterAgent        uint8 = 5  // nil → a content behind those of the agent
	HookBeforeModel       uint8 = 6  // nil → an answer instead of the model's
	HookAfterModel        uint8 = 7  // an answer, or a part of a stream of one → an answer in its place
	HookModelError        uint8 = 8  // the error, bytes of an ErrorValue → an answer in its place
	HookBeforeTool        uint8 = 9  // map of tool, id, args → a result instead of the tool's
	HookAfterTool         uint8 = 10 // map of tool, id, args, result → a result in its place
	HookToolError         uint8 = 11 // map of tool, id, args, error → a result in its place
	HookInstruction       uint8 = 12 // agents: nil → the instruction's text
	HookGlobalInstruction uint8 = 13 // root: nil → the instruction's text for all agents of the tree
	HookConfirm           uint8 = 14 // agents: map of tool, id, args → true to ask for confirmation, or a map of hint and payload
	HookSummary           uint8 = 15 // root: content of what is to be summed up → the summary, a content
	HookSummaryError      uint8 = 16 // root: why the session was not compacted, bytes of an ErrorValue → nil
)

// StartInvocation starts an invocation, the answer to one message.
type StartInvocation struct {
	Op      uint8
	Turn    uint32 // chosen by the host, > 0, unique among the running turns of the instance
	Runner  uint32 // of OpenAgents
	Now     int64  // the clock at the start, ms since the Unix epoch
	Seed    []byte // 16 bytes of entropy
	ID      string // of the invocation
	Session string // id of the session, as the user sees it
	User    string // id of the user
	History uint32 // holds the session's events; 0 for none
	Count   uint32 // how many of them are the session's
	State   Value  // map of the session's state, names with their scopes
	Message Value  // the user's content; nil for none
	Options Value  // map of maxModelCalls, rewindBeforeInvocationId and compaction, each if there is one; nil for none
	Shown   []Shown
	Aborted bool // the abort signal had fired before the start
}

// Shown is what a host keeps of what the model of an agent was asked in the session. Of agents without one it keeps
// nothing.
type Shown struct {
	Agent uint32
	Have  uint32 // how many contents it keeps; 0 for none
	Mark  uint64 // of the ModelRequest that had the last of them
	Tools bool   // it keeps the tools
}

// CollectionEvents is the collection of a History that holds a session's events.
const CollectionEvents uint8 = 8

// Kinds of effect in an invocation. The comment names the type of Args and of the result's value.
const (
	SessionEffectAppend  uint8 = 32 // AppendArgs → nil, when the caller asks for the next event
	SessionEffectDeliver uint8 = 33 // DeliverArgs → nil, when the one that it is for asks for the next event
	SessionEffectHook    uint8 = 34 // HookArgs → the hook's answer
	SessionEffectAgent   uint8 = 35 // AgentArgs → nil, when the generator has ended
	SessionEffectModel   uint8 = 36 // ModelRequest, or nil → the whole answer, as in RespondArgs; nil if it was given
)

// AppendArgs of SessionEffectAppend: what one transaction of the session's store writes.
type AppendArgs struct {
	Event     Raw  // the event, a value; a store keeps its bytes
	Deliver   bool // the event is for the caller, too, once it is stored
	Ahead     bool // the module goes on at once: what it asks for next waits for this effect, and is left out if it fails
	State     []StateDelta
	Artifacts []ArtifactDelta
}

// StateDelta is a change of a value of the state.
type StateDelta struct {
	Scope string // the store's; empty for the session's own
	Name  string // without the scope
	Value Value  // nil deletes
}

// ArtifactDelta is a version of an artifact that an event adds.
type ArtifactDelta struct {
	Scope   string // the store's; empty for the session's own
	Name    string // without the scope
	Version uint32
}

// DeliverArgs of SessionEffectDeliver: an event that is not stored.
type DeliverArgs struct {
	Run   uint32 // of an agent that host code runs with SessionMethodRunAgent, or 0 for the caller of the invocation
	Event Value
}

// HookArgs of SessionEffectHook. The effect's context is that of the model call, if it is about one.
type HookArgs struct {
	Hook   uint8
	Plugin uint32 // its place in the list, from 1; 0 for a callback of the agent
	Index  uint32 // place of the callback in the agent's list
	Agent  uint32 // 0 for none
	Run    uint32 // of the agent
	Value  Value
}

// AgentArgs of SessionEffectAgent: a generator to run. It yields with SessionMethodYield.
type AgentArgs struct {
	Agent  uint32
	Run    uint32 // names this run of the agent; from 1, within the invocation
	Branch string
	Input  Value // content that it answers, if it is not the invocation's message: it is a tool of another agent; else nil
}

// Methods of Call in an invocation. The comment names the type of Args (nil where there is none) and of the reply's
// value.
const (
	SessionMethodGetState   uint8 = 64 // StateKeyArgs → the value, nil if there is none
	SessionMethodSetState   uint8 = 65 // SetStateArgs → nil
	SessionMethodStateKeys  uint8 = 66 // nil → array of the names with their scopes, in the order of their UTF-8 bytes
	SessionMethodYield      uint8 = 67 // YieldArgs → the event as it was stored and delivered, when the agent goes on
	SessionMethodRespond    uint8 = 68 // RespondArgs → nil, when it was delivered. Context is that of the model call
	SessionMethodRequest    uint8 = 69 // RequestArgs → ModelRequest. Context is that of the model call
	SessionMethodRunAgent   uint8 = 70 // RunAgentArgs → nil, when the agent has ended
	SessionMethodActions    uint8 = 71 // ActionsArgs → nil
	SessionMethodNewSession uint8 = 72 // of turn 0: NewSessionArgs → the value of an AppendArgs
	SessionMethodAppend     uint8 = 73 // of turn 0: AppendEventArgs → the value of an AppendArgs, nil for a partial event
)

// StateKeyArgs of SessionMethodGetState.
type StateKeyArgs struct {
	Name string // with its scope, such as user:name
}

// SetStateArgs of SessionMethodSetState: a change that code of the invocation sees. No event carries it unless the
// handler of a tool makes it.
type SetStateArgs struct {
	Name        string // with its scope
	Value       Value  // nil deletes
	ExecutionID string // of the handler's ToolArgs; empty for other code. Context is then that of the model call
}

// YieldArgs of SessionMethodYield: an event of a generator.
type YieldArgs struct {
	Run   uint32 // of its AgentArgs
	Event Value
}

// RespondArgs of SessionMethodRespond: an answer of a model that is host code, or a part of a stream of one.
type RespondArgs struct {
	Response Value
}

// RequestArgs of SessionMethodRequest. A host that keeps what a model of the session was asked asks for what follows.
type RequestArgs struct {
	Have  uint32 // how many contents the host keeps, of an agent of the same name in the same session; 0 for none
	Mark  uint64 // of the ModelRequest that had the last of them
	Tools bool   // whether the tools are wanted
}

// ModelRequest is what the model of a step is asked.
type ModelRequest struct {
	Instructions string
	From         uint32 // place of the first of Contents: Have, or 0 if what the host keeps is not what the model is shown
	Total        uint32 // how many contents the model is shown
	Mark         uint64 // names the contents up to the last one here; below 2^53. 0 if the host must keep nothing of the request
	Contents     Raw    // list of contents, each a map: as many as fit
	Tools        Raw    // list of maps of name, description and inputSchema; nil if they are not wanted
}

// RunAgentArgs of SessionMethodRunAgent, by which a generator runs an agent of the tree and takes its events.
type RunAgentArgs struct {
	Run    uint32 // of the generator's AgentArgs
	Agent  uint32
	Number uint32 // names the run in DeliverArgs: chosen by the host, from 2,147,483,648
}

// ActionsArgs of SessionMethodActions: what a tool's handler does besides its result.
type ActionsArgs struct {
	ExecutionID string // of the handler's ToolArgs
	Actions     Value  // map
}

// NewSessionArgs of SessionMethodNewSession.
type NewSessionArgs struct {
	App   string
	User  string
	ID    string // id of the event that creates the session
	Now   int64  // ms since the Unix epoch
	State Value  // map of the initial state, names with their scopes; nil for none
}

// AppendEventArgs of SessionMethodAppend: an event that no agent made.
type AppendEventArgs struct {
	App   string
	User  string
	ID    string // id for the event if it has none
	Now   int64  // ms since the Unix epoch
	Event Value
}
