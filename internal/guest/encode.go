package guest

import (
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

//go:noinline
func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func recordKind(collection uint8) record.Kind { return record.Kind(collection) }

type marshaler interface {
	Append(b []byte) []byte
}

// append appends a frame to the outbox. Frames made here are within the limits, so encoding cannot fail.
func (in *Instance) append(frame marshaler) {
	in.out = frame.Append(in.out)
}

// effectHead appends an Effect frame without its last element, the arguments.
func (t *turn) effectHead(eff *effect, kind uint8, context uint32) []byte {
	return t.effectHeadAs(eff, kind, context, t.run.Ordinal(context, kind))
}

func (t *turn) effectHeadAs(eff *effect, kind uint8, context, ordinal uint32) []byte {
	eff.context, eff.kind = context, kind
	b := value.AppendInt(append(t.in.out, 0x98, abi.OpEffect), int64(t.number))
	b = value.AppendInt(b, int64(eff.number))
	b = value.AppendInt(append(b, kind), int64(context))
	b = t.appendPath(b, context)
	return value.AppendInt(b, int64(ordinal))
}

// appendPath appends the location of a context as text. Almost every path is short enough to be written behind a header
// of one byte, without a copy.
func (t *turn) appendPath(b []byte, context uint32) []byte {
	start := len(b)
	b = t.run.AppendPath(value.AppendStringHeader(b, 0), context)
	n := len(b) - start - 1
	if n < 32 {
		b[start] |= byte(n)
		return b
	}
	t.in.path = append(t.in.path[:0], b[start+1:]...)
	return value.AppendText(b[:start], t.in.path)
}

// reply appends a Reply frame to the outbox.
func (t *turn) reply(call uint32, result []byte, err error) {
	if t.ended {
		return
	}
	f := abi.Reply{Op: abi.OpReply, Turn: t.number, Call: call, Value: result}
	if err != nil {
		f.Value, f.Error = nil, t.errorValue(err)
	}
	start := len(t.in.out)
	if t.in.out = f.Append(t.in.out); t.in.fits(start) {
		return
	}
	if err == nil {
		err = fault.New(fault.ABILimitExceeded, "the answer to a call")
	}
	f.Value, f.Error = nil, t.plainError(err)
	t.in.out = f.Append(t.in.out[:start])
}

// fits reports whether the frame that begins at start in the outbox is within the limits.
func (in *Instance) fits(start int) bool {
	if len(in.out)-start > int(in.limits.Frame) {
		return false
	}
	if !in.lowered {
		return true
	}
	_, _, _, err := abi.Next(in.out[start:], in.limits)
	return err == nil
}

// eventHead appends an Event frame without its last element, the payload. Kinds and scopes take a byte.
func (t *turn) eventHead(h *runtime.Head) []byte {
	b := value.AppendInt(append(t.in.out, 0x99, abi.OpEvent), int64(t.number))
	b = value.AppendInt(b, int64(h.Seq))
	b = value.AppendInt(append(b, byte(h.Kind)), int64(h.Elapsed))
	if h.Dispatch < 0x80 && h.Iteration < 0x80 { // and -1 at least, which takes a byte, too
		return append(b, byte(h.Dispatch), byte(h.Iteration), byte(h.Scope))
	}
	b = value.AppendInt(b, int64(h.Dispatch))
	b = value.AppendInt(b, int64(h.Iteration))
	return append(b, byte(h.Scope))
}

// Stream implements runtime.World.
func (t *turn) Stream(h runtime.Head, e runtime.StreamEvent) {
	if t.ended {
		return
	}
	if e.Interrupted && t.in.marks {
		h.Kind += runtime.EventKind(abi.EventMessageInterrupted - abi.EventMessage)
	}
	b := t.eventHead(&h)
	b = value.AppendListHeader(b, 5)
	b = value.AppendText(b, e.ID)
	b = value.AppendInt(b, int64(e.Created))
	b = value.AppendText(b, e.Delta)
	b = value.AppendInt(b, int64(e.Length))
	t.in.out = value.AppendBool(b, e.Complete)
}

// Event implements runtime.World.
func (t *turn) Event(h runtime.Head, p any) {
	if t.ended {
		return
	}
	start := len(t.in.out)
	t.in.out = t.appendPayload(t.eventHead(&h), p)
	if !t.in.fits(start) {
		t.in.out = t.in.out[:start]
		t.plain = true
		t.in.out = t.appendPayload(t.eventHead(&h), reduced(p))
		t.plain = false
	}
}

// reduced strips an event's payload of optional parts, so that an event that is too large or nested too deep still
// reaches the host.
//
//go:noinline
func reduced(p any) any {
	switch p := p.(type) {
	case *runtime.IterationEndEvent:
		return &runtime.IterationEndEvent{Started: p.Started, Status: p.Status}
	case *runtime.CallTool:
		e := *p
		e.Args = nil
		return &e
	case *runtime.ToolCallEvent:
		e := *p
		e.Args, e.Results = nil, nil
		return &e
	case *runtime.LogEvent:
		return &runtime.LogEvent{Level: p.Level, Kind: p.Kind, Message: p.Message}
	case *runtime.WarningEvent:
		return &runtime.WarningEvent{FromDispatch: p.FromDispatch, Kind: p.Kind, Message: p.Message, Err: p.Err}
	}
	return p
}

// appendPayload encodes an event's payload; nil for an event without one. The large ones have functions of their own,
// and so stack frames of their own: what the deepest call of a task needs, its stack keeps while it waits.
func (t *turn) appendPayload(b []byte, p any) []byte {
	switch p := p.(type) {
	case nil:
		return value.AppendNil(b)
	case *runtime.IterationEndEvent:
		e := abi.IterationEndEvent{Started: p.Started, Status: uint8(p.Status), Discarded: t.in.deltasOf(p.Discarded)}
		return e.Append(b)
	case *runtime.CallTool:
		return appendToolStart(b, p)
	case *runtime.ToolEndEvent:
		return appendToolEnd(b, p)
	case *runtime.ToolCallEvent:
		return appendToolCall(b, p)
	case *runtime.DispatchEndEvent:
		e := abi.DispatchEndEvent{Started: p.Started, Status: uint8(p.Status), Iterations: uint32(p.Iterations), Error: t.errorValue(p.Err)}
		return e.Append(b)
	case *runtime.TurnEndEvent:
		e := abi.TurnEndEvent{Started: p.Started, Status: uint8(p.Status), Error: t.errorValue(p.Err)}
		return e.Append(b)
	case *runtime.GateOpenEvent:
		return appendGateOpen(b, p)
	case *runtime.GateClosedEvent:
		e := abi.GateClosedEvent{Gate: p.Gate, ID: p.ID, Result: uint8(p.Result)}
		return e.Append(b)
	case *runtime.RawEvent:
		return abi.Raw(p.Payload).Append(b)
	}
	return t.appendReport(b, p)
}

// appendReport is appendPayload for events that carry what somebody has to say.
//
//go:noinline
func (t *turn) appendReport(b []byte, p any) []byte {
	switch p := p.(type) {
	case *runtime.ErrorEvent:
		e := abi.ErrorEvent{Error: *t.errorValue(p.Err)}
		return e.Append(b)
	case *runtime.LogEvent:
		e := abi.LogEvent{Level: p.Level, Kind: p.Kind, Message: p.Message, HasPayload: p.HasPayload, Payload: p.Payload}
		return e.Append(b)
	case *runtime.WarningEvent:
		e := abi.WarningEvent{Kind: p.Kind, Message: p.Message, Error: t.errorValue(p.Err), Payload: p.Payload}
		if p.FromDispatch {
			e.Source = 1
		}
		return e.Append(b)
	case *runtime.StatsEvent:
		e := abi.StatsEvent{Stats: p.Stats}
		return e.Append(b)
	}
	return value.AppendNil(b)
}

//go:noinline
func appendToolStart(b []byte, p *runtime.CallTool) []byte {
	e := abi.ToolStartEvent{
		Tool: p.Tool.Name, CallID: p.CallID, ExecutionID: p.ExecutionID, ProviderCallID: p.Run.ProviderCallID, Args: p.Args,
	}
	return e.Append(b)
}

//go:noinline
func appendToolEnd(b []byte, p *runtime.ToolEndEvent) []byte {
	e := abi.ToolEndEvent{
		Tool: p.Tool, CallID: p.CallID, ExecutionID: p.ExecutionID, ProviderCallID: p.ProviderCallID,
		Started: p.Started, IsError: p.IsError,
	}
	return e.Append(b)
}

//go:noinline
func appendToolCall(b []byte, p *runtime.ToolCallEvent) []byte {
	e := abi.ToolCallEvent{
		ID: p.ID, Tool: p.Tool, Args: p.Args, Checksum: p.Checksum, Created: p.Created,
		Complete: p.Complete, IsError: p.IsError, Value: p.Results, Kept: p.Kept,
		ExecutionID: p.ExecutionID, ProviderCallID: p.ProviderCallID,
	}
	switch {
	case p.HostHas:
		e.Results = abi.ResultsHost
	case p.Kept != 0:
		e.Results = abi.ResultsKept
	case p.Results != nil:
		e.Results = abi.ResultsValue
	}
	return e.Append(b)
}

//go:noinline
func appendGateOpen(b []byte, p *runtime.GateOpenEvent) []byte {
	e := abi.GateOpenEvent{Gate: p.Gate, ID: p.ID, Reason: p.Reason, Payload: p.Payload, CreatedAt: p.CreatedAt, Digest: p.Digest}
	return e.Append(b)
}

// Sync implements runtime.World.
func (t *turn) Sync(s runtime.Sync) {
	if t.ended {
		return
	}
	f := abi.Sync{
		Op: abi.OpSync, Turn: t.number, Context: s.Context, Collection: uint8(s.Kind),
		Sync: uint8(s.Op), Handle: s.Handle, Other: s.Other,
	}
	switch {
	case s.Op == runtime.SyncSet:
		f.Data = abi.Bytes(append(value.AppendString(nil, s.Key), s.Body...))
	case s.Op == runtime.SyncDefine:
		def := toolDef(s.Tool).Append(nil)
		f.Data = abi.Bytes(def)
	case s.Op == runtime.SyncTools:
		numbers := value.AppendListHeader(nil, len(s.Tools))
		for _, tool := range s.Tools {
			numbers = value.AppendInt(numbers, int64(tool.Number))
		}
		f.Data = abi.Bytes(numbers)
	case s.Err != nil:
		f.Data = t.errorBytes(s.Err)
	case s.Body != nil && t.firstNamed(s):
		f.Data = abi.Bytes(s.Body)
	}
	t.in.out = f.Append(t.in.out)
}

// toolDef is the definition of a tool made by the guest.
func toolDef(tool *runtime.Tool) *abi.ToolDef {
	def := &abi.ToolDef{
		Number: tool.Number, Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema,
		OnCollision: abi.CollisionReplace,
	}
	if tool.Trusted {
		def.Flags |= abi.ToolTrusted
	}
	if tool.Ephemeral {
		def.Flags |= abi.ToolEphemeral
	}
	if tool.Artifact {
		def.Flags |= abi.ToolArtifact
	}
	return def
}

// firstNamed reports whether a Sync names a record of the guest for the first time. Their handles descend from -1, in
// the order of their first use.
func (t *turn) firstNamed(s runtime.Sync) bool {
	handle := s.Handle
	if s.Op == runtime.SyncReplace {
		handle = s.Other
	}
	if handle >= t.named {
		return false
	}
	t.named = handle
	return true
}

func deltaOf(d runtime.Delta) abi.Delta {
	return abi.Delta{Write: uint8(d.Op), Collection: uint8(d.Kind), Handle: d.Handle, ID: d.ID, IDs: d.IDs, Handles: d.Handles}
}

// deltasOf converts writes to their wire form. Encode them before the next call.
func (in *Instance) deltasOf(ds []runtime.Delta) []abi.Delta {
	if cap(in.deltas) > maxSpareDeltas {
		in.deltas = nil
	}
	in.deltas = in.deltas[:0]
	for _, d := range ds {
		in.deltas = append(in.deltas, deltaOf(d))
	}
	return in.deltas
}

// maxSpareDeltas is how many of them to keep for the next call.
const maxSpareDeltas = 64
