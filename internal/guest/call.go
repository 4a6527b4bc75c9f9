package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// callMargin is the room that a call's arguments leave in a frame for the fields around them when they go out again.
const callMargin = 256

// call serves a method that host code calls on a context. It fails if the frame is invalid; a failure of the method
// goes into its reply.
func (in *Instance) call(f *abi.Call) error {
	t := in.turn(f.Turn)
	if f.Turn == 0 {
		return in.callOutside(f)
	}
	if t == nil {
		(&turn{in: in, number: f.Turn}).reply(f.Call, nil, fault.New(fault.CallAfterEnd, "the turn has ended"))
		return nil
	}
	t.run.SetElapsed(f.Elapsed)
	if t.served != nil {
		return in.front.call(t, f)
	}
	d := t.run.DispatchContext(f.Context)
	if d == nil && f.Context != 0 {
		t.reply(f.Call, nil, fault.New(fault.ABIUnknownTarget, "context "+itoa(int64(f.Context))))
		return nil
	}
	if len(f.Args) > int(t.in.limits.Frame)-callMargin {
		t.reply(f.Call, nil, fault.New(fault.ABILimitExceeded, "arguments of "+itoa(int64(len(f.Args)))+" bytes"))
		return nil
	}
	if f.Method == abi.MethodReport || f.Method == abi.MethodInterrupt {
		return t.report(f, d)
	}
	r := abi.NewAliasReader(f.Args)
	err := t.callMethod(f, d, &r)
	if !r.OK() {
		return malformed(f, &r)
	}
	return err
}

// callMethod serves a method. Malformed arguments stop it and leave an error in r, which reads them. The arguments are
// part of the frame.
func (t *turn) callMethod(f *abi.Call, d *runtime.Dispatch, r *abi.Reader) error {
	switch f.Method {
	case abi.MethodNext:
		var a abi.NextArgs
		if a.Decode(r); r.OK() {
			t.callNext(f.Call, a.Effect)
		}
	case abi.MethodStore, abi.MethodMutate:
		var a abi.StoreArgs
		if a.Decode(r); r.OK() {
			t.callStore(f.Call, f.Method, d, &a)
		}
	case abi.MethodDelete:
		var a abi.DeleteArgs
		if a.Decode(r); r.OK() {
			t.callDelete(f.Call, d, &a)
		}
	case abi.MethodReplaceGroup:
		var a abi.ReplaceGroupArgs
		if a.Decode(r); r.OK() {
			t.callReplaceGroup(f.Call, d, &a)
		}
	case abi.MethodEmit:
		var a abi.EmitArgs
		if a.Decode(r); r.OK() {
			return t.callEmit(f, &a)
		}
	case abi.MethodDigest:
		sums, _ := t.run.Digest(f.Context)
		b := value.AppendListHeader(nil, len(sums))
		for _, s := range sums {
			b = value.AppendInt(b, int64(s))
		}
		t.reply(f.Call, b, nil)
	case abi.MethodOpenGate:
		var a abi.OpenGateArgs
		if a.Decode(r); r.OK() {
			t.callOpenGate(f.Call, d, &a)
		}
	case abi.MethodSettleGate:
		var a abi.SettleGateArgs
		if a.Decode(r); r.OK() {
			t.reply(f.Call, nil, t.settleGate(&a))
		}
	case abi.MethodWarn:
		var a abi.WarnArgs
		if a.Decode(r); r.OK() {
			e := &runtime.WarningEvent{Kind: a.Kind, Message: a.Message, Payload: valueOf(a.Payload)}
			if a.Error != nil {
				e.Err = faultOf(a.Error)
			}
			t.run.Warn(f.Context, a.Once, e)
			t.reply(f.Call, nil, nil)
		}
	case abi.MethodDispatch:
		var a abi.DispatchArgs
		if a.Decode(r); r.OK() {
			t.callDispatch(f.Call, d, &a)
		}
	default:
		if d == nil {
			t.reply(f.Call, nil, fault.New(fault.ABIUnknownTarget, "method "+itoa(int64(f.Method))+" needs a dispatch context"))
			break
		}
		t.callDispatchMethod(f, d, r)
	}
	return nil
}

