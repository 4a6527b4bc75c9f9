package runtime

import "github.com/turncore/turncore/runtime/record"

// World receives the events of a turn. Its methods return immediately and keep none of their arguments.
type World interface {
	// Stream reports a delta of a message or thought stream.
	Stream(h Head, e StreamEvent)
	// Event reports any other event; p is one of the payload types of this file, a *CallTool, or nil.
	Event(h Head, p any)
	// Sync reports a change to a collection that host code did not make, and the signal of a dispatch.
	Sync(s Sync)
	// Timer requests a call of Turn.Tick when the turn's clock has reached due. It replaces the earlier request; 0 for
	// none.
	Timer(due uint64)
	// Exceeded reports that the turn exceeds its quota. Turn.Break must end the turn once the running code waits or has
	// returned. Exceeded is called once.
	Exceeded()
}

// Head is the common part of all events.
type Head struct {
	Seq       uint32
	Kind      EventKind
	Elapsed   uint64 // ms since the turn's start
	Dispatch  uint32 // 0: not from a dispatch
	Iteration int32  // -1: not from an iteration
	Scope     Scope
}

// Scope is the set of listeners for an event.
type Scope uint8

// EventKind is a kind of event.
type EventKind uint8

// Status of an iteration, a dispatch or a turn.
type Status uint8

// StreamEvent is a delta of a stream.
type StreamEvent struct {
	ID       []byte
	Created  uint64
	Delta    []byte
	Length   uint64 // bytes of the stream so far, including this delta
	Complete bool
	// Interrupted marks a complete stream that was interrupted.
	Interrupted bool
}

// ToolCallEvent reports a tool call.
type ToolCallEvent struct {
	ID, Tool string
	Args     []byte // value, nil until known
	Checksum string
	Created  uint64
	Complete bool
	IsError  bool
	Results  []byte // value made by the guest, nil if none
	HostHas  bool   // the host holds the results
	Kept     uint32 // number of the tool effect whose result the host keeps; 0 for none

	ExecutionID, ProviderCallID string // empty until known
}

// TurnEndEvent ends a turn.
type TurnEndEvent struct {
	Started uint64
	Status  Status
	Err     error // when Status is StatusFailed
}

// DispatchEndEvent ends a dispatch.
type DispatchEndEvent struct {
	Started    uint64
	Status     Status
	Iterations int
	Err        error
}

// IterationEndEvent ends an iteration.
type IterationEndEvent struct {
	Started   uint64
	Status    Status
	Discarded []Delta
}

// ToolEndEvent says that a handler ended. That it is about to run is said by its [CallTool].
type ToolEndEvent struct {
	Tool           string
	CallID         string // the checksum, which equal calls share
	ExecutionID    string // unique to this execution
	ProviderCallID string // the provider's id of the call; empty for none
	Started        uint64
	IsError        bool
}

// GateOpenEvent says that a gate is waiting to be settled.
type GateOpenEvent struct {
	Gate      uint32
	ID        string
	Reason    string
	Payload   []byte
	CreatedAt int64
	Digest    string
}

// GateClosedEvent says that a gate was settled.
type GateClosedEvent struct {
	Gate   uint32
	ID     string
	Result GateResult
}

// LogEvent is a line of the structured log.
type LogEvent struct {
	Level         uint8 // 0 trace … 4 error
	Kind, Message string
	HasPayload    bool
	Payload       []byte
}

// WarningEvent reports a problem that did not stop the turn.
type WarningEvent struct {
	FromDispatch  bool
	Kind, Message string
	Err           error
	Payload       []byte
}

// ErrorEvent carries an error.
type ErrorEvent struct{ Err error }

// StatsEvent carries the cost of a model call, as an encoded map.
type StatsEvent struct{ Stats []byte }

// RawEvent carries a payload that host code made.
type RawEvent struct{ Payload []byte }

// SyncOp is a kind of change.
type SyncOp uint8

// Sync is a change that the guest made to a context: to a collection, or by a signal.
type Sync struct {
	Context uint32
	Kind    record.Kind
	Op      SyncOp
	Handle  int64
	// Other is, by Op:
	//   - SyncReplace: the handle that takes the place
	//   - SyncInsert: the handle that it goes before
	//   - SyncOpen: the number of the source, -1 for the raw context of a standalone dispatch
	//   - SyncAdd: the number of the tool effect whose kept result is in the record, 0 for none
	Other int64
	Body  []byte  // of a guest's record that is named for the first time; SyncSet: the value
	Key   string  // SyncSet
	Err   error   // SyncSignal: the error of a nack, or the reason of an abort
	Tool  *Tool   // SyncDefine: a tool that the guest makes
	Tools []*Tool // SyncTools: all that are registered
}
