package turns

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/stash"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
)

// DispatchInput starts a dispatch. Exactly one of Source and Raw must be given, and exactly one of Executor and Chat.
type DispatchInput struct {
	// Source is a *TurnContext or a *DispatchContext. The dispatch begins with copies of its collections, stash and
	// tools; what it stores goes back there when an iteration succeeds, and its events go to the turn's listeners.
	Source Context
	// Raw is a context without a turn.
	Raw *RawContext

	Executor Executor
	Chat     *model.ChatOptions

	InputPipeline  []DispatchMiddleware // per iteration
	OutputPipeline []DispatchMiddleware
	MaxIterations  int // 0 sets no bound

	// WrapTool and WrapModel run around each call of a tool's handler and of a model, the first one outermost. With a
	// Source they run inside those of its turn.
	WrapTool  []ToolWrapper
	WrapModel []model.Wrapper

	// OnEvent is called for every event of this dispatch.
	OnEvent func(event.Event)
	// Host runs a dispatch with a Raw context. nil gives the dispatch its own host.
	Host *Host
	// Journal receives the journal of a dispatch with a Raw context.
	Journal io.Writer
}

// RawContext is the context of a dispatch without a turn.
type RawContext struct {
	Callbacks
	SystemPrompt         string
	StandingInstructions []string
	Memories             []*record.Memory
	Retrievables         []*record.Retrievable
	Messages             []*record.Message
	Thoughts             []*record.Thought
	ToolCalls            []*record.ToolCall
	Tools                []*Tool
	Tokenizers           map[string]record.Tokenizer // by the names of their encodings
	Stash                map[string]any
	// WaitFor is called by WaitFor of the dispatch's context, because there is no turn that could wait. Without it gates
	// fail with E_LLM_EXECUTION_GATE_NOT_SUPPORTED.
	WaitFor func(ctx context.Context, g Gate) (any, error)
}

// DispatchResult is the outcome of a dispatch.
type DispatchResult struct {
	DispatchID string
	Status     event.Status // Ack or Aborted; with an error Nack
	Iterations int
}

// Dispatch runs one dispatch: the loop around an executor. The error is the dispatch's own, after a nack the same
// error value, or E_INVALID_LLM_DISPATCH_INPUT and E_INVALID_LLM_EXECUTION_CONTEXT for input that is rejected before
// any event. Cancelling ctx aborts a dispatch with a Raw context; one with a Source is aborted with that.
func Dispatch(ctx context.Context, in DispatchInput) (DispatchResult, error) {
	if err := in.validate(); err != nil {
		return DispatchResult{}, err
	}
	d := &definition{
		executor: in.Executor, chat: in.Chat, dispatchInput: bounded(in.MaxIterations, in.InputPipeline),
		dispatchOutput: slices.Clone(in.OutputPipeline), listen: in.OnEvent,
		wrapTool: slices.Clone(in.WrapTool), wrapModel: slices.Clone(in.WrapModel),
	}
	if in.Source != nil {
		return in.Source.shared().dispatch(d)
	}
	d.callbacks, d.tools = in.Raw.Callbacks.resolved(), slices.Clone(in.Raw.Tools)
	d.tokenizers = maps.Clone(in.Raw.Tokenizers)
	h := in.Host
	if h == nil {
		h = NewHost(HostOptions{})
		defer h.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to report it to
	}
	return h.dispatch(ctx, d, &in)
}

