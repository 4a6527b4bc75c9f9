// Package guest is the module's side of the ABI: it takes batches of frames, runs package runtime behind them and
// answers with a batch. Every turn is a task, run as a coroutine; no function here blocks, starts a thread or reads a
// clock. The native engine of package host runs the same code in process.
package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// Build names the version of this module, for people.
const Build = "turncore " + version

const version = "0.1.0"

// supported are the features compiled in.
const supported = abi.FeatureChat | abi.FeatureHistory | abi.FeatureTimers | abi.FeatureDigest

// Instance is one guest: many runners, many turns, one step at a time.
type Instance struct {
	inbox     []byte
	out       []byte
	limits    abi.Limits
	greeted   bool
	runners   map[uint32]*runner
	turns     map[uint32]*turn
	histories map[uint32]*runtime.History
	effects   int // outstanding, in all turns

	idle  []*coroutine
	ready []*coroutine
	frame frames
}

// frames are reused between steps, so that decoding allocates only what outlives it.
type frames struct {
	call   abi.Call
	edit   abi.Edit
	result abi.Result
	chunk  abi.Chunk
}

// runner is an open runner.
type runner struct {
	config    *runtime.Config
	callbacks uint32
}

// New returns an instance that waits for Hello.
func New() *Instance {
	return &Instance{
		limits:    abi.DefaultLimits(),
		runners:   make(map[uint32]*runner),
		turns:     make(map[uint32]*turn),
		histories: make(map[uint32]*runtime.History),
	}
}

// Inbox returns a buffer for size bytes of frames and one more, the marker; nil if size is over the limit. It is valid
// until the next call of any method.
func (in *Instance) Inbox(size uint32) []byte {
	if size > in.limits.Frame {
		return nil
	}
	if cap(in.inbox) <= int(size) {
		in.inbox = make([]byte, int(size)+4096)
	}
	in.inbox = in.inbox[:size+1]
	return in.inbox
}

// Step takes a batch of frames, runs until every task waits for the host, and returns the answering batch, which is
// valid until the next call. It keeps nothing of batch.
func (in *Instance) Step(batch []byte) []byte {
	in.out = in.out[:0]
	if cap(in.out) > 1<<20 {
		in.out = nil // do not hold on to one large answer for ever
	}
	for rest := batch; len(rest) > 0; {
		offset := len(batch) - len(rest)
		op, frame, after, err := abi.Next(rest, in.limits)
		if err == nil {
			err = in.take(op, frame)
		}
		in.drain()
		if err != nil {
			in.fault(err, offset)
			break
		}
		rest = after
	}
	return in.out
}

// take handles one frame. An error means that the frame could not be taken.
func (in *Instance) take(op abi.Op, frame []byte) error {
	if !in.greeted && op != abi.OpHello {
		return fault.New(fault.ABIHelloFirst)
	}
	switch op {
	case abi.OpCall:
		return take(frame, &in.frame.call, in.call)
	case abi.OpResult:
		return take(frame, &in.frame.result, in.result)
	case abi.OpEdit:
		return take(frame, &in.frame.edit, in.edit)
	case abi.OpChunk:
		return take(frame, &in.frame.chunk, in.chunk)
	case abi.OpStartTurn:
		return take(frame, new(abi.StartTurn), in.startTurn)
	case abi.OpAbort:
		return take(frame, new(abi.Abort), in.abort)
	case abi.OpTick:
		return take(frame, new(abi.Tick), in.tick)
	case abi.OpHistory:
		return take(frame, new(abi.History), in.history)
	case abi.OpDropHistory:
		return take(frame, new(abi.DropHistory), func(f *abi.DropHistory) error {
			delete(in.histories, f.History)
			return nil
		})
	case abi.OpOpenRunner:
		return take(frame, new(abi.OpenRunner), in.openRunner)
	case abi.OpCloseRunner:
		return take(frame, new(abi.CloseRunner), func(f *abi.CloseRunner) error {
			delete(in.runners, f.Runner)
			return nil
		})
	case abi.OpHello:
		return take(frame, new(abi.Hello), in.hello)
	}
	return fault.New(fault.ABIUnknownFrame, "op "+itoa(int64(op)))
}

// take decodes a frame into f, which may hold an earlier one, and hands it on.
func take[F interface {
	UnmarshalMsg([]byte) ([]byte, error)
}](frame []byte, f F, handle func(F) error) error {
	if _, err := f.UnmarshalMsg(frame); err != nil {
		return fault.New(fault.ABIMalformedFrame, err.Error())
	}
	return handle(f)
}

func (in *Instance) hello(f *abi.Hello) error {
	if in.greeted {
		return fault.New(fault.ABIMalformedFrame, "a second Hello")
	}
	if f.Major != abi.Major {
		return fault.New(fault.ABIVersion, "the host speaks "+itoa(int64(f.Major))+"."+itoa(int64(f.Minor))+", the module "+itoa(abi.Major)+"."+itoa(abi.Minor))
	}
	in.greeted = true
	in.limits = f.Limits.Effective()
	in.append(&abi.Welcome{
		Op: abi.OpWelcome, Major: abi.Major, Minor: abi.Minor,
		Features: f.Features & supported, Limits: in.limits, Build: Build,
	})
	return nil
}

func (in *Instance) history(f *abi.History) error {
	data, err := abi.BytesOf(f.Block)
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
	h.Append(f.Count, data)
	return nil
}

// fault answers a frame that could not be taken.
func (in *Instance) fault(err error, offset int) {
	f := &abi.Fault{Op: abi.OpFault, Code: string(fault.ABIMalformedFrame), Message: fault.MessageOf(err), Offset: uint32(offset)}
	if code := codeOf(err); code != "" {
		f.Code = code
	}
	in.append(f)
}