func (t *turn) callEmit(f *abi.Call, a *abi.EmitArgs) error {
	payload := emitted(a.Kind)
	if payload == nil {
		t.reply(f.Call, nil, fault.New(fault.ABIUnknownTarget, "hosts cannot emit events of kind "+itoa(int64(a.Kind))))
		return nil
	}
	p := abi.NewReader(a.Payload)
	if payload.Decode(p); p.OK() && len(p.Rest()) != 0 {
		return fault.New(fault.ABIMalformedFrame, "Call: emit: bytes follow the payload")
	}
	if !p.OK() {
		return malformed(f, p)
	}
	t.run.Emit(f.Context, runtime.EventKind(a.Kind), a.Payload)
	t.reply(f.Call, nil, nil)
	return nil
}

// callOutside serves calls outside any turn: validating arguments against a tool's schema.
func (in *Instance) callOutside(f *abi.Call) error {
	t := &turn{in: in}
	if f.Method == abi.MethodDescribe && in.agent != nil {
		t.reply(f.Call, in.agent.Describe(), nil)
		return nil
	}
	if f.Method >= abi.SessionMethodGetState && in.front != nil {
		return in.front.call(t, f)
	}
	if f.Method != abi.MethodValidate {
		t.reply(f.Call, nil, fault.New(fault.ABIUnknownTarget, "method "+itoa(int64(f.Method))+" outside a turn"))
		return nil
	}
	r := abi.NewReader(f.Args)
	var a abi.ValidateToolArgs
	if a.Decode(r); !r.OK() {
		return malformed(f, r)
	}
	a.Tool.Builtin = "" // nothing is called
	tool, err := toolOf(&a.Tool, &noParts)
	var valid []byte
	switch {
	case err != nil:
	case tool.Validates:
		err = fault.New(fault.ABIUnknownTarget, "the host validates the arguments of tool "+tool.Name)
	default:
		valid, err = tool.Check(a.Args)
	}
	t.reply(f.Call, valid, err)
	return nil
}

// callDispatchMethod is callMethod for the methods that only a DispatchContext has.
func (t *turn) callDispatchMethod(f *abi.Call, d *runtime.Dispatch, r *abi.Reader) {
	switch f.Method {
	case abi.MethodAck:
		t.reply(f.Call, nil, d.Ack())
	case abi.MethodNack:
		var a abi.NackArgs
		if a.Decode(r); r.OK() {
			var cause error
			if a.Error != nil {
				cause = faultOf(a.Error)
			}
			t.reply(f.Call, nil, d.Nack(cause))
		}
	case abi.MethodReportToolCall:
		var a abi.ReportToolCallArgs
		if a.Decode(r); r.OK() {
			t.reply(f.Call, nil, d.ReportToolCall(a.ID, runtime.ToolCallReport{
				Tool: a.Tool, HasTool: a.HasTool, Args: valueOf(a.Args), HostHas: a.HasResults,
				IsError: a.IsError, HasIsError: a.HasIsError, Complete: a.Complete,
				ExecutionID: a.ExecutionID, ProviderCallID: a.ProviderCallID,
			}))
		}
	case abi.MethodLog:
		var a abi.LogArgs
		if a.Decode(r); r.OK() {
			t.callLog(f.Call, d, &a)
		}
	case abi.MethodStats:
		var a abi.StatsArgs
		if a.Decode(r); r.OK() {
			d.ReportStats(a.Stats)
			t.reply(f.Call, nil, nil)
		}
	case abi.MethodToolCallCount:
		var a abi.CountArgs
		if a.Decode(r); r.OK() {
			t.reply(f.Call, value.AppendInt(nil, int64(d.ToolCallCount(a.Checksum))), nil)
		}
	case abi.MethodExecuteTool:
		var a abi.ExecuteToolArgs
		if a.Decode(r); r.OK() {
			t.callTool(f.Call, d, &a)
		}
	case abi.MethodCommit:
		t.serve(f.Call, func(task runtime.Task) ([]byte, error) { return nil, d.Commit(task) })
	default:
		t.reply(f.Call, nil, fault.New(fault.ABIUnknownTarget, "method "+itoa(int64(f.Method))))
	}
}

