// Package session holds the data of sessions: events, state and its scopes, and what a model is shown of them. Its
// functions work on encoded values; they do no I/O and wait for nothing.
//
// Source: contract page "Invocation Lifecycle"; abi/SPEC.md, "Sessions and invocations".
package session
