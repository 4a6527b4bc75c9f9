package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
)

// brittle is a store that fails at one of its appends, counted from the first after it was armed.
type brittle struct {
	*store.InMemory
	mu      sync.Mutex
	failAt  int // 0 for never
	appends int
}

var errBrittle = errors.New("the disk is full")

func (b *brittle) Append(ctx context.Context, session string, a store.Append) (string, error) {
	b.mu.Lock()
	b.appends++
	fails := b.appends == b.failAt
	b.mu.Unlock()
	if fails {
		return "", errBrittle
	}
	return b.InMemory.Append(ctx, session, a)
}

func (b *brittle) arm(failAt int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.appends, b.failAt = 0, failAt
}

// busy is a tree with something of everything: a stream, tools at once, agents at once, and a custom agent.
func busy() sessions.Agent {
	ok := func(*sessions.ToolContext) (any, error) { return "ok", nil }
	model := script(calls("ta", "tb"), streams("Hello", "He", "llo")).agent("m", tool("ta", ok), tool("tb", ok))
	model.AfterAgent = []sessions.AgentCallback{func(ctx *sessions.CallbackContext) (*sessions.Content, error) {
		return nil, ctx.State().Set("after", true)
	}}
	return &sessions.SequentialAgent{Name: "all", Agents: []sessions.Agent{
		model,
		&sessions.ParallelAgent{Name: "both", Agents: []sessions.Agent{gives("p", said("p1"), said("p2")), gives("q", said("q1"))}},
		gives("c", delta(map[string]any{"k": 1})),
	}}
}

const busyEvents = `m:ta()tb() m:=ta=tb ~m:He ~m:llo m:Hello m:{"after":true} p:p1 q:q1 p:p2 c:{"k":1}`

func TestBusy(t *testing.T) {
	p := stage(t, sessions.Config{Agent: busy()})
	p.is("delivered", shown(p.say("hello")...), busyEvents)
	var branches []string
	for _, e := range p.events() {
		if e.Branch != "" {
			branches = append(branches, e.Branch)
		}
	}
	p.is("branches", text(branches), `["both.p","both.q","both.p"]`)
}

// whole is the events of a list that are not partial.
func whole(list []*sessions.Event) []*sessions.Event {
	return slices.DeleteFunc(slices.Clone(list), func(e *sessions.Event) bool { return e.Partial })
}

// TestStopAtEachEvent leaves the loop at each event: the store holds the events that were delivered and no others, and
// the hook after the run ran once.
func TestStopAtEachEvent(t *testing.T) {
	for n := 1; n <= len(strings.Fields(busyEvents)); n++ {
		after := 0
		plugin := &sessions.Plugin{Name: "p", AfterRun: func(*sessions.CallbackContext) error { after++; return nil }}
		p := stage(t, sessions.Config{Agent: busy(), Plugins: []*sessions.Plugin{plugin}})
		var list []*sessions.Event
		for e, err := range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
			if err != nil {
				t.Fatal(err)
			}
			if list = append(list, e); len(list) == n {
				break
			}
		}
		p.is("stored after "+strconv.Itoa(n), p.log(), strings.TrimSpace("user:hello "+shown(whole(list)...)))
		if after != 1 {
			t.Errorf("%d: AfterRun ran %d times", n, after)
		}
	}
}

// TestStoreFailsAtEachAppend lets the store fail at each append: the caller gets the store's error, and nothing later
// is stored.
func TestStoreFailsAtEachAppend(t *testing.T) {
	for n := 1; n <= len(strings.Fields(busyEvents))-1; n++ { // without the partial ones, with the user's message
		b := &brittle{InMemory: store.NewInMemory()}
		p := stage(t, sessions.Config{Agent: busy(), Store: b})
		b.arm(n)
		list, err := p.r.Collect(t.Context(), input(sessions.Text("hello")))
		if err != errBrittle { //nolint:errorlint // the same value
			t.Errorf("append %d: %v", n, err)
		}
		want := ""
		if n > 1 {
			want = strings.TrimSpace("user:hello " + shown(whole(list)...))
		}
		p.is("stored after "+strconv.Itoa(n), p.log(), want)
		if b.appends != n {
			t.Errorf("append %d failed, and there were %d", n, b.appends)
		}
	}
}

