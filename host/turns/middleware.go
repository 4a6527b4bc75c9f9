package turns

import (
	"reflect"
	"slices"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/builtin"
	"github.com/turncore/turncore/host/internal/check"
)

func init() {
	builtin.NewMiddleware = func(m *builtin.Middleware) any { return builtinMiddleware(m) }
}

// builtinMiddleware makes a function of a middleware of the core. Without a context that function returns the
// middleware itself: so a pipeline finds out what it holds, as functions have no identity. It must not be inlined,
// because all its functions are to have one and the same body.
//
//go:noinline
func builtinMiddleware(b *builtin.Middleware) DispatchMiddleware {
	return func(ctx *DispatchContext, next func()) error {
		switch {
		case ctx == nil:
			return b
		case b.Run != nil:
			return b.Run(ctx, next)
		}
		detail := b.Name + " works only as an entry of a pipeline, not when another function calls it"
		return newError(abi.CodeInvalidOptions, detail, nil)
	}
}

var builtinBody = reflect.ValueOf(builtinMiddleware(&builtin.Middleware{})).Pointer()

// builtinOf tells which of the core's a middleware is, nil for a function of the program's.
func builtinOf(m DispatchMiddleware) *builtin.Middleware {
	if m == nil || reflect.ValueOf(m).Pointer() != builtinBody {
		return nil
	}
	b, _ := m(nil, nil).(*builtin.Middleware)
	return b
}

// bounded puts a bound on iterations before a pipeline, unless it is 0.
func bounded(iterations int, pipeline []DispatchMiddleware) []DispatchMiddleware {
	if iterations == 0 {
		return slices.Clone(pipeline)
	}
	return append([]DispatchMiddleware{builtinMiddleware(builtin.MaxIterations(iterations))}, pipeline...)
}

// dispatchMiddleware is a pipeline as it is told to the core.
func dispatchMiddleware(pipeline []DispatchMiddleware) []abi.Middleware {
	list := hostMiddleware(len(pipeline))
	for i, m := range pipeline {
		if b := builtinOf(m); b != nil {
			list[i] = abi.Middleware{Kind: abi.MiddlewareBuiltin, Name: b.Name, Arg: b.Arg}
		}
	}
	return list
}

// dispatchPipelines lists what is wrong with the two pipelines of dispatches, which go by these names.
func dispatchPipelines(in string, input []DispatchMiddleware, out string, output []DispatchMiddleware) (list []string) {
	for _, p := range []struct {
		name     string
		pipeline []DispatchMiddleware
		belongs  func(*builtin.Middleware) bool
	}{
		{in, input, func(b *builtin.Middleware) bool { return b.Input }},
		{out, output, func(b *builtin.Middleware) bool { return b.Output }},
	} {
		list = append(list, nils(p.name, p.pipeline)...)
		for i, m := range p.pipeline {
			b := builtinOf(m)
			switch {
			case b == nil:
			case !p.belongs(b):
				var right []string
				if b.Input {
					right = append(right, in)
				}
				if b.Output {
					right = append(right, out)
				}
				list = append(list, abi.Violation(
					abi.RulePipeline, "field", check.At(p.name, i), "name", b.Name, "pipelines", strings.Join(right, ", "),
				))
			case b.Broken != "":
				list = append(list, "`"+check.At(p.name, i)+"`: "+b.Broken)
			}
		}
	}
	return list
}
