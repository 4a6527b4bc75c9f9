package runtime

import (
	"strings"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/schema"
	"github.com/turncore/turncore/runtime/value"
)

// Handler is a tool's handler that is compiled in. args are valid; the result is a value. It waits through task only.
type Handler func(task Task, d *Dispatch, args []byte) (result []byte, err error)

// Tool is a capability that a model may call.
type Tool struct {
	Number      uint32
	Name        string
	Description string
	InputSchema []byte // JSON Schema of object type, as a value
	Trusted     bool
	Ephemeral   bool
	Hidden      bool
	Artifact    bool    // its result is text for the model, which no artifact tool reads
	Handler     Handler // nil: it runs outside

	reader   *readerTool // a tool that reads artifacts
	compiled *schema.Schema
}

// Compile prepares the tool's schema; a schema that uses what is not supported is refused with
// E_INVALID_INITIAL_TOOL_VALUE.
func (t *Tool) Compile() error {
	if t.Name == "" {
		return fault.New(fault.InvalidInitialToolValue, "name must be a non-empty string")
	}
	if kind, _ := value.Get(t.InputSchema, "type"); value.KindOf(t.InputSchema) != value.KindMap || !isObjectType(kind) {
		return fault.New(fault.InvalidInitialToolValue, t.Name+": inputSchema must be a JSON Schema of type object")
	}
	var err error
	if t.compiled, err = schema.Compile(t.InputSchema); err != nil {
		return fault.New(fault.InvalidInitialToolValue, t.Name+": inputSchema: "+err.Error())
	}
	return nil
}

func isObjectType(kind []byte) bool {
	s, ok := value.String(kind)
	return ok && string(s) == "object"
}

// ExecuteTool runs Tool.executor(ctx)(args): checksum, validation, events, handler. It returns what the handler
// returned, or with keep the number of the effect under which the host keeps it; that is 0 when the handler is compiled
// in, whose result is there either way.
func (d *Dispatch) ExecuteTool(task Task, tool *Tool, args []byte, keep bool) (result []byte, number uint32, err error) {
	if d.ended {
		return nil, 0, fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	if tool.reader != nil {
		if tool, err = d.readerTool(tool); err != nil {
			return nil, 0, err
		}
	}
	callID, err := value.Checksum(tool.Name, args)
	if err != nil {
		return nil, 0, fault.New(fault.InvalidToolArgs, tool.Name+": "+err.Error())
	}
	valid, violations := tool.compiled.Validate(args)
	if len(violations) > 0 {
		return nil, 0, invalidArgs(tool.Name, violations)
	}
	started := d.turn.elapsed
	d.turn.emit(d, EventToolExecutionStart, &ToolStartEvent{Tool: tool.Name, CallID: callID, Args: valid})
	call := CallTool{Context: d.number, Tool: tool, CallID: callID, Args: valid, Keep: keep}
	if tool.Handler != nil {
		result, err = tool.Handler(task, d, valid)
	} else {
		result, err = task.Await(&call)
	}
	d.turn.emit(d, EventToolExecutionEnd, &ToolEndEvent{Tool: tool.Name, CallID: callID, Started: started, IsError: err != nil})
	if err != nil {
		return nil, call.Number, fault.Wrap(fault.ToolDownstreamError, err)
	}
	return result, call.Number, nil
}

// invalidArgs says all that is wrong with a call's arguments, in words and as a list of {path, keyword, message}.
func invalidArgs(tool string, violations []schema.Violation) error {
	var text strings.Builder
	text.WriteString(tool)
	details := value.AppendListHeader(nil, len(violations))
	for i, v := range violations {
		if i == 0 {
			text.WriteString(": ")
		} else {
			text.WriteString("; ")
		}
		text.WriteString(v.Message)
		details = value.AppendMapHeader(details, 3)
		details = value.AppendString(value.AppendString(details, "path"), v.Path)
		details = value.AppendString(value.AppendString(details, "keyword"), v.Keyword)
		details = value.AppendString(value.AppendString(details, "message"), v.Message)
	}
	f := fault.New(fault.InvalidToolArgs, text.String())
	f.Details = details
	return f
}
