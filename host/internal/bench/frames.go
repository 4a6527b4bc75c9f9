package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/bench/figure"
)

// greeted opens an instance and greets it.
func greeted(ctx context.Context, e host.Engine) (host.Instance, error) {
	inst, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	_, err = host.Greet(inst, abi.Hello{Features: abi.FeatureHistory | abi.FeatureDigest})
	return inst, err
}

// measureFrames measures an instance without the Go API around it.
func measureFrames(ctx context.Context, p pace, e host.Engine) ([]figure.Row, error) {
	inst, err := greeted(ctx, e)
	if err != nil {
		return nil, err
	}
	defer inst.Close(ctx)
	empty := timed(figure.EmptyStep, func() error {
		_, err := inst.Step(nil, nil)
		return err
	})
	round, err := newRoundTrip(inst)
	if err != nil {
		return nil, err
	}
	effect := timed(figure.Effect, round.trip)
	further := &subject{figure: figure.Further}
	further.sample = timed(figure.Further, func() error {
		inst, err := greeted(ctx, e)
		if err != nil {
			return err
		}
		return inst.Close(ctx)
	}).sample
	if err := p.measure(empty, effect); err != nil {
		return nil, err
	}
	if err := p.measure(further); err != nil {
		return nil, err
	}
	rows := []figure.Row{empty.row(e.Name()), effect.row(e.Name())}
	return append(rows, inMillis(further.row(e.Name()))), nil
}

func inMillis(r figure.Row) figure.Row {
	r.Unit, r.Median, r.P10, r.P90 = figure.Millis, r.Median/1000, r.P10/1000, r.P90/1000
	return r
}

// roundTrip is a turn whose executor never signals: each result closes an iteration, and the core opens the next and
// asks for the executor again.
type roundTrip struct {
	inst    host.Instance
	result  abi.Result
	effect  abi.Effect
	in, out []byte
}

func newRoundTrip(inst host.Instance) (*roundTrip, error) {
	open := abi.Append(nil, &abi.OpenRunner{Runner: 1, Call: 1, Executor: abi.ExecutorHost})
	start := abi.Append(nil, &abi.StartTurn{Turn: 1, Runner: 1, Now: host.FixedTime, Seed: make([]byte, 16), ID: "t", SystemPrompt: "p"})
	if _, err := inst.Step(nil, open); err != nil {
		return nil, err
	}
	r := &roundTrip{inst: inst}
	var err error
	if r.out, err = inst.Step(nil, start); err != nil {
		return nil, err
	}
	r.result = abi.Result{Turn: 1, Value: abi.Bytes(bytes.Repeat([]byte{'x'}, 1024))}
	return r, r.read()
}

// read finds the effect in what came out.
func (r *roundTrip) read() error {
	before := r.effect.Effect
	for out := r.out; len(out) > 0; {
		op, frame, rest, err := abi.Next(out, abi.Limits{})
		if err != nil {
			return err
		}
		out = rest
		switch op {
		case abi.OpEffect:
			if err := abi.DecodeTo(frame, &r.effect); err != nil {
				return err
			}
		case abi.OpFault, abi.OpEnd:
			return fmt.Errorf("frame %d came in answer to a result", op)
		}
	}
	if r.effect.Effect <= before {
		return errors.New("the core has not asked for the executor again")
	}
	return nil
}

// trip settles the effect and gets the next one.
func (r *roundTrip) trip() error {
	r.result.Effect = r.effect.Effect
	r.in = abi.Append(r.in[:0], &r.result)
	var err error
	if r.out, err = r.inst.Step(r.out[:0], r.in); err != nil {
		return err
	}
	return r.read()
}
