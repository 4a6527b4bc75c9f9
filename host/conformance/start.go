package conformance

import (
	"bytes"
	"context"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// run runs a turn to its end.
func run(f *frame, arg any) (any, error) {
	g := f.game
	line := Line{"by": f.by, "did": "run"}
	if err := runTurn(g, arg); err != nil {
		line["threw"] = g.describe(err, 0)
	}
	g.write(line)
	return nil, nil
}

func runTurn(g *game, arg any) error {
	if err := g.open(); err != nil {
		return err
	}
	a := fieldsOf(arg)
	in := turns.TurnInput{
		SystemPrompt: a.str("systemPrompt", "Be brief."), TurnID: a.str("turnId", ""),
	}
	if v, there := a.take("standingInstructions"); there {
		in.StandingInstructions = strs(v)
	}
	if v, there := a.take("stash"); there {
		in.Stash = v.(map[string]any)
	}
	if v, there := a.take("message"); there {
		if text, ok := v.(string); ok {
			in.Text = text
		} else {
			in.Message = g.record(v).(*record.Message)
		}
	}
	if a.truth("journal") {
		written := &bytes.Buffer{}
		g.keepValue("journal", written)
		in.Journal = written
	}
	aborted := a.truth("aborted")
	a.end()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g.keepValue("abort", cancel)
	g.keepValue("run", ctx)
	if aborted {
		cancel()
	}
	result, err := g.runner.Run(ctx, in)
	if result != nil && err == result.Err {
		return nil // the events tell how the turn went, in every language
	}
	return err
}

// dispatch runs a dispatch, from the context of the function or from one that it is given.
func dispatch(f *frame, arg any) (any, error) {
	g := f.game
	a := fieldsOf(arg)
	name := a.str("name", "dispatch")
	var spec RunnerSpec
	decode(a.any("runner"), &spec)
	in := turns.DispatchInput{
		InputPipeline:  dispatchPipeline(g, join(name, "dispatchInput"), spec.DispatchInput),
		OutputPipeline: dispatchPipeline(g, join(name, "dispatchOutput"), spec.DispatchOutput),
		MaxIterations:  spec.MaxIterations,
		WrapTool:       toolWrappers(g, join(name, "wrapTool"), spec.WrapTool),
		WrapModel:      modelWrappers(g, join(name, "wrapModel"), spec.WrapModel),
		Chat:           g.chat(spec.Chat),
	}
	if spec.Executor != nil {
		in.Executor = g.executor(join(name, "executor"), spec.Executor)
	}
	if a.truth("source") {
		in.Source = f.inTurn()
	}
	if raw, there := a.take("raw"); there {
		in.Raw = g.raw(&spec, raw)
		in.Host = g.player.host
	}
	if a.truth("observe") {
		to := ""
		if in.Source != nil {
			to = name
		}
		in.OnEvent = func(ev event.Event) { g.event(ev, to) }
	}
	if scripts, there := a.take("on"); there {
		in.OnEvent = g.observer(name, scripts, in.OnEvent)
	}
	a.end()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if in.Source == nil {
		g.keepValue("abort", cancel)
		g.keepValue("run", ctx)
	}
	got, err := turns.Dispatch(ctx, in)
	if err != nil {
		return nil, err
	}
	return map[string]any{"status": got.Status.String(), "iterations": got.Iterations}, nil
}

// observer returns an observer of a dispatch that does scripts, by the names of events, after what another one does.
func (g *game) observer(name string, v any, before func(event.Event)) func(event.Event) {
	var scripts map[string]Script
	decode(v, &scripts)
	return func(ev event.Event) {
		if before != nil {
			before(ev)
		}
		kind := ev.Kind().String()
		if script := scripts[kind]; script != nil {
			if err := g.frame(join(name, "on", kind), nil).run(script); err != nil {
				panic(err)
			}
		}
	}
}

// raw builds the context of a dispatch.
func (g *game) raw(spec *RunnerSpec, arg any) *turns.RawContext {
	a := fieldsOf(arg)
	defer a.end()
	raw := &turns.RawContext{
		Callbacks: g.storage(spec), SystemPrompt: a.str("systemPrompt", "Be brief."), Tools: g.toolList(spec.Tools),
		Tokenizers: g.tokenizers(spec.Tokenizers),
	}
	if script, there := a.take("waitFor"); there {
		raw.WaitFor = func(context.Context, turns.Gate) (any, error) {
			f := g.frame("waitFor", nil)
			err := f.run(scriptOf(script))
			return f.result, err
		}
	}
	if v, there := a.take("standingInstructions"); there {
		raw.StandingInstructions = strs(v)
	}
	if v, there := a.take("stash"); there {
		raw.Stash = v.(map[string]any)
	}
	raw.Memories = given[*record.Memory](g, a, "memories")
	raw.Messages = given[*record.Message](g, a, "messages")
	raw.Thoughts = given[*record.Thought](g, a, "thoughts")
	raw.Retrievables = given[*record.Retrievable](g, a, "retrievables")
	raw.ToolCalls = given[*record.ToolCall](g, a, "toolCalls")
	return raw
}

func given[R record.Type](g *game, a *fields, name string) []R {
	v, there := a.take(name)
	if !there {
		return nil
	}
	return recordsOf[R](g, v)
}

// listen adds a listener to the runner.
func listen(f *frame, arg any) (any, error) {
	g := f.game
	a := fieldsOf(arg)
	name, kind, script, once := a.str("name", "listener"), a.str("event", ""), scriptOf(a.any("do")), a.truth("once")
	a.end()
	if err := g.open(); err != nil {
		return nil, err
	}
	var off func()
	kindOf, known := kinds()[kind]
	if !known {
		panic(malformed("there is no event %q", kind))
	}
	if once && kindOf >= event.KindModelCallStart {
		panic(malformed("a listener of %s is there for as long as calls are logged", kind))
	}
	off = g.runner.Observe(kindOf, func(event.Event) {
		if once {
			off()
		}
		l := &frame{game: g, by: name, iteration: -1}
		l.call = g.count(name)
		if err := l.run(script); err != nil {
			panic(err)
		}
	})
	g.keepValue("listen "+name, off)
	return nil, nil
}

func kinds() map[string]event.Kind {
	all := map[string]event.Kind{}
	for k := range event.Kind(32) {
		if name := k.String(); name != "" {
			all[name] = k
		}
	}
	return all
}
