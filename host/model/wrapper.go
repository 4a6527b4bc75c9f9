package model

import "context"

// Invocation is one call of a model, as a [Wrapper] sees it: one request of the chat executor and its answer,
// or one answer of an engine.
type Invocation struct {
	Provider   Provider // "" for an engine
	Model      string   // as in the options of the chat executor; the name of an engine
	TurnID     string   // "" in a standalone dispatch
	DispatchID string
	Iteration  int // from 0
	Attempt    int // the number of the call in its iteration, from 1: more after a request that failed and is repeated

	// Method, URL and Headers are those of the request, without the credential; empty for an engine.
	Method  string
	URL     string
	Headers map[string]string
	// Body is the request as it is sent, JSON, with its media.
	Body []byte
}

// Chunk is a part of a model's answer. The answer of an API begins with a chunk that has Status and Headers; the
// others have Data, the body as it comes. The answer of an engine has Data only: each part as a line of JSON.
type Chunk struct {
	Status  int
	Headers map[string]string // names in lower case
	Data    []byte
}

// Next runs what is inside a [Wrapper]: the next wrapper, or at last the call itself. It passes on the answer
// as it comes, and returns at its end. A request that was answered with the status of an error has succeeded.
type Next func(ctx context.Context, call *Invocation, send func(Chunk) error) error

// Wrapper runs around one call of a model, between its modelCallStart and modelCallEnd. send passes a part of the
// answer on; it fails when nobody wants the answer any more. The wrapper may answer without next, call next several
// times, and change the request or what comes back. It must not keep the answer from ending: it returns soon after ctx
// has ended. next fails with a panic of an engine, too.
//
// Errors are those of a turns.ToolWrapper; the place is such as "wrapModel[0]".
type Wrapper func(ctx context.Context, call *Invocation, send func(Chunk) error, next Next) error
