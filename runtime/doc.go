// Package runtime is the turn and dispatch core: the loop, contexts, collections, pipelines, tools, signals and events.
//
// It is ordinary sequential Go. It reads no clock and no entropy, does no I/O, starts no goroutine and uses no lock:
// it requests everything external through a [Task], and reports everything to a [World]. Package internal/guest runs
// it behind the ABI; nothing here knows frames.
//
// Values and record bodies stay msgpack-encoded (see packages value and record) and are read field by field when a
// rule first needs them.
package runtime
