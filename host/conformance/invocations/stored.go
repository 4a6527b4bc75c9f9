package invocations

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turncore/turncore/host/conformance"
)

// Variants are the scenario with faults: for each append of its log a store that fails there, one that stores and fails
// nevertheless, and another writer that comes first; and for each event a caller that leaves there. A scenario with a
// fault of its own has none.
func (s *Scenario) Variants(log conformance.Log) (all []*Scenario) {
	if s.Fault != (Fault{}) {
		return nil
	}
	add := func(what string, n int, fault Fault) {
		one := *s
		one.ID, one.Fault, one.Expect, one.Marks = fmt.Sprintf("%s %s %d", s.ID, what, n), fault, Expect{}, ""
		all = append(all, &one)
	}
	appends, events := 0, 0
	for _, line := range log {
		if line["by"] == byStore {
			appends++
			add("failing at append", appends, Fault{Fails: appends})
			add("losing the answer to append", appends, Fault{Lost: appends})
			add("with another writer before append", appends, Fault{Writer: appends})
		} else if line["event"] != nil && !rewound(line) {
			events++
			add("left at event", events, Fault{Leaves: events})
		}
	}
	return all
}

// CheckStored checks the log of a scenario, whatever faults it has: an event that is not partial is in the store when
// it is delivered, and is the last there; the store has no other event of agents that was not delivered, but one at
// most; when an append has failed, its invocation stores nothing more; and a session has what was appended to it, in
// that order.
func (s *Scenario) CheckStored(log conformance.Log) error {
	b := books{stored: map[string][]string{}, seen: map[string]bool{}}
	for _, line := range log {
		if err := b.read(line); err != nil {
			return fmt.Errorf("%s: %w: %s\n%s", s.ID, err, line, log)
		}
	}
	return nil
}

// books are what is in the store, according to a log.
type books struct {
	stored  map[string][]string // ids of events, by session
	seen    map[string]bool     // all that was ever stored
	last    string              // the last event that was stored
	waiting string              // an agent's event that was stored, and not delivered so far
	failed  bool                // an append of the invocation has failed
}

func (b *books) read(line conformance.Line) error {
	switch {
	case line["by"] == byStore:
		return b.append(line)
	case line["event"] != nil:
		e, _ := line["event"].(map[string]any)
		if e["partial"] == true {
			return nil
		}
		if e["id"] != b.last {
			return errors.New("the event is not the last one in the store")
		}
		b.waiting = ""
	case line["attempt"] != nil: // of a retry
		b.failed = false
	case line["did"] != nil:
		b.waiting, b.failed = "", false
		if line["did"] == "delete" {
			clear(b.stored)
		}
	case line["by"] == byMain && line["ids"] != nil:
		ids, _ := line["ids"].([]any)
		key, _ := line["session"].(string)
		if b.stored[key] != nil && !slices.Equal(texts(ids), b.stored[key][1:]) {
			return fmt.Errorf("the session does not have %v", b.stored[key][1:])
		}
	}
	return nil
}

func (b *books) append(line conformance.Line) error {
	e, _ := line["append"].(map[string]any)
	id, _ := e["id"].(string)
	key, _ := line["session"].(string)
	other := line["other"] != nil
	switch {
	case b.failed && !other:
		return errors.New("something is stored behind what has failed")
	case b.waiting != "" && !other:
		return fmt.Errorf("%s is not delivered, and something else is stored", b.waiting)
	case line["threw"] != nil:
		b.failed = !other
		return nil
	}
	switch {
	case id == "created":
		b.stored[key] = []string{id}
	case b.stored[key] != nil:
		b.stored[key] = append(b.stored[key], id)
	}
	if other {
		return nil
	}
	b.last, b.failed = id, line["lost"] != nil
	if e["author"] != "user" && e["author"] != "system" && !b.seen[id] {
		b.waiting = id // a fork's copies are not delivered
	}
	b.seen[id] = true
	return nil
}
