package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
	"github.com/turncore/turncore/host/record"
)

// prepareExecutor sets that an effect runs the executor.
func prepareExecutor(e *turn.Effect) error {
	d := dispatchOf(e.Context)
	if d == nil || d.config.executor == nil {
		return errors.New("there is no executor")
	}
	e.Perform = func() (abi.Raw, error) {
		err := d.config.executor(d, &d.helpers)
		return e.Context.Answer, err
	}
	return nil
}

// Prepare implements turn.Program.
func (p *program) Prepare(e *turn.Effect, f *abi.Effect) error {
	switch e.Kind {
	case abi.EffectExecutor:
		return prepareExecutor(e)
	case abi.EffectMiddleware:
		var args abi.MiddlewareArgs
		err := args.Unmarshal(f.Args)
		if err != nil {
			return err
		}
		if d := dispatchOf(e.Context); d != nil {
			return prepareMiddleware(e, &args, d, d.config.dispatchInput, d.config.dispatchOutput)
		}
		return prepareMiddleware(e, &args, &p.root, p.config.turnInput, p.config.turnOutput)
	case abi.EffectTool:
		var args abi.ToolArgs
		err := args.Unmarshal(f.Args)
		if err != nil {
			return err
		}
		d, tool := dispatchOf(e.Context), p.tools.tool(args.Tool)
		if d == nil || tool == nil {
			return fmt.Errorf("tool %d is not defined", args.Tool)
		}
		call := context.Context(nil)
		if args.Timed {
			call, e.GiveUp = context.WithCancelCause(e.Context.Signal())
		}
		d = d.keyed()
		d.call, d.effect.called = call, toolCall{string(f.Path), args.CallID, f.Ordinal}
		handle := d.config.handler(d, tool, f, &args)
		e.Perform = func() (abi.Raw, error) { return runTool(e, handle, tool, &args) }
	case abi.EffectValidate:
		var args abi.ValidateArgs
		err := args.Unmarshal(f.Args)
		if err != nil {
			return err
		}
		tool := p.tools.tool(args.Tool)
		if tool == nil || tool.Validator == nil {
			return fmt.Errorf("tool %d has no validation", args.Tool)
		}
		e.Perform = func() (abi.Raw, error) { return tool.runValidator(Args{args.Args}) }
	case abi.EffectHTTP:
		return p.prepareHTTP(e, f)
	case abi.EffectModel:
		return p.prepareModel(e, f)
	case abi.EffectEstimate:
		return p.prepareEstimate(e, f.Args)
	case abi.EffectForge:
		var args abi.ForgeArgs
		err := args.Unmarshal(f.Args)
		if err != nil {
			return err
		}
		d := dispatchOf(e.Context)
		if d == nil {
			return fmt.Errorf("context %d is no dispatch", e.Context.Number())
		}
		e.Perform = func() (abi.Raw, error) { return nil, d.forge(args.Classes) }
	default:
		return p.prepareStorage(e, f.Args)
	}
	return nil
}

// prepareMiddleware prepares a middleware of a context's two pipelines.
func prepareMiddleware[C any, M ~func(C, func()) error](e *turn.Effect, args *abi.MiddlewareArgs, ctx C, input, output []M) error {
	list := input
	if args.Pipeline == abi.PipelineTurnOutput || args.Pipeline == abi.PipelineDispatchOutput {
		list = output
	}
	if int(args.Index) >= len(list) {
		return fmt.Errorf("pipeline %d has no middleware %d", args.Pipeline, args.Index)
	}
	fn, next := list[args.Index], e.Next()
	e.Perform = func() (abi.Raw, error) { return nil, fn(ctx, next) }
	return nil
}

func runTool(e *turn.Effect, handle func() (any, error), tool *Tool, how *abi.ToolArgs) (abi.Raw, error) {
	result, err := handle()
	if err != nil {
		return nil, err
	}
	if how.Keep {
		e.KeepResult(result)
		return nil, nil
	}
	return tellResult(e, tool, result, how.Spool)
}

// prepareStorage prepares what storage does.
func (p *program) prepareStorage(e *turn.Effect, raw abi.Raw) error {
	t := p.turn
	of, callbacks := p.storage(e.Context)
	ctx := p.under(of, e.Number)
	switch e.Kind {
	case abi.EffectStore:
		var args abi.Delta
		err := args.Unmarshal(raw)
		if err != nil {
			return err
		}
		delta, err := t.Delta(&args)
		if err != nil {
			return err
		}
		e.Perform = func() (abi.Raw, error) { return nil, callbacks.apply(ctx, delta) }
	case abi.EffectCommit:
		var args abi.CommitArgs
		err := args.Unmarshal(raw)
		if err != nil {
			return err
		}
		deltas, err := t.Deltas(args.Deltas)
		if err != nil {
			return err
		}
		if callbacks.atOnce() {
			e.Perform = func() (abi.Raw, error) { return nil, callbacks.Commit(ctx, deltas) }
			break
		}
		e.Partial = &turn.Partial{Total: len(deltas)}
		e.Perform = func() (abi.Raw, error) { return nil, callbacks.commit(ctx, deltas, &e.Partial.Applied) }
	case abi.EffectDiscard:
		var args abi.DiscardArgs
		err := args.Unmarshal(raw)
		if err != nil {
			return err
		}
		deltas, err := t.Deltas(args.Deltas)
		if err != nil || callbacks.Discard == nil {
			return errors.Join(err, errors.New("there is no discard callback"))
		}
		e.Perform = func() (abi.Raw, error) { return nil, callbacks.Discard(ctx, deltas, event.Status(args.Status)) }
	case abi.EffectSpool:
		var args abi.SpoolArgs
		err := args.Unmarshal(raw)
		if err != nil {
			return err
		}
		r, ok := t.Record(args.Handle).(*record.Retrievable)
		if !ok {
			return fmt.Errorf("handle %d names no document", args.Handle)
		}
		e.Perform = func() (abi.Raw, error) {
			spooled, err := callbacks.spool(ctx, r)
			if err != nil || spooled == r {
				return nil, err
			}
			return nil, e.Result(spooled)
		}
	default:
		return fmt.Errorf("kind %d is unknown", e.Kind)
	}
	return nil
}