func TestAgentSeesTheStoreFail(t *testing.T) {
	b := &brittle{InMemory: store.NewInMemory()}
	var saw []error
	agent := &sessions.CustomAgent{Name: "a", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		for range 2 { // it goes on nevertheless
			saw = append(saw, yield(said("x")))
		}
		return nil
	}}
	p := stage(t, sessions.Config{Agent: agent, Store: b})
	b.arm(2)
	if _, err := p.r.Collect(t.Context(), input(sessions.Text("hello"))); err != errBrittle { //nolint:errorlint // the same value
		t.Errorf("the caller got %v", err)
	}
	if saw[0] != errBrittle || saw[1] == nil { //nolint:errorlint // the same value
		t.Errorf("the agent got %v", saw)
	}
	p.is("stored", p.log(), "user:hello")
}

// TestSecondWriterAtEachEvent has somebody else append after each event: the next append is refused.
func TestSecondWriterAtEachEvent(t *testing.T) {
	stored := len(strings.Fields(busyEvents)) - 2
	for n := 1; n < stored; n++ {
		p := stage(t, sessions.Config{Agent: busy()})
		list := p.conflict(n, func() error {
			_, err := p.r.Sessions().Append(t.Context(), p.stored(), &sessions.Event{Author: "other"})
			return err
		})
		p.is("stored after "+strconv.Itoa(n), p.log(), strings.TrimSpace("user:hello "+shown(whole(list)...)+" other:"))
		p.is("the next invocation", shown(p.next()...), "a:again")
	}
}

// TestDeletedAtEachEvent has somebody else delete the session after each event: nothing makes it anew.
func TestDeletedAtEachEvent(t *testing.T) {
	stored := len(strings.Fields(busyEvents)) - 2
	for n := 1; n < stored; n++ {
		p := stage(t, sessions.Config{Agent: busy()})
		p.conflict(n, func() error { return p.r.Sessions().Delete(t.Context(), "u", "s") })
		if _, err := p.r.Sessions().Get(t.Context(), "u", "s"); !errors.Is(err, host.CodeSessionNotFound) {
			t.Errorf("after %d the session is there: %v", n, err)
		}
	}
}

// conflict runs an invocation that meddle disturbs after its n-th event that is stored: it ends with a conflict. The
// events are those that were delivered.
func (p *play) conflict(n int, meddle func() error) []*sessions.Event {
	p.Helper()
	var list []*sessions.Event
	for e, err := range p.r.Run(p.Context(), input(sessions.Text("hello"))) {
		if err != nil {
			if !errors.Is(err, host.CodeSessionConflict) {
				p.Errorf("after %d: %v", n, err)
			}
			return list
		}
		if list = append(list, e); !e.Partial && len(whole(list)) == n {
			if err := meddle(); err != nil {
				p.Fatal(err)
			}
		}
	}
	p.Errorf("after %d nothing conflicts", n)
	return list
}

// runs runs an invocation on a goroutine of its own, which it may end.
func (p *play) runs() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range p.r.Run(p.Context(), input(sessions.Text("hello"))) {
			continue
		}
	}()
	<-done
}

// next runs another agent on the same store.
func (p *play) next() []*sessions.Event {
	p.Helper()
	other := bare(p.T, sessions.Config{Agent: gives("a", said("again")), Store: p.store})
	return other.say("more")
}

