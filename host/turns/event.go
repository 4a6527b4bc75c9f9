package turns

import (
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/store"
)

// Kind is the kind of an event.
type Kind uint8

// Kinds of event. An application shows the first three (register with On); the others report the progress of the turn
// (register with Observe). The comment names the event's type.
const (
	KindMessage            = Kind(abi.EventMessage)            // *MessageEvent
	KindThought            = Kind(abi.EventThought)            // *ThoughtEvent
	KindToolCall           = Kind(abi.EventToolCall)           // *ToolCallEvent
	KindTurnStart          = Kind(abi.EventTurnStart)          // *TurnStartEvent
	KindTurnEnd            = Kind(abi.EventTurnEnd)            // *TurnEndEvent
	KindDispatchStart      = Kind(abi.EventDispatchStart)      // *DispatchStartEvent
	KindDispatchEnd        = Kind(abi.EventDispatchEnd)        // *DispatchEndEvent
	KindIterationStart     = Kind(abi.EventIterationStart)     // *IterationStartEvent
	KindIterationEnd       = Kind(abi.EventIterationEnd)       // *IterationEndEvent
	KindToolExecutionStart = Kind(abi.EventToolExecutionStart) // *ToolExecutionStartEvent
	KindToolExecutionEnd   = Kind(abi.EventToolExecutionEnd)   // *ToolExecutionEndEvent
	KindTurnGateOpen       = Kind(abi.EventTurnGateOpen)       // *TurnGateOpenEvent
	KindTurnGateClosed     = Kind(abi.EventTurnGateClosed)     // *TurnGateClosedEvent
	KindLog                = Kind(abi.EventLog)                // *LogEvent
	KindWarning            = Kind(abi.EventWarning)            // *WarningEvent
	KindError              = Kind(abi.EventError)              // *ErrorEvent
	KindGenerationStats    = Kind(abi.EventGenerationStats)    // *GenerationStatsEvent
)

// lastKind is the highest number of a kind.
const lastKind = KindGenerationStats

var kindOfEvent = [lastKind + 1]string{
	KindMessage: "message", KindThought: "thought", KindToolCall: "toolCall",
	KindTurnStart: "turnStart", KindTurnEnd: "turnEnd",
	KindDispatchStart: "dispatchStart", KindDispatchEnd: "dispatchEnd",
	KindIterationStart: "iterationStart", KindIterationEnd: "iterationEnd",
	KindToolExecutionStart: "toolExecutionStart", KindToolExecutionEnd: "toolExecutionEnd",
	KindTurnGateOpen: "turnGateOpen", KindTurnGateClosed: "turnGateClosed",
	KindLog: "log", KindWarning: "warning", KindError: "error", KindGenerationStats: "generationStats",
}

// String returns the event's name as in JSON and JavaScript, such as "turnStart".
func (k Kind) String() string {
	if k > lastKind {
		return ""
	}
	return kindOfEvent[k]
}

// Event is an event of a turn: one of the pointer types of this package whose names end in Event. Events are plain
// data and never change after delivery.
type Event interface {
	// Kind returns the kind of the event.
	Kind() Kind
	// Meta returns the common fields of all events.
	Meta() *Head
	// MarshalJSON writes the event as one line of the event log, the same bytes in every host.
	MarshalJSON() ([]byte, error)
}

// Head has the common fields of all events.
type Head struct {
	Seq        uint32    // from 1, grows by one per event of the turn
	TurnID     string    // "" in a standalone dispatch
	DispatchID string    // "" if the event does not come from a dispatch
	Iteration  int       // from 0, -1 if the event does not come from an iteration
	At         time.Time // when it happened
}

// Meta returns the head itself.
func (h *Head) Meta() *Head { return h }

// MessageEvent is a delta of a message that is being generated.
type MessageEvent struct {
	Head
	StreamDelta
}

// ThoughtEvent is a delta of a thought that is being generated.
type ThoughtEvent struct {
	Head
	StreamDelta
}

// StreamDelta is one report on a stream of text.
type StreamDelta struct {
	ID         string
	Delta      string    // the new text of this report
	Full       string    // the text so far, Delta included; it shares memory with that of the other events of the stream
	IsComplete bool      // nothing follows
	CreatedAt  time.Time // of the stream's first report
	// IsInterrupted marks a complete stream that was interrupted: Full is incomplete.
	IsInterrupted bool
}

// ToolCallEvent is a report of a tool call.
type ToolCallEvent struct {
	Head
	ID       string
	Tool     string          // "" until known
	Args     json.RawMessage // nil until known
	Checksum string          // lower-case hex SHA-256 of tool and args, "" until both are known
	// ExecutionID is the execution that gave the results, "" until there is one. ProviderCallID is the provider's id of
	// the call, "" for none.
	ExecutionID, ProviderCallID string

	IsComplete bool
	IsError    bool
	Results    any // what was reported, nil until then; of a tool call inside the core plain data, as WaitFor gives it
	CreatedAt  time.Time

	results json.RawMessage // Results from inside the core, its members in their order
}

// TurnStartEvent begins a turn; its time is Head.At.
type TurnStartEvent struct{ Head }

// TurnEndEvent ends a turn.
type TurnEndEvent struct {
	Head
	Status    Status
	StartedAt time.Time
	Err       error // set when Status is Failed
}

// DispatchStartEvent begins a dispatch.
type DispatchStartEvent struct{ Head }

