package turns_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/turns"
)

// closing is a runner with a turn in flight that ends when it is let, and the host it runs on.
type closing struct {
	runner *turns.TurnRunner
	host   *turns.Host
	let    chan struct{}
	ended  chan *turns.Result
}

// inFlight starts the turn; own says that the host is the runner's own. watches has the executor watch its context.
func inFlight(t *testing.T, own, watches bool) *closing {
	c := &closing{let: make(chan struct{}), ended: make(chan *turns.Result, 1)}
	config := turns.TurnRunnerConfig{Callbacks: noStorage()}
	begun := make(chan struct{}, 1)
	config.Executor = func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
		begun <- struct{}{}
		done := ctx.Done()
		if !watches {
			done = nil
		}
		select {
		case <-c.let:
			return ctx.Ack()
		case <-done:
			return ctx.Err()
		}
	}
	if !own {
		c.host = turns.NewHost(turns.HostOptions{Engine: native.New()})
		config.Host = c.host
	}
	var err error
	if c.runner, err = turns.NewTurnRunner(config); err != nil {
		t.Fatal(err)
	}
	c.host = c.runner.Host()
	go func() {
		result, err := finished(c.runner.Run(context.WithoutCancel(t.Context()), turns.TurnInput{SystemPrompt: "test", TurnID: "T"}))
		if err != nil {
			t.Error(err)
		}
		c.ended <- result
	}()
	<-begun
	return c
}

// refuses checks that nothing begins on a runner that is closed.
func (c *closing) refuses(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if result, err := c.runner.Run(ctx, turns.TurnInput{SystemPrompt: "test"}); result != nil || !errors.Is(err, turns.ErrClosed) || errors.Is(err, host.CodeInstanceFailed) {
		t.Errorf("Run: %+v, %v", result, err)
	}
	var last error
	for ev, err := range c.runner.Stream(ctx, turns.TurnInput{SystemPrompt: "test"}).Events() {
		if last = err; ev != nil {
			t.Errorf("an event %s", ev.Kind())
		}
	}
	if !errors.Is(last, turns.ErrClosed) {
		t.Errorf("Stream: %v", last)
	}
}

// stillOpen checks that a host takes turns of others.
func (c *closing) stillOpen(t *testing.T) {
	t.Helper()
	other, err := turns.NewTurnRunner(turns.TurnRunnerConfig{Callbacks: noStorage(), Host: c.host, Executor: say("Hi.")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Run(context.WithoutCancel(t.Context()), turns.TurnInput{SystemPrompt: "test"}); err != nil {
		t.Errorf("another runner of the host: %v", err)
	}
}

// each shuts a runner down, on a host of its own and on one that it shares, and a host itself.
func each(t *testing.T, watches bool, test func(t *testing.T, c *closing, shutdown func(context.Context) error, shared bool)) {
	for name, own := range map[string]bool{"own host": true, "shared host": false, "host": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := inFlight(t, own, watches)
				shutdown := c.runner.Shutdown
				if name == "host" {
					shutdown = c.host.Shutdown
				}
				test(t, c, shutdown, name == "shared host")
				if err := c.host.Close(context.Background()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			})
		})
	}
}

func TestShutdownLetsTurnsFinish(t *testing.T) {
	each(t, true, func(t *testing.T, c *closing, shutdown func(context.Context) error, shared bool) {
		down := make(chan error)
		go func() { down <- shutdown(context.Background()) }()
		synctest.Wait()
		c.refuses(t)
		attached := make(chan *turns.Result)
		go func() {
			result, err := c.runner.Run(context.Background(), turns.TurnInput{SystemPrompt: "test", TurnID: "T"})
			if err != nil {
				t.Error(err)
			}
			attached <- result
		}()
		synctest.Wait()
		select {
		case err := <-down:
			t.Fatalf("it did not wait: %v", err)
		default:
		}
		close(c.let)
		if err := <-down; err != nil {
			t.Error(err)
		}
		if result := <-c.ended; result.Status != event.Ack || <-attached != result {
			t.Errorf("%+v", result)
		}
		c.refuses(t)
		if shared {
			c.stillOpen(t)
		}
	})
}

func TestShutdownAbortsWhatIsLeft(t *testing.T) {
	errLate := errors.New("late")
	each(t, true, func(t *testing.T, c *closing, shutdown func(context.Context) error, shared bool) {
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errLate)
		defer cancel()
		if err := shutdown(ctx); !errors.Is(err, errLate) {
			t.Errorf("Shutdown: %v", err)
		}
		result := <-c.ended
		var e *host.Error
		if result.Status != event.Aborted || !errors.Is(result.Err, turns.ErrClosed) || !errors.Is(result.Err, errLate) || !errors.As(result.Err, &e) || e.Status != 503 {
			t.Errorf("%+v", result)
		}
		c.refuses(t)
		if shared {
			c.stillOpen(t)
		}
	})
}

// A turn that does not hear of its abort holds nobody up for long.
func TestShutdownOfATurnThatGoesOn(t *testing.T) {
	each(t, false, func(t *testing.T, c *closing, shutdown func(context.Context) error, _ bool) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute+time.Second {
			t.Errorf("Shutdown: %v after %s", err, time.Since(began))
		}
		close(c.let)
		if result := <-c.ended; !errors.Is(result.Err, turns.ErrClosed) || errors.Is(result.Err, host.CodeInstanceFailed) {
			t.Errorf("%+v", result)
		}
	})
}

func TestCloseIsNoCrash(t *testing.T) {
	for name, c := range map[string]struct {
		own    bool
		status event.Status
	}{"own host": {true, event.Failed}, "shared host": {false, event.Aborted}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := inFlight(t, c.own, true)
				if err := f.runner.Close(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if c.own {
					close(f.let)
				}
				if result := <-f.ended; result.Status != c.status || !errors.Is(result.Err, turns.ErrClosed) || errors.Is(result.Err, host.CodeInstanceFailed) {
					t.Errorf("%+v", result)
				}
				f.refuses(t)
				if !c.own {
					f.stillOpen(t)
				}
				if err := errors.Join(f.runner.Close(), f.host.Close(context.Background())); err != nil {
					t.Errorf("closing again: %v", err)
				}
				if err := f.host.Load(context.Background()); !errors.Is(err, turns.ErrClosed) {
					t.Errorf("Load: %v", err)
				}
				raw := &turns.RawContext{Callbacks: noStorage(), SystemPrompt: "test"}
				if _, err := turns.Dispatch(t.Context(), turns.DispatchInput{Host: f.host, Raw: raw, Executor: say("Hi.")}); !errors.Is(err, turns.ErrClosed) {
					t.Errorf("Dispatch: %v", err)
				}
			})
		})
	}
}