func (t *turn) callLog(call uint32, d *runtime.Dispatch, a *abi.LogArgs) {
	if a.Level > abi.LevelError {
		t.reply(call, nil, fault.New(fault.InvalidValue, "level "+itoa(int64(a.Level))+" is not between 0 and "+itoa(int64(abi.LevelError))))
		return
	}
	var payload []byte
	if a.HasPayload {
		if payload = a.Payload; len(payload) == 0 {
			payload = []byte{0xc0} // nil is a payload, too, but the decoder returns nothing for it
		}
	}
	d.Log(a.Level, a.Kind, a.Message, payload)
	t.reply(call, nil, nil)
}

// emitted returns the payload type of an event that host code may emit, nil for any other kind.
func emitted(kind uint8) interface{ Decode(*abi.Reader) } {
	switch kind {
	case abi.EventMessage, abi.EventThought, abi.EventMessageInterrupted, abi.EventThoughtInterrupted:
		return new(abi.StreamEvent)
	case abi.EventToolCall:
		return new(abi.ToolCallEvent)
	case abi.EventToolExecutionStart:
		return new(abi.ToolStartEvent)
	case abi.EventToolExecutionEnd:
		return new(abi.ToolEndEvent)
	case abi.EventError:
		return new(abi.ErrorEvent)
	}
	return nil
}

// malformed is the error for invalid arguments of a method.
func malformed(f *abi.Call, r *abi.Reader) error {
	return fault.New(fault.ABIMalformedFrame, "Call: method "+itoa(int64(f.Method))+": "+r.Err().Error())
}

// report serves the methods of streams without a copy. One of them is called for every delta.
func (t *turn) report(f *abi.Call, d *runtime.Dispatch) error {
	r := abi.NewAliasReader(f.Args)
	n := r.Array()
	kind, id, delta := runtime.StreamKind(r.Uint(255)), r.Text(), r.Text()
	interrupt, complete := f.Method == abi.MethodInterrupt, false
	if !interrupt {
		complete = r.Bool()
		n--
	}
	if r.Err() != nil || n != 3 || d == nil {
		return fault.New(fault.ABIMalformedFrame, "Call: report")
	}
	if interrupt {
		t.reply(f.Call, nil, d.Interrupt(kind, id, delta))
	} else {
		t.reply(f.Call, nil, d.Report(kind, id, delta, complete))
	}
	return nil
}

// serve runs a method that waits in a task, and replies when it ends.
//
//go:noinline
func (t *turn) serve(call uint32, method func(runtime.Task) ([]byte, error)) {
	t.in.spawn(t, &served{t, call, method}, nil)
}

// served is a method under way.
type served struct {
	turn   *turn
	call   uint32
	method func(runtime.Task) ([]byte, error)
}

func (s *served) perform(task runtime.Task) {
	result, err := s.method(task)
	s.turn.reply(s.call, result, err)
}

func (s *served) fail(err error) { s.turn.reply(s.call, nil, err) }

// callNext runs the rest of a middleware's pipeline. Its owner resumes when both this and the middleware's body have
// ended.
func (t *turn) callNext(call, number uint32) {
	eff := t.find(number)
	if eff == nil || eff.next == nil {
		t.reply(call, nil, nil) // called again, or late: there is nothing to run
		return
	}
	next := eff.next
	eff.next, eff.running = nil, true
	t.in.spawn(t, &served{t, call, func(task runtime.Task) ([]byte, error) {
		next(task)
		return nil, nil
	}}, func() {
		eff.running = false
		if eff.settled {
			t.in.wake(eff.owner)
		}
	})
}

// name assigns a call's record to its handle.
func (t *turn) name(collection uint8, handle int64, data abi.Raw) error {
	if int(collection) >= runtime.Collections {
		return fault.New(fault.ABIUnknownTarget, "collection "+itoa(int64(collection)))
	}
	body, err := abi.BytesOf(data)
	if err != nil {
		return fault.New(fault.ABIMalformedFrame, "Call: Data is not a byte string")
	}
	if body == nil {
		if !t.run.Known(handle) {
			return fault.New(fault.ABIUnknownTarget, "handle "+itoa(handle))
		}
		return nil
	}
	if !t.run.Accept(handle, 1, clone(body)) {
		return fault.New(fault.ABIUnknownTarget, "handle "+itoa(handle)+" is not above all earlier ones")
	}
	return nil
}

