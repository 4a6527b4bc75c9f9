package turns

import (
	"errors"
	"reflect"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/typed"
)

// NewTool returns a tool whose arguments and result have Go types. Its InputSchema is taken from In, a struct or a map,
// by the tags that encoding/json knows and these:
//
//   - jsonschema:"…" describes the field to the model.
//   - enum:"a,b" lists what it may be, of a list each element.
//   - default:"…" is filled in where the model leaves it out: text as it is, anything else as JSON.
//
// Fields are required unless they have omitempty, omitzero or a default, and no others are allowed. A type that has a method
// JSONSchema() any says its schema itself: JSON text, or anything that marshals to it. Types with an UnmarshalJSON of
// their own, and those that contain themselves, need one.
//
// The arguments become an In by the rules of encoding/json. What the schema allows and In cannot hold fails the call with
// E_INVALID_TOOL_ARGS as the cause. The result crosses by those rules, too, where the model gets it, and returns to the
// caller of the tool as it is. Types that have the methods of [github.com/tinylib/msgp] are decoded and encoded by them;
// their names in MessagePack must be those in JSON.
//
// What is wrong with In or Out, Validate says, and whatever is given the tool: a runner, a registry, a dispatch. Change
// other fields of the tool before that.
func NewTool[In, Out any](name, description string, run func(ctx *DispatchContext, args In) (Out, error)) *Tool {
	t := &Tool{Name: name, Description: description}
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	schema, err := typed.Schema(in)
	if err != nil {
		t.refuse("arguments", in, err)
		schema = []byte(`{"type": "object"}`)
	}
	t.InputSchema = schema
	args, err := typed.CodecOf(in)
	if err != nil {
		t.refuse("arguments", in, err)
	}
	result, err := typed.CodecOf(out)
	if err != nil {
		t.refuse("result", out, err)
	}
	if result != nil {
		t.out, t.encode = out, result.Encode
	}
	if run == nil {
		return t
	}
	t.Handler = func(ctx *DispatchContext, given Args) (any, error) {
		var in In
		if err := bind(args, given, &in); err != nil {
			return nil, newError(abi.CodeInvalidToolArgs, t.Name+": "+err.Error(), err)
		}
		v, err := run(ctx, in)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
	return t
}

// bind stores arguments in what v points to.
func bind(codec *typed.Codec, args Args, v any) error {
	raw := args.raw
	if len(raw) == 0 {
		raw = abi.Raw{0x80}
	}
	if codec != nil {
		return codec.Decode(raw, v)
	}
	return typed.Decode(raw, v)
}

// refuse notes that a type is not fit for the tool.
func (t *Tool) refuse(what string, of reflect.Type, err error) {
	reason := err.Error()
	var e *typed.Error
	if errors.As(err, &e) && e.Field != "" {
		what += "." + e.Field
		reason = e.Reason
	}
	t.unfit = append(t.unfit, "`"+what+"` of "+of.String()+": "+reason)
}
