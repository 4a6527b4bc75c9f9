package runtime

import "errors"

// Task is a thread of control inside a turn. Code under runtime waits only through it.
type Task interface {
	// Await passes e to the host and returns when the host has settled it, with its value (a msgpack value, nil if
	// none) or with the host's error.
	Await(e Effect) ([]byte, error)
	// Wait returns once another task of the turn has made ready return true.
	Wait(ready func() bool)
	// Sleep returns when ms milliseconds of the turn's clock have passed. It fails if the context is aborted or the
	// turn ends first.
	Sleep(context uint32, ms uint64) error
	// Request starts an HTTP exchange whose answer arrives in chunks.
	Request(r *HTTPRequest) (Stream, error)
	// Generate asks an engine of the host for an answer, which arrives in chunks without a head: lines of JSON.
	Generate(r *ModelRequest) (Stream, error)
}

// Effect is an action that only the host can perform.
type Effect interface{ effect() }

// CallExecutor runs the host's executor for one iteration.
type CallExecutor struct {
	Context   uint32 // number of the dispatch
	Iteration int
}

// CallMiddleware runs a host middleware. Next runs the rest of the pipeline in the given task; calls after the first
// do nothing.
type CallMiddleware struct {
	Context  uint32
	Pipeline Pipeline
	Index    int
	Next     func(Task)
}

// CallTool runs a tool's handler.
type CallTool struct {
	Context uint32
	Tool    *Tool
	CallID  string
	// ExecutionID identifies this execution.
	ExecutionID string

	Args   []byte // validated value
	Number uint32 // set by Await: the effect's number, which identifies a kept result
	Valid  uint32 // number of the effect that validated Args; 0 if the schema did
	Run    ToolRun
	Parts  []byte // set by Await: artifacts and media of the result, which the host keeps; nil for none
}

// CallValidate runs a tool's own validation; its value is the handler's arguments.
type CallValidate struct {
	Context uint32
	Tool    *Tool
	Args    []byte
	Number  uint32 // set by Await: the effect's number
}

// Write makes one write through its storage callback.
type Write struct {
	Context uint32
	Delta   Delta
}

// Commit writes an iteration's queue to storage.
type Commit struct {
	Context uint32
	Deltas  []Delta
}

// Discard reports writes that reach neither storage nor the parent.
type Discard struct {
	Context uint32
	Deltas  []Delta
	Status  Status
}

// Spool asks the host to replace a retrievable whose text it holds by the same record with an artifact of that text.
type Spool struct {
	Context uint32
	Handle  int64
	Into    int64 // set by Await: the handle of that record; 0 if the retrievable does not change
}

// ReadOp is a way to read an artifact.
type ReadOp uint8

// Read reads an artifact through its reader.
type Read struct {
	Context  uint32
	Handle   int64  // of the record that holds it
	Part     uint32 // its place in a list of results
	Op       ReadOp
	From, To uint64 // lines
	Max      uint32 // bytes

	// Set by Await. Lines have no line feeds.
	Bytes, Count uint64
	Lines        [][]byte
}

// Estimate counts tokens with a tokenizer of the host: of an artifact's text, or of Texts when Handle is 0.
type Estimate struct {
	Context  uint32
	Encoding string
	Handle   int64
	Part     uint32
	Texts    [][]byte
	Tokens   []int64 // set by Await: one, or one per text
}

// Forge asks host code to register the reader tools of its own artifact classes.
type Forge struct {
	Context uint32
	Classes []string
}

// Encoded is an effect of a kind that this package does not know, with its encoded arguments. Its value is the host's.
type Encoded struct {
	Kind    uint8
	Context uint32
	Args    []byte
}

func (*Encoded) effect()        {}
func (*Spool) effect()          {}
func (*Read) effect()           {}
func (*Estimate) effect()       {}
func (*Forge) effect()          {}
func (*CallExecutor) effect()   {}
func (*CallMiddleware) effect() {}
func (*CallTool) effect()       {}
func (*CallValidate) effect()   {}
func (*Write) effect()          {}
func (*Commit) effect()         {}
func (*Discard) effect()        {}

// HTTPRequest is a request that the host sends.
type HTTPRequest struct {
	Context    uint32
	Method     string
	URL        string
	Headers    [][2]string
	Body       []byte
	Credential string // name of the credential that the host attaches; empty for none
	Redirect   RedirectOp
	Redirects  int // with RedirectFollow: how many
	Splices    []Splice
}

// Splice is a place in a body where the host inserts the bytes of a medium in base64.
type Splice struct {
	At     int   // offset in the body
	Handle int64 // of the record that holds the medium
	Part   int   // index in the list, from 0
	Max    int64 // most bytes of the medium
}

// RedirectOp is the handling of a redirect.
type RedirectOp uint8

// ModelRequest asks an engine of the host for an answer.
type ModelRequest struct {
	Context uint32
	Model   string // name of the engine
	Body    []byte // JSON
	Splices []Splice
}

// Stream is the answer to a request.
type Stream interface {
	// Next waits for the next chunk; more is false at the end of the answer. The chunk is valid until the next call. It
	// fails with the abort's cause if the context is aborted, and with ErrIdle if nothing came for the time set by
	// Idle.
	Next() (chunk Chunk, more bool, err error)
	// Idle sets how many milliseconds Next waits; 0 for no limit.
	Idle(ms uint64)
	// Cancel tells the host that the rest is not wanted.
	Cancel()
}

// Chunk is the head of an HTTP answer (Status set, first) or a part of an answer's body.
type Chunk struct {
	Status  int
	Headers [][2]string // names in lower case
	Data    []byte
}

// ErrIdle means that nothing came from a [Stream] for the time set by Idle.
var ErrIdle = errors.New("nothing came in time")
