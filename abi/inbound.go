package abi

// Hello opens the conversation; it is the first frame an instance gets, exactly once. The guest answers Welcome.
type Hello struct {
	Op       uint8
	Major    uint16
	Minor    uint16
	Features uint64 // features that the host can use
	Limits   Limits // zero fields keep the default; a value above the default is lowered to it
	Quota    Quota  // zero fields keep the default
	Seed     []byte // 16 bytes of entropy for this instance alone
}

// GCPercent says how much the guest's heap may grow before garbage is collected. It follows Hello as a step of its own,
// or is not sent. It has no answer.
type GCPercent struct {
	Op      uint8
	Percent uint32 // of the live heap, > 0; 100 unless it is sent
}

// Limits bound what either side accepts. A host may lower them, never raise them.
type Limits struct {
	Frame           uint32 // bytes of one frame, and of one step's whole input
	String          uint32 // bytes of one string or byte string
	Array           uint32 // elements of one array or entries of one map
	Depth           uint32 // nesting of arrays and maps in one frame
	TurnEffects     uint32 // effects outstanding in one turn
	InstanceEffects uint32 // effects outstanding in one instance
}

// Quota bounds the bytes that the guest holds for turns: bodies of records, queued writes, open streams and requests.
// A turn that would pass either bound fails with E_TURN_QUOTA_EXCEEDED.
type Quota struct {
	Turn     uint64 // bytes for one turn
	Instance uint64 // bytes for all turns and histories of the instance; a history counts once
}

// OpenRunner gives the guest the configuration that many turns share. Answered by Reply with turn 0.
type OpenRunner struct {
	Op             uint8
	Runner         uint32 // chosen by the host, > 0, unique among the open runners of the instance
	Call           uint32
	Executor       uint8 // ExecutorHost, ExecutorChat or ExecutorModule
	Chat           Value // options of the chat executor or of an agent, a map; nil for ExecutorHost
	Tools          []ToolDef
	TurnInput      []Middleware
	TurnOutput     []Middleware
	DispatchInput  []Middleware
	DispatchOutput []Middleware
	Callbacks      uint32   // bits: which optional callbacks the host has
	Encodings      []string // token encodings for which the host has a tokenizer
}

// Executors.
const (
	ExecutorHost   uint8 = 0 // the host's function, called by an effect
	ExecutorChat   uint8 = 1 // the chat executor inside the module
	ExecutorModule uint8 = 2 // that of an agent module
)

// Callback bits of OpenRunner.Callbacks.
const (
	CallbackCommit  uint32 = 1 << 0 // commitCallback: an iteration's queue in one call
	CallbackDiscard uint32 = 1 << 1 // discardCallback
	CallbackReplace uint32 = 1 << 2 // replaceToolCallGroupCallback
)

// Middleware is one entry of a pipeline.
type Middleware struct {
	Kind uint8  // MiddlewareHost or MiddlewareBuiltin
	Name string // name of a built-in one, such as "maxIterations"; empty for the host's
	Arg  Value  // its argument; nil for the host's
}

// Kinds of middleware.
const (
	MiddlewareHost    uint8 = 0 // a host function, called by an effect with its place in the pipeline
	MiddlewareBuiltin uint8 = 1 // compiled into the module
)

// ToolDef defines a tool. Number names it in later frames: 1 to 65,535 for a runner's tools, above that for a turn's
// own, from 2,147,483,648 for tools made by the guest.
type ToolDef struct {
	Number      uint32
	Name        string
	Description string
	InputSchema Value  // JSON Schema 2020-12 of object type, as a value
	Flags       uint32 // ToolTrusted | ToolEphemeral | ToolHidden
	OnCollision uint8  // CollisionThrow, CollisionReplace, CollisionKeep
	Builtin     string // name of a handler inside the module, such as "calculator"; empty for the host's
	Arg         Value  // its argument; nil for the host's
}

// Tool flags and collision policies.
const (
	ToolTrusted   uint32 = 1 << 0
	ToolEphemeral uint32 = 1 << 1
	ToolHidden    uint32 = 1 << 2
	ToolValidates uint32 = 1 << 3 // its arguments are validated by the host (EffectValidate), not by InputSchema
	ToolArtifact  uint32 = 1 << 4 // an ArtifactTool: its result is text for the model

	CollisionThrow   uint8 = 0
	CollisionReplace uint8 = 1
	CollisionKeep    uint8 = 2
)

// CloseRunner closes a runner. Running turns go on.
type CloseRunner struct {
	Op     uint8
	Runner uint32
}