// under is the context that the storage functions of an effect get.
func (p *program) under(ctx Context, effect uint32) Context {
	if d, is := ctx.(*DispatchContext); is {
		ctx = d.keyed()
	} else {
		ctx = ctx.(*TurnContext).keyed()
	}
	ctx.shared().effect.write = effect
	return ctx
}

// prepareEstimate prepares to count tokens.
func (p *program) prepareEstimate(e *turn.Effect, raw abi.Raw) error {
	var args abi.EstimateArgs
	err := args.Unmarshal(raw)
	if err != nil {
		return err
	}
	tokenizer := p.config.tokenizers[args.Encoding]
	if tokenizer == nil {
		return errors.New("there is no tokenizer for " + strconv.Quote(args.Encoding))
	}
	var artifact *record.SpooledArtifact
	if args.Handle != 0 {
		if artifact, err = p.turn.Artifact(args.Handle, args.Part); err != nil {
			return fmt.Errorf("estimate: %w", err)
		}
	}
	ctx := e.Context.Signal()
	e.Perform = func() (abi.Raw, error) {
		texts := args.Texts
		if artifact != nil {
			text, err := artifact.AsString(ctx)
			if err != nil {
				return nil, err
			}
			texts = []string{text}
		}
		counts, err := count(tokenizer, args.Encoding, texts)
		if err != nil {
			return nil, err
		}
		list := value.AppendListHeader(nil, len(counts))
		for _, n := range counts {
			list = value.AppendInt(list, int64(n))
		}
		return list, nil
	}
	return nil
}

// maxChunk is the largest part of a body that goes to the core at once, in bytes.
const maxChunk = 64 << 10

// prepareHTTP prepares a request of the core, which is handed what comes back.
func (p *program) prepareHTTP(e *turn.Effect, f *abi.Effect) error {
	args, err := abi.DecodeInPlace[abi.HTTPArgs](f.Args)
	if err != nil {
		return err
	}
	f.Args = nil // a request is long: the effect has it, and no copy
	if args.Redirect > abi.RedirectManual {
		return fmt.Errorf("redirect %d is unknown", args.Redirect)
	}
	media, err := exchange.Splices(args.Body, args.Splices, p.turn.Media)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(e.Context.Signal())
	e.Cancel = cancel
	config := p.configOf(e.Context)
	allow := p.allowedOrigins(config)
	client := exchange.Client{Transport: p.host.options.HTTP, Credentials: p.host.options.Credentials}
	if g := p.host.cores.Guard; g != nil {
		client.Route = g.Route
	}
	most := min(maxChunk, p.turn.Core().MaxBody())
	asked := askedModel(config, &args)
	if asked == nil {
		e.Perform = func() (abi.Raw, error) { return nil, client.Do(ctx, &args, media, allow, most, e.Send) }
		return nil
	}
	e.Model = &event.ModelCall{
		Provider: string(providerOf(asked)), Model: modelName(asked), Attempt: int(f.Ordinal),
	}
	if len(config.wrapModel) > 0 {
		call := &modelCall{config: config, chat: asked, effect: e, most: most}
		e.Perform, err = call.wrapHTTP(ctx, client, args, media, int(f.Ordinal), allow)
		return err
	}
	e.Perform = func() (abi.Raw, error) { return nil, client.Do(ctx, &args, media, allow, most, e.Send) }
	return nil
}

// askedModel is the model that a request asks for an answer, nil for none. Of the requests of a dispatch those of the
// chat executor do, as tools of the core follow redirects by themselves; of an agent's, where they go and with what key
// tells it.
func askedModel(config *definition, args *abi.HTTPArgs) *model.ChatOptions {
	switch {
	case config.agent != nil && config.agent.Asked != nil:
		return config.agent.Asked(args)
	case args.Redirect == abi.RedirectFollow:
		return config.chat
	}
	return nil
}

// allowedOrigins tells where a request may go: where the host lets it, or else where the program has said that the
// dispatch goes.
func (p *program) allowedOrigins(config *definition) func(origin string) bool {
	if allow := p.host.options.AllowOrigin; allow != nil {
		return allow
	}
	var origins []string
	if config.chat != nil {
		base := chatURL(config.chat)
		if base == "" {
			return func(string) bool { return true } // a provider that only the core knows, and where it is
		}
		origins = append(origins, exchange.Origin(base))
	}
	for _, tools := range [][]*Tool{p.tools.runner, p.tools.own} {
		for _, tool := range tools {
			origins = append(origins, tool.origins...)
		}
	}
	return func(origin string) bool { return slices.Contains(origins, origin) }
}
