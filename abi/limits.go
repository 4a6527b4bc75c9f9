package abi

// Limits that hold unless a host lowers them.
const (
	MaxFrame           = 16 << 20
	MaxString          = MaxFrame
	MaxArray           = 8192
	MaxDepth           = 64
	MaxTurnEffects     = 1024
	MaxInstanceEffects = 65536
)

// DefaultLimits are the limits that hold unless a host lowers them.
func DefaultLimits() Limits {
	return Limits{
		Frame: MaxFrame, String: MaxString, Array: MaxArray, Depth: MaxDepth,
		TurnEffects: MaxTurnEffects, InstanceEffects: MaxInstanceEffects,
	}
}

// Lower returns l with every field lowered to that of to. Fields of to that are 0, or higher, change nothing.
func (l Limits) Lower(to Limits) Limits {
	lower := func(have *uint32, want uint32) {
		if want != 0 && want < *have {
			*have = want
		}
	}
	lower(&l.Frame, to.Frame)
	lower(&l.String, to.String)
	lower(&l.Array, to.Array)
	lower(&l.Depth, to.Depth)
	lower(&l.TurnEffects, to.TurnEffects)
	lower(&l.InstanceEffects, to.InstanceEffects)
	return l
}
