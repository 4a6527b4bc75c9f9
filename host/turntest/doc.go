// Package turntest is what a Go developer needs to test an agent that runs on package turns or sessions, without a
// network and with the same outcome each time:
//
//	func TestAgent(t *testing.T) {
//		script := turntest.NewScript(t,
//			turntest.Call("weather", map[string]any{"city": "Oslo"}),
//			turntest.Text("It is ", "cold."),
//		)
//		h := turntest.Host(t, turns.HostOptions{})
//		runner, err := turns.New(t.Context(), turns.Config{Model: script.Model(), Tools: tools, Host: h})
//		…
//		turntest.Golden(t, events, "testdata/weather.golden")
//	}
//
//	  - [Script] is a model, or an executor, that gives the answers on a list.
//	  - [Host] runs turns whose ids and times are the same each time, on the engine of [Engine].
//	  - [Golden] compares the events of turns, or of sessions, with a file, one event a line.
//	  - [Replay] answers requests to a model's API from a file, which [Record] makes from real traffic.
//	  - [Load] loads an agent's file with a grant.
//	  - [FailAt] lets the n-th call of a store, a model, an executor or a tool fail.
//	  - [Clock] is a clock that is set by hand. What waits for time to pass, as a gate with a timeout does, waits for the
//	    machine's time: run it in a bubble of testing/synctest, where that passes at once.
//
// docs/testing.md shows them together.
//
// # The flag -update
//
// In test binaries the package defines the flag -update, unless another package has done so before: go test -update
// writes the files of [Golden] and [Replay] anew. It links package testing to know a test binary; other programs get no
// flag. A test package that has files of its own to write asks [Updating] instead of defining the flag again.
package turntest

import "github.com/turncore/turncore/host/hosttest"

// T is the part of testing.TB that this package needs, so that what it reports can be tested too.
type T interface {
	hosttest.TB
	Errorf(format string, args ...any)
	Cleanup(func())
}
