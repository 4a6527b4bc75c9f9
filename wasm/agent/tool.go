package agent

import (
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// Tool is a tool that the agent brings. [NewTool] and [RawTool] make one.
type Tool struct {
	// Confirm opens a gate before each call, whose payload has "tool" and "args": true lets the call run, false fails it.
	Confirm bool

	name, description, schema string
	run                       func(c *Context, args []byte) ([]byte, error)
}

// Arguments are what a tool's arguments are decoded into: a pointer to a type that toolgen has written methods for.
type Arguments[T any] interface {
	*T
	Schema() string
	DecodeValue(v []byte) error
}

// Result is what a tool returns: a pointer to a type that toolgen has written methods for.
type Result[T any] interface {
	*T
	AppendValue(b []byte) ([]byte, error)
}

// NewTool returns a tool whose arguments and result have Go types. package
// [github.com/turncore/turncore/host/toolgen] writes their methods. A result of nil is null.
func NewTool[A, R any, PA Arguments[A], PR Result[R]](name, description string, run func(c *Context, args PA) (PR, error)) *Tool {
	return RawTool(name, description, PA(new(A)).Schema(), func(c *Context, args []byte) ([]byte, error) {
		in := PA(new(A))
		if err := in.DecodeValue(args); err != nil {
			return nil, fault.New(fault.InvalidToolArgs, name+": "+err.Error())
		}
		out, err := run(c, in)
		if err != nil {
			return nil, err
		}
		if out == nil {
			return value.AppendNil(nil), nil
		}
		return out.AppendValue(nil)
	})
}

// RawTool returns a tool that takes and returns encoded values of package
// [github.com/turncore/turncore/abi/value]. schema is the JSON Schema of its arguments, an object. args are valid. A
// result without a byte is null.
func RawTool(name, description, schema string, run func(c *Context, args []byte) ([]byte, error)) *Tool {
	return &Tool{name: name, description: description, schema: schema, run: func(c *Context, args []byte) ([]byte, error) {
		out, err := run(c, args)
		return orNull(out, err), err
	}}
}

// orNull is a result, null for one without a byte.
func orNull(v []byte, err error) []byte {
	if err == nil && len(v) == 0 {
		return value.AppendNil(nil)
	}
	return v
}

// Confirmed returns the tool, which a person must confirm before each call.
func (t *Tool) Confirmed() *Tool {
	t.Confirm = true
	return t
}
