package turns_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/turns"
)

// inTurn runs fn inside a turn's middleware, with a dispatch after it.
func inTurn(t *testing.T, h *turns.Host, fn func(ctx *turns.TurnContext)) {
	t.Helper()
	_, result := play(t, h, turns.TurnRunnerConfig{
		Executor: func(ctx *turns.DispatchContext, helpers *turns.Helpers) error {
			helpers.Log(event.LevelInfo, "sync", "", nil)
			return ctx.Ack()
		},
		TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			fn(ctx)
			next()
			return nil
		}},
	}, turns.TurnInput{})
	if result.Status != event.Ack {
		t.Errorf("%+v", result)
	}
}

func TestCollection(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		inTurn(t, h, func(ctx *turns.TurnContext) {
			c := ctx.TurnMessages()
			a, b, d, twin := message("a", "1"), message("b", "2"), message("d", "3"), message("a", "4")
			check := func(want string) {
				t.Helper()
				if got := ids(c); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			if err := errors.Join(c.Add(a, b, a), c.Add(b), c.Add(twin)); err != nil {
				t.Fatal(err)
			}
			check("a b a")
			if done, err := c.Replace(b, d); !done || err != nil {
				t.Error(done, err)
			}
			check("a d a")
			if done, _ := c.Replace(b, a); done {
				t.Error("replaced what is not in")
			}
			if done, _ := c.Replace(d, a); !done {
				t.Error("not replaced by an element that is in elsewhere")
			}
			check("a a")
			if got := c.Slice(); got[0] != a || got[1] != twin {
				t.Error("wrong identity")
			}
			if !c.Remove(a) || c.Remove(a) || c.Has(a) || !c.Has(twin) {
				t.Error("remove")
			}
			check("a")
			for m := range c.All() {
				c.Remove(m) // a loop sees what was there when it began
				if err := c.Add(b, d); err != nil {
					t.Error(err)
				}
			}
			check("b d")
			if err := c.Add(&record.Message{ID: "x"}); !errors.Is(err, host.CodeInvalidInitialMessageValue) {
				t.Errorf("an invalid record: %v", err)
			}
			c.Clear()
			check("")
			if err := c.Add(d); err != nil {
				t.Error(err)
			}
			check("d")
		})
	})
}

// Random changes, checked against a plain slice; Verify compares with the core after each step.
func TestCollectionRandom(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		rng := rand.New(rand.NewPCG(1, 2))
		inTurn(t, h, func(ctx *turns.TurnContext) {
			var model []*record.Memory
			var known []*record.Memory
			c := ctx.TurnMemories()
			history, err := turns.NewHistory[*record.Memory]()
			if err != nil {
				t.Fatal(err)
			}
			fresh := func() *record.Memory {
				m := record.NewMemory(fmt.Sprint(len(known)), "x", 0, 0, instant)
				known = append(known, m)
				return m
			}
			add := func(m *record.Memory) {
				if !slices.Contains(model, m) {
					model = append(model, m)
				}
			}
			for step := range 400 {
				switch n := rng.IntN(12); {
				case n < 4:
					m := fresh()
					add(m)
					err = c.Add(m)
				case n < 6 && len(known) > 0:
					m := known[rng.IntN(len(known))]
					add(m)
					err = c.Add(m)
				case n < 8 && len(known) > 0:
					m := known[rng.IntN(len(known))]
					model = slices.DeleteFunc(model, func(o *record.Memory) bool { return o == m })
					c.Remove(m)
				case n < 10 && len(model) > 0:
					old, m := model[rng.IntN(len(model))], known[rng.IntN(len(known))]
					if rng.IntN(2) == 0 {
						m = fresh()
					}
					if m != old {
						model = slices.DeleteFunc(model, func(o *record.Memory) bool { return o == m })
						model[slices.Index(model, old)] = m
					}
					_, err = c.Replace(old, m)
				case n == 10:
					m := fresh()
					if err = history.Append(m); err == nil {
						for _, r := range history.Slice() {
							add(r)
						}
						err = c.AddAll(history)
					}
				case n == 11 && rng.IntN(20) == 0:
					model = nil
					c.Clear()
				}
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(c.Slice(), model) || c.Len() != len(model) {
					t.Fatalf("step %d: the collection differs from the model", step)
				}
				if step%50 == 0 {
					// A step, so that the core's copy is compared.
					if err := ctx.StoreMessage(message(fmt.Sprint(step), "x")); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	})
}

func TestHistoryIsShared(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		var records []*record.Message
		for i := range 3000 {
			records = append(records, message(fmt.Sprint(i), "x"))
		}
		history, err := turns.NewHistory(records...)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			inTurn(t, h, func(ctx *turns.TurnContext) {
				mine := message("mine", "x")
				if err := errors.Join(ctx.TurnMessages().AddAll(history), ctx.TurnMessages().Add(mine)); err != nil {
					t.Error(err)
				}
				if !ctx.TurnMessages().Has(records[7]) || ctx.TurnMessages().Len() != history.Len()+1 {
					t.Error("records of the history are missing")
				}
				if !ctx.TurnMessages().Remove(records[7]) {
					t.Error("remove")
				}
				if err := ctx.DeleteMessage("8"); err != nil {
					t.Error(err)
				}
				if ctx.TurnMessages().Len() != history.Len() {
					// Deleting from turn middleware goes through storage and leaves the collection to the core.
					if got, want := ctx.TurnMessages().Len(), history.Len()-1; got != want {
						t.Errorf("%d messages, want %d", got, want)
					}
				}
				if err := history.Append(mine); err != nil {
					t.Error(err)
				}
			})
		}
		if history.Len() != 3003 {
			t.Errorf("%d records", history.Len())
		}
	})
}

