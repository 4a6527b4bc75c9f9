package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/value"
	"github.com/turncore/turncore/host/journal"
)

// reopen plays the turn's journal so far in a fresh instance, and returns the gates that are open there. With a value
// it resolves the first of them there, and also returns the gates that close.
func reopen(f *frame, arg any) (any, error) {
	a := fieldsOf(arg)
	defer a.end()
	reader, err := journal.NewReader(bytes.NewReader(bytes.Clone(f.game.value("journal").(*bytes.Buffer).Bytes())))
	if err != nil {
		return nil, err
	}
	inst, err := f.game.player.options.Engine.Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer inst.Close(context.Background())
	o := opened{inst: inst}
	for {
		entry, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = o.step(entry.In)
		}
		if err != nil {
			return nil, err
		}
	}
	got := map[string]any{"open": []any{}}
	for _, gate := range o.gates {
		got["open"] = append(got["open"].([]any), gate.ID)
	}
	v, settles := a.take("resolve")
	if !settles || len(o.gates) == 0 {
		return got, nil
	}
	raw, err := value.Append(nil, v, "value")
	if err != nil {
		return nil, err
	}
	args := abi.AppendPayload(nil, &abi.SettleGateArgs{Gate: o.gates[0].Gate, Settle: abi.SettleResolve, Value: raw})
	if err := o.step(abi.Append(nil, &abi.Call{Turn: o.turn, Call: 1 << 20, Method: abi.MethodSettleGate, Args: args})); err != nil {
		return nil, err
	}
	got["closed"] = o.closed
	return got, nil
}

// opened is an instance that a journal is played in.
type opened struct {
	inst   host.Instance
	turn   uint32
	gates  []abi.GateOpenEvent // that are open
	closed []any               // ids of those that closed
}

// step passes frames to the instance and records its gates.
func (o *opened) step(in []byte) error {
	out, err := o.inst.Step(nil, in)
	for err == nil && len(out) > 0 {
		var op abi.Op
		var frame []byte
		if op, frame, out, err = abi.Next(out, abi.Limits{}); err != nil || op != abi.OpEvent {
			continue
		}
		var ev abi.Event
		if ev, err = abi.Decode[abi.Event](frame); err != nil {
			return err
		}
		switch o.turn = ev.Turn; ev.Kind {
		case abi.EventTurnGateOpen:
			var gate abi.GateOpenEvent
			if gate, err = abi.Decode[abi.GateOpenEvent](ev.Payload); err == nil {
				o.gates = append(o.gates, gate)
			}
		case abi.EventTurnGateClosed:
			var gate abi.GateClosedEvent
			if gate, err = abi.Decode[abi.GateClosedEvent](ev.Payload); err == nil {
				o.close(gate)
			}
		}
	}
	return err
}

func (o *opened) close(closed abi.GateClosedEvent) {
	o.closed = append(o.closed, closed.ID)
	for i, gate := range o.gates {
		if gate.Gate == closed.Gate {
			o.gates = append(o.gates[:i:i], o.gates[i+1:]...)
			return
		}
	}
}
