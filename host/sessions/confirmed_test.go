package sessions_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// A call of an agent that is a tool has not been confirmed, whatever id its model gives it.
func TestConfirmedElsewhere(t *testing.T) {
	call := func(name, id string) []*sessions.Response {
		return []*sessions.Response{{Content: sessions.ModelCall(sessions.FunctionCall{ID: id, Name: name})}}
	}
	var confirmed []bool
	pay := func() *turns.Tool {
		return tool("pay", func(ctx *sessions.ToolContext) (any, error) {
			answer, err := ctx.Confirmation()
			confirmed = append(confirmed, answer != nil)
			return "paid", err
		})
	}
	expert := script(call("pay", "x"), says("very")).agent("expert", pay())
	agent := script(call("pay", "x"), call("expert", "y"), says("done")).agent("a", pay())
	agent.Confirm = []string{"pay"}
	agent.AgentTools = []*sessions.AgentTool{{Agent: expert, InputSchema: []byte(`{"type":"object"}`)}}
	p := stage(t, sessions.Config{Agent: agent})
	p.say("hello")
	answered := p.run(sessions.Answer("x", "pay", map[string]any{"confirmed": true}))
	p.is("after the answer", shown(answered...), "a:=pay a:expert() a:=expert a:done")
	p.is("confirmed", text(confirmed), "[true,false]")
}

// A call that was confirmed runs in a run without a message when its run was left, and has the answer, whatever was
// said meanwhile.
func TestConfirmedAndLeft(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var confirmed []string
	pay := tool("pay", func(c *sessions.ToolContext) (any, error) {
		answer, err := c.Confirmation()
		if confirmed = append(confirmed, text(answer)); len(confirmed) == 1 {
			leave()
			<-c.Done()
		}
		return "paid", err
	})
	m := script(calls("pay"), says("not yet"), says("done"))
	agent := m.agent("a", pay)
	agent.Confirm = []string{"pay"}
	p := stage(t, sessions.Config{Agent: agent})
	asked := p.say("hello")[0].FunctionCalls()[0]
	answer := sessions.Answer(asked.ID, "pay", map[string]any{"confirmed": true, "by": "Ada"})
	if _, err := p.r.Collect(ctx, input(answer)); !errors.Is(err, context.Canceled) {
		t.Errorf("the run that was left ends with %v", err)
	}
	p.fails(answer, host.CodeCallAnswered)
	p.is("meanwhile", shown(p.say("is it paid?")...), "a:not yet")
	p.is("taken up", shown(p.run(nil)...), "a:=pay a:done")
	p.is("confirmed", text(confirmed), `["{\"by\":\"Ada\",\"confirmed\":true}","{\"by\":\"Ada\",\"confirmed\":true}"]`)
	if r := m.request(2); !strings.Contains(r, "model:pay() user:=pay") {
		t.Errorf("the last request is %s", r)
	}
}

