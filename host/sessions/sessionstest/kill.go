package sessionstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/turncore/turncore/host/internal/killed"
	"github.com/turncore/turncore/host/native"
	"github.com/turncore/turncore/host/sessions"
	"github.com/turncore/turncore/host/storetest"
)

// killedSteps is how many events the agent of a process yields that is killed.
const killedSteps = 6

// Kill runs an invocation in processes of their own, and kills them (as by kill -9) before, behind and between its
// events: rounds at each place, a while later each time, which seed makes. What is left must be the events that were
// delivered, or one more, with the state and the artifacts that they carry, and the session must go on.
//
// The processes run the same test binary with -test.run of the calling test, whose call of Kill then does not return.
// open opens the store: each time at the same place, also in those processes, which get env.
func Kill(t *testing.T, rounds int, seed uint64, env []string, open storetest.Opener) {
	if id := killed.Task(); id != "" {
		if err := runUntilKilled(id, open); err != nil {
			fmt.Println("failed:", err)
		}
		killed.Wait()
	}
	passed, random := 0, rand.New(rand.NewPCG(seed, 0))
	for line := 1; line <= killedSteps+2; line++ {
		for round := range rounds {
			delay := time.Duration(random.IntN(1500)) * time.Microsecond
			id := fmt.Sprint("killed ", line, " ", round)
			lines, err := killed.At(t, id, env, line, delay, func(line string) bool { return line == "created" || line == "delivered" })
			if err == nil {
				err = goesOn(t.Context(), id, len(lines)-1, open)
			}
			if err != nil {
				t.Errorf("killed %v after line %d: %v", delay, line, err)
				continue
			}
			passed++
		}
	}
	t.Logf("store: %d of %d kills survived", passed, rounds*(killedSteps+2))
}

// runUntilKilled creates a session of the user of its own name, and runs an invocation in it. It says when it has been
// created, and when an event has been delivered.
func runUntilKilled(id string, open storetest.Opener) error {
	return with(context.Background(), open, killedSteps, func(r *sessions.Runner) error {
		ctx := context.Background()
		if _, err := r.Sessions().Create(ctx, id, id, nil); err != nil {
			return err
		}
		fmt.Println("created")
		for e, err := range r.Run(ctx, sessions.Input{User: id, Session: id, Message: sessions.Text("hello")}) {
			if err != nil {
				return err
			}
			if !e.Partial {
				fmt.Println("delivered")
			}
		}
		killed.Wait()
		return nil
	})
}

// with calls a function with a runner on the store, whose agent yields n events as steps has them.
func with(ctx context.Context, open storetest.Opener, n int, call func(*sessions.Runner) error) error {
	s, err := open()
	if err != nil {
		return err
	}
	defer closed(s) //nolint:errcheck // what was read counts
	kept, ok := s.(sessions.Store)
	if !ok {
		return fmt.Errorf("a %T is no sessions.Store", s)
	}
	agent := &sessions.CustomAgent{Name: "agent", Run: stepsOf(n)}
	r, err := sessions.New(ctx, sessions.Config{App: app, Agent: agent, Store: kept, Engine: native.New()})
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // what was read counts
	return call(r)
}

// goesOn says what is wrong with what a process has left that had delivered some events, and runs another invocation in
// its session.
func goesOn(ctx context.Context, id string, delivered int, open storetest.Opener) error {
	return with(ctx, open, 1, func(r *sessions.Runner) error {
		left, n, err := leftOf(ctx, r, id)
		if err != nil {
			return err
		}
		begun := n > 0 || delivered > 0
		if stored := n - 1; begun && (stored < delivered || stored > delivered+1) {
			return fmt.Errorf("%d events were delivered, %d are stored", delivered, stored)
		}
		want := " {} {}"
		if begun {
			want = ownAfter(n - 1)
		}
		if left != want {
			return fmt.Errorf("it left %s, want %s", left, want)
		}
		list, err := r.Collect(ctx, sessions.Input{User: id, Session: id, Message: sessions.Text("again")})
		if err != nil {
			return err
		}
		if _, later, err := leftOf(ctx, r, id); err != nil || later != n+2 || words(whole(list)) != "agent:0" {
			return fmt.Errorf("the next run gave %s, and %d events are stored after %d: %w", words(list), later, n, err)
		}
		return nil
	})
}

// leftOf is a session's events, its own state and its artifacts, and how many events there are.
func leftOf(ctx context.Context, r *sessions.Runner, id string) (left string, n int, err error) {
	s, err := r.Sessions().Get(ctx, id, id)
	if err != nil {
		return "", 0, err
	}
	list, err := s.Events()
	if err != nil {
		return "", 0, err
	}
	state := s.State()
	delete(state, "app:n") // all that are killed share it
	artifacts, err := r.Sessions().Artifacts(ctx, id, id)
	return words(list) + " " + text(state) + " " + text(artifacts), len(list), err
}

// ownAfter is what leftOf says after n events of steps.
func ownAfter(n int) string {
	said, state, artifacts := "user:hello", "{}", "{}"
	for i := range n {
		said += fmt.Sprint(" agent:", i)
		state = fmt.Sprintf(`{"n":%d,"user:n":%d}`, i, i)
		artifacts = fmt.Sprintf(`{"f":%d}`, i)
	}
	return said + " " + state + " " + artifacts
}
