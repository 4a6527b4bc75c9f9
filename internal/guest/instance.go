// Package guest is the module's side of the ABI: it takes batches of frames, runs package runtime behind them and
// answers with a batch. Every turn is a task, run as a coroutine; no function here blocks, starts a thread or reads a
// clock. The native engine of package host runs the same code in process.
package guest

import (
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/fault"
)

// Build names the version of this module, for people.
const Build = "turncore " + version

const version = "0.1.0"

// supported are the features compiled in.
const supported = abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest | abi.FeatureInterrupts

// Instance is one guest: many runners, many turns, one step at a time.
type Instance struct {
	inbox     []byte
	out       []byte
	limits    abi.Limits
	quota     runtime.Quota
	over      []*turn // turns over their quota, which must be ended
	lowered   bool    // limits are below the defaults, which the decoder enforces by itself
	marks     bool    // FeatureInterrupts is on
	greeted   bool
	runners   map[uint32]*runtime.Config
	turns     map[uint32]*turn
	last      *turn // that the last frame was about, if it runs
	histories map[uint32]*runtime.History
	effects   int // outstanding, in all turns
	providers []chat.Provider
	speaks    []string // names of those that are in this module
	platform  Platform
	agent     Agent        // nil in the core module
	more      abi.Features // features of an agent module, or of sessions
	front     front        // nil in a module without sessions

	idle    []*coroutine
	spare   []*effect // settled ones, for reuse
	deltas  []abi.Delta
	ready   []*coroutine
	waiting []waiter
	// All coroutines ever made, and whether they must end.
	coroutines []*coroutine
	closed     bool

	frame frames
	body  []byte // scratch: the body of a request, or the value of a reply
	path  []byte // scratch: the path of an effect
}

// frames are reused between steps, so that decoding allocates only what outlives it.
type frames struct {
	reader abi.Reader
	call   abi.Call
	edit   abi.Edit
	result abi.Result
	chunk  abi.Chunk
}

// New returns an instance that waits for Hello. Its chat executor supports the providers; the first is the default.
func New(providers ...chat.Provider) *Instance { return Maker(providers...)() }

// Maker returns a function that makes instances like New, for a host that makes many.
func Maker(providers ...chat.Provider) func() *Instance {
	speaks := namesOf(providers)
	return func() *Instance {
		return &Instance{
			providers: providers,
			speaks:    speaks,
			limits:    abi.DefaultLimits(),
			out:       make([]byte, 0, 256),
			runners:   make(map[uint32]*runtime.Config),
			turns:     make(map[uint32]*turn),
			histories: make(map[uint32]*runtime.History),
		}
	}
}

// namesOf lists the providers that are in this module.
func namesOf(providers []chat.Provider) []string {
	names := make([]string, 0, len(providers))
	for _, p := range providers {
		if protocol := p.Protocol(); protocol.Elsewhere == "" {
			names = append(names, protocol.Name)
		}
	}
	return names
}

// Platform is what frames change of the Go runtime below the guest. A function that is nil is not called: in process,
// the runtime is the host's own.
type Platform struct {
	// Reseed replaces the state that the runtime draws random numbers from, by the seed of Hello.
	Reseed func(seed []byte)
	// SetGCPercent is that of runtime/debug.
	SetGCPercent func(percent int32)
}

// RunOn names the platform, before the first step.
func (in *Instance) RunOn(p Platform) { in.platform = p }

// Inbox returns a buffer for size bytes of frames and one more, the marker; nil if size is over the limit. It is valid
// until the next call of any method.
func (in *Instance) Inbox(size uint32) []byte {
	if size > in.limits.Frame {
		return nil
	}
	if cap(in.inbox) <= int(size) {
		room := 256 // instances that get no more than Hello are many
		if in.greeted {
			room = 4096
		}
		in.inbox = make([]byte, int(size)+room)
	}
	in.inbox = in.inbox[:size+1]
	return in.inbox
}

