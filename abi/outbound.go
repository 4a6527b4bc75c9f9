package abi

// Welcome answers Hello.
type Welcome struct {
	Op        uint8
	Major     uint16
	Minor     uint16
	Features  uint64   // asked for and supported
	Limits    Limits   // in force
	Quota     Quota    // in force
	Build     string   // version of the module, for people
	Providers []string // protocols of the chat executor, the default one first
}

// Reply answers a Call or an OpenRunner (turn 0).
type Reply struct {
	Op    uint8
	Turn  uint32
	Call  uint32
	Error *ErrorValue // why the call failed; nil for success
	Value Raw         // the method's result, nil if it has none
}

// Event tells listeners what happened.
type Event struct {
	Op        uint8
	Turn      uint32
	Seq       uint32 // from 1, grows by one per event of the turn
	Kind      uint8  // see event.go
	Elapsed   uint64 // when, ms since StartTurn.Now
	Dispatch  uint32 // 0 if not from a dispatch
	Iteration int32  // -1 if not from an iteration
	Scope     uint8  // ScopeDispatch | ScopeTurn
	Payload   Raw
}

// Scopes: whose listeners an event is for.
const (
	ScopeDispatch uint8 = 1 << 0 // hooks and observers of the dispatch
	ScopeTurn     uint8 = 1 << 1 // the runner's two buses
)

// Effect asks the host to do something. It stays outstanding until its Result.
type Effect struct {
	Op      uint8
	Turn    uint32
	Effect  uint32 // numbered within the turn, from 1
	Kind    uint8  // see effect.go
	Context uint32
	Path    Text   // of the requesting seam, such as "d1.0.x"; JavaScript's decoder reads it for tools only
	Ordinal uint32 // from 1: among the effects of this kind in that seam; for a Tool among those with its CallID
	Args    Raw
}

// Cancel tells the host that the guest no longer wants an effect's result. The host still sends a Result, at any
// time.
type Cancel struct {
	Op     uint8
	Turn   uint32
	Effect uint32
}

// Sync is a change inside the guest that the host mirrors: of a collection, or the signal of a dispatch. The host
// applies it when the step returns, before it delivers any other frame of that step.
type Sync struct {
	Op         uint8
	Turn       uint32
	Context    uint32
	Collection uint8
	Sync       uint8 // SyncAdd, …
	Handle     int64 // > 0 given by the host, < 0 by the guest. SyncSignal: SignalAck, …
	Other      int64 // SyncReplace: replaces Handle. SyncOpen: the context to copy; in an invocation the agent. SyncAdd: see EditKeep; 0 for none
	Data       Raw
}

// Syncs.
const (
	SyncAdd     uint8 = 0 // append Handle; Data is its body if the guest made it and this is its first mention
	SyncRemove  uint8 = 1
	SyncReplace uint8 = 2 // put Other in the place of Handle; Data as in SyncAdd
	SyncOpen    uint8 = 3 // Context begins: its collections, stash and tools are copies of those of Other
	SyncTools   uint8 = 4 // tools: Data is the whole list of registered tool numbers (array)
	SyncInsert  uint8 = 5 // insert Handle before Other (0: append); Data as in SyncAdd
	SyncSignal  uint8 = 6 // the dispatch was acked, nacked or aborted, as Handle says; Data is the ErrorValue of a nack or an abort
	SyncDefine  uint8 = 7 // tools: Data is the ToolDef of a tool that the guest makes; not registered
	SyncName    uint8 = 8 // Handle is a record that the guest made, Data its body; it is in no collection
	SyncSet     uint8 = 9 // stash: Data is a key (string) and a value
)

// Signals of a SyncSignal.
const (
	SignalAck   int64 = 1
	SignalNack  int64 = 2
	SignalAbort int64 = 3 // its deadline has passed: running code must stop
)

// Timer says when the turn wants its next Tick. It replaces the turn's earlier Timer.
type Timer struct {
	Op   uint8
	Turn uint32
	Due  uint64 // ms since StartTurn.Now; 0 cancels
}

// End closes a turn or a standalone dispatch. It is the last frame of that turn.
type End struct {
	Op         uint8
	Turn       uint32
	Status     uint8 // StatusAck, …
	Iterations uint32
	Error      *ErrorValue // set for nack and failed
}

// Statuses of dispatches, iterations and turns.
const (
	StatusAck      uint8 = 0
	StatusNack     uint8 = 1
	StatusAborted  uint8 = 2
	StatusFailed   uint8 = 3 // turns only: ended outside a dispatch's signal
	StatusContinue uint8 = 4 // iterations only
	StatusRefused  uint8 = 5 // turns only: the input was rejected before any event
	StatusLost     uint8 = 6 // iterations only: the process of its host code died
)

// Fault answers a frame that the guest could not process. The rest of that step's input is dropped; the instance goes
// on.
type Fault struct {
	Op      uint8
	Turn    uint32 // 0 if unknown
	Code    string
	Message string
	Offset  uint32 // of the frame within the step's input
}

// ErrorValue is an error on the wire.
type ErrorValue struct {
	Handle     int64  // > 0: the host's own error object; < 0: made by the guest; 0: not kept
	Name       string // class name for errors without a code ("Error", "TypeError")
	Code       string // "E_…" or empty
	Message    string
	Status     uint16
	Fatal      bool
	Abort      bool // the host says that this error is or wraps the abort cause, or is an AbortError
	Details    Value
	Cause      *ErrorValue
	Suppressed []ErrorValue `limit:"64"` // at most 64: they nest, and each level may allocate before it is read
}
