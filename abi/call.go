package abi

// Methods of Call. The comment names the type of Args (nil where there is none) and of the reply's value.
const (
	MethodNext           uint8 = 1  // NextArgs → nil when the rest of the pipeline has ended
	MethodStore          uint8 = 2  // StoreArgs → nil; for a retrievable the handle of the stored record
	MethodMutate         uint8 = 3  // StoreArgs → as MethodStore
	MethodDelete         uint8 = 4  // DeleteArgs → nil
	MethodReplaceGroup   uint8 = 5  // ReplaceGroupArgs → nil
	MethodAck            uint8 = 6  // nil → nil
	MethodNack           uint8 = 7  // NackArgs → nil
	MethodReport         uint8 = 8  // ReportArgs → nil
	MethodReportToolCall uint8 = 9  // ReportToolCallArgs → nil
	MethodLog            uint8 = 10 // LogArgs → nil
	MethodStats          uint8 = 11 // StatsArgs → nil
	MethodExecuteTool    uint8 = 12 // ExecuteToolArgs → ExecuteToolResult
	MethodToolCallCount  uint8 = 13 // CountArgs → int
	MethodCommit         uint8 = 14 // nil → nil
	MethodDispatch       uint8 = 15 // DispatchArgs → DispatchResult
	MethodDigest         uint8 = 16 // nil → array of six uint32, one per collection 0 to 5
	MethodEmit           uint8 = 17 // EmitArgs → nil
	MethodOpenGate       uint8 = 18 // OpenGateArgs → the value of the gate's resolution, when it is settled
	MethodSettleGate     uint8 = 19 // SettleGateArgs → nil
	MethodWarn           uint8 = 20 // WarnArgs → nil
	MethodValidate       uint8 = 21 // of turn 0: ValidateToolArgs → the arguments, defaults filled in
	MethodInterrupt      uint8 = 22 // InterruptArgs → nil
	MethodDescribe       uint8 = 23 // of turn 0, in agent modules: nil → the agent's manifest without what only its file says, as the text of its JSON
)

// NextArgs of MethodNext, which a host middleware calls to run the rest of the pipeline.
type NextArgs struct {
	Effect uint32 // the middleware's effect
}

// StoreArgs of MethodStore and MethodMutate.
type StoreArgs struct {
	Collection uint8
	Handle     int64
	Data       Raw    // the body; empty if Handle is known in this turn
	Old        string // instructions, mutate: the text that is replaced
}

// DeleteArgs of MethodDelete.
type DeleteArgs struct {
	Collection uint8
	ID         string // the record's id; for an instruction its text
}

// ReplaceGroupArgs of MethodReplaceGroup, on tool calls.
type ReplaceGroupArgs struct {
	IDs   []string
	Items []Item
}

// Item is a record with its handle.
type Item struct {
	Handle int64
	Data   Raw
}

// NackArgs of MethodNack.
type NackArgs struct {
	Error *ErrorValue // nil for a nack without an error
}

// ReportArgs of MethodReport: one delta of a stream.
type ReportArgs struct {
	Stream   uint8 // StreamMessage, StreamThought
	ID       string
	Delta    string
	Complete bool
}

// InterruptArgs of MethodInterrupt: the last delta of an interrupted stream.
type InterruptArgs struct {
	Stream uint8 // StreamMessage, StreamThought
	ID     string
	Delta  string
}

// Streams.
const (
	StreamMessage uint8 = 0
	StreamThought uint8 = 1
)

// ReportToolCallArgs of MethodReportToolCall. Absent fields keep what was reported before.
type ReportToolCallArgs struct {
	ID             string
	HasTool        bool
	Tool           string
	Args           Value // nil if absent
	HasResults     bool  // the host holds them
	HasIsError     bool
	IsError        bool
	Complete       bool
	ExecutionID    string // the execution that gave the results; empty if absent
	ProviderCallID string // the provider's id of the call; empty if absent
}

// LogArgs of MethodLog.
type LogArgs struct {
	Level      uint8 // LevelTrace, …
	Kind       string
	Message    string
	HasPayload bool
	Payload    Value
}

// Levels of the structured log.
const (
	LevelTrace uint8 = 0
	LevelDebug uint8 = 1
	LevelInfo  uint8 = 2
	LevelWarn  uint8 = 3
	LevelError uint8 = 4
)

// StatsArgs of MethodStats (reportGenerationStats).
type StatsArgs struct {
	Stats Value // map
}

// ExecuteToolArgs of MethodExecuteTool: Tool.executor(ctx)(args).
type ExecuteToolArgs struct {
	Tool           uint32 // number of a defined tool
	ProviderCallID string // the provider's id of the call; empty for none
	Args           Value
}

// ExecuteToolResult is the reply's value of MethodExecuteTool.
type ExecuteToolResult struct {
	ExecutionID string
	Effect      uint32 // the tool effect whose value the host kept; 0 for a handler in the module
	Value       Value  // the result of a handler in the module
}

// ValidateToolArgs of MethodValidate, which checks arguments against a tool's schema outside any turn.
type ValidateToolArgs struct {
	Tool ToolDef
	Args Value
}

// CountArgs of MethodToolCallCount.
type CountArgs struct {
	Checksum string
}

// DispatchArgs of MethodDispatch: DispatchRunner.dispatch with this context as its source.
type DispatchArgs struct {
	Runner uint32 // whose executor and dispatch pipelines run
}

// DispatchResult is the reply's value of MethodDispatch when the dispatch ended with ack or aborted.
type DispatchResult struct {
	Dispatch   uint32
	Status     uint8
	Iterations uint32
}

// EmitArgs of MethodEmit: ctx.emitMessage, emitThought, emitToolCall, emitToolExecutionStart, emitToolExecutionEnd.
type EmitArgs struct {
	Kind    uint8 // of event
	Payload Raw   // as in event.go
}

// OpenGateArgs of MethodOpenGate: ctx.waitFor.
type OpenGateArgs struct {
	ID        string
	Reason    string
	Payload   Value  // what a person or a program decides on
	CreatedAt int64  // ms since the Unix epoch
	Schema    Value  // JSON Schema 2020-12 that resolutions must match; nil for any value
	Timeout   uint64 // ms from the opening; 0 for none
}

// SettleGateArgs of MethodSettleGate: gate.resolve, gate.reject and gate.abort. Context is 0. A settled gate does not
// change, and the call fails with E_TURN_GATE_SETTLED.
type SettleGateArgs struct {
	Gate   uint32 // number of the gate within the turn, from GateOpenEvent
	Settle uint8  // SettleResolve, …
	Value  Value  // resolve
	Digest string // resolve: of what the decider was shown; empty to skip the comparison
	Error  *ErrorValue
}

// Ways to settle a gate.
const (
	SettleResolve uint8 = 0
	SettleReject  uint8 = 1 // with Error
	SettleAbort   uint8 = 2
)

// WarnArgs of MethodWarn: the host reports a problem that did not stop the turn.
type WarnArgs struct {
	Kind    string
	Message string
	Once    string // a key: a context reports only its first warning with this key; empty to report every one
	Error   *ErrorValue
	Payload Value
}
