package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// frameDepth is how deep a value may lie in a frame.
const frameDepth = abi.MaxDepth - abi.MaxValueDepth

// callOpenGate opens a gate. The host waits for the Reply: here a gate is just an entry in its turn's list, not a task.
func (t *turn) callOpenGate(call uint32, d *runtime.Dispatch, a *abi.OpenGateArgs) {
	if t.run.OpenGates() >= int(t.in.limits.TurnEffects) {
		t.reply(call, nil, fault.New(fault.ABILimitExceeded, "too many gates are open"))
		return
	}
	payload := a.Payload
	if len(payload) == 0 {
		payload = abi.Raw{0xc0} // null is a payload, too, but the decoder returns nothing for it
	}
	err := t.run.OpenGate(d, runtime.GateInput{
		ID: a.ID, Reason: a.Reason, Payload: payload, CreatedAt: a.CreatedAt, Schema: valueOf(a.Schema), Timeout: a.Timeout,
	}, func(resolution []byte, err error) { t.reply(call, resolution, err) })
	if err != nil {
		t.reply(call, nil, err)
	}
}

// settleGate settles a gate. A settled gate stays as it is.
func (t *turn) settleGate(a *abi.SettleGateArgs) error {
	g, known := t.run.Gate(a.Gate)
	if !known || a.Settle > abi.SettleAbort {
		return fault.New(fault.ABIUnknownTarget, "gate "+itoa(int64(a.Gate))+", or way to settle it "+itoa(int64(a.Settle)))
	}
	if g == nil {
		return t.run.GateSettled(a.Gate)
	}
	switch a.Settle {
	case abi.SettleResolve:
		resolution, err := g.Accept(a.Value, a.Digest)
		if err != nil {
			return err
		}
		// The schema's defaults may have made the value large.
		if len(resolution) > int(t.in.limits.Frame)-callMargin || !value.Fits(resolution, int(t.in.limits.Depth)-frameDepth, int(t.in.limits.Array)) {
			return fault.New(fault.ABILimitExceeded, "a resolution of "+itoa(int64(len(resolution)))+" bytes with its defaults")
		}
		t.run.ResolveGate(g, clone(resolution))
	case abi.SettleReject:
		var err error
		if a.Error != nil {
			err = faultOf(a.Error)
		}
		t.run.RejectGate(g, err)
	default:
		t.run.AbortGate(g)
	}
	return nil
}
