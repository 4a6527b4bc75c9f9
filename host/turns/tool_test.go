package turns_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

func named(name string) *turns.Tool {
	return &turns.Tool{
		Name: name, Description: "d", InputSchema: map[string]any{"type": "object"},
		Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) { return args, nil },
	}
}

func names(tools []*turns.Tool) string {
	var list []string
	for _, tool := range tools {
		list = append(list, tool.Name)
	}
	return strings.Join(list, " ")
}

func TestToolExecutor(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		same := new(int)
		var seen turns.Args
		tool := &turns.Tool{
			Name: "search", Description: "d",
			InputSchema: `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","default":10}},"required":["query"]}`,
			Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) {
				seen = args
				if args.String("query") == "fail" {
					return nil, errX
				}
				return same, nil
			},
		}
		log := &recorder{}
		_, err := turns.Dispatch(t.Context(), raw(h, log, func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			run := tool.Executor(ctx)
			if got, err := run(`{"query":"hello"}`); got != any(same) || err != nil {
				t.Errorf("D1: %v, %v", got, err)
			}
			if seen.Number("limit") != 10 || string(seen.JSON()) != `{"query":"hello","limit":10}` {
				t.Errorf("defaults: %s", seen.JSON())
			}
			var bound struct{ Query string }
			if err := seen.Bind(&bound); err != nil || bound.Query != "hello" {
				t.Errorf("bind: %v, %v", bound, err)
			}
			for _, bad := range []any{`{"query":5}`, map[string]any{}, `[1]`, `nonsense`} {
				if _, err := run(bad); !errors.Is(err, host.CodeInvalidToolArgs) {
					t.Errorf("D4 %v: %v", bad, err)
				}
			}
			if _, err := run(map[string]any{"query": "fail"}); !errors.Is(err, host.CodeToolDownstreamError) || !errors.Is(err, errX) {
				t.Errorf("D5: %v", err)
			}
			helpers.Log(event.LevelInfo, "", "", nil)
			return ctx.Ack()
		}))
		if err != nil {
			t.Fatal(err)
		}
		if want := "dS iS(0) xS xE(false) xS xE(true) log(info) iE(0,ack) dE(ack,1)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		start := find[*event.ToolExecutionStart](log)[0]
		if start.CallID != "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e" || start.ToolName != "search" {
			t.Errorf("%+v", start)
		}
		if end := find[*event.ToolExecutionEnd](log)[0]; end.CallID != start.CallID {
			t.Errorf("%+v", end)
		}
	})
}

func TestToolRegistry(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		c, a, b := named("c"), named("a"), named("b")
		b.Ephemeral = true
		_, result := play(t, h, turns.TurnRunnerConfig{
			Tools: []*turns.Tool{c, a},
			TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
				ctx.Tools().Hide("a", "later")
				next()
				if got := names(ctx.Tools().All()); got != "c a" {
					t.Errorf("the dispatch changed the turn's registry: %s", got)
				}
				return nil
			}},
			Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				r := ctx.Tools()
				if got := names(r.All()) + "|" + names(r.Visible()); got != "c a|c" {
					t.Errorf("D17: %s", got)
				}
				if err := r.Register(b, false); err != nil {
					return err
				}
				if err := r.Register(named("c"), false); !errors.Is(err, host.CodeToolAlreadyRegistered) {
					t.Errorf("D12: %v", err)
				}
				other := named("c")
				if err := r.Register(other, true); err != nil || r.Get("c") != other || names(r.All()) != "c a b" {
					t.Errorf("overwriting: %v, %s", err, names(r.All()))
				}
				bad := named("bad")
				bad.InputSchema = `{"type":"object","properties":{"x":{"pattern":"(?=a)"}}}`
				if err := r.Register(bad, false); !errors.Is(err, host.CodeInvalidInitialToolValue) {
					t.Errorf("a schema that is not supported: %v", err)
				}
				if _, err := other.Executor(ctx)(nil); err != nil {
					t.Errorf("a tool of the turn's own: %v", err)
				}
				r.Unhide("a")
				if names(r.Hidden()) != "" || !r.Unregister("a") || r.Unregister("a") {
					t.Error("unhide, unregister")
				}
				defer r.BindContext(ctx)()
				if err := ctx.Ack(); err != nil {
					return err
				}
				if names(r.All()) != "c" {
					t.Errorf("D16: %s", names(r.All()))
				}
				return nil
			},
		}, turns.TurnInput{})
		if result.Status != event.Ack {
			t.Errorf("%+v", result)
		}
	})
}

func TestMergeTools(t *testing.T) {
	a, b := []*turns.Tool{named("x"), named("y")}, []*turns.Tool{named("x")}
	if _, err := turns.MergeTools(turns.CollisionThrow, a, b); !errors.Is(err, host.CodeToolAlreadyRegistered) {
		t.Errorf("throw: %v", err)
	}
	if got, err := turns.MergeTools(turns.CollisionReplace, a, b); err != nil || got[0] != b[0] || len(got) != 2 {
		t.Errorf("replace: %v, %v", got, err)
	}
	b[0].OnCollision = turns.CollisionKeep
	if got, err := turns.MergeTools(turns.CollisionReplace, a, b); err != nil || got[0] != a[0] {
		t.Errorf("keep: %v, %v", got, err)
	}
}

