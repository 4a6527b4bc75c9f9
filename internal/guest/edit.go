package guest

import (
	"math"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/catalogue"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// edit applies a change that host code made to a collection.
func (in *Instance) edit(f *abi.Edit) error {
	t := in.turn(f.Turn)
	if t == nil {
		return nil
	}
	data, err := abi.BytesOf(f.Data)
	if err != nil {
		return fault.New(fault.ABIMalformedFrame, "Edit: Data is not a byte string")
	}
	var done bool
	switch f.Collection {
	case abi.CollectionStash:
		done = t.editStash(f, data)
	case abi.CollectionTools:
		done, err = t.editTools(f, data)
	default:
		done = t.editRecords(f, data)
	}
	if err == nil && !done {
		err = fault.New(fault.ABIUnknownTarget, "Edit "+itoa(int64(f.Edit))+" of collection "+itoa(int64(f.Collection))+": context, handle or argument")
	}
	return err
}

func (t *turn) editRecords(f *abi.Edit, data []byte) bool {
	kind := record.Kind(f.Collection)
	switch f.Edit {
	case abi.EditAdd:
		return uint64(f.Count) <= uint64(len(data)) && t.run.Accept(f.Handle, f.Count, clone(data)) && t.run.Add(f.Context, kind, f.Handle, f.Count)
	case abi.EditAddHistory:
		h := t.in.histories[f.History]
		return h != nil && h.Kind() == kind && t.run.AcceptHistory(f.Handle, f.Count, h) && t.run.Add(f.Context, kind, f.Handle, f.Count)
	case abi.EditAddKnown:
		return t.run.Add(f.Context, kind, f.Handle, 1)
	case abi.EditRemove:
		return t.run.Remove(f.Context, kind, f.Handle)
	case abi.EditReplace:
		if data != nil && !t.run.Accept(f.Other, 1, clone(data)) {
			return false
		}
		return t.run.Replace(f.Context, kind, f.Handle, f.Other)
	case abi.EditClear:
		return t.run.Clear(f.Context, kind)
	case abi.EditKeep:
		return kind == record.ToolCalls && t.editKeep(f, data)
	}
	return false
}

// editKeep records the parts of a result that the host keeps.
func (t *turn) editKeep(f *abi.Edit, data []byte) bool {
	if f.Handle <= 0 || f.Handle > math.MaxUint32 {
		return false
	}
	eff := t.find(uint32(f.Handle))
	if eff == nil && slices.Contains(t.late, uint32(f.Handle)) {
		return true // too late: nobody waits for it
	}
	if eff == nil || eff.context != f.Context {
		return false
	}
	call, ok := eff.asked.(*runtime.CallTool)
	if !ok || call.Run.Keep || !record.IsParts(data) {
		return false
	}
	call.Parts = clone(data)
	return true
}

func (t *turn) editStash(f *abi.Edit, data []byte) bool {
	stash := t.run.Stash(f.Context)
	r := abi.NewReader(data)
	key := string(r.Text())
	if stash == nil || r.Err() != nil {
		return false
	}
	rest := r.Rest()
	switch f.Edit {
	case abi.EditSet:
		if value.Check(rest) != nil {
			return false
		}
		stash.Set(key, clone(rest))
		return true
	case abi.EditUnset:
		stash.Unset(key)
		return true
	}
	return false
}

func (t *turn) editTools(f *abi.Edit, data []byte) (bool, error) {
	if f.Edit == abi.EditDefine {
		def, err := abi.Decode[abi.ToolDef](data)
		if err != nil {
			return false, fault.New(fault.ABIMalformedFrame, "Edit: ToolDef: "+err.Error())
		}
		tool, err := toolOf(&def, &noParts)
		if err == nil {
			t.run.Define(tool)
		}
		return true, err
	}
	registry := t.run.Registry(f.Context)
	if registry == nil {
		return false, nil
	}
	switch f.Edit {
	case abi.EditRegister:
		tool, ok := t.run.ToolByNumber(uint32(f.Handle))
		return ok && registry.Register(tool, true) == nil, nil
	case abi.EditUnregister:
		r := abi.NewReader(data)
		registry.Unregister(string(r.Text()))
		return r.Err() == nil, nil
	case abi.EditHidden:
		r := abi.NewReader(data)
		names := make([]string, r.Array())
		for i := range names {
			names[i] = string(r.Text())
		}
		if r.Err() != nil {
			return false, nil
		}
		registry.SetHidden(names)
		return true, nil
	}
	return false, nil
}

// noParts are those of no agent.
var noParts Parts

// toolOf makes a tool from its definition. Its handler may be one of an agent's parts.
func toolOf(def *abi.ToolDef, parts *Parts) (*runtime.Tool, error) {
	tool := &runtime.Tool{
		Number: def.Number, Name: def.Name, Description: def.Description,
		InputSchema: append([]byte(nil), def.InputSchema...),
		Trusted:     def.Flags&abi.ToolTrusted != 0,
		Ephemeral:   def.Flags&abi.ToolEphemeral != 0,
		Hidden:      def.Flags&abi.ToolHidden != 0,
		Artifact:    def.Flags&abi.ToolArtifact != 0,
		Validates:   def.Flags&abi.ToolValidates != 0,
	}
	if tool.Handler = parts.Tools[def.Builtin]; tool.Handler == nil && def.Builtin != "" {
		var err error
		if tool.Handler, err = catalogue.Handler(def.Builtin, valueOf(def.Arg)); err != nil {
			return nil, err
		}
	}
	return tool, tool.Compile()
}

func (in *Instance) openRunner(f *abi.OpenRunner) {
	config, err := in.config(f)
	reply := &turn{in: in}
	if err == nil && (f.Runner == 0 || in.runners[f.Runner] != nil) {
		err = fault.New(fault.ABIUnknownTarget, "runner "+itoa(int64(f.Runner))+" is 0 or already open")
	}
	if err == nil {
		in.runners[f.Runner] = config
	}
	reply.reply(f.Call, nil, err)
}

func (in *Instance) config(f *abi.OpenRunner) (*runtime.Config, error) {
	c := &runtime.Config{
		OnDiscard: f.Callbacks&abi.CallbackDiscard != 0,
		Queue:     min(int(in.limits.Array), runtime.MaxQueue), // a commit lists them in one frame
		Encodings: f.Encodings,
		Frame:     int(min(in.limits.Frame, in.limits.String)),
		Array:     int(in.limits.Array),
	}
	parts := &noParts
	switch f.Executor {
	case abi.ExecutorHost:
	case abi.ExecutorChat:
		executor, err := in.chat(f.Chat)
		if err != nil {
			return nil, err
		}
		c.Executor = executor
	default:
		if f.Executor == abi.ExecutorModule && in.agent != nil {
			var err error
			if parts, err = in.agent.Open(f.Chat, in.chat); err != nil {
				return nil, err
			}
			c.Executor = parts.Executor
			break
		}
		return nil, fault.New(fault.ABIUnknownTarget, "executor "+itoa(int64(f.Executor)))
	}
	for i := range f.Tools {
		tool, err := toolOf(&f.Tools[i], parts)
		if err != nil {
			return nil, err
		}
		c.Tools = append(c.Tools, tool)
	}
	for _, p := range []struct {
		from []abi.Middleware
		to   *[]runtime.Middleware
		name runtime.Pipeline
	}{
		{f.TurnInput, &c.TurnInput, runtime.TurnInput},
		{f.TurnOutput, &c.TurnOutput, runtime.TurnOutput},
		{f.DispatchInput, &c.DispatchInput, runtime.DispatchInput},
		{f.DispatchOutput, &c.DispatchOutput, runtime.DispatchOutput},
	} {
		for i, m := range p.from {
			entry := runtime.Middleware{Index: i}
			if entry.Around = parts.Middleware[p.name&3][m.Name]; entry.Around == nil && m.Kind == abi.MiddlewareBuiltin {
				var err error
				if entry.Builtin, err = runtime.NewBound(p.name, m.Name, m.Arg); err != nil {
					return nil, err
				}
			}
			*p.to = append(*p.to, entry)
		}
	}
	return c, nil
}
