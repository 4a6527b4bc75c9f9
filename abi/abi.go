// Package abi is the wire contract between the Turncore module and the hosts that run it: frames, their payloads,
// records, limits, the error table and the validation rules. Guest and hosts share nothing else. SPEC.md in this
// folder describes the same contract in prose, for implementers in other languages.
//
// A frame is one msgpack array whose first element is its op. A batch is a sequence of frames. The host writes a
// batch into the inbox, calls turncore_step, and reads a batch from the outbox.
package abi

//go:generate go run ./gen
//go:generate go run ./gen/vectors
//go:generate go run ../host/internal/trace

// Version of the ABI. A host rejects a module of another major; a minor only adds.
const (
	Major = 2
	Minor = 0
	// Version is what turncore_abi returns: major in the high 16 bits, minor in the low 16.
	Version = Major<<16 | Minor
)

// Features are optional abilities, one bit each, negotiated by Hello and Welcome.
type Features = uint64

// Feature bits.
const (
	FeatureChat       Features = 1 << 0 // the chat executor is compiled in
	FeatureHistory    Features = 1 << 1 // histories shared by many turns
	FeatureTimers     Features = 1 << 2 // Timer and Tick frames
	FeatureDigest     Features = 1 << 3 // the digest method, which compares mirrored collections
	FeatureInterrupts Features = 1 << 4 // interrupted streams are marked: method Interrupt, events MessageInterrupted, ThoughtInterrupted
	FeatureAgent      Features = 1 << 5 // the module is an agent: method Describe, executors of kind Module
	FeatureSessions   Features = 1 << 6 // sessions and invocations: OpenAgents, StartInvocation
)

// Op is the first element of a frame. 1 to 31 travel from host to guest, 33 to 63 from guest to host.
type Op = uint8

// Ops from host to guest.
const (
	OpHello           Op = 1
	OpOpenRunner      Op = 2
	OpCloseRunner     Op = 3
	OpHistory         Op = 4
	OpStartTurn       Op = 5
	OpCall            Op = 6
	OpEdit            Op = 7
	OpResult          Op = 8
	OpChunk           Op = 9
	OpAbort           Op = 10
	OpTick            Op = 11
	OpDropHistory     Op = 12
	OpGCPercent       Op = 13
	OpOpenAgents      Op = 14
	OpStartInvocation Op = 15
)

// Ops from guest to host.
const (
	OpWelcome Op = 33
	OpReply   Op = 34
	OpEvent   Op = 35
	OpEffect  Op = 36
	OpCancel  Op = 37
	OpSync    Op = 38
	OpTimer   Op = 39
	OpEnd     Op = 40
	OpFault   Op = 41
)

// Names of the module's exports.
const (
	ExportABI   = "turncore_abi"
	ExportInbox = "turncore_inbox"
	ExportStep  = "turncore_step"
)