func TestMergeRegistries(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		first := []*turns.Tool{named("x"), named("y")}
		second := []*turns.Tool{named("z")}
		log := &recorder{}
		_, err := turns.Dispatch(t.Context(), raw(h, log, func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			if err := ctx.Tools().Register(first[0], false); err != nil {
				return err
			}
			ctx.Tools().Hide("x", "z")
			inner := raw(h, &recorder{}, func(other *turns.DispatchContext, _ *turns.Helpers) error {
				for _, tool := range append(second, first[1]) {
					if err := other.Tools().Register(tool, false); err != nil {
						return err
					}
				}
				other.Tools().Hide("y", "x", "nobody")
				tools, hidden, err := turns.MergeRegistries(turns.CollisionThrow, ctx.Tools(), other.Tools())
				want := []*turns.Tool{first[0], second[0], first[1]}
				if err != nil || !slices.Equal(tools, want) || !slices.Equal(hidden, []string{"x", "y"}) {
					t.Errorf("%v, hidden %q, %v", tools, hidden, err)
				}
				if _, _, err := turns.MergeRegistries(turns.CollisionThrow, other.Tools(), other.Tools()); !errors.Is(err, host.CodeToolAlreadyRegistered) {
					t.Errorf("the same twice: %v", err)
				}
				return other.Ack()
			})
			if _, err := turns.Dispatch(t.Context(), inner); err != nil {
				return err
			}
			return ctx.Ack()
		}))
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestToolArtifactClass(t *testing.T) {
	tool := named("t")
	if got, err := tool.Keep("text"); got != "text" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	tool.ArtifactClass = record.SpooledMarkdown
	failure := errors.New("no text")
	for name, result := range map[string]any{"text": "a\nb", "bytes": []byte("a\nb"), "tokenizable": record.NewTokenizable("a\nb")} {
		got, err := tool.Keep(result)
		a, ok := got.(*record.SpooledArtifact)
		if !ok || err != nil || a.Class() != record.SpooledMarkdown || !a.HasSizeHints() {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		if text, err := a.AsString(t.Context()); text != "a\nb" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if got, err := tool.Keep(5); got != 5 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := tool.Keep(record.NewDynamicTokenizable(func(context.Context) (string, error) { return "", failure })); !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
	if err := tool.Validate(); err != nil {
		t.Error(err)
	}
	tool.ArtifactClass = &record.ArtifactClass{}
	if err := tool.Validate(); !errors.Is(err, host.CodeInvalidInitialToolValue) || !strings.Contains(err.Error(), "artifactConstructor.name") {
		t.Errorf("a class without a name: %v", err)
	}
	tool.ArtifactClass, tool.Artifact = record.SpooledText, true
	if err := tool.Validate(); !errors.Is(err, host.CodeInvalidInitialToolValue) || !strings.Contains(err.Error(), "artifactConstructor") {
		t.Errorf("an artifact tool with a class: %v", err)
	}
}

func TestToolWithValidator(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var seen turns.Args
		refusal := errors.New("even numbers only")
		tool := &turns.Tool{
			Name: "even", Description: "d",
			// Only describes: nothing in it is looked at.
			InputSchema: `{"type":"object","properties":{"n":{"type":"string"}},"$dynamicRef":"#nowhere"}`,
			Validator: func(args turns.Args) (any, error) {
				switch n := args.Number("n"); {
				case n == 0:
					panic("no number")
				case int(n)%2 != 0:
					return nil, refusal
				case n == 2:
					return nil, nil
				}
				return map[string]any{"half": args.Number("n") / 2}, nil
			},
			Handler: func(_ *turns.DispatchContext, args turns.Args) (any, error) { seen = args; return "done", nil },
		}
		log := &recorder{}
		_, err := turns.Dispatch(t.Context(), raw(h, log, func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			run := tool.Executor(ctx)
			if _, err := run(map[string]any{"n": 8}); err != nil || seen.Number("half") != 4 {
				t.Errorf("%v, %s", err, seen.JSON())
			}
			if _, err := run(map[string]any{"n": 2}); err != nil || seen.Number("n") != 2 {
				t.Errorf("as it came: %v, %s", err, seen.JSON())
			}
			if _, err := run(map[string]any{"n": 3}); !errors.Is(err, host.CodeInvalidToolArgs) || !errors.Is(err, refusal) {
				t.Errorf("refused: %v", err)
			}
			if _, err := run(map[string]any{"n": 0}); err == nil || errors.Is(err, host.CodeInvalidToolArgs) {
				t.Errorf("a validation that panics: %v", err)
			}
			return ctx.Ack()
		}))
		if err != nil {
			t.Fatal(err)
		}
		if want := "dS iS(0) xS xE(false) xS xE(false) iE(0,ack) dE(ack,1)"; log.words() != want {
			t.Errorf("events\n got %s\nwant %s", log.words(), want)
		}
		if args := find[*event.ToolExecutionStart](log)[0].Args; string(args) != `{"half":4}` {
			t.Errorf("toolExecutionStart has %s, want the validated arguments", args)
		}
		if got, err := tool.ValidateArgs(t.Context(), h, `{"n":4}`); err != nil || got.Number("half") != 2 {
			t.Errorf("without a turn: %s, %v", got.JSON(), err)
		}
	})
}

