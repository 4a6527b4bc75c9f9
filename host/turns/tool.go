package turns

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/toolargs"
	"github.com/turncore/turncore/host/internal/wire"
	"github.com/turncore/turncore/host/record"
)

// Tool is a function that a model may call. [NewTool] makes one from a function with Go types. Do not change a tool
// after passing it to a runner or a registry.
type Tool struct {
	Name        string
	Description string
	// InputSchema is a JSON Schema (draft 2020-12) of type object: JSON text, or anything that marshals to it.
	InputSchema any
	// Handler runs the tool. Its result goes back to the caller of the executor.
	Handler ToolHandler
	// Validator replaces validation against InputSchema, which then only describes the tool to the model. It gets the
	// original arguments and returns the handler's: any value that encodes to an object, or nil for the same arguments.
	// Its error becomes the cause of an E_INVALID_TOOL_ARGS.
	Validator func(args Args) (any, error)
	// Meta is the application's own data.
	Meta map[string]any
	// Ephemeral tools do not outlive the dispatch: ToolRegistry.PruneEphemeral removes them.
	Ephemeral bool
	// Trusted says that the tool's results are the application's own words, not a third party's.
	Trusted bool
	// Artifact says that the result is text for the model itself, which never becomes an artifact: for example, the tool
	// reads one. Its tool calls have FromArtifactTool set.
	Artifact bool
	// ArtifactClass is the class of artifact in which the chat executor wraps text results: the model gets the handle.
	// nil leaves them text. A tool with Artifact has none. Your own executors use it with Keep.
	ArtifactClass *record.ArtifactClass
	// OnCollision is the action of MergeTools if another registry has a tool of the same name.
	OnCollision Collision

	builtin  string         // name of its handler inside the core; empty for Handler
	argument map[string]any // of that handler; nil for none
	origins  []string       // where that handler's requests may go

	// Of NewTool: how results of a type with a codec of its own are encoded, and what is wrong with its types.
	out    reflect.Type
	encode func(dst []byte, result any) ([]byte, error)
	unfit  []string
}

func init() {
	builtin.NewTool = func(b *builtin.Tool) any {
		return insideCore(&Tool{
			Name: b.Name, Description: b.Description, InputSchema: b.InputSchema, Trusted: b.Trusted,
			argument: b.Argument, origins: b.Origins,
		})
	}
}

// insideCore is a tool whose handler is in the core, under the tool's name.
func insideCore(t *Tool) *Tool {
	t.builtin = t.Name
	t.Handler = func(ctx *DispatchContext, args Args) (any, error) { return ctx.executeTool(t, args, "") }
	return t
}

// ToolHandler runs a tool for a dispatch. The arguments have been validated against the schema, with its defaults
// filled in. ctx is cancelled when the dispatch is aborted, and its IdempotencyKey names the call.
type ToolHandler func(ctx *DispatchContext, args Args) (any, error)

// Collision says which of two tools of the same name stays.
type Collision uint8

// Collision policies.
const (
	CollisionThrow   = Collision(abi.CollisionThrow)
	CollisionReplace = Collision(abi.CollisionReplace)
	CollisionKeep    = Collision(abi.CollisionKeep)
)

// Args are the arguments of a tool call, an object.
type Args struct {
	raw abi.Raw
}

// JSON returns the arguments as JSON text, with members in their original order.
func (a Args) JSON() json.RawMessage {
	text, err := wire.JSON(a.raw)
	if err != nil || text == nil {
		return json.RawMessage("{}")
	}
	return text
}

// MarshalJSON returns the arguments as JSON text.
func (a Args) MarshalJSON() ([]byte, error) { return a.JSON(), nil }

// Bind stores the arguments in what v points to, as json.Unmarshal does.
func (a Args) Bind(v any) error { return bind(nil, a, v) }

// Get returns an argument as plain data: nil, bool, int64, float64, string, []any, map[string]any.
func (a Args) Get(name string) (v any, ok bool) {
	raw, ok := value.Get(a.raw, name)
	if !ok {
		return nil, false
	}
	v, _ = wire.Plain(raw) // the core has checked it
	return v, true
}

// String returns an argument that is text, "" if it is absent or of another type.
func (a Args) String(name string) string {
	v, _ := a.Get(name)
	s, _ := v.(string)
	return s
}

