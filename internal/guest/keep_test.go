package guest

import (
	"slices"
	"testing"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

var keptParts = record.AppendArtifact(nil, "SpooledArtifact", 7, 2, "")

func keepEdit(e abi.Effect, parts []byte) *abi.Edit {
	return &abi.Edit{
		Op: abi.OpEdit, Turn: e.Turn, Context: e.Context, Collection: abi.CollectionToolCalls, Edit: abi.EditKeep,
		Handle: int64(e.Effect), Data: abi.Bytes(parts),
	}
}

// calling is an executor inside the module that calls tool 1 and stores the call.
func calling(got *runtime.ToolResult) executorFunc {
	return func(task runtime.Task, d *runtime.Dispatch) error {
		tool, _ := d.Turn().ToolByNumber(1)
		result, err := d.ExecuteTool(task, tool, schemaOf(`{"a":1}`), runtime.ToolRun{})
		if err != nil {
			return err
		}
		*got = result
		if result.Parts == nil {
			return d.Ack()
		}
		if err := d.ReportToolCall("c1", runtime.ToolCallReport{Kept: result.Effect, Complete: true}); err != nil {
			return err
		}
		body := record.AppendToolCall(nil, record.ToolCallFields{
			ID: "c1", Tool: tool.Name, Args: schemaOf(`{"a":1}`), Checksum: "s", IsComplete: true, Results: result.Parts,
		})
		if err := d.StoreToolCall(body, result.Effect); err != nil {
			return err
		}
		return d.Ack()
	}
}

// A result kept by the host is reported and stored once, by the number of the effect.
func TestKeptResults(t *testing.T) {
	var got runtime.ToolResult
	w := openWith(t, calling(&got), withTool)
	w.start()
	e := w.effect(abi.EffectTool)
	batch := abi.Append(nil, keepEdit(e, keptParts))
	batch = abi.Append(batch, &abi.Result{Turn: e.Turn, Effect: e.Effect})
	out := w.in.Step(batch)
	w.take(out)
	if got.Value != nil || got.Effect != e.Effect || string(got.Parts) != string(keptParts) {
		t.Errorf("the executor got %+v", got)
	}
	var reports []abi.ToolCallEvent
	var adds []abi.Sync
	for rest := out; len(rest) > 0; {
		op, frame, after, err := abi.Next(rest, abi.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		rest = after
		switch op {
		case abi.OpEvent:
			if f := decode[abi.Event](t, frame); f.Kind == abi.EventToolCall {
				reports = append(reports, decode[abi.ToolCallEvent](t, f.Payload))
			}
		case abi.OpSync:
			if f := decode[abi.Sync](t, frame); f.Sync == abi.SyncAdd && f.Collection == abi.CollectionToolCalls {
				adds = append(adds, f)
			}
		}
	}
	if len(reports) != 1 || reports[0].Results != abi.ResultsKept || reports[0].Kept != e.Effect {
		t.Errorf("reports %+v", reports)
	}
	if len(adds) != 1 || adds[0].Other != int64(e.Effect) || adds[0].Handle != -1 || len(adds[0].Data) == 0 {
		t.Errorf("syncs %+v", adds)
	}
	w.result(w.effect(abi.EffectCommit))
	if len(w.ends) != 1 || w.ends[0].Status != abi.StatusAck {
		t.Errorf("ends %+v", w.ends)
	}
	w.clean()
}

// Keep is for a Tool effect whose result the guest awaits, and for valid results of a tool call.
func TestKeptResultsThatMakeNoSense(t *testing.T) {
	media := record.AppendArtifact(nil, "", 7, 2, "")
	for name, edit := range map[string]func(e abi.Effect) *abi.Edit{
		"another effect":     func(e abi.Effect) *abi.Edit { e.Effect++; return keepEdit(e, keptParts) },
		"a negative effect":  func(e abi.Effect) *abi.Edit { f := keepEdit(e, keptParts); f.Handle = -1; return f },
		"another context":    func(e abi.Effect) *abi.Edit { e.Context = 0; return keepEdit(e, keptParts) },
		"another collection": func(e abi.Effect) *abi.Edit { f := keepEdit(e, keptParts); f.Collection = 3; return f },
		"nothing":            func(e abi.Effect) *abi.Edit { return keepEdit(e, nil) },
		"text":               func(e abi.Effect) *abi.Edit { return keepEdit(e, []byte{0xa1, 'x'}) },
		"an empty list":      func(e abi.Effect) *abi.Edit { return keepEdit(e, []byte{0x90}) },
		"a part without its class": func(e abi.Effect) *abi.Edit {
			return keepEdit(e, media)
		},
		"two of two kinds": func(e abi.Effect) *abi.Edit {
			return keepEdit(e, slices.Concat(value.AppendListHeader(nil, 2), keptParts, []byte{0x92, 3, 1}))
		},
		"cut off":       func(e abi.Effect) *abi.Edit { return keepEdit(e, keptParts[:len(keptParts)-1]) },
		"more than one": func(e abi.Effect) *abi.Edit { return keepEdit(e, slices.Concat(keptParts, keptParts)) },
		"deep nesting": func(e abi.Effect) *abi.Edit {
			deep := slices.Repeat([]byte{0x91}, 10_000)
			return keepEdit(e, append(deep, 0xc0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got runtime.ToolResult
			w := openWith(t, calling(&got), withTool)
			w.start()
			e := w.effect(abi.EffectTool)
			w.step(edit(e))
			if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIUnknownTarget {
				t.Errorf("faults %+v", w.faults)
			}
			w.faults = nil
			w.step(&abi.Result{Op: abi.OpResult, Turn: 1, Effect: e.Effect, Value: abi.Raw{5}})
			if len(w.faults) != 0 || got.Parts != nil || !slices.Equal(got.Value, []byte{5}) {
				t.Errorf("faults %+v, the executor got %+v", w.faults, got)
			}
			w.in.Close()
		})
	}
	// Host code keeps its result itself.
	w := open(t, withTool)
	w.start()
	w.call(1, abi.MethodExecuteTool, &abi.ExecuteToolArgs{Tool: 1, Args: schemaOf(`{"a":1}`)})
	w.step(keepEdit(w.effect(abi.EffectTool), keptParts))
	if len(w.faults) != 1 || w.faults[0].Code != abi.CodeABIUnknownTarget {
		t.Errorf("faults %+v", w.faults)
	}
	w.in.Close()
}
