package abi

// Kinds of effect. The comment names the type of Args and of the result's value.
const (
	EffectExecutor   uint8 = 1 // ExecutorArgs → nil
	EffectMiddleware uint8 = 2 // MiddlewareArgs → nil
	EffectTool       uint8 = 3 // ToolArgs → nil if the host keeps the result, else a value
	EffectStore      uint8 = 4 // Delta: one write through its storage callback → nil
	EffectCommit     uint8 = 5 // CommitArgs → nil, or on failure an ErrorValue whose Details is CommitResult
	EffectDiscard    uint8 = 6 // DiscardArgs → nil
	EffectHTTP       uint8 = 7 // HTTPArgs → Chunks, then nil
)

// ExecutorArgs of EffectExecutor; Effect.Context is the dispatch.
type ExecutorArgs struct {
	Iteration uint32
}

// MiddlewareArgs of EffectMiddleware: which host function of the runner.
type MiddlewareArgs struct {
	Pipeline uint8  // PipelineTurnInput, …
	Index    uint32 // place in that pipeline
}

// Pipelines.
const (
	PipelineTurnInput      uint8 = 0
	PipelineTurnOutput     uint8 = 1
	PipelineDispatchInput  uint8 = 2
	PipelineDispatchOutput uint8 = 3
)

// ToolArgs of EffectTool: run a tool's handler.
type ToolArgs struct {
	Tool   uint32
	CallID string // the checksum
	Args   Raw    // validated, defaults applied
	Keep   bool   // host code asked for it: keep the handler's result and send nil
}

// Delta is one queued write.
type Delta struct {
	Write      uint8 // WriteStore, …
	Collection uint8
	Handle     int64    // of the record (store, mutate)
	ID         string   // of the record; an instruction's text (delete) or old text (mutate)
	IDs        []string // replace group: removed ids
	Handles    []int64  // replace group: the records that take their place
}

// Writes.
const (
	WriteStore        uint8 = 0
	WriteMutate       uint8 = 1
	WriteDelete       uint8 = 2
	WriteReplaceGroup uint8 = 3
)

// CommitArgs of EffectCommit: an iteration's writes in call order.
type CommitArgs struct {
	Deltas []Delta
}

// CommitResult says how far a commit that failed had come.
type CommitResult struct {
	Applied uint32
	Total   uint32
}

// DiscardArgs of EffectDiscard: writes that reach neither storage nor the parent.
type DiscardArgs struct {
	Deltas []Delta
	Status uint8
}

// HTTPArgs of EffectHTTP. The host answers with a head Chunk, data Chunks of at most 64 KiB, and a Result.
type HTTPArgs struct {
	Method     string
	URL        string
	Headers    [][]string // name and value pairs
	Body       Raw
	Credential string // name of a credential that the host attaches, for origins it allows; empty for none
}
