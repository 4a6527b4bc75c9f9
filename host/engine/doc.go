// Package engine is the common part of all engines: everything between [host.Engine] and a WebAssembly runtime. An
// engine supplies the four primitives of [Module] and the WASI functions, and passes
// [github.com/turncore/turncore/host/hosttest.TestEngine]. The page docs/engines.md shows one in about a hundred lines.
//
// [Instances] holds the instances of an engine, from their start to their end. [Instance] runs one step at a time,
// speaks the mailbox protocol of abi/SPEC.md, checks all output before anybody reads it, and fails for good with the
// guest's stderr in the message. [Guest] is the part of WASI that limits a step.
package engine
