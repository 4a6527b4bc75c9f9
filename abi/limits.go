package abi

// Defaults and upper bounds of Limits.
const (
	maxFrame           = 16 << 20
	maxArray           = 8192
	maxDepth           = 64
	maxTurnEffects     = 1024
	maxInstanceEffects = 65536
)

// MaxValueDepth is how deep the lists and maps of one value may nest: a frame's depth less what the frame itself
// takes, so that a value which a host accepts fits every frame.
const MaxValueDepth = 60

// MaxInt is the largest magnitude of an integer in a frame, 2^53-1: a JavaScript number holds every integer up to it.
const MaxInt = 1<<53 - 1

// DefaultLimits are the limits in force when neither side lowers them.
func DefaultLimits() Limits { return Limits{}.Effective() }

// Effective returns the limits that l asks for: a zero field and one above the default become the default.
func (l Limits) Effective() Limits {
	lower := func(n, limit uint32) uint32 {
		if n == 0 || n > limit {
			return limit
		}
		return n
	}
	return Limits{
		Frame:           lower(l.Frame, maxFrame),
		String:          lower(l.String, maxFrame),
		Array:           lower(l.Array, maxArray),
		Depth:           lower(l.Depth, maxDepth),
		TurnEffects:     lower(l.TurnEffects, maxTurnEffects),
		InstanceEffects: lower(l.InstanceEffects, maxInstanceEffects),
	}
}