// Number returns an argument that is a number, 0 if it is absent or of another type.
func (a Args) Number(name string) float64 {
	switch v, _ := a.Get(name); n := v.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// Bool returns an argument that is a truth value, false if it is absent or of another type.
func (a Args) Bool(name string) bool {
	v, _ := a.Get(name)
	b, _ := v.(bool)
	return b
}

// Validate checks the tool against the rules of E_INVALID_INITIAL_TOOL_VALUE. The core checks for unsupported
// features of the schema when the tool is first used.
func (t *Tool) Validate() error {
	if t == nil {
		return check.Missing(abi.ToolRules)
	}
	v := [...]check.Given{
		check.Text(t.Name), check.Text(t.Description), check.If(t.InputSchema != nil), check.If(t.Handler != nil),
		check.If(true), check.If(true), check.If(true), check.Text(collisionName(t.OnCollision)),
		check.If(false), check.If(false),
	}
	list := append(check.Violations(abi.ToolRules, "", v[:]), t.unfit...)
	if t.InputSchema != nil {
		if _, err := t.schema(); err != nil {
			list = append(list, abi.Violation(string(abi.KindSchema), "field", "inputSchema"))
		}
	}
	switch {
	case t.ArtifactClass == nil:
	case t.Artifact:
		list = append(list, abi.Violation(abi.RuleUnknown, "field", "artifactConstructor"))
	case t.ArtifactClass.Name == "":
		list = append(list, abi.Violation(abi.RuleNonEmpty, "field", "artifactConstructor.name"))
	}
	return check.Invalid(abi.ToolRules, list)
}

// Keep returns a result of the tool in the form for a tool call: with an ArtifactClass, text becomes an artifact of
// that class over a reader in memory. Keep returns any other result unchanged. The error is that of a dynamic text.
func (t *Tool) Keep(result any) (any, error) {
	if t.ArtifactClass == nil {
		return result, nil
	}
	var text string
	switch r := result.(type) {
	case string:
		text = r
	case []byte:
		text = string(r)
	case *record.Tokenizable:
		if r == nil {
			return result, nil
		}
		var err error
		if text, err = r.Render(context.Background()); err != nil {
			return nil, err
		}
	default:
		return result, nil
	}
	return spooledText(t.ArtifactClass, value.UTF8(text)), nil
}

// spooledText is an artifact over a text in memory.
func spooledText(class *record.ArtifactClass, text string) *record.SpooledArtifact {
	return artifactOver(class, text, record.NewBlob([]byte(text)))
}

func collisionName(c Collision) string {
	switch c {
	case CollisionThrow:
		return "throw"
	case CollisionReplace:
		return "replace"
	case CollisionKeep:
		return "keep"
	}
	return ""
}

// schema returns the encoded input schema.
func (t *Tool) schema() (abi.Raw, error) {
	raw, err := encodeSchema(t.InputSchema, "inputSchema")
	if err != nil {
		return nil, err
	}
	if kind, _ := (Args{raw}).Get("type"); kind != "object" {
		return nil, &wire.Error{Field: "inputSchema", Reason: "is not of type object"}
	}
	return raw, nil
}

// definition is the tool as the core knows it.
func (t *Tool) definition(number uint32) (abi.ToolDef, error) {
	if err := t.Validate(); err != nil {
		return abi.ToolDef{}, err
	}
	schema, err := t.schema()
	if err != nil {
		return abi.ToolDef{}, err
	}
	def := abi.ToolDef{
		Number: number, Name: t.Name, Description: t.Description, InputSchema: schema,
		OnCollision: uint8(t.OnCollision), Builtin: t.builtin,
	}
	if t.Trusted {
		def.Flags |= abi.ToolTrusted
	}
	if t.Ephemeral {
		def.Flags |= abi.ToolEphemeral
	}
	if t.Validator != nil {
		def.Flags |= abi.ToolValidates
	}
	if t.Artifact {
		def.Flags |= abi.ToolArtifact
	}
	if t.argument != nil {
		def.Arg, err = wire.Append(nil, t.argument, "argument")
	}
	return def, err
}

// Executor returns the function that runs the tool for a dispatch. It is the only way to run a handler: it validates
// the arguments (any value that encodes to an object; E_INVALID_TOOL_ARGS), notifies observers of the execution, and
// wraps the handler's failure as E_TOOL_DOWNSTREAM_ERROR. The result is the same value that the handler returned. A
// providerCallID, the provider's id of the call, goes into the events of the execution.
func (t *Tool) Executor(ctx *DispatchContext) func(args any, providerCallID ...string) (any, error) {
	return func(args any, providerCallID ...string) (any, error) {
		if ctx == nil {
			return nil, newError(abi.CodeInvalidValue, "ctx: must be a DispatchContext: tools are called in a dispatch", nil)
		}
		return ctx.executeTool(t, args, strings.Join(providerCallID, ""))
	}
}

// ValidateArgs checks arguments as a call of the tool does, without a turn, and returns the handler's arguments. It
// fails with E_INVALID_TOOL_ARGS, and with E_INVALID_INITIAL_TOOL_VALUE for an invalid tool. h checks the schema; nil
// gives the call its own host, which loads a module.
func (t *Tool) ValidateArgs(ctx context.Context, h *Host, args any) (Args, error) {
	def, err := t.definition(1)
	if err != nil {
		return Args{}, err
	}
	raw, err := t.encodeArgs(args)
	if err != nil {
		return Args{}, err
	}
	if t.Validator != nil {
		raw, err = t.runValidator(Args{raw})
		return Args{raw}, err
	}
	if h == nil {
		h = NewHost(HostOptions{})
		defer h.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to report it to
	}
	c, err := h.pool().Acquire(ctx)
	if err != nil {
		return Args{}, err
	}
	defer h.pool().Release(c)
	valid, err := c.Validate(&abi.ValidateToolArgs{Tool: def, Args: raw})
	return Args{valid}, err
}

// runValidator runs the tool's own validation.
func (t *Tool) runValidator(args Args) (abi.Raw, error) {
	valid, err := t.Validator(args)
	if err != nil {
		return nil, newError(abi.CodeInvalidToolArgs, t.Name+": "+err.Error(), err)
	}
	if valid == nil {
		return args.raw, nil
	}
	raw, err := encodeArgs(valid)
	if err != nil {
		return nil, newError(abi.CodeInvalidValue, "the validated arguments of "+t.Name+": "+err.Error(), err)
	}
	if value.KindOf(raw) != value.KindMap {
		return nil, newError(abi.CodeInvalidValue, "the validated arguments of "+t.Name+" are no object", nil)
	}
	return raw, nil
}

// executeTool runs a tool for the dispatch, in the core or through it.
func (c *DispatchContext) executeTool(tool *Tool, args any, providerCallID string) (any, error) {
	raw, err := tool.encodeArgs(args)
	if err != nil {
		return nil, err
	}
	p := c.program
	def, err := p.definition(tool)
	if err != nil {
		return nil, err
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	v, err := c.state.InvokeLocked(abi.MethodExecuteTool, func(b []byte) ([]byte, error) {
		number, err := p.define(tool, def)
		return (&abi.ExecuteToolArgs{Tool: number, ProviderCallID: providerCallID, Args: raw}).Append(b), err
	})
	if err != nil {
		return nil, err
	}
	var r abi.ExecuteToolResult
	in := abi.NewAliasReader(v)
	if r.Decode(&in); !in.OK() {
		return nil, in.Err()
	}
	if r.Effect == 0 { // the handler ran inside the core
		return wire.Plain(r.Value)
	}
	return p.turn.TakeKept(r.Effect), nil
}

// encodeArgs encodes the arguments of a call of the tool. Null is refused here: in a frame it is no value at all.
func (t *Tool) encodeArgs(args any) (abi.Raw, error) {
	raw, err := encodeArgs(args)
	if err == nil && wire.IsNil(raw) {
		const message = "the value must be object, not null"
		cause := newError(abi.CodeValidationException, message, nil)
		return nil, newError(abi.CodeInvalidToolArgs, t.Name+": "+message, cause)
	}
	return raw, err
}

// encodeArgs encodes the arguments of a tool call.
func encodeArgs(args any) (abi.Raw, error) {
	if a, ok := args.(Args); ok {
		if len(a.raw) == 0 {
			return toolargs.Empty(), nil
		}
		return a.raw, nil
	}
	return toolargs.Encode(args)
}