func TestStash(t *testing.T) {
	onEngines(t, func(t *testing.T, h *turns.Host) {
		inTurn(t, h, func(ctx *turns.TurnContext) {
			s := ctx.Stash()
			list := []any{1, "two"}
			for path, v := range map[string]any{"a": list, "user.name.first": "Ada", "n": nil} {
				if err := s.Set(path, v); err != nil {
					t.Fatal(err)
				}
			}
			list[0] = 9 // the stash has a copy
			if v, ok := s.Get("a.0"); v != int64(1) || !ok {
				t.Errorf("a.0 = %v", v)
			}
			got, _ := s.Get("a")
			got.([]any)[1] = 9
			if v, _ := s.Get("a.1"); v != "two" {
				t.Errorf("a.1 = %v", v)
			}
			if v, _ := s.Get("user.name.first"); v != "Ada" {
				t.Errorf("user.name.first = %v", v)
			}
			if err := s.Set("a.2", 2.5); err != nil {
				t.Error(err)
			}
			if v, _ := s.Get("a.2"); v != 2.5 {
				t.Errorf("a.2 = %v", v)
			}
			if !s.Has("n") || s.Has("m") || s.Has("user.age") {
				t.Error("has")
			}
			if err := s.Set("f", map[string]any{"x": func() {}}); !errors.Is(err, host.CodeInvalidValue) {
				t.Errorf("a function: %v", err)
			}
			for path, there := range map[string]bool{
				"a.1": true, "a.7": false, "a.x": false, "user.name.last": false, "user.name.first": true, "m": false, "m.n": false, "n.x": false, "": false,
			} {
				if s.Delete(path) != there {
					t.Errorf("delete %q", path)
				}
			}
			if all, want := s.All(), map[string]any{"a": []any{int64(1), nil, 2.5}, "user": map[string]any{"name": map[string]any{}}, "n": nil}; !reflect.DeepEqual(all, want) {
				t.Errorf("all: %v", all)
			}
			s.Delete("a")
			if all := s.All(); len(all) != 2 {
				t.Errorf("all: %v", all)
			}
		})
	})
}

func TestStashOfAnInputIsRefused(t *testing.T) {
	many := make(map[string]any)
	for i := range 8193 {
		many[fmt.Sprint("k", i)] = i
	}
	deep := any(1)
	for range 10_000 {
		deep = []any{deep}
	}
	runner := newRunner(t, turns.TurnRunnerConfig{Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error { return ctx.Ack() }})
	for want, stash := range map[string]map[string]any{
		"stash: 8193 elements are more than 8192":            many,
		"stash.a: the value is nested deeper than 60 levels": {"a": deep},
		"stash.f: a function cannot be encoded":              {"f": func() {}},
		"stash.w: 9000 elements are more than 8192":          {"w": make([]int, 9000)},
	} {
		_, err := runner.Run(t.Context(), turns.TurnInput{Stash: stash})
		if !errors.Is(err, host.CodeInvalidTurnContext) || !strings.Contains(err.Error(), "`systemPrompt` must be a non-empty string; "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
