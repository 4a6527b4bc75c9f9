package abi

// Kinds of event. The payload is nil where no type is named.
const (
	EventMessage            uint8 = 1 // StreamEvent
	EventThought            uint8 = 2 // StreamEvent
	EventToolCall           uint8 = 3 // ToolCallEvent
	EventTurnStart          uint8 = 4
	EventTurnEnd            uint8 = 5 // TurnEndEvent
	EventDispatchStart      uint8 = 6
	EventDispatchEnd        uint8 = 7 // DispatchEndEvent
	EventIterationStart     uint8 = 8
	EventIterationEnd       uint8 = 9  // IterationEndEvent
	EventToolExecutionStart uint8 = 10 // ToolStartEvent
	EventToolExecutionEnd   uint8 = 11 // ToolEndEvent
	EventTurnGateOpen       uint8 = 12 // GateOpenEvent
	EventTurnGateClosed     uint8 = 13 // GateClosedEvent
	EventLog                uint8 = 14 // LogEvent
	EventWarning            uint8 = 15 // WarningEvent
	EventError              uint8 = 16 // ErrorEvent
	EventGenerationStats    uint8 = 17 // StatsEvent
	EventMessageInterrupted uint8 = 18 // StreamEvent, complete: the end of an interrupted message
	EventThoughtInterrupted uint8 = 19 // StreamEvent, complete: the end of an interrupted thought
)

// StreamEvent is a delta of a message or thought stream. The running text is not sent: the host joins the deltas when
// user code reads it.
type StreamEvent struct {
	ID       string
	Created  uint64 // ms since StartTurn.Now, when the stream opened
	Delta    string
	Length   uint64 // bytes of UTF-8 in the stream so far, including this delta
	Complete bool
}

// ToolCallEvent reports a tool call.
type ToolCallEvent struct {
	ID             string
	Tool           string // "" until known
	Args           Value
	Checksum       string // "" until tool and args are known
	Created        uint64
	Complete       bool
	IsError        bool
	Results        uint8  // ResultsNone, ResultsHost, ResultsValue, ResultsKept
	Value          Value  // ResultsValue: the results
	Kept           uint32 // ResultsKept: the number of the effect
	ExecutionID    string // "" until the call is executed, and if host code does not report it
	ProviderCallID string // the provider's id of the call; "" for none
}

// Where the results of a ToolCallEvent are.
const (
	ResultsNone  uint8 = 0 // not reported yet
	ResultsHost  uint8 = 1 // the host holds the results of its own report call for this id
	ResultsValue uint8 = 2 // in Value
	ResultsKept  uint8 = 3 // the host keeps them: the handler's results of the Tool effect in Kept
)

// TurnEndEvent ends a turn.
type TurnEndEvent struct {
	Started uint64
	Status  uint8
	Error   *ErrorValue
}

// DispatchEndEvent ends a dispatch.
type DispatchEndEvent struct {
	Started    uint64
	Status     uint8
	Iterations uint32
	Error      *ErrorValue
}

// IterationEndEvent ends an iteration.
type IterationEndEvent struct {
	Started   uint64
	Status    uint8
	Discarded []Delta
}

// ToolStartEvent says that a handler is about to run.
type ToolStartEvent struct {
	Tool           string
	CallID         string // the checksum: equal calls have equal ones
	ExecutionID    string // unique to this execution; its end has the same
	ProviderCallID string // the provider's id of the call; "" for none
	Args           Value  // validated
}

// ToolEndEvent says that a handler ended.
type ToolEndEvent struct {
	Tool           string
	CallID         string
	ExecutionID    string
	ProviderCallID string
	Started        uint64
	IsError        bool
}

// LogEvent is a line of the structured log.
type LogEvent struct {
	Level      uint8 // LevelTrace, …
	Kind       string
	Message    string
	HasPayload bool
	Payload    Value
}

// WarningEvent reports a problem that did not stop the turn.
type WarningEvent struct {
	Source  uint8 // 0 turn runner, 1 dispatch runner
	Kind    string
	Message string
	Error   *ErrorValue
	Payload Value
}

// ErrorEvent carries an error.
type ErrorEvent struct {
	Error ErrorValue
}

// StatsEvent carries the cost of a model call.
type StatsEvent struct {
	Stats Value // map
}

// GateOpenEvent says that a gate is waiting to be settled.
type GateOpenEvent struct {
	Gate      uint32 // number within the turn, from 1
	ID        string
	Reason    string
	Payload   Value
	CreatedAt int64  // ms since the Unix epoch
	Digest    string // SHA-256 of the canonical JSON of {"id", "payload", "reason"}, lower-case hex
}

// GateClosedEvent says that a gate was settled.
type GateClosedEvent struct {
	Gate   uint32
	ID     string
	Result uint8 // GateResolved, …
}

// Results of a gate.
const (
	GateResolved uint8 = 0
	GateRejected uint8 = 1
	GateAborted  uint8 = 2
	GateTimeout  uint8 = 3
)