// Step takes a batch of frames, runs until every task waits for the host, and returns the answering batch, valid until
// the next call. It does not keep batch.
func (in *Instance) Step(batch []byte) []byte {
	in.out = in.out[:0]
	if cap(in.out) > 1<<20 {
		in.out = nil // do not keep the memory of one large answer for ever
	}
	if cap(in.body) > 1<<20 {
		in.body = nil
	}
	for rest := batch; len(rest) > 0; {
		after, err := in.take(rest)
		in.drain()
		for len(in.over) > 0 {
			in.endOver()
		}
		if err != nil {
			in.fault(err, len(batch)-len(rest))
			break
		}
		rest = after
	}
	return in.out
}

// take handles the first frame of a batch and returns the rest. It fails if the frame is invalid.
func (in *Instance) take(batch []byte) (rest []byte, err error) {
	if in.lowered {
		if _, _, _, err := abi.Next(batch, in.limits); err != nil {
			return nil, err
		}
	}
	if len(batch) < 2 || batch[0]&0xf0 != 0x90 || batch[0] == 0x90 {
		return nil, fault.New(fault.ABIMalformedFrame, "a frame is an array that starts with its op")
	}
	op := batch[1]
	if !in.greeted && op != abi.OpHello {
		return nil, fault.New(fault.ABIHelloFirst)
	}
	r := &in.frame.reader
	*r = abi.NewAliasReader(batch)
	err = in.takeOp(op, r)
	if !r.OK() {
		err = r.Err()
	}
	return r.Rest(), err
}

// turn returns a running turn by its number, nil if there is none. Many frames in a row are about one turn.
func (in *Instance) turn(number uint32) *turn {
	if in.last == nil || in.last.number != number {
		in.last = in.turns[number]
	}
	return in.last
}

// takeOp decodes a frame and handles it. The frame is part of the batch, so anything kept is copied.
func (in *Instance) takeOp(op abi.Op, r *abi.Reader) error {
	switch op {
	case abi.OpCall:
		if in.frame.call.Decode(r); r.OK() {
			return in.call(&in.frame.call)
		}
	case abi.OpResult:
		if in.frame.result.Decode(r); r.OK() {
			return in.result(&in.frame.result)
		}
	case abi.OpEdit:
		if in.frame.edit.Decode(r); r.OK() {
			return in.edit(&in.frame.edit)
		}
	case abi.OpChunk:
		if in.frame.chunk.Decode(r); r.OK() {
			return in.chunk(&in.frame.chunk)
		}
	case abi.OpStartTurn:
		var f abi.StartTurn
		if f.Decode(r); r.OK() {
			return in.startTurn(&f)
		}
	case abi.OpAbort:
		var f abi.Abort
		if f.Decode(r); r.OK() {
			return in.abort(&f)
		}
	case abi.OpTick:
		var f abi.Tick
		if f.Decode(r); r.OK() {
			in.tick(&f)
		}
	case abi.OpHistory:
		var f abi.History
		if f.Decode(r); r.OK() {
			return in.history(&f)
		}
	case abi.OpDropHistory:
		var f abi.DropHistory
		if f.Decode(r); r.OK() {
			if h := in.histories[f.History]; h != nil {
				in.quota.DropHistory(h)
				delete(in.histories, f.History)
			} else if in.front != nil {
				in.front.drop(f.History)
			}
		}
	case abi.OpOpenRunner:
		var f abi.OpenRunner
		if f.Decode(r); r.OK() {
			in.openRunner(&f)
		}
	case abi.OpCloseRunner:
		var f abi.CloseRunner
		if f.Decode(r); r.OK() {
			delete(in.runners, f.Runner)
			if in.front != nil {
				in.front.close(f.Runner)
			}
		}
	case abi.OpGCPercent:
		var f abi.GCPercent
		if f.Decode(r); r.OK() {
			return in.gcPercent(&f)
		}
	case abi.OpHello:
		if err := speaksOurs(*r); err != nil {
			return err
		}
		var f abi.Hello
		if f.Decode(r); r.OK() {
			return in.hello(&f)
		}
	default:
		if in.front != nil {
			return in.front.take(op, r)
		}
		return fault.New(fault.ABIUnknownFrame, "op "+itoa(int64(op)))
	}
	return nil
}

