package runtime

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/schema"
	"github.com/turncore/turncore/runtime/fault"
)

// Handler is a compiled-in tool handler. args are valid; the result is a value. It waits only through task.
type Handler func(task Task, d *Dispatch, args []byte) (result []byte, err error)

// TextArgument returns a text argument of a tool, empty if it is absent.
//
//go:noinline
func TextArgument(args []byte, name string) string {
	s, _ := value.GetString(args, name)
	return string(s)
}

// Tool is a capability that a model may call.
type Tool struct {
	Number      uint32
	Name        string
	Description string
	InputSchema []byte // JSON Schema of object type, as a value
	Trusted     bool
	Ephemeral   bool
	Hidden      bool
	Artifact    bool    // its result is text for the model; no reader tool reads it
	Validates   bool    // the host validates its arguments; the schema only describes them
	Handler     Handler // nil: it runs in the host

	reader   *readerTool // set for a tool that reads artifacts
	compiled *schema.Schema
}

// Compile prepares the tool's schema; a schema with unsupported features fails with E_INVALID_INITIAL_TOOL_VALUE.
func (t *Tool) Compile() error {
	if t.Name == "" {
		return fault.New(fault.InvalidInitialToolValue, "name must be a non-empty string")
	}
	if kind, _ := value.Get(t.InputSchema, "type"); value.KindOf(t.InputSchema) != value.KindMap || !isObjectType(kind) {
		return fault.New(fault.InvalidInitialToolValue, t.Name+": inputSchema must be a JSON Schema of type object")
	}
	if t.Validates {
		return nil
	}
	var err error
	if t.compiled, err = schema.Compile(t.InputSchema); err != nil {
		return fault.New(fault.InvalidInitialToolValue, t.Name+": inputSchema: "+err.Error())
	}
	return nil
}

// InModule reports whether the tool runs in the module, without its host.
func (t *Tool) InModule() bool { return t.Handler != nil || t.reader != nil }

func isObjectType(kind []byte) bool {
	s, ok := value.String(kind)
	return ok && string(s) == "object"
}

// ToolResult is the result of a tool's handler.
type ToolResult struct {
	Value []byte // nil if the host keeps it
	// ExecutionID identifies the execution; empty if the handler did not run.
	ExecutionID string
	// Effect is the number under which the host keeps it; 0 for a compiled-in handler, whose result is in Value.
	Effect uint32
	// Parts stand for artifacts and media, or a list of them, which the host always keeps. Nil for none.
	Parts []byte
}

// ToolRun says how to run a tool's handler, and how to handle its result.
type ToolRun struct {
	ProviderCallID string // the provider's id of the call; empty for none
	Checksum       string // of the call; empty to compute it

	Keep  bool   // the host keeps the result, whatever it is
	Spool uint64 // the host keeps a text result of more bytes as an artifact; 0 for no bound
	Timed bool   // the call may be cancelled
}

// ExecuteTool runs Tool.executor(ctx)(args): checksum, validation, events, handler.
func (d *Dispatch) ExecuteTool(task Task, tool *Tool, args []byte, run ToolRun) (result ToolResult, err error) {
	if d.ended {
		return result, fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	if tool.reader != nil {
		if tool, err = d.readerTool(tool); err != nil {
			return result, err
		}
	}
	callID := run.Checksum
	if callID == "" {
		if callID, err = value.Checksum(tool.Name, args); err != nil {
			return result, fault.New(fault.InvalidToolArgs, tool.Name+": "+err.Error())
		}
	}
	valid, number, err := d.validate(task, tool, args)
	if err != nil {
		return result, err
	}
	d.turn.executions++
	result.ExecutionID = d.turn.numbered("x", d.turn.executions)
	begun := &toolRun{call: CallTool{
		Context: d.number, Tool: tool, CallID: callID, ExecutionID: result.ExecutionID, Args: valid, Valid: number, Run: run,
	}}
	d.beginTool(begun)
	if tool.Handler != nil {
		result.Value, err = tool.Handler(task, d, valid)
	} else {
		result.Value, err = task.Await(&begun.call)
	}
	if !d.endTool(begun, err != nil) {
		return ToolResult{}, fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	if err != nil {
		return ToolResult{ExecutionID: result.ExecutionID}, fault.Wrap(fault.ToolDownstreamError, err)
	}
	result.Effect, result.Parts = begun.call.Number, begun.call.Parts
	return result, nil
}

// validate checks a call's arguments against the tool's schema, or by the tool's own validation. It returns the
// handler's arguments, and the number of the effect that returned them.
func (d *Dispatch) validate(task Task, tool *Tool, args []byte) (valid []byte, number uint32, err error) {
	if !tool.Validates {
		valid, err = tool.Check(args)
		return valid, 0, err
	}
	call := CallValidate{Context: d.number, Tool: tool, Args: args}
	if valid, err = task.Await(&call); err != nil {
		return nil, 0, err
	}
	if d.ended {
		return nil, 0, fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	return valid, call.Number, nil
}

// Check validates arguments against the tool's schema without converting them, and fills in its defaults.
// E_INVALID_TOOL_ARGS lists all violations.
func (t *Tool) Check(args []byte) ([]byte, error) {
	valid, violations := t.compiled.Validate(args)
	if len(violations) > 0 {
		return nil, refusal(fault.InvalidToolArgs, t.Name, violations)
	}
	return valid, nil
}

// toolRun is a running execution of a tool.
type toolRun struct {
	call CallTool     // the payload of its start
	end  ToolEndEvent // the payload of its end
	cut  bool         // the dispatch ended first
}

// beginTool reports the start of an execution, whose call is given.
func (d *Dispatch) beginTool(run *toolRun) {
	call := &run.call
	run.end = ToolEndEvent{
		Tool: call.Tool.Name, CallID: call.CallID, ExecutionID: call.ExecutionID, ProviderCallID: call.Run.ProviderCallID,
		Started: d.turn.elapsed,
	}
	d.running = append(d.running, run)
	d.turn.emit(d, EventToolExecutionStart, call)
}

// Executes reports whether the execution of an id is running.
func (d *Dispatch) Executes(id string) bool {
	for _, run := range d.running {
		if run.end.ExecutionID == id {
			return true
		}
	}
	return false
}

// endTool reports the end of an execution. It returns false if the end of the dispatch has already reported it.
func (d *Dispatch) endTool(run *toolRun, failed bool) bool {
	if run.cut {
		return false
	}
	d.running = slices.DeleteFunc(d.running, func(other *toolRun) bool { return other == run })
	run.end.IsError = failed
	d.turn.emit(d, EventToolExecutionEnd, &run.end)
	return true
}

// cutTools reports the end of executions that nobody awaited: no event of a dispatch may follow its end.
func (d *Dispatch) cutTools() {
	for len(d.running) > 0 {
		run := d.running[0]
		d.endTool(run, true)
		run.cut = true
	}
}

// refusal lists a value's violations of a schema as text, as details ({path, keyword, message}), and as its cause.
func refusal(code fault.Code, subject string, violations []schema.Violation) error {
	text, details := schema.Report(violations)
	f := fault.New(code, subject+": "+text)
	words := violations[0].Message
	for _, v := range violations[1:] {
		words += " and " + v.Message
	}
	cause := fault.New(fault.ValidationException, words)
	f.Details, cause.Details = details, details
	f.Cause = cause
	return f
}
