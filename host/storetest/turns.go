package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// turnsOf is how many turns a conversation here has.
const turnsOf = 3

// conversation is a runner whose turns write in all the ways that there are: the user's message, a middleware, the ends
// of two iterations, a commit in between, and bytes. The n-th turn has the id of n.
//
// Each transaction of a turn but the user's message stores a memory with its name, from which [steps] reads what was
// stored.
func conversation(ctx context.Context, s store.Store) (*turns.Runner, error) {
	return turns.New(ctx, turns.Config{
		Store: s, Engine: native.New(),
		TurnInputPipeline: []turns.TurnMiddleware{func(ctx *turns.TurnContext, next func()) error {
			if err := ctx.StoreMemory(memory(ctx.TurnID()+".middleware", "x")); err != nil {
				return err
			}
			next()
			return nil
		}},
		Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
			turn, iteration := ctx.TurnID(), ctx.Iteration()
			name := fmt.Sprint(turn, ".iteration", iteration)
			if iteration == 1 {
				if err := errors.Join(ctx.StoreMemory(memory(turn+".early", "x")), ctx.StoreThought(record.NewThought(turn+".t", "x", at(0))), ctx.Commit()); err != nil {
					return err
				}
				last := memory("turns", turn)
				return errors.Join(ctx.StoreMemory(memory(name, "x")), ctx.StoreMemory(last), ctx.StoreMessage(message(turn+".answer", "of "+turn)), ctx.Ack())
			}
			reader, err := ctx.StoreRetrievableBytes(turn+".bytes", strings.NewReader("line one\nline two of "+turn))
			if err != nil {
				return err
			}
			call := toolCall(turn+".call", "")
			call.Results, call.Args = record.NewSpooledArtifact(reader), json.RawMessage(`{}`)
			return errors.Join(ctx.StoreMemory(memory(name, "x")), ctx.StoreToolCall(call), ctx.StoreMessage(message(turn+".note", "x")))
		},
	})
}

// transactions are the names of a turn's, in order, with the records that each stores.
var transactions = []struct {
	name    string
	records []string
}{
	{"middleware", nil},
	{"iteration0", []string{"call", "note"}},
	{"early", []string{"t"}},
	{"iteration1", []string{"answer"}},
}

// steps reads what a session has of the turns of a conversation: the transactions that were stored, such as
// "0.user 0.middleware". It is an error if one was stored in part, if one is missing before another of its turn, or if
// something is there twice.
func steps(ctx context.Context, c *store.Conversation) (got []string, err error) {
	var ids []string
	for _, m := range c.Memories {
		if m.ID != "turns" {
			ids = append(ids, m.ID)
		}
	}
	for _, m := range c.Messages {
		ids = append(ids, m.ID)
	}
	for _, m := range c.Thoughts {
		ids = append(ids, m.ID)
	}
	for _, call := range c.ToolCalls {
		ids = append(ids, call.ID)
		turn, _, _ := strings.Cut(call.ID, ".")
		if text, err := call.Results.(*record.SpooledArtifact).AsString(ctx); err != nil || text != "line one\nline two of "+turn {
			return nil, fmt.Errorf("what %s has read is %q: %w", call.ID, text, err)
		}
	}
	sorted := slices.Sorted(slices.Values(ids))
	if len(slices.Compact(slices.Clone(sorted))) != len(ids) {
		return nil, fmt.Errorf("something is there twice: %q", sorted)
	}
	for turn := range turnsOf {
		name := func(of string) string { return fmt.Sprint(turn, ".", of) }
		if slices.Contains(ids, name("user")) {
			got = append(got, name("user"))
		}
		for _, t := range transactions {
			there := slices.Contains(ids, name(t.name))
			for _, r := range t.records {
				if slices.Contains(ids, name(r)) != there {
					return nil, fmt.Errorf("%s was stored in part: %q", name(t.name), sorted)
				}
			}
			if there {
				got = append(got, name(t.name))
			}
		}
	}
	return got, nil
}

// allSteps are the steps of a conversation that nothing has disturbed.
func allSteps() (all []string) {
	for turn := range turnsOf {
		all = append(all, fmt.Sprint(turn, ".user"))
		for _, t := range transactions {
			all = append(all, fmt.Sprint(turn, ".", t.name))
		}
	}
	return all
}

func turnCases() []testCase {
	return []testCase{
		{name: "a conversation outlives its process", run: func(p *place) {
			s := p.store()
			for turn := range turnsOf {
				r, err := conversation(p.Context(), s)
				if err != nil {
					p.Fatal(err)
				}
				if _, err := r.Run(p.Context(), turns.Input{Message: "Hi!", TurnID: fmt.Sprint(turn), Session: session}); err != nil {
					p.Fatalf("turn %d: %v", turn, err)
				}
				if err := r.Close(); err != nil {
					p.Error(err)
				}
				s = p.again(s)
			}
			c := p.load(s, session, "")
			got, err := steps(p.Context(), c)
			if err != nil {
				p.Fatal(err)
			}
			p.same("the conversation", got, allSteps())
			var order []string
			for _, m := range c.Messages {
				order = append(order, m.ID)
			}
			want := "0.user 0.note 0.answer 1.user 1.note 1.answer 2.user 2.note 2.answer"
			if got := strings.Join(order, " "); got != want {
				p.Errorf("messages %s, want %s", got, want)
			}
		}},
		{name: "turns of two processes at once", run: func(p *place) {
			one := p.store()
			two := p.another()
			seen := p.load(one, session, "").Revision
			p.write(one, session, put(memory("shared", "0")))
			run := func(s store.Store, id string, during func() error) error {
				r, err := turns.New(p.Context(), turns.Config{Store: s, Engine: native.New(), Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					if err := during(); err != nil {
						return err
					}
					return errors.Join(ctx.MutateMemory(memory("shared", id)), ctx.StoreMessage(message(id+".answer", "x")), ctx.Ack())
				}})
				if err != nil {
					return err
				}
				defer r.Close() //nolint:errcheck // nothing is lost with it
				_, err = r.Run(p.Context(), turns.Input{Message: "Hi!", TurnID: id, Session: session})
				return err
			}
			// The second turn runs within the first, so that the first one has an older state.
			err := run(one, "first", func() error {
				if p.exclusive || one == two {
					_, err := one.Commit(p.Context(), session, store.Commit{Deltas: []store.Delta{change(memory("shared", "second"))}})
					return err
				}
				return run(two, "second", func() error { return nil })
			})
			c := p.load(one, session, "")
			if seen == "" {
				p.Log("the store has no revisions: the last writer wins")
				return
			}
			if !errors.Is(err, conflict) || !errors.Is(err, host.Code("E_STORAGE_COMMIT_ERROR")) {
				p.Errorf("the turn that lost: %v", err)
			}
			if got := c.Memories[0].Content; got != "second" {
				p.Errorf("the winner's memory is %q", got)
			}
			for _, m := range c.Messages {
				if m.ID == "first.answer" {
					p.Error("the loser has stored its answer")
				}
			}
		}},
	}
}
