// Package chat is the executor for models that speak OpenAI's chat completions protocol, over HTTP.
//
// An iteration is one request and its answer. The request is a projection of the dispatch's context: system prompt and
// standing instructions, then messages and tool calls by time. The answer's deltas are reported as they come; at its end
// its thoughts and its message are stored, then its tool calls are run one after another, each stored with its result.
// An answer without tool calls acks the dispatch; otherwise the runner iterates, and the model sees the results.
//
// The package does no I/O: the dispatch sends the request and hands in the bytes of the answer. A credential is only
// named here; the host attaches it.
package chat
