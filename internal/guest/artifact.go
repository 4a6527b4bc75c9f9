package guest

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
)

// ask appends the frame of an effect about artifacts, or of an encoded one, to the outbox.
func (t *turn) ask(eff *effect, e runtime.Effect) {
	switch e := e.(type) {
	case *runtime.Encoded:
		eff.valued = true
		t.in.out = append(t.effectHead(eff, e.Kind, e.Context), e.Args...)
		return
	case *runtime.Spool:
		args := abi.SpoolArgs{Handle: e.Handle}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectSpool, e.Context))
	case *runtime.Read:
		args := abi.ReadArgs{Handle: e.Handle, Part: e.Part, Read: uint8(e.Op), From: e.From, To: e.To, Max: e.Max}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectRead, e.Context))
	case *runtime.Estimate:
		args := abi.EstimateArgs{Encoding: e.Encoding, Handle: e.Handle, Part: e.Part}
		for _, text := range e.Texts {
			args.Texts = append(args.Texts, string(text))
		}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectEstimate, e.Context))
	case *runtime.Forge:
		args := abi.ForgeArgs{Classes: e.Classes}
		t.in.out = args.Append(t.effectHead(eff, abi.EffectForge, e.Context))
	}
	eff.asked = e
}

// take stores the host's answer in the effect. It fails if the frame is invalid.
func (t *turn) take(asked runtime.Effect, raw abi.Raw) error {
	r := abi.NewAliasReader(raw)
	switch e := asked.(type) {
	case *runtime.Spool:
		if valueOf(raw) == nil {
			return nil // the record stays unchanged
		}
		var item abi.Item
		if item.Decode(&r); !r.OK() {
			return malformedResult("the spooled record: " + r.Err().Error())
		}
		if err := t.name(abi.CollectionRetrievables, item.Handle, item.Data); err != nil {
			return err
		}
		e.Into = item.Handle
	case *runtime.Read:
		return takeRead(e, append([]byte(nil), raw...))
	case *runtime.Estimate:
		n := r.Array()
		if !r.OK() || n != max(len(e.Texts), 1) {
			return malformedResult("an estimate is an array with a number of tokens for each text")
		}
		e.Tokens = make([]int64, n)
		for i := range e.Tokens {
			e.Tokens[i] = int64(r.Uint(abi.MaxInt))
		}
		if !r.OK() || len(r.Rest()) != 0 {
			return malformedResult("an estimate is an array of numbers of tokens")
		}
	}
	return nil
}

// takeRead stores a reader's answer in the effect, which keeps raw.
func takeRead(e *runtime.Read, raw []byte) error {
	r := abi.NewAliasReader(raw)
	n := r.Array()
	e.Bytes, e.Count = r.Uint(abi.MaxInt), r.Uint(abi.MaxInt)
	lines := r.Array()
	if !r.OK() || n != 3 || lines > len(raw) {
		return malformedResult("what a reader answers is an array of two sizes and the lines")
	}
	e.Lines = make([][]byte, lines)
	for i := range e.Lines {
		e.Lines[i] = r.Text()
	}
	if !r.OK() || len(r.Rest()) != 0 {
		return malformedResult("lines of an artifact are strings")
	}
	return nil
}

func malformedResult(what string) error { return fault.New(fault.ABIMalformedFrame, "Result: "+what) }
