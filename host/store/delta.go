package store

import "github.com/turncore/turncore/host/record"

// Delta is one write of an iteration's queue.
type Delta struct {
	Op Op
	// Kind is the kind of record: "standingInstruction", "memory", "retrievable", "message", "thought" or "toolCall".
	Kind string
	// Record is the stored or replacing record; nil for other writes. For a group see Records.
	Record any
	// ID is the record's id; the text of a deleted instruction; the old text of a mutated one.
	ID string
	// IDs are the tool calls that Records replace.
	IDs     []string
	Records []*record.ToolCall
}

// Op is what a write does.
type Op string

// Kinds of write.
const (
	OpStore                Op = "store"
	OpMutate               Op = "mutate"
	OpDelete               Op = "delete"
	OpReplaceToolCallGroup Op = "replaceToolCallGroup"
)

// ReplaceGroupError is the failure of a storage function while a group of tool calls was replaced one by one. The
// turn still has the group; storage has lost a part of it.
type ReplaceGroupError struct {
	DeletedIDs []string // that storage has deleted
	Err        error    // the function's own
}

// Error is the text of the function's own error.
func (e *ReplaceGroupError) Error() string { return e.Err.Error() }

// Unwrap returns the function's own error.
func (e *ReplaceGroupError) Unwrap() error { return e.Err }
