package turns

import (
	"errors"
	"reflect"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/typed"
	"github.com/turncore/turncore/host/record"
)

// NewTool returns a tool whose arguments and result have Go types. Its InputSchema comes from In, a struct or a map,
// with the tags of encoding/json and these:
//
//   - jsonschema:"…" describes the field to the model.
//   - enum:"a,b" lists the allowed values, for a list those of each element.
//   - default:"…" is the value of an omitted field: text unquoted, anything else as JSON.
//
// Fields are required unless they have omitempty, omitzero or a default, and no others are allowed. A type with a
// method JSONSchema() any returns its own schema: JSON text, or any value that marshals to it. Types with their own
// UnmarshalJSON, and types that contain themselves, need this method.
//
// The arguments become an In by the rules of encoding/json. Arguments that the schema allows but that do not fit In
// fail the call with E_INVALID_TOOL_ARGS as the cause. The model gets the result by the same rules; the caller of the
// tool gets it unchanged. Types that have the methods of [github.com/tinylib/msgp] are decoded and encoded by them;
// their names in MessagePack must be those in JSON.
//
// Validate reports mistakes in In or Out, such as a channel in one of them, and so does every runner, registry or
// dispatch that gets the tool. Change other fields of the tool before that.
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
	var result *typed.Codec
	err = typed.Encodable(out)
	if err == nil && !standsFor(out) {
		result, err = typed.CodecOf(out)
	}
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

// standsFor tells whether results of a type stay with the host, and the core is told what stands for them.
func standsFor(out reflect.Type) bool {
	return out == reflect.TypeFor[*record.SpooledArtifact]() || out == reflect.TypeFor[*record.Media]()
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