func (t *turn) callStore(call uint32, method uint8, d *runtime.Dispatch, a *abi.StoreArgs) {
	if err := t.name(a.Collection, a.Handle, a.Data); err != nil {
		t.reply(call, nil, err)
		return
	}
	kind, handle, old := record.Kind(a.Collection), a.Handle, a.Old // a must not outlive the call
	switch {
	case d != nil && t.run.Spools(kind, handle):
		t.serve(call, func(task runtime.Task) ([]byte, error) {
			stored, err := d.StoreSpooled(task, writeOp(method), handle)
			return storedAs(kind, stored), err
		})
	case d != nil && method == abi.MethodStore:
		t.reply(call, storedAs(kind, handle), d.Store(kind, handle))
	case d != nil:
		t.reply(call, storedAs(kind, handle), d.Mutate(kind, handle, old))
	default:
		t.serve(call, func(task runtime.Task) (result []byte, err error) {
			var stored int64
			if method == abi.MethodStore {
				stored, err = t.run.Store(task, kind, handle)
			} else {
				stored, err = t.run.Mutate(task, kind, handle, old)
			}
			return storedAs(kind, stored), err
		})
	}
}

func writeOp(method uint8) runtime.WriteOp {
	if method == abi.MethodMutate {
		return runtime.WriteMutate
	}
	return runtime.WriteStore
}

// storedAs is the value of the reply to a store: for a retrievable, the handle of the stored record.
func storedAs(kind record.Kind, handle int64) []byte {
	if kind != record.Retrievables {
		return nil
	}
	return value.AppendInt(nil, handle)
}

func (t *turn) callDelete(call uint32, d *runtime.Dispatch, a *abi.DeleteArgs) {
	kind := record.Kind(a.Collection)
	switch {
	case int(a.Collection) >= runtime.Collections:
		t.reply(call, nil, fault.New(fault.ABIUnknownTarget, "collection "+itoa(int64(a.Collection))))
	case d != nil:
		t.reply(call, nil, d.Delete(kind, a.ID))
	default:
		t.serve(call, func(task runtime.Task) ([]byte, error) { return nil, t.run.Delete(task, kind, a.ID) })
	}
}

func (t *turn) callReplaceGroup(call uint32, d *runtime.Dispatch, a *abi.ReplaceGroupArgs) {
	handles := make([]int64, len(a.Items))
	for i, item := range a.Items {
		if err := t.name(abi.CollectionToolCalls, item.Handle, item.Data); err != nil {
			t.reply(call, nil, err)
			return
		}
		handles[i] = item.Handle
	}
	if d != nil {
		t.reply(call, nil, d.ReplaceGroup(a.IDs, handles))
		return
	}
	t.serve(call, func(task runtime.Task) ([]byte, error) { return nil, t.run.ReplaceGroup(task, a.IDs, handles) })
}

func (t *turn) callTool(call uint32, d *runtime.Dispatch, a *abi.ExecuteToolArgs) {
	tool, ok := t.run.ToolByNumber(a.Tool)
	if !ok {
		t.reply(call, nil, fault.New(fault.ABIUnknownTarget, "tool "+itoa(int64(a.Tool))))
		return
	}
	args, how := clone(a.Args), runtime.ToolRun{Keep: true, ProviderCallID: a.ProviderCallID}
	t.serve(call, func(task runtime.Task) ([]byte, error) {
		r, err := d.ExecuteTool(task, tool, args, how)
		if err != nil {
			return nil, err
		}
		result := abi.ExecuteToolResult{ExecutionID: r.ExecutionID, Effect: r.Effect, Value: r.Value}
		t.in.body = result.Append(t.in.body[:0]) // the reply copies it
		return t.in.body, nil
	})
}

func (t *turn) callDispatch(call uint32, source *runtime.Dispatch, a *abi.DispatchArgs) {
	config := t.in.runners[a.Runner]
	if config == nil {
		t.reply(call, nil, fault.New(fault.ABIUnknownTarget, "runner "+itoa(int64(a.Runner))))
		return
	}
	t.serve(call, func(task runtime.Task) ([]byte, error) {
		d, err := t.run.Dispatch(task, source, config)
		if err != nil {
			return nil, err
		}
		result := abi.DispatchResult{Dispatch: d.Number(), Status: uint8(d.Status()), Iterations: uint32(d.Iterations())}
		return result.Append(nil), nil
	})
}
