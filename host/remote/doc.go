// Package remote runs turns on a server, and follows them from a program elsewhere.
//
// [Server] is a http.Handler that runs the turns of a [turns.Runner]. Its clients start turns, come back to them after
// a lost connection, settle gates and abort turns. [Connect] gives a runner whose turns run on such a server: its
// streams, events, gates and results are those of package turns. createTurnServer and connect in JavaScript speak the
// same protocol, so that each client works with each server. abi/WIRE.md describes the events:
//
//	POST /turns                       {"message", "sessionId"?, "turnId"?} → text/event-stream
//	GET  /turns/{turn}/events         with the header Last-Event-ID → the rest of them
//	POST /turns/{turn}/gates/{gate}   {"value", "digest"?}, {"error"} or {"abort": true} → 204
//	POST /turns/{turn}/abort          → 204
//
// A request that is refused has a status of 400 or more, and the body {"error": {"code", "message"}}.
//
// # Errors
//
// Errors are or wrap a *host.Error with a code. E_TURN_STREAM_CUT: the connection failed, more often in a row than the
// options allow. E_TURN_STREAM_MALFORMED: what came is no stream of a turn, such as a proxy's page.
// E_TURN_REQUEST_REFUSED: a refusal without a code of Turncore. E_TURN_EVENTS_LOST: the client was too far behind.
// E_TURN_UNKNOWN: the server has no such turn. E_TURN_ABANDONED: the request that ran the turn is gone, on platforms
// where a turn ends with its request; in Go it does not.
package remote