func (in *DispatchInput) validate() error {
	var list []string
	rules := abi.DispatchInputRules
	if (in.Source == nil) == (in.Raw == nil) {
		list = append(list, abi.Violation(abi.RuleExactlyOne, "field", "source", "other", "raw"))
	}
	switch {
	case in.Executor == nil && in.Chat == nil:
		list = append(list, abi.Violation(abi.RuleRequired, "field", "executor"))
	case in.Executor != nil && in.Chat != nil:
		list = append(list, abi.Violation(abi.RuleExactlyOne, "field", "executor", "other", "chat"))
	}
	list = append(list, dispatchPipelines("turnInputPipeline", in.InputPipeline, "turnOutputPipeline", in.OutputPipeline)...)
	list = append(list, nilWrappers("wrapTool", in.WrapTool)...)
	list = append(list, nilWrappers("wrapModel", in.WrapModel)...)
	if err := check.Invalid(rules, list); err != nil {
		return err
	}
	if in.Raw != nil {
		return in.Raw.validate()
	}
	return nil
}

func (raw *RawContext) validate() error {
	list := append(raw.Callbacks.missing(abi.RawContextRules), raw.Callbacks.mixed()...)
	if raw.SystemPrompt == "" {
		list = append(list, abi.Violation(abi.RuleNonEmpty, "field", "systemPrompt"))
	}
	for i, text := range raw.StandingInstructions {
		if text == "" {
			list = append(list, abi.Violation(abi.RuleNonEmpty, "field", check.At("standingInstructions", i)))
		}
	}
	list = append(list, check.Elements("tools", raw.Tools)...)
	list = append(list, check.Elements("memories", raw.Memories)...)
	list = append(list, check.Elements("retrievables", raw.Retrievables)...)
	list = append(list, check.Elements("messages", raw.Messages)...)
	list = append(list, check.Elements("thoughts", raw.Thoughts)...)
	list = append(list, check.Elements("toolCalls", raw.ToolCalls)...)
	if _, err := stash.Load(raw.Stash); err != nil {
		list = append(list, err.Error())
	}
	list, err := validateTokenizers(raw.Tokenizers, list)
	if bad := check.Invalid(abi.RawContextRules, list); bad != nil {
		return bad
	}
	return err
}

// dispatch runs a dispatch without a turn.
func (h *Host) dispatch(ctx context.Context, d *definition, in *DispatchInput) (DispatchResult, error) {
	raw := in.Raw
	data, err := stash.Load(raw.Stash)
	if err != nil {
		return DispatchResult{}, err
	}
	p, err := h.begin(ctx, d, turn.Spec{SystemPrompt: raw.SystemPrompt, Stash: data, Standalone: true, Journal: in.Journal})
	if err != nil {
		return DispatchResult{}, err
	}
	defer p.turn.Core().CloseRunner(d)
	defer p.ended()
	p.waitFor = raw.WaitFor
	o, err := p.turn.Run(func(s turn.Start) error {
		for _, text := range raw.StandingInstructions {
			s.Instruct(text)
		}
		for _, add := range []func() error{
			func() error { return turn.Initial(s, raw.Memories) },
			func() error { return turn.Initial(s, raw.Retrievables) },
			func() error { return turn.Initial(s, raw.Messages) },
			func() error { return turn.Initial(s, raw.Thoughts) },
			func() error { return turn.Initial(s, raw.ToolCalls) },
		} {
			if err := add(); err != nil {
				return err
			}
		}
		return nil
	})
	if !o.Ended {
		return DispatchResult{}, err
	}
	out := DispatchResult{DispatchID: p.turn.DispatchID(1), Status: o.Status, Iterations: o.Iterations}
	if o.Status == event.Failed {
		out.Status = event.Nack
	}
	if err == nil && out.Status == event.Nack {
		err = o.Err
	}
	return out, err
}

// dispatch runs a dispatch with this context as its source.
func (b *base) dispatch(d *definition) (DispatchResult, error) {
	outer := b.program.config
	d.callbacks, d.tokenizers = outer.callbacks, outer.tokenizers
	d.wrapTool, d.wrapModel = slices.Concat(outer.wrapTool, d.wrapTool), slices.Concat(outer.wrapModel, d.wrapModel)
	id, r, err := b.state.Dispatch(d)
	return DispatchResult{DispatchID: id, Status: event.Status(r.Status), Iterations: int(r.Iterations)}, err
}