func TestPanics(t *testing.T) {
	boom := func() { panic("boom") }
	panics := map[string]sessions.Config{
		"agent": {Agent: &sessions.CustomAgent{Name: "a", Run: func(*sessions.Context, func(*sessions.Event) error) error { boom(); return nil }}},
		"model": {Agent: &sessions.LLMAgent{Name: "a", Executor: func(*sessions.ModelContext, func(*sessions.Response) error) error { boom(); return nil }}},
		"callback": {Agent: &sessions.SequentialAgent{Name: "a", BeforeAgent: []sessions.AgentCallback{
			func(*sessions.CallbackContext) (*sessions.Content, error) { boom(); return nil, nil },
		}}},
		"plugin": {Agent: gives("a"), Plugins: []*sessions.Plugin{{Name: "p", BeforeRun: func(*sessions.CallbackContext) (*sessions.Content, error) {
			boom()
			return nil, nil
		}}}},
	}
	for name, config := range panics {
		t.Run(name, func(t *testing.T) {
			p := stage(t, config)
			_, err := p.r.Collect(t.Context(), input(sessions.Text("hello")))
			var panicked *host.PanicError
			if !errors.As(err, &panicked) || panicked.Value != "boom" {
				t.Errorf("the error is %v", err)
			}
			p.is("stored", p.log(), "user:hello")
		})
	}
}

func TestToolPanics(t *testing.T) {
	agent := script(calls("t"), says("sorry")).agent("a", tool("t", func(*sessions.ToolContext) (any, error) { panic("boom") }))
	p := stage(t, sessions.Config{Agent: agent})
	p.is("delivered", shown(p.say("hello")...), "a:t() a:=t a:sorry")
	if result := text(p.events()[2].FunctionResponses()[0].Response); !strings.Contains(result, "boom") {
		t.Errorf("the result is %s", result)
	}
}

func TestAgentEndsItsGoroutine(t *testing.T) {
	agent := &sessions.CustomAgent{Name: "a", Run: func(*sessions.Context, func(*sessions.Event) error) error {
		runtime.Goexit()
		return nil
	}}
	p := stage(t, sessions.Config{Agent: agent})
	if _, err := p.r.Collect(t.Context(), input(sessions.Text("hello"))); err == nil {
		t.Error("there is no error")
	}
}

func TestCallerPanics(t *testing.T) {
	cleaned := false
	agent := &sessions.CustomAgent{Name: "a", Run: func(_ *sessions.Context, yield func(*sessions.Event) error) error {
		defer func() { cleaned = true }()
		return yield(said("x"))
	}}
	p := stage(t, sessions.Config{Agent: agent})
	func() {
		defer func() {
			if v := recover(); v != "mine" {
				t.Errorf("recovered %v", v)
			}
		}()
		for range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
			panic("mine")
		}
	}()
	if !cleaned {
		t.Error("the agent has not ended")
	}
}

// A caller leaves at a part of an answer, which its executor yields on the caller's goroutine, or on one of its own.
func TestCallerLeavesAStream(t *testing.T) {
	for name, leave := range map[string]func(){
		"panic": func() { panic("mine") }, "goexit": runtime.Goexit, "break": nil,
	} {
		for _, elsewhere := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/elsewhere=%t", name, elsewhere), func(t *testing.T) {
				failures, after := 0, 0
				gives := func(yield func(*sessions.Response) error) error {
					err := yield(&sessions.Response{Content: sessions.ModelText("He"), Partial: true})
					if err != nil {
						failures++
					}
					return err
				}
				agent := &sessions.LLMAgent{Name: "a", Executor: func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
					if !elsewhere {
						return gives(yield)
					}
					done := make(chan error)
					go func() { done <- gives(yield) }()
					return <-done
				}}
				plugin := &sessions.Plugin{Name: "p", AfterRun: func(*sessions.CallbackContext) error { after++; return nil }}
				p := stage(t, sessions.Config{Agent: agent, Plugins: []*sessions.Plugin{plugin}})
				recovered := make(chan any)
				ends := false
				go func() {
					defer func() { recovered <- recover() }()
					for range p.r.Run(t.Context(), input(sessions.Text("hello"))) {
						if leave == nil {
							break
						}
						leave()
					}
					ends = true
				}()
				want := map[string]any{"panic": "mine"}[name]
				if v := <-recovered; v != want || ends != (leave == nil) {
					t.Errorf("recovered %v, the code behind the loop has run: %t", v, ends)
				}
				// An executor on the goroutine that ends is not told.
				told := leave == nil || elsewhere
				if got := failures == 1; got != told || after != 1 {
					t.Errorf("yield failed %d times, the hook after the run ran %d times", failures, after)
				}
				p.is("stored", p.log(), "user:hello")
				p.is("the next invocation", shown(p.next()...), "a:again")
			})
		}
	}
}