// DispatchEndEvent ends a dispatch. After Nack, Err is the same error value that the executor or a middleware passed
// to Nack.
type DispatchEndEvent struct {
	Head
	Status     Status
	Iterations int // that ran
	StartedAt  time.Time
	Err        error
}

// IterationStartEvent begins an iteration.
type IterationStartEvent struct{ Head }

// IterationEndEvent ends an iteration.
type IterationEndEvent struct {
	Head
	Status    Status
	StartedAt time.Time
	Discarded []store.Delta // writes that reach neither storage nor the parent
}

// ToolExecution names one execution of a tool.
type ToolExecution struct {
	ToolName       string
	CallID         string // the checksum: equal calls have equal ones
	ExecutionID    string // unique to this execution, shared by its start and its end
	ProviderCallID string // the provider's id of the call, "" for none
}

// ToolExecutionStartEvent says that a tool's handler is about to run.
type ToolExecutionStartEvent struct {
	Head
	ToolExecution
	Args json.RawMessage // validated, defaults applied
}

// ToolExecutionEndEvent says that a tool's handler has returned.
type ToolExecutionEndEvent struct {
	Head
	ToolExecution
	IsError   bool
	StartedAt time.Time
}

// TurnGateOpenEvent says that a turn waits at a gate. The gate is live: a listener may settle it, immediately or
// later.
type TurnGateOpenEvent struct {
	Head
	Gate *OpenGate
}

// TurnGateClosedEvent says that a gate was settled, at Head.At. It comes before the waiting code continues. Every
// open gate is closed before its turn's end, as aborted if it was not settled.
type TurnGateClosedEvent struct {
	Head
	GateID string
	Result GateResult
}

// LogEvent is a line of the structured log.
type LogEvent struct {
	Head
	Level   Level
	Type    string // what kind of line it is: "kind" in JSON
	Message string
	Payload json.RawMessage // nil for none
}

// WarningEvent reports a problem that did not stop the turn.
type WarningEvent struct {
	Head
	Source  string // "turn-runner" or "dispatch-runner"
	Type    string // "kind" in JSON
	Message string
	Err     error
	Payload json.RawMessage
}

// ErrorEvent carries an error. An error from user code is the same error value.
type ErrorEvent struct {
	Head
	Err error
}

// GenerationStatsEvent carries the cost of a model call.
type GenerationStatsEvent struct {
	Head
	Stats json.RawMessage // an object
}

// Kind is KindMessage.
func (*MessageEvent) Kind() Kind { return KindMessage }

// Kind is KindThought.
func (*ThoughtEvent) Kind() Kind { return KindThought }

// Kind is KindToolCall.
func (*ToolCallEvent) Kind() Kind { return KindToolCall }

// Kind is KindTurnStart.
func (*TurnStartEvent) Kind() Kind { return KindTurnStart }

// Kind is KindTurnEnd.
func (*TurnEndEvent) Kind() Kind { return KindTurnEnd }

// Kind is KindDispatchStart.
func (*DispatchStartEvent) Kind() Kind { return KindDispatchStart }

// Kind is KindDispatchEnd.
func (*DispatchEndEvent) Kind() Kind { return KindDispatchEnd }

// Kind is KindIterationStart.
func (*IterationStartEvent) Kind() Kind { return KindIterationStart }

// Kind is KindIterationEnd.
func (*IterationEndEvent) Kind() Kind { return KindIterationEnd }

// Kind is KindToolExecutionStart.
func (*ToolExecutionStartEvent) Kind() Kind { return KindToolExecutionStart }

// Kind is KindToolExecutionEnd.
func (*ToolExecutionEndEvent) Kind() Kind { return KindToolExecutionEnd }

// Kind is KindTurnGateOpen.
func (*TurnGateOpenEvent) Kind() Kind { return KindTurnGateOpen }

// Kind is KindTurnGateClosed.
func (*TurnGateClosedEvent) Kind() Kind { return KindTurnGateClosed }

// Kind is KindLog.
func (*LogEvent) Kind() Kind { return KindLog }

// Kind is KindWarning.
func (*WarningEvent) Kind() Kind { return KindWarning }

// Kind is KindError.
func (*ErrorEvent) Kind() Kind { return KindError }

// Kind is KindGenerationStats.
func (*GenerationStatsEvent) Kind() Kind { return KindGenerationStats }

// Status says how a turn, a dispatch or an iteration ended.
type Status uint8

// Statuses. Failed is for turns that end without a dispatch's signal: by a pipeline's error, a failed commit or a
// dead instance. Continue is for iterations only.
const (
	Ack      = Status(abi.StatusAck)
	Nack     = Status(abi.StatusNack)
	Aborted  = Status(abi.StatusAborted)
	Failed   = Status(abi.StatusFailed)
	Continue = Status(abi.StatusContinue)
)

// String returns the status as in JSON, such as "ack".
func (s Status) String() string {
	switch s {
	case Ack:
		return "ack"
	case Nack:
		return "nack"
	case Aborted:
		return "aborted"
	case Failed:
		return "failed"
	case Continue:
		return "continue"
	}
	return ""
}

// Level of a line of the structured log.
type Level uint8

// Levels.
const (
	LevelTrace = Level(abi.LevelTrace)
	LevelDebug = Level(abi.LevelDebug)
	LevelInfo  = Level(abi.LevelInfo)
	LevelWarn  = Level(abi.LevelWarn)
	LevelError = Level(abi.LevelError)
)

// String returns the level's name.
func (l Level) String() string {
	if l > LevelError {
		return ""
	}
	return [...]string{"trace", "debug", "info", "warn", "error"}[l]
}
