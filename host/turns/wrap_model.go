package turns

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/exchange"
	"github.com/turncore/turncore/host/internal/panics"
	"github.com/turncore/turncore/host/internal/turn"
	"github.com/turncore/turncore/host/model"
)

// modelCall performs an effect that is a call of a model.
type modelCall struct {
	config *definition
	chat   *model.ChatOptions // of the model, nil for an engine
	effect *turn.Effect
	most   int // bytes that go to the core at once
	head   bool
	began  bool
	do     model.Next // the call itself
}

// perform runs the wrappers around the call.
func (m *modelCall) perform(ctx context.Context, call *model.Invocation) error {
	d := dispatchOf(m.effect.Context)
	call.TurnID, call.DispatchID, call.Iteration = d.TurnID(), d.DispatchID(), d.Iteration()
	err := m.wrapped(0, ctx, call, m.send)
	if ctx.Err() != nil { // whatever a wrapper makes of it, nobody wants the answer
		return context.Canceled
	}
	return err
}

// wrapped runs the wrappers from one on, and then the call.
func (m *modelCall) wrapped(from int, ctx context.Context, call *model.Invocation, send func(model.Chunk) error) (err error) {
	wrappers := m.config.wrapModel
	if from == len(wrappers) {
		defer panics.Recovered(&err) // the call's, and no wrapper's
		return m.do(ctx, call, send)
	}
	layer := &wrapped{field: "wrapModel", index: from}
	return layer.run(func() error {
		return wrappers[from](ctx, call, send, func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error) error {
			if err := layer.enter(call != nil); err != nil {
				return err
			}
			err := m.wrapped(from+1, ctx, call, send)
			layer.gave(err)
			return err
		})
	})
}

// send hands the core a part of the answer.
func (m *modelCall) send(c model.Chunk) error {
	switch first := m.head && !m.began; {
	case first && (c.Status < 100 || c.Status > 999):
		return newError(abi.CodeInvalidValue, "status: the first chunk needs one from 100 to 999", nil)
	case !first && c.Status != 0:
		return newError(abi.CodeInvalidValue, "status: only the first chunk of an answer has one", nil)
	}
	m.began = true
	if c.Status != 0 && !m.effect.Send(&abi.Chunk{Status: uint16(c.Status), Headers: pairs(c.Headers)}) {
		return context.Canceled
	}
	for part := range slices.Chunk(c.Data, m.most) {
		if !m.effect.Send(&abi.Chunk{Data: abi.Bytes(part)}) {
			return context.Canceled
		}
	}
	return nil
}

// passing passes on what comes back as chunks. Its second result is what send failed with.
func passing(send func(model.Chunk) error) (pass func(*abi.Chunk) bool, failed func() error) {
	var err error
	return func(c *abi.Chunk) bool {
		data, _ := abi.BytesOf(c.Data)
		chunk := model.Chunk{Status: int(c.Status), Data: slices.Clone(data)}
		if c.Status != 0 {
			chunk.Headers = unpaired(c.Headers)
		}
		err = send(chunk)
		return err == nil
	}, func() error { return err }
}

// wrapHTTP has a request of the chat executor performed inside the wrappers.
func (m *modelCall) wrapHTTP(ctx context.Context, client exchange.Client, args abi.HTTPArgs, media []exchange.Splice, attempt int, allow func(string) bool) (func() (abi.Raw, error), error) {
	body, err := abi.BytesOf(args.Body)
	if err != nil {
		return nil, err
	}
	m.head = true
	m.do = func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error) error {
		sent := args
		sent.Method, sent.URL, sent.Headers, sent.Body = call.Method, call.URL, pairs(call.Headers), abi.Bytes(call.Body)
		pass, failed := passing(send)
		err := client.Do(ctx, &sent, nil, allow, m.most, pass)
		return cmp.Or(failed(), err)
	}
	return func() (abi.Raw, error) {
		full, err := exchange.Insert(ctx, body, media)
		if err != nil {
			return nil, exchange.Failure(ctx, err)
		}
		return nil, m.perform(ctx, &model.Invocation{
			Provider: providerOf(m.chat), Model: modelName(m.chat), Attempt: attempt,
			Method: args.Method, URL: args.URL, Headers: unpaired(args.Headers), Body: full,
		})
	}, nil
}

// wrapEngine has the answer of an engine made inside the wrappers.
func (m *modelCall) wrapEngine(ctx context.Context, args abi.ModelArgs, media []exchange.Splice, attempt int) (func() (abi.Raw, error), error) {
	body, err := abi.BytesOf(args.Body)
	if err != nil {
		return nil, err
	}
	m.do = func(ctx context.Context, call *model.Invocation, send func(model.Chunk) error) error {
		sent := args
		sent.Body = abi.Bytes(call.Body)
		pass, failed := passing(send)
		err := generate(ctx, m.config, &sent, nil, m.most, pass, m.effect.UseTokens)
		return cmp.Or(failed(), err)
	}
	return func() (abi.Raw, error) {
		full, err := exchange.Insert(ctx, body, media)
		if err != nil {
			return nil, engineError(ctx, err)
		}
		return nil, m.perform(ctx, &model.Invocation{Model: args.Model, Attempt: attempt, Body: full})
	}, nil
}

// unpaired are headers by name; values of one name are joined.
func unpaired(list [][]string) map[string]string {
	all := make(map[string]string, len(list))
	for _, pair := range list {
		if len(pair) != 2 {
			continue
		}
		if first, there := all[pair[0]]; there {
			pair = []string{pair[0], first + ", " + pair[1]}
		}
		all[pair[0]] = pair[1]
	}
	return all
}

// pairs are headers as the core has them, by name.
func pairs(headers map[string]string) [][]string {
	list := make([][]string, 0, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, []string{name, headers[name]})
	}
	return list
}
