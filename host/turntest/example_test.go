package turntest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/simulated"
	"github.com/turncore/turncore/host/store"
	"github.com/turncore/turncore/host/turns"
	"github.com/turncore/turncore/host/turntest"
)

// The test of an example: what is wrong is printed. A test has its *testing.T.
type printing struct{ ends []func() }

func (p *printing) Helper()                           {}
func (p *printing) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }
func (p *printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (p *printing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *printing) Cleanup(end func())                { p.ends = append(p.ends, end) }

// end ends the test.
func (p *printing) end() {
	for i := len(p.ends) - 1; i >= 0; i-- {
		p.ends[i]()
	}
}

// A model that was written down: it asks for a tool, and answers with what that says.
func ExampleScript() {
	t := &printing{}
	defer t.end()
	script := turntest.NewScript(t,
		turntest.Call("weather", map[string]any{"city": "Oslo"}),
		turntest.Text("It is ", "cold."),
	)
	runner, err := turns.New(context.Background(), turns.Config{
		Model: script.Model(), Tools: []*turns.Tool{weather}, Host: turntest.Host(t, turns.HostOptions{}),
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer runner.Close()
	result, err := runner.Run(context.Background(), turns.Input{Message: "How is the weather in Oslo?"})
	fmt.Println(result.Text, err)
	fmt.Println(result.ToolCalls[0].Results)
	fmt.Println(len(script.Asked()), "requests")
	// Output:
	// It is cold. <nil>
	// 4 degrees in Oslo
	// 2 requests
}

// What the test says of a script with an answer that nobody asked for.
func ExampleNewScript_unused() {
	t := &printing{}
	turntest.NewScript(t, turntest.Text("It is cold."))
	t.end()
	// Output:
	// turntest: the script has 1 answer, the model was asked nothing. Left are:
	//   answer 1: text "It is cold."
}

// Events are compared with those in a file. go test -update writes it.
func ExampleGolden() {
	t := &printing{}
	head := event.Head{Seq: 1, TurnID: "t", Iteration: -1, At: time.UnixMilli(host.FixedTime)}
	turntest.Golden(t, []event.Event{&event.Log{Head: head, Level: event.LevelInfo, Type: "greeting", Message: "Hello!"}}, "testdata/example.golden")
	fmt.Println("compared")
	// Output: compared
}

// A store whose second call fails.
func ExampleFailAt() {
	t := &printing{}
	defer t.end()
	fault := turntest.FailAt(t, 2, errors.New("the disk is full"))
	kept := fault.Store(store.NewInMemory())
	for range 3 {
		_, err := kept.Load(context.Background(), "session", "")
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// the disk is full
	// <nil>
}

// A clock that is set by hand.
func ExampleClock() {
	clock := turntest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	clock.Advance(36 * time.Hour)
	fmt.Println(clock.Now())
	// Output: 2026-01-02 12:00:00 +0000 UTC
}

// Requests of a turn are answered from a file. go test -update records it.
func ExampleReplay() {
	t := &printing{}
	defer t.end()
	h := turntest.Host(t, turns.HostOptions{HTTP: turntest.Replay(t, "testdata/example.json", turntest.TrafficOptions{
		Transport: served{&simulated.Provider{}}, // for -update: a test leaves it out, and records the real provider
	})})
	runner, err := turns.New(context.Background(), turns.Config{
		Model: turns.Model{Name: "simulated", BaseURL: "https://api.example/v1"}, Tools: []*turns.Tool{weather}, Host: h,
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer runner.Close()
	result, err := runner.Run(context.Background(), turns.Input{Message: "The weather in Oslo, please."})
	fmt.Println(result.Text, err)
	// Output: The tool answered: 4 degrees in Oslo <nil>
}
