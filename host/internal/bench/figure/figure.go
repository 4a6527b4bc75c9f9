// Package figure holds what a benchmark of Turncore measures: the figures with their targets, the results that each
// host writes, and the tables that they make together.
package figure

import (
	"math"
	"slices"
)

// Units of figures.
const (
	Bytes  = "B"
	MiB    = "MiB"
	KiB    = "KiB"
	Millis = "ms"
	Micros = "µs"
	Times  = "×" // a ratio
	Count  = ""
)

// A Figure is one thing that is measured, on each engine.
type Figure struct {
	ID    string
	Title string
	Unit  string
	// Targets are bounds by engine that the median should not exceed. A time has none: it says more of the machine.
	Targets map[string]float64
	// Against bounds a time by another one of the same run.
	Against Against
	// Skip names engines that it makes no sense for.
	Skip []string
}

// Against bounds a median by a multiple of another median.
type Against struct {
	Figure string             // on the same engine; empty for the same figure on the native engine
	AtMost map[string]float64 // by engine
}

// native bounds a figure by a multiple of the native engine's.
func native(wazero, node float64) Against {
	return Against{AtMost: map[string]float64{Wazero: wazero, Node: node}}
}

// Engines, as results name them.
const (
	Wazero = "wazero"
	Native = "native"
	Node   = "Node"
)

// Engines are the columns of the main table.
var Engines = []string{Wazero, Native, Node}

// everywhere is the same bound on every engine.
func everywhere(bound float64) map[string]float64 {
	return map[string]float64{Wazero: bound, Native: bound, Node: bound}
}

// IDs of figures. JavaScript's half of the benchmark writes the same.
const (
	Instance         = "instance"
	FirstTurn        = "first-turn"
	Further          = "further-instance"
	EmptyStep        = "empty-step"
	Effect           = "effect"
	Turn             = "turn"
	TurnStored       = "turn-stored"
	Written          = "written"
	WrittenShare     = "written-share"
	Read             = "read"
	ReadShare        = "read-share"
	Turn20           = "turn-20"
	Turn500          = "turn-500"
	Delta            = "delta"
	Chat20           = "chat-20"
	Chat500          = "chat-500"
	ChatDelta        = "chat-delta"
	ChatLong         = "chat-long"
	ChatIter0        = "chat-iteration-0"
	ChatIter5000     = "chat-iteration-5000"
	ChatCopy         = "chat-copy"
	ChatIterRatio    = "chat-iteration-ratio"
	Middleware       = "middleware"
	Nested           = "nested"
	OpenGate         = "gate"
	WaitTurn         = "gates-turn-memory"
	WaitTool         = "gates-tool-memory"
	WaitHost         = "gates-host-memory"
	SettleRatio      = "gates-settle-ratio"
	SettleLate       = "gates-settle-p99"
	SettleWorst      = "gates-settle-max"
	CrowdRatio       = "crowd-ratio"
	CrowdWorst       = "crowd-worst"
	History0         = "history-0"
	History50        = "history-50"
	History5000      = "history-5000"
	HistoryRatio     = "history-ratio"
	Store0           = "store-0"
	Store5000        = "store-5000"
	StoreRatio       = "store-ratio"
	Iter0            = "iteration-0"
	Iter50           = "iteration-50"
	Iter5000         = "iteration-5000"
	IterRatio        = "iteration-ratio"
	AddEach          = "add"
	AddCrossings     = "add-crossings"
	Invocation       = "invocation"
	InvocationChat   = "invocation-chat"
	Invocation0      = "invocation-0"
	Invocation50     = "invocation-50"
	Invocation5000   = "invocation-5000"
	InvocationEarly  = "invocation-ratio-50"
	InvocationLate   = "invocation-ratio-5000"
	Metered          = "metered"
	MeteredCompute   = "metered-compute"
	StartImage       = "instance-image"
	StartRatio       = "instance-image-ratio"
	StartMemory      = "instance-memory"
	TurnMemory       = "instance-turn-memory"
	ThousandMemory   = "instance-thousand-memory"
	PerTurn          = "turn-per-instance"
	PairRatio        = "instance-pair-ratio"
	MachineRatio     = "instance-machine-ratio"
	NeighbourRatio   = "instance-neighbour-ratio"
	NeighbourMetered = "instance-neighbour-metered"
	GuestEarly       = "memory-guest-early"
	GuestLate        = "memory-guest-late"
	HeapEarly        = "memory-heap-early"
	HeapLate         = "memory-heap-late"
	GuestGrowth      = "memory-guest-growth"
	HeapGrowth       = "memory-heap-growth"
)

