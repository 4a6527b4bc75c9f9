// Package faulty is a model provider that fails in every way in which providers, and what lies between them and a host,
// fail. A table says what must come of each fault.
//
// The table is the JSON in testdata, which says nothing of any language: a file is {about, faults}, a fault
//
//	name     unique in the table; Go's tests, Node's and the server know it by that
//	about    what goes wrong
//	options  of the chat executor, beside model and baseURL
//	answers  to the first request, the second and so on; further requests get a good answer
//	cut      "reset", "close" or "end": the fault stands for one case for each byte of the first answer's body, which
//	         ends so before it; see [Fault]
//	abort    when the turn is aborted: "request" once the request has come, "text" at the first text, "retry" at the
//	         first line of the log that says that the request is made again
//	refused  nobody listens at the address
//	expect   see [Expect]
//
// An answer's fields are those of [Answer], the parts of its body those of [Part]. [Server] serves the cases, to Go's
// tests in their process and to others as the command in the folder serve.
//
// What must hold for every case, whatever it expects: the turn ends in time; each stream of text that was begun is
// completed, once, with a mark if the answer broke off and without one otherwise; the deltas of a stream make up its
// text; calls have ids of their own; nothing is stored of an iteration that failed; requests are well-formed; whoever
// does not want the rest of an answer closes the connection; and the session goes on with the next turn.
package faulty
