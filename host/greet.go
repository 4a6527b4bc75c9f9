package host

import (
	"fmt"

	"github.com/turncore/turncore/abi"
)

// Greeting is the agreement of host and core at the start of their conversation.
type Greeting struct {
	// Features are the features that both sides support.
	Features abi.Features
	// Limits are the limits in force, in both directions.
	Limits abi.Limits
	// Quota is the quota in force.
	Quota abi.Quota
	// Build is the module's version, for people.
	Build string
	// Providers are the protocols of the module's chat executor, the default one first.
	Providers []string
	// In and Out are the two frames, for a journal.
	In, Out []byte
}

// frameRoom is what Hello takes at most, and Welcome if it names few providers, in bytes.
const frameRoom = 128

// Greet sends Hello to a fresh instance and reads its Welcome. hello has the features that the host can use, its
// limits and its quota. Limits of 0 mean the default, and limits above the default are lowered to it. Greet fills in
// the rest.
//
// A core of another major version gives [CodeABIVersion]. Any answer but a valid Welcome gives [CodeInstanceFailed].
// After an error the instance is dropped.
func Greet(inst Instance, hello abi.Hello) (Greeting, error) {
	hello.Major, hello.Minor, hello.Limits, hello.Quota = abi.Major, abi.Minor, hello.Limits.Effective(), hello.Quota.Effective()
	room := make([]byte, abi.SeedSize+frameRoom, abi.SeedSize+2*frameRoom)
	hello.Seed = room[:abi.SeedSize:abi.SeedSize]
	SystemEntropy()(hello.Seed)
	in := abi.Append(room[abi.SeedSize:abi.SeedSize:len(room)], &hello)
	out, err := inst.Step(room[len(room):], in)
	if err != nil {
		return Greeting{}, err
	}
	welcome, err := readWelcome(out, &hello)
	if err != nil {
		failed := inst.Retire(err)
		if refused, ok := err.(*Error); ok {
			return Greeting{}, refused
		}
		return Greeting{}, failed
	}
	return Greeting{
		Features: welcome.Features, Limits: welcome.Limits, Quota: welcome.Quota, Build: welcome.Build, Providers: welcome.Providers,
		In: in, Out: out,
	}, nil
}

// readWelcome checks the answer to a Hello. An *Error is the core's rejection, any other error a broken answer.
func readWelcome(out []byte, hello *abi.Hello) (abi.Welcome, error) {
	none := abi.Welcome{}
	if len(out) == 0 {
		return none, fmt.Errorf("nothing came in answer to Hello")
	}
	op, frame, rest, err := abi.Next(out, hello.Limits)
	if err != nil {
		return none, fmt.Errorf("the answer to Hello: %w", err)
	}
	switch {
	case op == abi.OpFault:
		fault, err := abi.Decode[abi.Fault](frame)
		if err != nil {
			return none, fmt.Errorf("the answer to Hello: %w", err)
		}
		refusal := NewError(Code(fault.Code), "", nil)
		refusal.Message = fault.Message
		return none, refusal
	case op != abi.OpWelcome:
		return none, fmt.Errorf("frame %d came in answer to Hello", op)
	case len(rest) != 0:
		return none, fmt.Errorf("%d bytes came after Welcome", len(rest))
	}
	w, err := abi.Decode[abi.Welcome](frame)
	if err != nil {
		return none, fmt.Errorf("the answer to Hello: %w", err)
	}
	if w.Major != abi.Major {
		return none, VersionError(w.Major, w.Minor)
	}
	if w.Features&^hello.Features != 0 {
		return none, fmt.Errorf("welcome grants features %#x, asked for were %#x", w.Features, hello.Features)
	}
	if !within(w.Limits, hello.Limits) {
		return none, fmt.Errorf("welcome grants limits %+v, asked for were %+v", w.Limits, hello.Limits)
	}
	if w.Quota != hello.Quota {
		return none, fmt.Errorf("welcome grants the quota %+v, asked for was %+v", w.Quota, hello.Quota)
	}
	return w, nil
}

// within reports whether every limit is set and none exceeds the requested one.
func within(l, asked abi.Limits) bool {
	ok := func(n, most uint32) bool { return n > 0 && n <= most }
	return ok(l.Frame, asked.Frame) && ok(l.String, asked.String) && ok(l.Array, asked.Array) &&
		ok(l.Depth, asked.Depth) && ok(l.TurnEffects, asked.TurnEffects) && ok(l.InstanceEffects, asked.InstanceEffects)
}

// VersionError returns the error for a core with another major version of the ABI; it names both versions. Engines
// return it when they load a module.
func VersionError(major, minor uint16) *Error {
	return NewError(CodeABIVersion,
		fmt.Sprintf("the module speaks %d.%d, this host %d.%d", major, minor, abi.Major, abi.Minor), nil)
}