// A confirmed call that runs a second time has the same idempotency key, which names the session, the invocation and
// the call, in handlers of either kind and in wrappers. A fork's call is another one.
func TestConfirmedKeys(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var mu sync.Mutex // the calls run at the same time
	var keys []string
	note := func(key string, done <-chan struct{}) {
		mu.Lock()
		keys = append(keys, key)
		both := len(keys) == 2
		mu.Unlock()
		if both {
			leave()
			<-done
		}
	}
	pay := tool("pay", func(c *sessions.ToolContext) (any, error) {
		note(c.IdempotencyKey(), c.Done())
		return "paid", nil
	})
	book := turns.NewTool("book", "Books.", func(d *turns.DispatchContext, _ struct{}) (any, error) {
		note(d.IdempotencyKey(), d.Done())
		return "booked", nil
	})
	agent := script(calls("pay", "book"), says("done"), says("done, too")).agent("a", pay, book)
	agent.Confirm = []string{"pay", "book"}
	var wrapped []string
	wrap := func(ctx *turns.DispatchContext, call *turns.ToolInvocation, next turns.ToolNext) (any, error) {
		mu.Lock()
		wrapped = append(wrapped, call.IdempotencyKey)
		mu.Unlock()
		return next(ctx, call)
	}
	agent.WrapTool = []turns.ToolWrapper{wrap}
	p := stage(t, sessions.Config{Agent: agent})
	asked := p.say("hello")[0]
	answer := &sessions.Content{Role: "user"}
	for _, c := range asked.FunctionCalls() {
		one := sessions.Answer(c.ID, c.Name, map[string]any{"confirmed": true})
		answer.Parts = append(answer.Parts, one.Parts...)
	}
	if _, err := p.r.Fork(t.Context(), "u", "s", "other", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.r.Collect(ctx, input(answer)); !errors.Is(err, context.Canceled) {
		t.Errorf("the run that was left ends with %v", err)
	}
	first := slices.Sorted(slices.Values(keys))
	want := []string{}
	for _, c := range asked.FunctionCalls() {
		want = append(want, "app/u/s."+asked.InvocationID+"."+c.ID)
	}
	slices.Sort(want)
	p.is("the keys", text(first), text(want))
	p.is("taken up", shown(p.run(nil)...), "a:=pay=book a:done")
	p.is("the keys again", text(slices.Sorted(slices.Values(keys[2:]))), text(want))
	other := input(answer)
	other.Session = "other"
	if _, err := p.r.Collect(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys[4:] {
		if !strings.HasPrefix(key, "app/u/other."+asked.InvocationID+".") {
			t.Errorf("the key of a fork's call is %s", key)
		}
	}
	p.is("the keys of wrappers", text(slices.Sorted(slices.Values(wrapped))), text(slices.Sorted(slices.Values(keys))))
}

// elsewhere is a store as another process has it: what runs there waits for nothing here.
type elsewhere struct{ *store.InMemory }

// An answer to a long-running call comes while another invocation of the session runs: in the process it waits, or is
// refused and counts later; from another process it is stored, and the running invocation ends with a conflict.
func TestAnsweredMeanwhile(t *testing.T) {
	for name, want := range map[string]string{
		"queue":  "user:hello a:slow() user:more a:meanwhile user:=slow a:thanks",
		"refuse": "user:hello a:slow() user:more a:meanwhile user:=slow a:thanks",
		"other":  "user:hello a:slow() user:more user:=slow a:thanks",
	} {
		t.Run(name, func(t *testing.T) {
			memory := store.NewInMemory()
			models := script(calls("slow"), says("thanks"))
			agent := models.agent("a", tool("slow", func(*sessions.ToolContext) (any, error) { return nil, nil }))
			agent.LongRunning = []string{"slow"}
			p := stage(t, sessions.Config{Agent: agent, Store: memory})
			answer := sessions.Answer(p.say("hello")[0].FunctionCalls()[0].ID, "slow", map[string]any{"ok": true})
			config := sessions.Config{Agent: agent, Store: memory}
			switch name {
			case "refuse":
				config.WhenBusy = turns.Refuse
			case "other":
				config.Store = elsewhere{memory}
			}
			second := bare(t, config)
			ended := make(chan error, 1)
			run := func() {
				_, err := second.r.Collect(t.Context(), input(answer))
				ended <- err
			}
			// The model of the invocation that runs meanwhile has the answer come.
			meanwhile := func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
				if name == "queue" {
					go run()
				} else {
					run()
				}
				return yield(says("meanwhile")[0])
			}
			first := bare(t, sessions.Config{Agent: &sessions.LLMAgent{Name: "a", Executor: meanwhile}, Store: memory})
			_, err := first.r.Collect(t.Context(), input(sessions.Text("more")))
			conflicts := errors.Is(err, host.CodeSessionConflict)
			if conflicts != (name == "other") || err != nil && !conflicts {
				t.Errorf("the first one ends with %v", err)
			}
			err = <-ended
			if busy := errors.Is(err, host.CodeSessionBusy); busy != (name == "refuse") || err != nil && !busy {
				t.Errorf("the answer ends with %v", err)
			}
			if err != nil {
				second.run(answer)
			}
			p.is("stored", p.log(), want)
			second.fails(answer, host.CodeCallAnswered)
		})
	}
}