// Flat is how much memory may grow between the early and the late look at it and still count as flat.
const Flat = 1.05

// All are the figures in the order of the table.
var All = []Figure{
	{ID: Instance, Title: "instance, from the bytes in hand (warm compile cache)", Unit: Millis},
	{ID: FirstTurn, Title: "first turn, from the bytes in hand (warm compile cache)", Unit: Millis, Against: Against{Figure: Instance, AtMost: map[string]float64{Wazero: 1.5, Node: 2.5}}},
	{ID: Further, Title: "further instance of a loaded module", Unit: Millis},
	{ID: EmptyStep, Title: "empty step", Unit: Micros, Against: native(15, 10)},
	{ID: Effect, Title: "effect round trip, 1 KiB result", Unit: Micros, Against: native(5, 5)},
	{ID: Turn, Title: "turn: one tool call, two iterations", Unit: Micros, Against: native(4, 3)},
	{ID: TurnStored, Title: "the same, with the user's message stored first", Unit: Micros},
	{ID: Written, Title: "writing down what that turn stores, for a database", Unit: Micros},
	{ID: WrittenShare, Title: "the same, against the turn", Unit: Times, Targets: everywhere(0.05)},
	{ID: Read, Title: "reading what that turn stored, from a database", Unit: Micros},
	{ID: ReadShare, Title: "the same, against the turn", Unit: Times, Targets: everywhere(0.05)},
	{ID: Turn20, Title: "the turn with 20 streamed deltas", Unit: Micros},
	{ID: Turn500, Title: "the turn with 500 streamed deltas", Unit: Micros},
	{ID: Delta, Title: "each further delta (500 against 20)", Unit: Micros, Against: native(3, 3)},
	{ID: Chat20, Title: "the same turn with the chat executor, 20 deltas of a response", Unit: Micros},
	{ID: Chat500, Title: "the same with 500", Unit: Micros},
	{ID: ChatDelta, Title: "each further delta of a response, parsed, assembled and told", Unit: Micros, Against: native(4, 3)},
	{ID: ChatLong, Title: "a delta in a stream of 10 MB in tiny parts, against one in 1 MB", Unit: Times, Targets: everywhere(1.5)},
	{ID: ChatIter0, Title: "an iteration with the chat executor on a history of 0 messages", Unit: Micros},
	{ID: ChatIter5000, Title: "the same on a history of 5,000, whose request has them all", Unit: Micros},
	{ID: ChatCopy, Title: "the same on one message that makes the request as long: copying it", Unit: Micros},
	{ID: ChatIterRatio, Title: "an iteration with the chat executor, 5,000 messages against copying the request", Unit: Times, Targets: everywhere(1.2)},
	{ID: Middleware, Title: "a middleware of the host", Unit: Micros, Against: native(4, 3)},
	{ID: Nested, Title: "a dispatch inside a dispatch", Unit: Micros, Against: native(4, 3)},
	{ID: OpenGate, Title: "a gate, settled by a listener", Unit: Micros, Against: native(4, 3)},
	{ID: WaitTurn, Title: "module's memory of each of 10,000 turns that wait at a gate in turn middleware", Unit: KiB, Targets: everywhere(12), Skip: []string{Native}},
	{ID: WaitTool, Title: "the same in a tool's handler", Unit: KiB, Targets: everywhere(30), Skip: []string{Native}},
	{ID: WaitHost, Title: "the host's memory of each of those in a tool's handler", Unit: KiB},
	{ID: SettleRatio, Title: "resolving a gate among 10,000 waiting turns, against among 500", Unit: Times, Targets: everywhere(2)},
	{ID: SettleLate, Title: "the same among 10,000, 99th percentile", Unit: Millis},
	{ID: SettleWorst, Title: "the same, longest", Unit: Millis},
	{ID: CrowdRatio, Title: "a delta among 1,000 streaming turns, against one alone", Unit: Times, Targets: everywhere(2)},
	{ID: CrowdWorst, Title: "the same, 99.9th percentile", Unit: Millis},
	{ID: History0, Title: "further turn on a history of 0 messages", Unit: Micros},
	{ID: History50, Title: "further turn on a history of 50", Unit: Micros},
	{ID: History5000, Title: "further turn on a history of 5,000", Unit: Micros},
	{ID: HistoryRatio, Title: "further turn, 5,000 against 0", Unit: Times, Targets: everywhere(2)},
	{ID: Store0, Title: "further turn on a session of 0 messages, of a store that makes its lists anew", Unit: Micros},
	{ID: Store5000, Title: "the same on a session of 5,000", Unit: Micros},
	{ID: StoreRatio, Title: "the same, 5,000 against 0", Unit: Times, Targets: everywhere(2)},
	{ID: Iter0, Title: "further iteration on a history of 0 messages", Unit: Micros},
	{ID: Iter50, Title: "further iteration on a history of 50", Unit: Micros},
	{ID: Iter5000, Title: "further iteration on a history of 5,000", Unit: Micros},
	{ID: IterRatio, Title: "further iteration, 5,000 against 0", Unit: Times, Targets: everywhere(2)},
	{ID: AddEach, Title: "adding 5,000 fresh messages, each", Unit: Micros, Against: native(3, 3)},
	{ID: AddCrossings, Title: "steps that adding them takes", Unit: Count, Targets: everywhere(1)},
	{ID: Invocation, Title: "invocation with a tool call, in a session that is made for it and deleted", Unit: Micros},
	{ID: InvocationChat, Title: "the same with the chat executor", Unit: Micros},
	{ID: Invocation0, Title: "first invocation in a session", Unit: Micros},
	{ID: Invocation50, Title: "further invocation in a session of 50", Unit: Micros},
	{ID: Invocation5000, Title: "further invocation in a session of 5,000", Unit: Micros},
	{ID: InvocationEarly, Title: "further invocation, in a session of 50 against the first", Unit: Times, Targets: everywhere(1.2)},
	{ID: InvocationLate, Title: "further invocation, in a session of 5,000 against the first", Unit: Times, Targets: everywhere(1.5)},
	{ID: Metered, Title: "a turn of a module that counts what it does, against one that does not", Unit: Times, Targets: everywhere(1.1), Skip: []string{Native}},
	{ID: MeteredCompute, Title: "the same of a turn that matches 21 KB against a pattern", Unit: Times, Targets: everywhere(1.5), Skip: []string{Native}},
	{ID: StartImage, Title: "start of an instance that shares an image of its memory", Unit: Micros, Skip: []string{Native, Node}},
	{ID: StartRatio, Title: "the same, against one that copies the module's data", Unit: Times, Targets: everywhere(0.2), Skip: []string{Native, Node}},
	{ID: StartMemory, Title: "memory of an instance that has started", Unit: MiB, Targets: everywhere(0.1), Skip: []string{Native, Node}},
	{ID: TurnMemory, Title: "the same in its first turn, with the host's of the turn", Unit: MiB, Targets: everywhere(1), Skip: []string{Native, Node}},
	{ID: ThousandMemory, Title: "memory of 1,000 instances with a turn in each", Unit: MiB, Targets: everywhere(1024), Skip: []string{Native, Node}},
	{ID: PerTurn, Title: "the turn with an instance of its own", Unit: Micros, Skip: []string{Native, Node}},
	{ID: PairRatio, Title: "turns four at a time, in two instances against in one (on two CPUs)", Unit: Times, Targets: everywhere(0.59), Skip: []string{Native, Node}},
	{ID: MachineRatio, Title: "computing without turns, on two CPUs against on one: what the machine gives", Unit: Times, Skip: []string{Native, Node}},
	{ID: NeighbourRatio, Title: "90th percentile of a delta beside turns with a message of 7 MB, against alone, in two instances", Unit: Times, Targets: everywhere(2), Skip: []string{Native, Node}},
	{ID: NeighbourMetered, Title: "the same of a module that counts what it does", Unit: Times, Targets: everywhere(2), Skip: []string{Native, Node}},
	{ID: GuestEarly, Title: "module's memory, early", Unit: MiB, Skip: []string{Native}},
	{ID: GuestLate, Title: "module's memory, late", Unit: MiB, Skip: []string{Native}},
	{ID: GuestGrowth, Title: "module's memory, late against early", Unit: Times, Targets: everywhere(Flat), Skip: []string{Native}},
	{ID: HeapEarly, Title: "host's heap after a collection, early", Unit: MiB},
	{ID: HeapLate, Title: "host's heap after a collection, late", Unit: MiB},
	{ID: HeapGrowth, Title: "host's heap, late against early", Unit: Times, Targets: everywhere(Flat)},
}

