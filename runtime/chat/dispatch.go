package chat

import (
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

// Dispatch is what the executor needs of the dispatch that it runs in. Slices that it is given are valid during the
// call only, except Args and Results of a [runtime.ToolCallReport], bodies that are stored, and arguments of a tool,
// which may be kept; the executor does not change those afterwards. Slices that it gives are valid until the executor
// waits the next time, record bodies and schemas for as long as the dispatch.
type Dispatch interface {
	// Iteration that is running, from 0.
	Iteration() int
	// Aborted reports whether the dispatch or its turn was aborted.
	Aborted() bool
	// Signalled reports whether somebody has called Ack or Nack.
	Signalled() bool
	// State is a place for what the executor remembers from one iteration of the dispatch to the next; nil at first.
	State() *any

	// Stamp is a time for a record, in ms since the Unix epoch. Stamps of a turn strictly increase.
	Stamp() int64
	// Floor makes all further stamps of the turn higher than ms.
	Floor(ms int64)
	// Now is the time, in ms since the Unix epoch.
	Now() int64
	// Elapsed is the turn's clock, in ms since the turn's start.
	Elapsed() uint64
	// Sleep waits for ms milliseconds of that clock. It fails when the dispatch is aborted before they are over.
	Sleep(ms uint64) error
	// Random is a random number, and the same when the turn is replayed. It keeps no secrets.
	Random() uint64
	// NewID mints an id that is unique in the turn and the same when the turn is replayed.
	NewID(prefix string) string
	// Nonce is what the marks around a record's text end in: nobody outside can guess it, and in the turn it is always
	// the same.
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
	// Version is another one when anything but appending has been done to a collection; size is how many records it
	// has.
	Version(kind record.Kind) (version uint32, size int)
	// ArtifactSize is how long an artifact is: the one at a place in the list of a tool call's results (0 for a single
	// one), or in a retrievable's content (0).
	ArtifactSize(kind record.Kind, handle int64, part int) (bytes, lines uint64, err error)
	// ArtifactText is the artifact's whole text, or that of a text which the host holds. It fails with
	// E_ARTIFACT_TOO_LARGE when that is more than may be read at once.
	ArtifactText(kind record.Kind, handle int64, part int) ([]byte, error)
	// MediaSize is how many bytes a media has: the one at a place in the list of a message's attachments, or of a tool
	// call's results (0 for a single one); -1 when nobody knows.
	MediaSize(handle int64, part int) (int64, error)
	// ReaderTools are the names of the tools that read artifacts of a class, in order.
	ReaderTools(className string) []string
	// Tools visits the visible tools in order.
	Tools(yield func(*runtime.Tool) bool)
	// Tool finds a tool by its name, a hidden one too.
	Tool(name string) (tool *runtime.Tool, ok bool)

	// ReportMessage adds a delta to a message stream, ReportThought to a thought stream. complete seals it.
	ReportMessage(id string, delta []byte, complete bool) error
	ReportThought(id string, delta []byte, complete bool) error
	// SealMessage seals a message stream, SealThought a thought stream. interrupted says that it was broken off.
	SealMessage(id string, interrupted bool) error
	SealThought(id string, interrupted bool) error
	// ReportToolCall tells of a tool call.
	ReportToolCall(id string, r runtime.ToolCallReport) error
	// ReportStats tells what the model call cost: a map with promptTokens, completionTokens, totalTokens, cachedTokens,
	// reasoningTokens, totalDurationNs, loadDurationNs, promptEvalDurationNs, evalDurationNs, finishReason, model,
	// provider and raw, each if known.
	ReportStats(stats []byte) error
	// Log writes a line of the structured log. payload is a value, nil for none.
	Log(level Level, kind, message string, payload []byte)

	// StoreMessage, StoreThought and StoreToolCall store a record that the executor made, by its encoded body. kept is
	// the Kept of the result that a tool call holds, 0 for text.
	StoreMessage(body []byte) error
	StoreThought(body []byte) error
	StoreToolCall(body []byte, kept uint32) error

	// ExecuteTool validates args, a map, runs the tool's handler with its events, and waits for the result. Any error
	// is one that the model can be told. After timeout ms it fails with E_CHAT_TOOL_TIMEOUT; 0 is for as long as it
	// takes.
	ExecuteTool(t *runtime.Tool, args []byte, run runtime.ToolRun, timeout uint64) (runtime.ToolResult, error)
	// Each runs body for 0 to n-1, which begin in this order, up to atOnce of them at the same time: where one waits,
	// others run. Each has a Dispatch of its own to wait with. It returns when all have ended, with the first error by
	// their order.
	Each(n, atOnce int, body func(d Dispatch, i int) error) error
	// HTTP sends a request, from the dispatch's context. What it is given is valid during the call only.
	HTTP(r *runtime.HTTPRequest) (runtime.Stream, error)
	// Model asks an engine of the host's for an answer, whose chunks have no head. What it is given is valid during the
	// call only.
	Model(r *runtime.ModelRequest) (runtime.Stream, error)

	// Ack ends the dispatch well when the iteration ends, Nack fails it with err.
	Ack() error
	Nack(err error) error
}

// Level is the severity of a log line.
type Level uint8
