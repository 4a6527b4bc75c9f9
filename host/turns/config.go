package turns

import (
	"maps"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/guard"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
)

// Executor calls a model, once per iteration. It streams through h, stores complete records through ctx, runs tools
// with Tool.Executor, and signals with ctx.Ack or ctx.Nack; if it returns without a signal, it is called again. An
// error nacks the dispatch.
type Executor func(ctx *DispatchContext, h *Helpers) error

// TurnMiddleware runs around a turn's dispatch. next runs the rest of the pipeline and returns when that has ended; a
// pipeline that ends without a call of next is an error. A second call of next does nothing.
type TurnMiddleware func(ctx *TurnContext, next func()) error

// DispatchMiddleware runs in every iteration of a dispatch, as TurnMiddleware does around a turn.
type DispatchMiddleware func(ctx *DispatchContext, next func()) error

// TurnRunnerConfig configures a TurnRunner: an executor, storage, and optional fields.
type TurnRunnerConfig struct {
	// Executor is the program's own; Chat is the executor inside the core. Exactly one must be given.
	Executor Executor
	Chat     *model.ChatOptions

	Callbacks

	// Tools are the initial tools of every turn's registry.
	Tools []*Tool

	TurnInputPipeline      []TurnMiddleware
	TurnOutputPipeline     []TurnMiddleware
	DispatchInputPipeline  []DispatchMiddleware
	DispatchOutputPipeline []DispatchMiddleware

	// Tokenizers by the names of their encodings, such as "o200k_base". Tokens of encodings without one are estimated by
	// the length of texts.
	Tokenizers map[string]record.Tokenizer

	// MaxIterations nacks a dispatch that would begin a further iteration with E_MAX_ITERATIONS. 0 sets no bound.
	MaxIterations int

	// WrapTool and WrapModel run around each call of a tool's handler and of a model, the first one outermost.
	WrapTool  []ToolWrapper
	WrapModel []model.Wrapper

	// Host runs the turns. nil gives the runner its own host, which Close closes.
	Host *Host

	front bool     // made by New, whose Config has other fields
	wrong []string // with those fields
}

// definition is a runner as it is told to a core.
type definition struct {
	executor  Executor
	chat      *model.ChatOptions
	agent     *guard.Agent
	callbacks Callbacks
	tools     []*Tool
	firstTool int // how many tools precede them in the numbers

	tokenizers map[string]record.Tokenizer

	turnInput, turnOutput         []TurnMiddleware
	dispatchInput, dispatchOutput []DispatchMiddleware

	wrapTool  []ToolWrapper
	key       func(c *turn.Context, call string) string // of an agent; see invocation.Model
	wrapModel []model.Wrapper

	listen func(event.Event) // of a dispatch's own events
}

// validate lists everything that is wrong with a configuration.
func (c *TurnRunnerConfig) validate() error {
	var list []string
	switch {
	case c.Executor == nil && c.Chat == nil && c.agent() == nil:
		missing := abi.Violation(abi.RuleRequired, "field", "executorCallback")
		if c.front {
			missing = abi.Violation(abi.RuleExactlyOne, "field", "model", "other", "executor")
		}
		if c.Host.agent() != nil {
			missing = "`executor` must be given: the module has no agent inside, and its grant names no model"
		}
		list = append(list, missing)
	case c.Executor != nil && c.Chat != nil:
		one, other := "executorCallback", "chat"
		if c.front {
			one, other = "model", "executor"
		}
		list = append(list, abi.Violation(abi.RuleExactlyOne, "field", one, "other", other))
	}
	list = append(list, c.wrong...)
	list = append(list, c.Callbacks.missing(abi.TurnRunnerConfigRules)...)
	list = append(list, c.Callbacks.mixed()...)
	list = append(list, check.Elements("tools", c.Tools)...)
	list = append(list, nils("turnInputPipeline", c.TurnInputPipeline)...)
	list = append(list, nils("turnOutputPipeline", c.TurnOutputPipeline)...)
	list = append(list, dispatchPipelines("dispatchInputPipeline", c.DispatchInputPipeline, "dispatchOutputPipeline", c.DispatchOutputPipeline)...)
	list = append(list, nilWrappers("wrapTool", c.WrapTool)...)
	list = append(list, nilWrappers("wrapModel", c.WrapModel)...)
	if c.MaxIterations < 0 {
		list = append(list, abi.Violation(abi.RuleRange, "field", "maxIterations", "min", "0", "max", "2147483647"))
	}
	list, err := validateTokenizers(c.Tokenizers, list)
	if bad := check.Invalid(abi.TurnRunnerConfigRules, list); bad != nil {
		return bad
	}
	return err
}

// nils lists the entries of a pipeline that are no functions.
func nils[M TurnMiddleware | DispatchMiddleware](field string, pipeline []M) (list []string) {
	for i, m := range pipeline {
		if m == nil {
			list = append(list, abi.Violation(string(abi.KindMiddleware), "field", check.At(field, i)))
		}
	}
	return list
}

func (c *TurnRunnerConfig) definition() *definition {
	d := &definition{
		executor: c.Executor, chat: c.Chat, callbacks: c.Callbacks.resolved(), tools: slices.Clone(c.Tools),
		tokenizers: maps.Clone(c.Tokenizers),
		turnInput:  slices.Clone(c.TurnInputPipeline), turnOutput: slices.Clone(c.TurnOutputPipeline),
		dispatchInput: bounded(c.MaxIterations, c.DispatchInputPipeline), dispatchOutput: slices.Clone(c.DispatchOutputPipeline),
		wrapTool: slices.Clone(c.WrapTool), wrapModel: slices.Clone(c.WrapModel),
	}
	if d.agent = c.agent(); d.agent != nil {
		d.tools = append(d.tools, agentTools(d.agent)...)
	}
	return d
}

// Frame implements core.Definition: it is the runner as a frame, without its number. It runs code of schemas and
// options: no lock may be held.
func (d *definition) Frame() (*abi.OpenRunner, error) {
	f := &abi.OpenRunner{
		Encodings: slices.Sorted(maps.Keys(d.tokenizers)),
		TurnInput: hostMiddleware(len(d.turnInput)), TurnOutput: hostMiddleware(len(d.turnOutput)),
		DispatchInput: dispatchMiddleware(d.dispatchInput), DispatchOutput: dispatchMiddleware(d.dispatchOutput),
	}
	for bit, there := range map[uint32]bool{
		abi.CallbackCommit:  d.callbacks.Commit != nil,
		abi.CallbackDiscard: d.callbacks.Discard != nil,
		abi.CallbackReplace: d.callbacks.ReplaceToolCallGroup != nil,
	} {
		if there {
			f.Callbacks |= bit
		}
	}
	for i, tool := range d.tools {
		def, err := tool.definition(uint32(d.firstTool + i + 1))
		if err != nil {
			return nil, err
		}
		f.Tools = append(f.Tools, def)
	}
	if d.chat != nil {
		options, err := encodeChat(d.chat)
		if err != nil {
			return nil, err
		}
		f.Executor, f.Chat = abi.ExecutorChat, options
	}
	if d.agent != nil {
		return f, agentFrame(f, d.agent)
	}
	return f, nil
}

func hostMiddleware(n int) []abi.Middleware {
	list := make([]abi.Middleware, n)
	for i := range list {
		list[i].Kind = abi.MiddlewareHost
	}
	return list
}
