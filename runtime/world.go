package runtime

import "github.com/turncore/turncore/runtime/record"

// World is told what happens in a turn. Its methods return at once and keep nothing of what they are given.
type World interface {
	// Stream tells of a delta of a message or thought stream.
	Stream(h Head, e StreamEvent)
	// Event tells of anything else; p is one of the payload types of this file, or nil.
	Event(h Head, p any)
	// Sync tells of a change to a collection that host code did not make, and of the signal of a dispatch.
	Sync(s Sync)
	// Timer asks for a call of Turn.Tick when the turn's clock has reached due, in place of what it asked for before; 0
	// for none.
	Timer(due uint64)
	// Exceeded says that the turn holds more than its quota: it is to be ended, by Turn.Break, when what runs has waited or
	// returned. It is called once.
	Exceeded()
}

// Head is what all events carry.
type Head struct {
	Seq       uint32
	Kind      EventKind
	Elapsed   uint64 // ms since the turn's start
	Dispatch  uint32 // 0: not from a dispatch
	Iteration int32  // -1: not from an iteration
	Scope     Scope
}

// Scope says whose listeners an event is for.
type Scope uint8

// EventKind tells events apart.
type EventKind uint8

// Status of an iteration, a dispatch or a turn.
type Status uint8

// StreamEvent is a delta of a stream.
type StreamEvent struct {
	ID       []byte
	Created  uint64
	Delta    []byte
	Length   uint64 // bytes of the stream so far, this delta included
	Complete bool
	// Interrupted says of a stream that is complete that it was broken off.
	Interrupted bool
}

// ToolCallEvent is a report of a tool call.
type ToolCallEvent struct {
	ID, Tool string
	Args     []byte // value, nil until known
	Checksum string
	Created  uint64
	Complete bool
	IsError  bool
	Results  []byte // value made by the guest, nil if none
	HostHas  bool   // the host holds the results
	Kept     uint32 // number of the tool effect whose result they are, which the host keeps; 0 for none

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

// ToolExecution names an execution of a tool.
type ToolExecution struct {
	Tool           string
	CallID         string // the checksum, which equal calls share
	ExecutionID    string // of this execution alone
	ProviderCallID string // what the provider called the call; empty for none
}

// ToolStartEvent says that a handler is about to run.
type ToolStartEvent struct {
	ToolExecution
	Args []byte
}

// ToolEndEvent says that a handler has ended.
type ToolEndEvent struct {
	ToolExecution
	Started uint64
	IsError bool
}

// GateOpenEvent says that a gate waits to be settled.
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

// WarningEvent tells of something that went on in spite of a problem.
type WarningEvent struct {
	FromDispatch  bool
	Kind, Message string
	Err           error
	Payload       []byte
}

// ErrorEvent carries an error.
type ErrorEvent struct{ Err error }

// StatsEvent carries what a model call cost, a map.
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
	Other   int64   // SyncReplace: takes the place; SyncInsert: what it goes before; SyncOpen: the context copied from, -1 for what a standalone dispatch was given; SyncAdd: the tool effect whose kept result is in the record, 0 for none
	Body    []byte  // of a record that the guest made and names for the first time
	Err     error   // SyncSignal: what a nack was given, or why it is aborted
	Tool    *Tool   // SyncDefine: a tool that the guest makes
	Tools   []*Tool // SyncTools: all that are registered
}
