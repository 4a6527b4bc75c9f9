package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/check"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/internal/whole"
	"github.com/turncore/turncore/host/model"
)

// validatePart lists everything that is wrong with a part. What Go's types already say is not checked again.
func validatePart(p *model.Part) error {
	var list []string
	count := func(field string, n int) {
		if n < 0 {
			list = append(list, abi.Violation(string(abi.KindCount), "field", field))
		}
	}
	if p.ToolCall != nil && p.ToolCall.Index != nil {
		count("toolCall.index", *p.ToolCall.Index)
	}
	if u := p.Usage; u != nil {
		count("usage.promptTokens", u.PromptTokens)
		count("usage.completionTokens", u.CompletionTokens)
		count("usage.totalTokens", u.TotalTokens)
		count("usage.cachedTokens", u.CachedTokens)
	}
	return check.Invalid(abi.ModelPartRules, list)
}

// partLine is a part as a line of JSON; empty for a part that says nothing.
func partLine(p *model.Part) ([]byte, error) {
	if *p == (model.Part{}) {
		return nil, nil
	}
	if err := validatePart(p); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(p) // with a line feed
	return b.Bytes(), err
}

// prepareModel prepares to let an engine answer; the core is handed what it sends.
func (p *program) prepareModel(e *turn.Effect, f *abi.Effect) error {
	args, err := abi.DecodeInPlace[abi.ModelArgs](f.Args)
	if err != nil {
		return err
	}
	f.Args = nil // a request is long: the effect has it, and no copy
	media, err := exchange.Splices(args.Body, args.Splices, p.turn.Media)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(e.Context.Signal())
	e.Cancel = cancel
	config, size := p.configOf(e.Context), min(maxChunk, p.turn.Core().MaxBody())
	e.Model = &event.ModelCall{Model: args.Model, Attempt: int(f.Ordinal)}
	if len(config.wrapModel) > 0 {
		call := &modelCall{config: config, effect: e, most: size}
		e.Perform, err = call.wrapEngine(ctx, args, media, int(f.Ordinal))
		return err
	}
	e.Perform = func() (abi.Raw, error) { return nil, generate(ctx, config, &args, media, size, e.Send, e.UseTokens) }
	return nil
}

// generate lets an engine answer and passes on what it sends, at most so many bytes at once, while that is wanted.
func generate(ctx context.Context, config *definition, args *abi.ModelArgs, media []exchange.Splice, most int, pass func(*abi.Chunk) bool, use func(tokens int)) error {
	engine := config.engine(args.Model)
	if engine == nil {
		return newError(abi.CodeModelUnknown, `"`+args.Model+`"`, nil)
	}
	body, err := abi.BytesOf(args.Body)
	if err != nil {
		return err
	}
	if body, err = exchange.Insert(ctx, body, media); err != nil {
		return engineError(ctx, err)
	}
	var request model.Request
	if err := json.Unmarshal(body, &request); err != nil {
		return newError(abi.CodeModelFailed, "the request is malformed: "+err.Error(), err)
	}
	var cut cuts
	return engineError(ctx, engine.Generate(ctx, &request, func(p model.Part) error {
		cut.join(&p)
		line, err := partLine(&p)
		if err != nil {
			return err
		}
		if p.Usage != nil {
			use(max(p.Usage.PromptTokens+p.Usage.CompletionTokens, p.Usage.TotalTokens))
		}
		for part := range slices.Chunk(line, most) {
			if !pass(&abi.Chunk{Data: abi.Bytes(part)}) {
				return context.Canceled
			}
		}
		return nil
	}))
}

// cuts are what parts of an answer have ended with, if they have ended within a character.
type cuts struct {
	text, reasoning whole.Text
	arguments       map[int]whole.Text // by the calls' indexes
}

// join gives a part whole characters. One that ends the answer leaves nothing to wait for.
func (c *cuts) join(p *model.Part) {
	last := p.Finish != ""
	p.Text = c.text.Next(p.Text, last)
	p.Reasoning = c.reasoning.Next(p.Reasoning, last)
	if p.ToolCall == nil {
		return
	}
	call, index := *p.ToolCall, 0
	if call.Index != nil {
		index = *call.Index
	}
	rest := c.arguments[index]
	call.Arguments = rest.Next(call.Arguments, last)
	if p.ToolCall = &call; rest != "" || c.arguments != nil {
		if c.arguments == nil {
			c.arguments = make(map[int]whole.Text)
		}
		c.arguments[index] = rest
	}
}

// engineError is what the core is told when an engine fails.
func engineError(ctx context.Context, err error) error {
	var own *host.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, &own) && (strings.HasPrefix(string(own.Code), "E_MODEL_") ||
		own.Code == abi.CodeMediaTooLarge || own.Code == abi.CodeChatInvalidOptions):
		return own
	}
	return newError(abi.CodeModelFailed, err.Error(), err)
}
