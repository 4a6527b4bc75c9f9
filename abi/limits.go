package abi

// Defaults and upper bounds of Limits.
const (
	MaxFrame           = 16 << 20
	MaxArray           = 8192
	MaxDepth           = 64
	MaxTurnEffects     = 1024
	MaxInstanceEffects = 65536
)

// Bounds on a guest's output in one step. A host ends an instance that exceeds them before it decodes any of the
// output: the frame limit bounds the contents of a frame, but nothing else bounds the number of frames in a step.
const (
	MaxStepOutput = 48 << 20 // bytes: three of the largest frames
	MaxStepFrames = 1 << 18
)

// Quota of a host that sets none.
const (
	DefaultTurnQuota     = 64 << 20
	DefaultInstanceQuota = 128 << 20
)

// SeedSize is the number of bytes of a seed.
const SeedSize = 16

// MaxValueDepth is the nesting limit of lists and maps in one value: a frame's depth less the levels of the frame
// itself, so that a valid value fits into every frame.
const MaxValueDepth = 60

// MaxStateName and MaxStateValue bound a name of the state, with its scope, and a value, encoded, in bytes.
const (
	MaxStateName  = 512
	MaxStateValue = 1 << 20
)

// MaxState bounds the state that an invocation sees: bytes of all names, with their scopes, and encoded values.
const MaxState = 8 << 20

// MaxInt is the largest magnitude of an integer in a frame, 2^53-1: a JavaScript number holds every integer up to it.
const MaxInt = 1<<53 - 1

// DefaultLimits are the limits in force when neither side lowers them.
func DefaultLimits() Limits { return Limits{}.Effective() }

// Effective returns the quota that q asks for: a zero field becomes the default.
func (q Quota) Effective() Quota {
	if q.Turn == 0 {
		q.Turn = DefaultTurnQuota
	}
	if q.Instance == 0 {
		q.Instance = DefaultInstanceQuota
	}
	return q
}

// Effective returns the limits that l asks for: a zero field and one above the default become the default.
func (l Limits) Effective() Limits {
	lower := func(n, limit uint32) uint32 {
		if n == 0 || n > limit {
			return limit
		}
		return n
	}
	return Limits{
		Frame:           lower(l.Frame, MaxFrame),
		String:          lower(l.String, MaxFrame),
		Array:           lower(l.Array, MaxArray),
		Depth:           lower(l.Depth, MaxDepth),
		TurnEffects:     lower(l.TurnEffects, MaxTurnEffects),
		InstanceEffects: lower(l.InstanceEffects, MaxInstanceEffects),
	}
}