// An executor may yield from a goroutine of its own and wait for it.
func TestExecutorYieldsElsewhere(t *testing.T) {
	agent := &sessions.LLMAgent{Name: "a", Executor: func(_ *sessions.ModelContext, yield func(*sessions.Response) error) error {
		done := make(chan error)
		go func() {
			var err error
			for _, text := range []string{"He", "llo"} {
				err = errors.Join(err, yield(&sessions.Response{Content: sessions.ModelText(text), Partial: true}))
			}
			done <- errors.Join(err, yield(&sessions.Response{Content: sessions.ModelText("Hello"), TurnComplete: true}))
		}()
		return <-done
	}}
	p := stage(t, sessions.Config{Agent: agent})
	p.is("delivered", shown(p.say("hello")...), "~a:He ~a:llo a:Hello")
}

// An executor that ends its goroutine has the invocation end.
func TestExecutorEndsItsGoroutine(t *testing.T) {
	agent := &sessions.LLMAgent{Name: "a", Executor: func(*sessions.ModelContext, func(*sessions.Response) error) error {
		runtime.Goexit()
		return nil
	}}
	p := stage(t, sessions.Config{Agent: agent})
	p.runs()
	p.is("the next invocation", shown(p.next()...), "a:again")
}

func TestAbort(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	agent := script(calls("t"), says("never")).agent("a", tool("t", func(ctx *sessions.ToolContext) (any, error) {
		cancel(cause)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	p := stage(t, sessions.Config{Agent: agent})
	list, err := p.r.Collect(ctx, input(sessions.Text("hello")))
	if !errors.Is(err, cause) {
		t.Errorf("the error is %v", err)
	}
	p.is("delivered", shown(list...), "a:t()")
	p.is("stored", p.log(), "user:hello a:t()")

	if list, err = p.r.Collect(ctx, input(sessions.Text("again"))); !errors.Is(err, cause) || len(list) > 0 {
		t.Errorf("aborted before the start: %d events, %v", len(list), err)
	}
}

func TestAbortInTheLoop(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	after := 0
	plugin := &sessions.Plugin{Name: "p", AfterRun: func(*sessions.CallbackContext) error { after++; return nil }}
	p := stage(t, sessions.Config{Agent: busy(), Plugins: []*sessions.Plugin{plugin}})
	var list []*sessions.Event
	var failure error
	for e, err := range p.r.Run(ctx, input(sessions.Text("hello"))) {
		if failure = err; err == nil {
			list = append(list, e)
			cancel(cause)
		}
	}
	if !errors.Is(failure, cause) {
		t.Errorf("the error is %v", failure)
	}
	p.is("stored", p.log(), "user:hello "+shown(whole(list)...))
	if after != 1 {
		t.Errorf("AfterRun ran %d times", after)
	}
}

func TestClosed(t *testing.T) {
	p := stage(t, sessions.Config{Agent: gives("a", said("x"))})
	if err := p.r.Close(); err != nil {
		t.Fatal(err)
	}
	p.fails(sessions.Text("hello"), host.CodeClosed)
}

// An invocation that waits for another one of its session ends when its runner, or the host of that, is closed.
func TestClosedInTheQueue(t *testing.T) {
	for name, closes := range map[string]func(p *play, h *turns.Host) error{
		"runner": func(p *play, _ *turns.Host) error { return p.r.Close() },
		"host":   func(_ *play, h *turns.Host) error { return h.Close(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			first := stage(t, sessions.Config{Agent: gives("a", said("x"))})
			h := turns.NewHost(turns.HostOptions{Engine: native.New()})
			defer func() {
				if err := h.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			second := bare(t, sessions.Config{Agent: gives("b", said("y")), Store: first.store, Host: h})
			for _, err := range first.r.Run(t.Context(), input(sessions.Text("hello"))) {
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error)
				go func() {
					_, err := second.r.Collect(t.Context(), input(sessions.Text("hello")))
					ended <- err
				}()
				select {
				case err := <-ended:
					t.Errorf("the second one does not wait: %v", err)
				case <-time.After(20 * time.Millisecond):
				}
				if err := closes(second, h); err != nil {
					t.Error(err)
				}
				select {
				case err := <-ended:
					if !errors.Is(err, host.CodeClosed) {
						t.Errorf("it ends with %v", err)
					}
				case <-time.After(10 * time.Second):
					t.Error("it waits on")
				}
			}
			first.is("stored", first.log(), "user:hello a:x")
		})
	}
}

// A tool waits for an invocation of its own session that it has started without its context: that ends with the runner.
func TestClosedInsideItself(t *testing.T) {
	var p *play
	waits, closed, inner := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	agent := script(calls("t"), says("never")).agent("a", tool("t", func(*sessions.ToolContext) (any, error) {
		close(waits)
		_, err := p.r.Collect(context.Background(), input(sessions.Text("inside")))
		inner <- err
		<-closed // otherwise the outer one may go on and end before it is ended
		return nil, err
	}))
	p = stage(t, sessions.Config{Agent: agent})
	outer := make(chan error, 1)
	go func() {
		_, err := p.r.Collect(t.Context(), input(sessions.Text("hello")))
		outer <- err
	}()
	<-waits
	time.Sleep(20 * time.Millisecond)
	if err := p.r.Close(); err != nil {
		t.Error(err)
	}
	close(closed)
	for name, ended := range map[string]chan error{"inner": inner, "outer": outer} {
		select {
		case err := <-ended:
			if !errors.Is(err, host.CodeClosed) {
				t.Errorf("the %s one ends with %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the %s one waits on", name)
		}
	}
}

// TestManyAtOnce runs sessions side by side, with several runs of one among them: each run is stored as a whole.
func TestManyAtOnce(t *testing.T) {
	p := stage(t, sessions.Config{Agent: busyEach()})
	const users, runs = 4, 8
	for i := range users {
		p.create(fmt.Sprintf("u%d", i), "s", nil)
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := make(map[string]int)
	for i := range users * runs {
		wait.Go(func() {
			user := fmt.Sprintf("u%d", i%users)
			_, err := p.r.Collect(t.Context(), sessions.Input{User: user, Session: "s", Message: sessions.Text("hello")})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				done[user]++
			default:
				t.Errorf("%s: %v", user, err)
			}
		})
	}
	wait.Wait()
	for user, n := range done {
		list, err := p.of(user, "s").Events()
		if err != nil {
			t.Fatal(err)
		}
		ends := 0
		for _, e := range list {
			if e.Text() == "end" {
				ends++
			}
		}
		if ends != n || n != runs {
			t.Errorf("%s: %d runs succeeded, %d are stored to their end", user, n, ends)
		}
	}
}

func busyEach() sessions.Agent {
	return &sessions.SequentialAgent{Name: "all", Agents: []sessions.Agent{
		&sessions.ParallelAgent{Name: "both", Agents: []sessions.Agent{gives("p", said("p1"), said("p2")), gives("q", said("q1"))}},
		gives("c", said("end")),
	}}
}
