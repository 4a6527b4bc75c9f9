package event

// ToolCallReport is what is reported about a tool call. Zero fields keep what was reported before.
type ToolCallReport struct {
	Tool       string
	Args       any // anything that encodes to an object
	Results    any // handed to listeners as it is
	IsError    bool
	IsComplete bool // seals the call: a further report returns ErrStreamSealed
	// The execution that gave the results, and what the provider calls the call.
	ExecutionID, ProviderCallID string
}

// ToolCallState is what EmitToolCall tells of a tool call.
type ToolCallState struct {
	Tool     string
	Args     any    // anything that encodes to an object, nil if not known yet
	Checksum string // of tool and args, if known
	// The execution that gave the results, and what the provider calls the call, if known.
	ExecutionID, ProviderCallID string

	Results    any // nil if there are none yet
	IsError    bool
	IsComplete bool
}
