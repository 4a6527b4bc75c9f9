package invocations

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/turncore/turncore/host/conformance"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/turns"
)

// model gives the answers of an agent's list.
func (g *game) model(a *AgentSpec) func(*sessions.ModelContext, func(*sessions.Response) error) error {
	return func(ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
		n := g.next(a.Name + " model")
		if n >= len(a.Model) {
			return fmt.Errorf("the model of %s has no answer %d", a.Name, n+1)
		}
		for _, answer := range a.Model[n] {
			if err := g.answer(a, answer, ctx, yield); err != nil {
				return err
			}
		}
		return nil
	}
}

func (g *game) answer(a *AgentSpec, of *Answer, ctx *sessions.ModelContext, yield func(*sessions.Response) error) error {
	switch {
	case of.Part != "":
		return yield(&sessions.Response{Partial: true, Content: sessions.ModelText(of.Part)})
	case of.Thought != "":
		parts := []sessions.Part{{Text: of.Thought, Thought: true}}
		return yield(&sessions.Response{Partial: true, Content: &sessions.Content{Role: sessions.RoleModel, Parts: parts}})
	case of.Fail != "":
		return errors.New(of.Fail)
	case of.Hold:
		return hold(ctx)
	case of.Response != nil:
		return yield(responseOf(oddEvent(of.Response)))
	case of.See != "":
		request, err := ctx.Request()
		if err != nil {
			return err
		}
		line := conformance.Line{"request": a.Name}
		if of.See == "instructions" {
			line["instructions"] = request.Instructions
		} else {
			line["contents"] = plain(request.Contents)
		}
		g.write(a.Name, line)
		return nil
	}
	content := &sessions.Content{Role: sessions.RoleModel}
	if of.Text != "" || of.Calls == nil {
		content.Parts = append(content.Parts, sessions.Part{Text: of.Text})
	}
	for _, c := range of.Calls {
		call := &sessions.FunctionCall{Name: c.Name, Args: c.Args}
		if call.Args == nil {
			call.Args = map[string]any{}
		}
		if c.ID != nil {
			call.ID = *c.ID
		} else {
			call.ID = g.callID()
		}
		content.Parts = append(content.Parts, sessions.Part{FunctionCall: call})
	}
	return yield(&sessions.Response{Content: content})
}

// callID makes the id of a call.
func (g *game) callID() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids++
	return "c" + strconv.Itoa(g.ids)
}

func (g *game) tool(a *AgentSpec, name string) *turns.Tool {
	return sessions.NewTool(name, "a tool", func(ctx *sessions.ToolContext, args map[string]any) (any, error) {
		list := a.Tools[name]
		act := list[min(g.next(a.Name+" tool "+name), len(list)-1)]
		by := name
		if id := ctx.FunctionCallID(); id != "" {
			by += " " + id
		}
		g.write(by, conformance.Line{"tool": name, "args": plain(args)})
		if g.Fault == (Fault{}) { // others may never run
			g.await(ctx, act.Wait)
		}
		defer g.toolEnded()
		if err := g.act(by, act, ctx); err != nil {
			return nil, err
		}
		return result(act.Result, nil)
	})
}

// await waits until n tools have ended, or the invocation is over.
func (g *game) await(ctx context.Context, n int) {
	defer context.AfterFunc(ctx, g.changed.Broadcast)()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.toolsEnded < n && ctx.Err() == nil {
		g.changed.Wait()
	}
}

func (g *game) toolEnded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.toolsEnded++
	g.changed.Broadcast()
}

// script runs the operations of a generator.
func (g *game) script(a *AgentSpec) sessions.AgentFunc {
	return func(ctx *sessions.Context, yield func(*sessions.Event) error) error {
		run := g.next(a.Name + " script")
		if run >= len(a.Script) {
			return fmt.Errorf("the script of %s has no run %d", a.Name, run+1)
		}
		for _, op := range a.Script[run] {
			if op.Finally != "" {
				defer g.write(a.Name, conformance.Line{"says": op.Finally})
				continue
			}
			if err := g.operate(a, op, ctx, yield); err != nil {
				return err
			}
		}
		return nil
	}
}

// hold waits until nobody wants what comes next.
func hold(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func (g *game) operate(a *AgentSpec, op *Operation, ctx *sessions.Context, yield func(*sessions.Event) error) error {
	switch {
	case op.Yield != nil:
		return yield(oddEvent(op.Yield))
	case op.Set != nil:
		for _, name := range slices.Sorted(maps.Keys(op.Set)) {
			if err := ctx.State().Set(name, odd(op.Set[name])); err != nil {
				return err
			}
		}
	case op.See != nil:
		return g.see(a.Name, ctx.State(), op.See)
	case op.Load:
		g.load(ctx, a.Name, &Target{})
	case op.Message:
		g.write(a.Name, conformance.Line{"message": plain(ctx.Message())})
	case op.Fail != "":
		return errors.New(op.Fail)
	case op.Hold:
		return hold(ctx)
	case op.Run != "":
		for e, err := range ctx.RunAgent(g.made[op.Run]) {
			if err != nil {
				return err
			}
			if err := yield(e); err != nil {
				return err
			}
		}
	}
	return nil
}
