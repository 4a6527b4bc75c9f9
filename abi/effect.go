package abi

// Kinds of effect. The comment names the type of Args and of the result's value.
const (
	EffectExecutor   uint8 = 1  // ExecutorArgs → nil
	EffectMiddleware uint8 = 2  // MiddlewareArgs → nil
	EffectTool       uint8 = 3  // ToolArgs → nil if the host keeps the result, else a value
	EffectStore      uint8 = 4  // Delta: one write through its storage callback → nil
	EffectCommit     uint8 = 5  // CommitArgs → nil, or on failure an ErrorValue whose Details is CommitResult
	EffectDiscard    uint8 = 6  // DiscardArgs → nil
	EffectHTTP       uint8 = 7  // HTTPArgs → Chunks, then nil
	EffectSpool      uint8 = 8  // SpoolArgs → Item: the record with its text spooled; nil for no change
	EffectRead       uint8 = 9  // ReadArgs → ReadResult
	EffectEstimate   uint8 = 10 // EstimateArgs → array of int, tokens per text
	EffectValidate   uint8 = 11 // ValidateArgs → the arguments that the tool's own validation returns
	EffectForge      uint8 = 12 // ForgeArgs → nil, after Edits that register the tools
	EffectModel      uint8 = 13 // ModelArgs → Chunks, then nil
)

// ExecutorArgs of EffectExecutor. Effect.Context is the dispatch.
type ExecutorArgs struct {
	Iteration uint32
}

// MiddlewareArgs of EffectMiddleware: the runner's function to call.
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

// ToolArgs of EffectTool, which runs a tool's handler.
type ToolArgs struct {
	Tool           uint32
	CallID         string // the checksum
	ExecutionID    string // unique to this execution
	ProviderCallID string // the provider's id of the call; empty for none
	Args           Value  // validated, defaults applied
	Keep           bool   // host code made the call: keep the handler's result and send nil
	Valid          uint32 // the effect that validated Args; the handler gets its result if the host kept it; 0 for none
	Spool          uint64 // the host keeps a text result of more bytes, as an artifact over it; 0 for no bound
	Timed          bool   // the guest may give up the call with Cancel: the host aborts its signal and drops its result
}

// Delta is one queued write.
type Delta struct {
	Write      uint8 // WriteStore, …
	Collection uint8
	Handle     int64    // of the record (store, mutate)
	ID         string   // of the record; an instruction's text (delete) or old text (mutate)
	IDs        []string // replace group: removed ids
	Handles    []int64  // replace group: their replacements
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

// CommitResult says how many writes a failed commit applied.
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
	Credential string // name of a credential that the host attaches for the origins it allows; empty for none
	Redirect   uint8  // RedirectError, …
	Redirects  uint32 // RedirectFollow: maximum number
	Splices    []Splice
}

// Splice is a position in a body where the host inserts the bytes of a medium in base64 (RFC 4648, with padding), so
// that they never cross. The splices of a body ascend.
type Splice struct {
	At     uint64 // offset in the body as it crosses
	Handle int64  // of the record: a message with attachments, or a tool call with media as results
	Part   uint32 // index of the medium in the list, from 0
	Max    uint64 // largest size in bytes; a larger medium fails with E_MEDIA_TOO_LARGE
}

// What the host does with a redirect: a status of 301, 302, 303, 307 or 308 with a location.
const (
	RedirectError  uint8 = 0 // E_HTTP_REDIRECT
	RedirectFollow uint8 = 1 // followed if the host allows its target; one too many fails with E_HTTP_REDIRECT
	RedirectManual uint8 = 2 // returned as the answer; a platform that does not show redirects gives E_HTTP_REDIRECT
)

// SpoolArgs of EffectSpool, which writes the text that the host holds for a retrievable through
// storeRetrievableBytesCallback, and makes the record with an artifact of that text as its content.
type SpoolArgs struct {
	Handle int64
}

// ReadArgs of EffectRead, which reads an artifact through its reader, or gets the size of a medium.
type ReadArgs struct {
	Handle int64  // of the record that holds it
	Part   uint32 // index in a list of results or attachments, from 0
	Read   uint8  // ReadSize, …
	From   uint64 // ReadLines: first line, from 0
	To     uint64 // ReadLines: the line after the last
	Max    uint32 // ReadText, ReadLines: bytes that the guest accepts
}

// Ways to read.
const (
	ReadSize  uint8 = 0 // Bytes and Count only; the only way to read a medium
	ReadLines uint8 = 1 // lines From to To, fewer if they exceed Max; at least one unless From is at the end
	ReadText  uint8 = 2 // the whole text as the only element of Lines; E_ARTIFACT_TOO_LARGE if it exceeds Max
)

// ReadResult of EffectRead.
type ReadResult struct {
	Bytes uint64   // of the artifact, or of the medium
	Count uint64   // lines of the artifact; for a medium 1 if its reader knows the size, else 0
	Lines []string // without line ends
}

// EstimateArgs of EffectEstimate, which counts tokens with the host's tokenizer for the encoding, in Texts or in the
// text of an artifact.
type EstimateArgs struct {
	Encoding string
	Texts    []string
	Handle   int64 // the record that holds the artifact; 0 for Texts
	Part     uint32
}

// ValidateArgs of EffectValidate, which runs a tool's own validation.
type ValidateArgs struct {
	Tool uint32
	Args Value
}

// ForgeArgs of EffectForge: the artifact classes for which the host must make reader tools.
type ForgeArgs struct {
	Classes []string
}

// ModelArgs of EffectModel, which lets an engine of the runner generate an answer. The host answers with Chunks of JSON
// lines, at most 64 KiB each, and a Result.
type ModelArgs struct {
	Model   string // name of the engine
	Body    Raw    // the request, JSON
	Splices []Splice
}