func TestValidateArgs(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		tool := named("t")
		tool.InputSchema = `{"type":"object","properties":{"n":{"type":"number"},"unit":{"default":"m"}},"required":["n"]}`
		if got, err := tool.ValidateArgs(t.Context(), h, map[string]any{"n": 5}); err != nil || string(got.JSON()) != `{"n":5,"unit":"m"}` {
			t.Errorf("%s, %v", got.JSON(), err)
		}
		for name, c := range map[string]struct {
			args any
			want host.Code
		}{
			"no conversion":     {`{"n":"5"}`, host.CodeInvalidToolArgs},
			"missing":           {nil, host.CodeInvalidToolArgs},
			"no JSON":           {`{`, host.CodeInvalidToolArgs},
			"cannot be encoded": {map[string]any{"n": func() {}}, host.CodeInvalidToolArgs},
		} {
			if _, err := tool.ValidateArgs(t.Context(), h, c.args); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
		if _, err := tool.ValidateArgs(t.Context(), h, "null"); !errors.Is(err, host.CodeInvalidToolArgs) || !strings.Contains(err.Error(), "t: the value must be object, not null") {
			t.Errorf("null: %v", err)
		}
		if _, err := tool.ValidateArgs(t.Context(), h, turns.Args{}); !errors.Is(err, host.CodeInvalidToolArgs) || !strings.Contains(err.Error(), "n is required") {
			t.Errorf("no arguments: %v", err)
		}
		tool.InputSchema = `{"type":"object","$ref":"https://example.com/remote"}`
		if _, err := tool.ValidateArgs(t.Context(), h, nil); !errors.Is(err, host.CodeInvalidInitialToolValue) {
			t.Errorf("a schema that is not supported: %v", err)
		}
		tool.Name = ""
		if _, err := tool.ValidateArgs(t.Context(), h, nil); !errors.Is(err, host.CodeInvalidInitialToolValue) || !strings.Contains(err.Error(), "`name`") {
			t.Errorf("a tool without a name: %v", err)
		}
	})
}

func TestToolThatNobodyAwaits(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		for name, end := range map[string]func(*turns.DispatchContext) error{
			"ack":   func(ctx *turns.DispatchContext) error { return ctx.Ack() },
			"nack":  func(ctx *turns.DispatchContext) error { return ctx.Nack(errX) },
			"fail":  func(*turns.DispatchContext) error { return errX },
			"abort": func(ctx *turns.DispatchContext) error { ctx.Abort(errX); return nil },
		} {
			started, release, ended := make(chan struct{}), make(chan struct{}), make(chan error)
			tool := named("slow")
			tool.Handler = func(*turns.DispatchContext, turns.Args) (any, error) {
				close(started)
				<-release
				return nil, nil
			}
			log := &recorder{}
			_, _ = turns.Dispatch(t.Context(), raw(h, log, func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
				go func() { _, err := tool.Executor(ctx)(nil); ended <- err }()
				<-started
				return end(ctx)
			}))
			close(release)
			if err := <-ended; !errors.Is(err, host.CodeCallAfterEnd) {
				t.Errorf("%s: the call ended with %v", name, err)
			}
			if got := log.words(); !strings.HasPrefix(got, "dS iS(0) xS ") || strings.Count(got, "xE(true) iE(0") != 1 {
				t.Errorf("%s: events %s, want one toolExecutionEnd before iterationEnd", name, got)
			}
		}
	})
}

func TestHiddenNames(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		_, err := turns.Dispatch(t.Context(), raw(h, &recorder{}, func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			r := ctx.Tools()
			for _, name := range []string{"a", "b", "c"} {
				if err := r.Register(named(name), false); err != nil {
					return err
				}
			}
			for _, step := range []struct {
				do      func()
				visible string
			}{
				{func() { r.Hide("b", "later") }, "a c"},
				{func() { r.Unhide("b") }, "a b c"},
				{func() { r.SetHidden("a", "c") }, "b"},
				{func() { r.Unregister("a") }, "b"},
				{func() { r.ClearHidden() }, "b c"},
			} {
				step.do()
				if got := names(r.Visible()); got != step.visible {
					t.Errorf("visible %q, want %q", got, step.visible)
				}
			}
			return ctx.Ack()
		}))
		if err != nil {
			t.Fatal(err)
		}
	})
}
