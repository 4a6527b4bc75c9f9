package conformance

import (
	"fmt"
	"slices"

	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// prepare makes the tools and the runner of a scenario.
func (g *game) prepare() {
	g.records, g.tools, g.texts = map[string]any{}, map[string]*turns.Tool{}, map[string]*record.Tokenizable{}
	for name := range g.scenario.Errors {
		g.error(name)
	}
	g.error("CANCELED")
}

// open makes the scenario's runner at its first use.
func (g *game) open() error {
	if g.runner != nil || g.invalid != nil {
		return g.invalid
	}
	spec := g.scenario.Runner
	if spec == nil {
		panic(malformed("the scenario has no runner"))
	}
	config := turns.TurnRunnerConfig{
		Callbacks: g.storage(spec), Tools: g.toolList(spec.Tools), MaxIterations: spec.MaxIterations, Host: g.player.host,
		Tokenizers:             g.tokenizers(spec.Tokenizers),
		WrapTool:               toolWrappers(g, "wrapTool", spec.WrapTool),
		WrapModel:              modelWrappers(g, "wrapModel", spec.WrapModel),
		TurnInputPipeline:      turnPipeline(g, "turnInput", spec.TurnInput),
		TurnOutputPipeline:     turnPipeline(g, "turnOutput", spec.TurnOutput),
		DispatchInputPipeline:  dispatchPipeline(g, "dispatchInput", spec.DispatchInput),
		DispatchOutputPipeline: dispatchPipeline(g, "dispatchOutput", spec.DispatchOutput),
	}
	if !slices.Contains(spec.Omit, "executor") {
		if config.Chat = g.chat(spec.Chat); config.Chat == nil {
			config.Executor = g.executor("executor", spec.Executor)
		}
	}
	g.runner, g.invalid = turns.NewTurnRunner(config)
	if g.invalid != nil {
		return g.invalid
	}
	g.runner.OnAny(func(ev event.Event) { g.event(ev, "") })
	return nil
}

func (g *game) executor(by string, script Script) turns.Executor {
	return func(ctx *turns.DispatchContext, h *turns.Helpers) error {
		f := g.frame(by, ctx)
		f.helpers = h
		return f.run(script)
	}
}

func turnPipeline(g *game, by string, scripts []Script) []turns.TurnMiddleware {
	return pipeline[*turns.TurnContext, turns.TurnMiddleware](g, by, scripts)
}

func dispatchPipeline(g *game, by string, entries []Entry) []turns.DispatchMiddleware {
	scripts := make([]Script, len(entries))
	for i, entry := range entries {
		scripts[i] = entry.Script
	}
	list := pipeline[*turns.DispatchContext, turns.DispatchMiddleware](g, by, scripts)
	for i, entry := range entries {
		if entry.Builtin != "" {
			list[i] = builtin(entry.Builtin, entry.Arg)
		}
	}
	return list
}

func pipeline[C turns.Context, M ~func(C, func()) error](g *game, by string, scripts []Script) []M {
	var list []M
	for i, script := range scripts {
		if script == nil {
			list = append(list, nil)
			continue
		}
		list = append(list, func(ctx C, next func()) error {
			f := g.frame(fmt.Sprintf("%s %d", by, i), ctx)
			f.next = next
			return f.run(script)
		})
	}
	return list
}

// frame begins a call of a function.
func (g *game) frame(by string, ctx turns.Context) *frame {
	f := &frame{game: g, by: by, iteration: -1}
	f.enter(ctx)
	f.call = g.count(by)
	return f
}

// count returns the number of earlier calls of a function, and counts this one.
func (g *game) count(by string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.calls[by]
	g.calls[by]++
	return n
}

func (g *game) toolList(names []string) []*turns.Tool {
	var list []*turns.Tool
	for _, name := range names {
		list = append(list, g.tool(name))
	}
	return list
}

// tool returns the tool of a name: one object for each name.
func (g *game) tool(name string) *turns.Tool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := g.tools[name]; t != nil {
		return t
	}
	spec, there := g.scenario.Tools[name]
	if !there {
		panic(malformed("there is no tool %q", name))
	}
	t := g.makeTool(name, spec)
	g.tools[name] = t
	return t
}

func (g *game) makeTool(key string, spec ToolSpec) *turns.Tool {
	if spec.Catalogue != "" {
		return catalogueTool(spec.Catalogue, spec.Options)
	}
	t := &turns.Tool{Name: key, Description: key, Meta: spec.Meta}
	if spec.InputSchema != nil {
		t.InputSchema = spec.InputSchema
	}
	if spec.Name != nil {
		t.Name = str(spec.Name)
	}
	if spec.Description != nil {
		t.Description = str(spec.Description)
	}
	if t.InputSchema == nil {
		t.InputSchema = map[string]any{"type": "object"}
	}
	t.Artifact = spec.Artifact
	t.Ephemeral, t.Trusted = spec.Ephemeral == true, spec.Trusted == true
	switch spec.OnCollision {
	case nil, "throw":
	case "replace":
		t.OnCollision = turns.CollisionReplace
	case "keep":
		t.OnCollision = turns.CollisionKeep
	default:
		panic(malformed("tool %q: onCollision", key))
	}
	if spec.Validate != nil {
		t.Validator = func(args turns.Args) (any, error) {
			f := g.frame("validate "+key, nil)
			f.args = args.JSON()
			err := f.run(spec.Validate)
			if refused, ok := err.(refusalError); ok {
				return nil, refused
			}
			if err != nil {
				panic(err)
			}
			return f.result, nil
		}
	}
	if spec.Handler != nil {
		t.Handler = func(ctx *turns.DispatchContext, args turns.Args) (any, error) {
			f := g.frame("tool "+key, ctx)
			f.args = args.JSON()
			err := f.run(spec.Handler)
			return f.result, err
		}
	}
	return t
}
