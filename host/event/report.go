package event

// ToolCallReport is a report of a tool call. Zero fields keep their reported value.
type ToolCallReport struct {
	Tool       string
	Args       any // anything that encodes to an object
	Results    any // passed to listeners unchanged
	IsError    *bool
	IsComplete bool // seals the call: a further report returns ErrStreamSealed
	// The execution that gave the results, and the provider's id of the call.
	ExecutionID, ProviderCallID string
}

// ToolCallState is a report of a tool call for EmitToolCall of a context.
type ToolCallState struct {
	Tool     string
	Args     any    // anything that encodes to an object, nil if not known yet
	Checksum string // of tool and args, if known
	// The execution that gave the results, and the provider's id of the call, if known.
	ExecutionID, ProviderCallID string

	Results    any // nil if there are none yet
	IsError    bool
	IsComplete bool
}