// History appends records to a list that many turns share. The first frame with a number creates it.
type History struct {
	Op         uint8
	History    uint32 // chosen by the host, > 0
	Collection uint8  // CollectionMessages, …
	Count      uint32 // records in Block
	Block      Raw    // byte string: Count consecutive record bodies
}

// DropHistory drops a history. Turns that refer to it keep their records.
type DropHistory struct {
	Op      uint8
	History uint32
}

// StartTurn starts a turn, or a standalone dispatch.
type StartTurn struct {
	Op           uint8
	Turn         uint32 // chosen by the host, > 0, unique among the running turns of the instance
	Runner       uint32
	Standalone   bool   // a dispatch without a turn (raw)
	Now          int64  // the clock at the start, ms since the Unix epoch
	Seed         []byte // 16 bytes of entropy
	ID           string // the turn's id as the user sees it
	SystemPrompt string
	Instructions []Instruction
	Stash        Value   // map, or nil
	Message      Block   // at most one user message to store before the input pipeline; Count 0 for none
	Initial      []Block // records to begin with (standalone only)
	Aborted      bool    // the abort signal had fired before the start
}

// Instruction is a standing instruction with the host's handle for it.
type Instruction struct {
	Handle int64
	Text   string
}

// Block is a run of records with consecutive handles.
type Block struct {
	Collection uint8
	Handle     int64  // of the first
	Count      uint32 // 0 for none
	Data       Raw    // byte string: Count consecutive record bodies
}

// Call is a method that host code calls on a context. Answered by Reply with the same turn and call.
type Call struct {
	Op      uint8
	Turn    uint32
	Call    uint32 // numbered by the host within the turn, from 1
	Elapsed uint64 // ms since StartTurn.Now; never less than in an earlier frame of the turn
	Context uint32 // 0 the turn, n the turn's n-th dispatch
	Method  uint8  // see call.go
	Args    Raw
}

// Edit is a change that host code made to a collection. It has no answer; the host has applied it to its own copy.
type Edit struct {
	Op         uint8
	Turn       uint32
	Context    uint32
	Collection uint8
	Edit       uint8 // EditAdd, …
	Handle     int64
	Other      int64  // EditReplace: the handle that replaces Handle
	Count      uint32 // EditAdd, EditAddHistory: how many, with consecutive handles from Handle
	History    uint32 // EditAddHistory
	Data       Raw    // bodies, or the encoded argument
}

// Edits. Which ones fit which collection is in SPEC.md.
const (
	EditAdd        uint8 = 0 // append Count records with bodies in Data
	EditAddHistory uint8 = 1 // append the first Count records of History
	EditAddKnown   uint8 = 2 // append the record that Handle already names in this turn
	EditRemove     uint8 = 3 // remove Handle
	EditReplace    uint8 = 4 // replace Handle by Other (body in Data, empty if known)
	EditClear      uint8 = 5
	EditSet        uint8 = 6  // stash: Data is a key (string) and a value
	EditUnset      uint8 = 7  // stash: Data is a key (string)
	EditDefine     uint8 = 8  // tools: Data is a ToolDef that calls may name; not registered
	EditRegister   uint8 = 9  // tools: register the tool numbered Handle, overwriting its name
	EditUnregister uint8 = 10 // tools: Data is a name (string)
	EditHidden     uint8 = 11 // tools: Data is the whole list of hidden names (array of strings)
	EditKeep       uint8 = 12 // tool calls: keep the results of Tool effect Handle; Data: a part, or an array of parts of one kind
)

// Collections.
const (
	CollectionInstructions uint8 = 0
	CollectionMemories     uint8 = 1
	CollectionRetrievables uint8 = 2
	CollectionMessages     uint8 = 3
	CollectionThoughts     uint8 = 4
	CollectionToolCalls    uint8 = 5
	CollectionStash        uint8 = 6
	CollectionTools        uint8 = 7
)

// Result settles an effect.
type Result struct {
	Op      uint8
	Turn    uint32
	Effect  uint32
	Elapsed uint64
	Error   *ErrorValue // why the effect failed; nil for success
	Value   Raw         // as the effect's kind says, nil for none
}

// Chunk is a part of a streaming effect: its head (Status set) once, then data.
type Chunk struct {
	Op      uint8
	Turn    uint32
	Effect  uint32
	Elapsed uint64
	Status  uint16     // HTTP status in the head, 0 in data
	Headers [][]string // name and value pairs, names in lower case; head only
	Data    Raw
}

// Abort aborts a context.
type Abort struct {
	Op      uint8
	Turn    uint32
	Elapsed uint64
	Context uint32 // 0 the turn, n its n-th dispatch
	Reason  *ErrorValue
}

// Tick sends a turn the time when its Timer is due.
type Tick struct {
	Op      uint8
	Turn    uint32
	Elapsed uint64
}
