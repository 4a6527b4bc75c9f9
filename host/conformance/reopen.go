package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/journal"
)

// reopen plays the turn's journal so far in a fresh instance, and returns the gates that are open there, and on request
// the keys of its effects. With a value it resolves the first gate there, and also returns what the instance reports
// next: the gates that close, and that it answers a call, which is the one that waits.
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
			err = o.starts(entry.In)
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
	if a.truth("keys") {
		got["keys"] = anyList(o.keys)
	}
	v, settles := a.take("resolve")
	if !settles || len(o.gates) == 0 {
		return got, nil
	}
	raw, err := wire.Append(nil, v, "value")
	if err != nil {
		return nil, err
	}
	o.told = []any{}
	args := (&abi.SettleGateArgs{Gate: o.gates[0].Gate, Settle: abi.SettleResolve, Value: raw}).Append(nil)
	if err := o.step(abi.Append(nil, &abi.Call{Turn: o.turn, Call: settlingCall, Method: abi.MethodSettleGate, Args: args})); err != nil {
		return nil, err
	}
	got["then"] = o.told
	return got, nil
}

// settlingCall is the number of the call that resolves a gate.
const settlingCall = 1 << 20

// opened is an instance that a journal is played in.
type opened struct {
	inst  host.Instance
	turn  uint32
	gates []abi.GateOpenEvent // that are open
	told  []any               // in order: "closed ID", "answered"
	start abi.StartTurn
	keys  []string // of the effects that have one
}

// starts notes the turn that frames start.
func (o *opened) starts(in []byte) error {
	for len(in) > 0 {
		op, frame, rest, err := abi.Next(in, abi.Limits{})
		if err == nil && op == abi.OpStartTurn {
			o.start, err = abi.Decode[abi.StartTurn](frame)
		}
		if err != nil {
			return err
		}
		in = rest
	}
	return nil
}

// key notes the key of an effect.
func (o *opened) key(frame []byte) error {
	e, err := abi.Decode[abi.Effect](frame)
	if err != nil {
		return err
	}
	switch e.Kind {
	case abi.EffectTool:
		args, err := abi.Decode[abi.ToolArgs](e.Args)
		if err != nil {
			return err
		}
		o.keys = append(o.keys, abi.CallKey(o.start.ID, string(e.Path), args.CallID, e.Ordinal))
	case abi.EffectStore, abi.EffectCommit, abi.EffectDiscard, abi.EffectSpool:
		o.keys = append(o.keys, abi.WriteKey(o.start.ID, o.start.Now, e.Effect))
	}
	return nil
}

// step passes frames to the instance and records its gates.
func (o *opened) step(in []byte) error {
	out, err := o.inst.Step(nil, in)
	for err == nil && len(out) > 0 {
		var op abi.Op
		var frame []byte
		if op, frame, out, err = abi.Next(out, abi.Limits{}); err == nil && op == abi.OpReply {
			var reply abi.Reply
			if reply, err = abi.Decode[abi.Reply](frame); reply.Call != settlingCall {
				o.told = append(o.told, "answered")
			}
		}
		if err == nil && op == abi.OpEffect {
			err = o.key(frame)
		}
		if err != nil || op != abi.OpEvent {
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
	o.told = append(o.told, "closed "+closed.ID)
	for i, gate := range o.gates {
		if gate.Gate == closed.Gate {
			o.gates = append(o.gates[:i:i], o.gates[i+1:]...)
			return
		}
	}
}