// front is a second front door beside that of turns.
type front interface {
	// take handles a frame that turns do not have.
	take(op abi.Op, r *abi.Reader) error
	// call serves a method of turn 0 that turns do not have, or of a turn that belongs to the front.
	call(t *turn, f *abi.Call) error
	// tell takes a history of events, drop forgets it.
	tell(f *abi.History, data []byte) error
	drop(history uint32)
	// close closes a runner.
	close(runner uint32)
}

func (in *Instance) hello(f *abi.Hello) error {
	if in.greeted {
		return fault.New(fault.ABIMalformedFrame, "a second Hello")
	}
	if len(f.Seed) != abi.SeedSize {
		return badSeed("Hello", f.Seed)
	}
	in.greeted = true
	if in.platform.Reseed != nil {
		in.platform.Reseed(f.Seed)
	}
	in.limits = f.Limits.Effective()
	quota := f.Quota.Effective()
	in.quota = runtime.Quota{Turn: quota.Turn, Instance: quota.Instance}
	in.lowered = in.limits != abi.DefaultLimits()
	in.marks = f.Features&abi.FeatureInterrupts != 0
	in.append(&abi.Welcome{
		Op: abi.OpWelcome, Major: abi.Major, Minor: abi.Minor,
		Features: f.Features & (supported | in.more), Limits: in.limits, Quota: quota, Build: Build, Providers: in.speaks,
	})
	return nil
}

func (in *Instance) gcPercent(f *abi.GCPercent) error {
	if f.Percent == 0 || f.Percent > math.MaxInt32 {
		return fault.New(fault.ABIMalformedFrame, "GCPercent: the percentage must be from 1 to 2147483647")
	}
	if in.platform.SetGCPercent != nil {
		in.platform.SetGCPercent(int32(f.Percent))
	}
	return nil
}

// speaksOurs rejects a Hello of another major version. It reads only the fields that every version begins with; the
// others differ.
func speaksOurs(r abi.Reader) error {
	r.Array()
	r.Uint(math.MaxUint8)
	major, minor := r.Uint(math.MaxUint16), r.Uint(math.MaxUint16)
	if r.OK() && major != abi.Major {
		return fault.New(fault.ABIVersion, "the host speaks "+itoa(int64(major))+"."+itoa(int64(minor))+", the module "+itoa(abi.Major)+"."+itoa(abi.Minor))
	}
	return nil
}

// badSeed is the error for a seed of the wrong length.
func badSeed(frame string, seed []byte) error {
	return fault.New(fault.ABIMalformedFrame, frame+": the seed has "+itoa(int64(len(seed)))+" bytes and must have "+itoa(abi.SeedSize))
}

func (in *Instance) history(f *abi.History) error {
	data, err := abi.BytesOf(f.Block)
	if err == nil && f.Collection == abi.CollectionEvents && in.front != nil {
		return in.front.tell(f, data)
	}
	if err != nil || f.History == 0 || int(f.Collection) >= runtime.Collections || uint64(f.Count) > uint64(len(data)) {
		return fault.New(fault.ABIMalformedFrame, "History: number, collection, count or block")
	}
	h := in.histories[f.History]
	if h == nil {
		h = runtime.NewHistory(recordKind(f.Collection))
		in.histories[f.History] = h
	}
	if h.Kind() != recordKind(f.Collection) {
		return fault.New(fault.ABIMalformedFrame, "History: the collection of a history cannot change")
	}
	h.Append(f.Count, clone(data))
	in.quota.AddHistory(len(data))
	return nil
}

// endOver ends the turn that exceeded its quota first, and runs the tasks that this wakes.
func (in *Instance) endOver() {
	t := in.over[0]
	in.over = in.over[1:]
	if !t.ended {
		err := t.run.Exceeded()
		t.end(runtime.StatusFailed, t.run.Break(err), err)
		in.drain()
	}
}

// clone copies a part of a frame to keep it.
func clone(b []byte) []byte { return append([]byte(nil), b...) }

// fault reports an invalid frame to the host.
func (in *Instance) fault(err error, offset int) {
	f := &abi.Fault{Op: abi.OpFault, Code: string(fault.ABIMalformedFrame), Message: fault.MessageOf(err), Offset: uint32(offset)}
	if code := codeOf(err); code != "" {
		f.Code = code
	}
	in.append(f)
}
