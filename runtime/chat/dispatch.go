package chat

import (
	"errors"

	"github.com/turncore/turncore/runtime/record"
)

// Dispatch is what the executor needs of the dispatch that it runs in. Slices that it is given are valid during the
// call only, except Args and Results of a [ToolCallReport], bodies that are stored, and arguments of a tool, which may be
// kept; the executor does not change those afterwards. Slices that it gives are valid until the executor waits the next
// time, record bodies and schemas for as long as the dispatch.
type Dispatch interface {
	// Iteration that is running, from 0.
	Iteration() int
	// Aborted tells whether the dispatch or its turn was aborted.
	Aborted() bool
	// Signalled tells whether somebody has called Ack or Nack.
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
	// Nonce is what the marks around a record's text end in: nobody outside can guess it, and in the turn it is always the
	// same.
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
	// Version is another one when anything but appending has been done to a collection; size is how many records it has.
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
	Tools(yield func(Tool) bool)
	// Tool finds a tool by its name, a hidden one too.
	Tool(name string) (tool Tool, ok bool)

	// ReportMessage adds a delta to a message stream, ReportThought to a thought stream. complete seals it.
	ReportMessage(id string, delta []byte, complete bool) error
	ReportThought(id string, delta []byte, complete bool) error
	// SealMessage seals a message stream, SealThought a thought stream. interrupted says that it was broken off.
	SealMessage(id string, interrupted bool) error
	SealThought(id string, interrupted bool) error
	// ReportToolCall tells of a tool call.
	ReportToolCall(id string, r ToolCallReport) error
	// ReportStats tells what the model call cost: a map with promptTokens, completionTokens, totalTokens, cachedTokens,
	// reasoningTokens, totalDurationNs, loadDurationNs, promptEvalDurationNs, evalDurationNs, finishReason, model, provider
	// and raw, each if known.
	ReportStats(stats []byte) error
	// Log writes a line of the structured log. payload is a value, nil for none.
	Log(level Level, kind, message string, payload []byte)

	// StoreMessage, StoreThought and StoreToolCall store a record that the executor made, by its encoded body. kept is the
	// Kept of the result that a tool call holds, 0 for text.
	StoreMessage(body []byte) error
	StoreThought(body []byte) error
	StoreToolCall(body []byte, kept uint32) error

	// ExecuteTool validates args, a map, runs the tool's handler with its events, and waits for the result. Any error is one
	// that the model can be told.
	ExecuteTool(t Tool, args []byte, run ToolRun) (ToolResult, error)
	// Each runs body for 0 to n-1, which begin in this order, up to atOnce of them at the same time: where one waits, others
	// run. Each has a Dispatch of its own to wait with. It returns when all have ended, with the first error by their order.
	Each(n, atOnce int, body func(d Dispatch, i int) error) error
	// HTTP sends a request. What it is given is valid during the call only.
	HTTP(r Request) (Stream, error)
	// Model asks an engine of the host's for an answer, whose chunks have no head. What it is given is valid during the call
	// only.
	Model(r ModelRequest) (Stream, error)

	// Ack ends the dispatch well when the iteration ends, Nack fails it with err.
	Ack() error
	Nack(err error) error
}

// Tool is a capability that the model may call. Number names the same tool for as long as the turn; up to 65,535 it
// does so in all turns of the runner.
type Tool struct {
	Number      uint32
	Name        string
	Description string
	InputSchema []byte // JSON Schema of object type, as a value
	Artifact    bool   // its results are text that was read from an artifact
	Trusted     bool   // its results are the application's own words
}

// ToolResult is what a tool's handler returned.
type ToolResult struct {
	Value []byte // nil when the host keeps the result
	// Parts stand for a result that the host keeps: an artifact, a media or a list of either, as in a tool call's body.
	Parts []byte
	Kept  uint32 // names that result; not 0 when there are Parts
	// ExecutionID names the execution; empty when the handler was not run.
	ExecutionID string
}

// ToolRun says how long a tool may run and what becomes of its result.
type ToolRun struct {
	Timeout uint64 // ms after which it fails with E_CHAT_TOOL_TIMEOUT; 0 for as long as it takes
	Spool   uint64 // bytes of a result's text beyond which the host keeps it, as an artifact; 0 for none
	CallID  string // what the provider called the call; empty for none
}

// ToolCallReport is what is said about a tool call. Absent parts keep what was said before.
type ToolCallReport struct {
	Tool       string // empty if absent
	Args       []byte // value; nil if absent
	Results    []byte // value; nil if absent
	Kept       uint32 // results that the host keeps; 0 if absent
	IsError    bool
	HasIsError bool
	Complete   bool
	// The execution that the results are of, and what the provider calls the call; empty if absent.
	ExecutionID, ProviderCallID string
}

// Level is the severity of a log line.
type Level uint8

// Request is an HTTP request that the host sends.
type Request struct {
	Method     string
	URL        string
	Headers    [][2]string
	Body       []byte
	Credential string // name of a credential that the host attaches; empty for none
	Redirects  int    // how many redirects are followed
	Splices    []Splice
}

// Splice is a place in a body where the host puts the bytes of a media in base64, so that they never come into the
// module's memory. The splices of a body ascend.
type Splice struct {
	At     int   // offset in the body
	Handle int64 // of the record that holds the media
	Part   int   // its place in the list, from 0
	Max    int64 // bytes that it may have
}

// ModelRequest is a request to an engine of the host's.
type ModelRequest struct {
	Model   string // name of the engine
	Body    []byte
	Splices []Splice
}

// Stream is the answer to a request.
type Stream interface {
	// Next waits for the next chunk; more is false at the end of the answer. The chunk is valid until the next call. It
	// fails with [ErrIdle] when nothing came for the time that Idle set, with any other error when the exchange failed,
	// and with whatever error when the dispatch was aborted.
	Next() (chunk Chunk, more bool, err error)
	// Idle sets how long each Next waits, in ms; 0 for as long as it takes.
	Idle(ms uint64)
	// Cancel says that no more is wanted. It may be called at any time, more than once.
	Cancel()
}

// Chunk is the head of an answer (Status set, first) or a part of its body.
type Chunk struct {
	Status  int
	Headers [][2]string // names in lower case; head only
	Data    []byte
}

// ErrIdle is how a [Stream] says that nothing came for the time that Idle set.
var ErrIdle = errors.New("chat: no bytes came in time")
