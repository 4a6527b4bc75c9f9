package chat

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

// Dispatch is the executor's view of the dispatch that it runs in. A Dispatch may keep arguments only during the call,
// except Args and Results of a [runtime.ToolCallReport], stored bodies, and a tool's arguments, which the executor
// never changes afterwards. Slices that it returns are valid until the executor waits again; record bodies and schemas
// for the whole dispatch.
type Dispatch interface {
	// Iteration is the number of the running iteration, from 0.
	Iteration() int
	// Aborted reports whether the dispatch or its turn was aborted.
	Aborted() bool
	// Signalled reports whether somebody has called Ack or Nack.
	Signalled() bool
	// State holds the executor's state between iterations of the dispatch; nil at first.
	State() *any

	// Stamp is a time for a record, in ms since the Unix epoch. Stamps of a turn strictly increase.
	Stamp() int64
	// Floor makes all further stamps of the turn higher than ms.
	Floor(ms int64)
	// Now is the time, in ms since the Unix epoch.
	Now() int64
	// Elapsed is the turn's clock, in ms since the turn's start.
	Elapsed() uint64
	// Sleep waits ms milliseconds of that clock. It fails if the dispatch is aborted first.
	Sleep(ms uint64) error
	// Random returns a random number, the same when the turn is replayed. It is not for secrets.
	Random() uint64
	// NewID mints an id that is unique in the turn and the same when the turn is replayed.
	NewID(prefix string) string
	// Nonce is the suffix of the marks around a record's text. Nobody outside can guess it, and it stays the same for
	// the whole turn.
	Nonce(kind record.Kind, id []byte) string

	// Stash is the dispatch's value under a top-level key.
	Stash(key string) (v []byte, ok bool)
	// SystemPrompt of the dispatch.
	SystemPrompt() string
	// Instructions visits the standing instructions in order.
	Instructions(yield func(text []byte) bool)
	// Records visits a collection in order. A handle names the same body for as long as the dispatch.
	Records(kind record.Kind, yield func(handle int64, body []byte) bool)
	// RecordsFrom visits it from the n-th record on.
	RecordsFrom(kind record.Kind, n int, yield func(handle int64, body []byte))
	// Version returns a number that changes with every change to a collection except appending, and the collection's
	// size.
	Version(kind record.Kind) (version uint32, size int)
	// ArtifactSize is the size of an artifact, by its index in the list of a tool call's results (0 for a single one),
	// or in a retrievable's content (0).
	ArtifactSize(kind record.Kind, handle int64, part int) (bytes, lines uint64, err error)
	// ArtifactText is the whole text of the artifact, or of a text that the host holds. It fails with
	// E_ARTIFACT_TOO_LARGE if it exceeds the read limit.
	ArtifactText(kind record.Kind, handle int64, part int) ([]byte, error)
	// MediaSize is the size of a medium in bytes, by its index in the list of a message's attachments, or of a tool
	// call's results (0 for a single one); -1 if unknown.
	MediaSize(handle int64, part int) (int64, error)
	// ReaderTools are the names of the tools that read artifacts of a class, in order.
	ReaderTools(className string) []string
	// Tools visits the visible tools in order.
	Tools(yield func(*runtime.Tool) bool)
	// Tool finds a tool by its name, even a hidden one.
	Tool(name string) (tool *runtime.Tool, ok bool)

	// Listener hears the answers of the model.
	Listener
	// ReportToolCall reports a tool call.
	ReportToolCall(id string, r runtime.ToolCallReport) error
	// Log writes a line of the structured log. payload is a value, nil for none.
	Log(level Level, kind, message string, payload []byte)

	// StoreMessage, StoreThought and StoreToolCall store a record of the executor, an encoded body. kept is the Kept of
	// a tool call's result, 0 for text.
	StoreMessage(body []byte) error
	StoreThought(body []byte) error
	StoreToolCall(body []byte, kept uint32) error

	// ExecuteTool validates args, a map, runs the tool's handler with its events, and waits for the result. The model
	// may see any of its errors. After timeout ms it fails with E_CHAT_TOOL_TIMEOUT; 0 is for no limit.
	ExecuteTool(t *runtime.Tool, args []byte, run runtime.ToolRun, timeout uint64) (runtime.ToolResult, error)
	// Each runs body for 0 to n-1, started in this order, up to atOnce at a time: while one waits, others run. Each has
	// its own Dispatch to wait with. Each returns when all have ended, with the first error in order.
	Each(n, atOnce int, body func(d Dispatch, i int) error) error
	// HTTP sends a request from the dispatch's context. r is only valid during the call.
	HTTP(r *runtime.HTTPRequest) (runtime.Stream, error)
	// Model asks an engine of the host for an answer, whose chunks have no head. r is only valid during the call.
	Model(r *runtime.ModelRequest) (runtime.Stream, error)

	// Ack makes the dispatch succeed at the end of the iteration; Nack fails it with err.
	Ack() error
	Nack(err error) error
}

// Level is the severity of a log line.
type Level uint8

// Listener hears an answer of the model while it comes.
type Listener interface {
	// ReportMessage adds a delta to a message stream, ReportThought to a thought stream. complete seals it.
	ReportMessage(id string, delta []byte, complete bool) error
	ReportThought(id string, delta []byte, complete bool) error
	// SealMessage seals a message stream, SealThought a thought stream. interrupted says that it was cut off.
	SealMessage(id string, interrupted bool) error
	SealThought(id string, interrupted bool) error
	// ReportStats reports the cost of the model call: a map with promptTokens, completionTokens, totalTokens,
	// cachedTokens, reasoningTokens, totalDurationNs, loadDurationNs, promptEvalDurationNs, evalDurationNs,
	// finishReason, model, provider and raw, each if known.
	ReportStats(stats []byte) error
}
