// Package engine is what engines have in common: everything between [host.Engine] and a WebAssembly runtime that is not
// the runtime's own. An engine brings the four primitives of [Module] and the WASI functions, and passes
// [github.com/turncore/turncore/host/hosttest.TestEngine]. The page docs/engines.md shows one of some hundred lines.
//
// [Instances] are those of an engine: they start, they end with it. [Instance] is one of them: it takes steps one at a
// time, speaks the mailbox protocol of abi/SPEC.md, checks what comes back before anybody reads it, and fails for good,
// with what the guest wrote to stderr in the message. [Guest] is the part of WASI that says what a step may do.
package engine
