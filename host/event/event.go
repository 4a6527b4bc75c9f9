package event

import (
	"encoding/json"
	"time"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/store"
)

// Kind is the kind of an event.
type Kind uint8

// String returns the event's name as in JSON and JavaScript, such as "turnStart".
func (k Kind) String() string {
	switch k {
	case KindModelCallStart:
		return "modelCallStart"
	case KindModelCallEnd:
		return "modelCallEnd"
	}
	return nameOf(kindNames[:], k)
}

// nameOf is the name of a number, "" for an unknown one.
func nameOf[N ~uint8](names []string, number N) string {
	if int(number) >= len(names) {
		return ""
	}
	return names[number]
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

// Message is a delta of a message that is being generated.
type Message struct {
	Head
	StreamDelta
}

// Thought is a delta of a thought that is being generated.
type Thought struct {
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

// ToolCall is a report of a tool call.
type ToolCall struct {
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

	// ResultsJSON are the Results of a tool call inside the core as JSON text, their members in their order; nil
	// otherwise.
	ResultsJSON json.RawMessage
}

// TurnStart begins a turn; its time is Head.At.
type TurnStart struct{ Head }

// TurnEnd ends a turn.
type TurnEnd struct {
	Head
	Status    Status
	StartedAt time.Time
	Err       error // set when Status is Failed
}

// DispatchStart begins a dispatch.
type DispatchStart struct{ Head }

// DispatchEnd ends a dispatch. After Nack, Err is the same error value that the executor or a middleware passed
// to Nack.
type DispatchEnd struct {
	Head
	Status     Status
	Iterations int // that ran
	StartedAt  time.Time
	Err        error
}

// IterationStart begins an iteration.
type IterationStart struct{ Head }

// IterationEnd ends an iteration.
type IterationEnd struct {
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

// ToolExecutionStart says that a tool's handler is about to run.
type ToolExecutionStart struct {
	Head
	ToolExecution
	Args json.RawMessage // validated, defaults applied
}

// ToolExecutionEnd says that a tool's handler has returned.
type ToolExecutionEnd struct {
	Head
	ToolExecution
	IsError   bool
	StartedAt time.Time
}

// TurnGateOpen says that a turn waits at a gate. The gate is live: a listener may settle it, immediately or
// later.
type TurnGateOpen struct {
	Head
	Gate OpenGate
}

// TurnGateClosed says that a gate was settled, at Head.At. It comes before the waiting code continues. Every
// open gate is closed before its turn's end, as aborted if it was not settled.
type TurnGateClosed struct {
	Head
	GateID string
	Result GateResult
}

// Log is a line of the structured log.
type Log struct {
	Head
	Level   Level
	Type    string // what kind of line it is: "kind" in JSON
	Message string
	Payload json.RawMessage // nil for none
}

// Warning reports a problem that did not stop the turn.
type Warning struct {
	Head
	Source  string // "turn-runner" or "dispatch-runner"
	Type    string // "kind" in JSON
	Message string
	Err     error
	Payload json.RawMessage
}

// Error carries an error. An error from user code is the same error value.
type Error struct {
	Head
	Err error
}

// GenerationStats carries the cost of a model call.
type GenerationStats struct {
	Head
	Stats json.RawMessage // an object
}

// ModelCall names one call of a model by the chat executor.
type ModelCall struct {
	Provider string // of the API; "" for an engine
	Model    string // as in the options; the name of an engine
	Attempt  int    // the number of the call in its iteration, from 1: more when a request is repeated
}

// ModelCallStart says that a model is about to be called. It comes only if somebody listens to calls of models: see
// KindModelCallStart.
type ModelCallStart struct {
	Head
	ModelCall
}

// ModelCallEnd says that the call of a model has ended: its answer has come to its end, has failed, or is no longer
// wanted.
type ModelCallEnd struct {
	Head
	ModelCall
	Status       CallStatus
	HTTPStatus   int // of the API's answer; 0 for none
	StartedAt    time.Time
	FirstTokenAt time.Time   // when the first of the answer was reported; zero if nothing was
	Usage        *TokenUsage // as the model told; nil if it did not
	Err          error       // what the call failed with, when Status is CallError and no answer says it
}

// TokenUsage counts the tokens of a call.
type TokenUsage struct {
	PromptTokens     int `json:"promptTokens"`
	CompletionTokens int `json:"completionTokens"`
	TotalTokens      int `json:"totalTokens"`
}

// Kinds of event that hosts make, and no core. They are made for a turn whose runner has a listener of one of them by
// its kind, as Observe and Listen register it; then listeners of all kinds and streams get them too.
const (
	KindModelCallStart Kind = 30 // *ModelCallStart
	KindModelCallEnd   Kind = 31 // *ModelCallEnd
)

// Kind is KindModelCallStart.
func (*ModelCallStart) Kind() Kind { return KindModelCallStart }

// Kind is KindModelCallEnd.
func (*ModelCallEnd) Kind() Kind { return KindModelCallEnd }

// CallStatus says how the call of a model ended.
type CallStatus uint8

// Statuses of calls. CallError is for a call that failed or was answered with an HTTP status from 400 on, CallAborted
// for one whose answer is no longer wanted: the turn was aborted, or the call took too long.
const (
	CallOK CallStatus = iota
	CallError
	CallAborted
)

// String returns the status as in JSON, such as "ok".
func (s CallStatus) String() string { return nameOf([]string{"ok", "error", "aborted"}, s) }

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
func (s Status) String() string { return nameOf(statusNames[:], s) }

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
	return nameOf([]string{"trace", "debug", "info", "warn", "error"}, l)
}
