package turntest_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/tools"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// Events and the tool time have the time of a clock that is set by hand.
func TestClock(t *testing.T) {
	clock := turntest.NewClock(time.UnixMilli(host.FixedTime))
	h := turntest.Host(t, turns.HostOptions{Clock: clock.Read})
	script := turntest.NewScript(t, turntest.Call("wait", nil), turntest.Call("time", nil), turntest.Text("Late."))
	wait := turns.NewTool("wait", "Waits.", func(*turns.DispatchContext, struct{}) (string, error) {
		clock.Advance(90 * time.Minute)
		return "done", nil
	})
	events, result := play(t, turns.Config{Host: h, Model: script.Model(), Tools: []*turns.Tool{wait, tools.Time()}}, "Hi!")
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	end := events[len(events)-1].(*event.TurnEnd)
	if took := end.At.Sub(end.StartedAt); took != 90*time.Minute || !end.At.Equal(clock.Now()) || clock.Read() != host.FixedTime+90*60*1000 {
		t.Errorf("the turn took %v and ended at %v", took, end.At)
	}
	asked := script.Asked()[2].Messages
	if said := asked[len(asked)-1].Content; !strings.Contains(said, "2026-01-01T01:30:00+00:00") {
		t.Errorf("the tool said %q", said)
	}
	defer func() {
		if recover() == nil {
			t.Error("the clock goes back")
		}
	}()
	clock.Advance(-1)
}

// In a bubble of testing/synctest an hour passes at once: a gate waits for its timeout on the engine that all tests
// share.
func TestBubble(t *testing.T) {
	turntest.Engine(t) // is compiled outside of the bubble
	for _, c := range []struct {
		name string
		wait time.Duration // for the answer
		want error
	}{{"in time", 59 * time.Minute, nil}, {"too late", 61 * time.Minute, host.CodeTurnGateTimeout}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := turntest.Host(t, turns.HostOptions{Clock: host.SystemClock()}) // the bubble's
				runner, err := turns.New(t.Context(), turns.Config{Host: h, Executor: func(ctx *turns.DispatchContext, _ *turns.Helpers) error {
					_, err := ctx.WaitFor(ctx, turns.Gate{ID: "may-i", Reason: "May I?", Payload: 1, CreatedAt: time.Now(), Timeout: time.Hour})
					if err != nil {
						return ctx.Nack(err)
					}
					return ctx.Ack()
				}})
				if err != nil {
					t.Fatal(err)
				}
				defer runner.Close()
				turns.Listen(runner.TurnRunner, func(e *event.TurnGateOpen) {
					time.AfterFunc(c.wait, func() { _ = e.Gate.Resolve(true) }) // which is refused when it is too late
				})
				begun := time.Now()
				result, _ := runner.Run(t.Context(), turns.Input{Message: "Hi!"})
				if took := time.Since(begun); !errors.Is(result.Err, c.want) || took != min(c.wait, time.Hour) {
					t.Errorf("%v after %v", result.Err, took)
				}
			})
		})
	}
}

// Tests share the engine, in bubbles and outside of them.
func TestEngine(t *testing.T) {
	if e := turntest.Engine(t); e != turntest.Engine(t) {
		t.Error("the engine is another one each time")
	}
	turn := func(t *testing.T) {
		script := turntest.NewScript(t, turntest.Text("Hi!"))
		if _, result := play(t, turns.Config{Model: script.Model()}, "Hi!"); result.Text != "Hi!" {
			t.Errorf("%+v", result)
		}
	}
	synctest.Test(t, turn)
	turn(t)
	synctest.Test(t, turn)
}