// A Row is one figure on one engine.
type Row struct {
	Figure  string  `json:"figure"`
	Engine  string  `json:"engine"`
	Unit    string  `json:"unit"`
	Median  float64 `json:"median"`
	P10     float64 `json:"p10"`
	P90     float64 `json:"p90"`
	Samples int     `json:"samples"`
}

// Size is what a module weighs, in bytes.
type Size struct {
	Module string `json:"module"`
	Raw    int    `json:"raw"`
	Gzip   int    `json:"gzip"`   // level 9
	Brotli int    `json:"brotli"` // level 11
}

// A Start is the first turn of a process on a host, in milliseconds from the module's bytes in hand: with a module that
// starts in the host, with the one that ships, which is started while it is built, and how many times the one is the
// other. The engine of its rows is the host.
type Start struct {
	Plain   Row `json:"plain"`
	Shipped Row `json:"shipped"`
	Ratio   Row `json:"ratio"`
}

// StartTargets are the hosts that first turns are measured on, in the order of the table, with the bounds of their
// ratios.
var StartTargets = []struct {
	Host  string
	Bound float64
}{{Wazero, 0.8}, {Node, 0.6}, {"Chromium", 0.6}, {"workerd", 0.6}}

// Report is what one host's benchmark writes.
type Report struct {
	Host  string  `json:"host"` // with its version
	Quick bool    `json:"quick"`
	Load  [2]Load `json:"load"` // of the machine, before and after
	Sizes []Size  `json:"sizes,omitempty"`
	Turns [2]int  `json:"turns"` // after which memory was looked at
	Rows  []Row   `json:"rows"`

	Starts []Start `json:"starts,omitempty"`
}

// Load is how many tasks wanted to run, on average over the last minute.
type Load float64

// Summarize makes a row of samples, which it sorts. There must be one at least.
func Summarize(id, engine, unit string, samples []float64) Row {
	slices.Sort(samples)
	return Row{
		Figure: id, Engine: engine, Unit: unit,
		Median: quantile(samples, 0.5), P10: quantile(samples, 0.1), P90: quantile(samples, 0.9), Samples: len(samples),
	}
}

// Median is the middle of samples, which it sorts.
func Median(samples []float64) float64 {
	slices.Sort(samples)
	return quantile(samples, 0.5)
}

// Quantile is the value that a part q of the samples, which it sorts, does not exceed.
func Quantile(samples []float64, q float64) float64 {
	slices.Sort(samples)
	return quantile(samples, q)
}

// quantile reads sorted samples, between two of them where it must.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(at-float64(low))
}
