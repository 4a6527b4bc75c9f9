package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Failing returns the variants of a scenario with failing storage: for each storage call in its log, the same
// scenario with the error X thrown there. CheckStorage checks their logs.
func (s *Scenario) Failing(log Log) []*Scenario {
	if !s.EachStorageCallFails {
		return nil
	}
	var all []*Scenario
	for _, line := range log {
		if line["storage"] != nil {
			one := *s
			one.Fails = len(all) + 1
			one.ID = fmt.Sprint(s.ID, " failing at ", one.Fails)
			all = append(all, &one)
		}
	}
	return all
}

// CheckStorage checks the log of a scenario with a failing storage call: everything that begins ends once, innermost
// first; the error is visible; and at the end the turn has the same records as storage.
func (s *Scenario) CheckStorage(log Log) error {
	b := books{held: map[string][]string{}, fetched: s.Runner.Storage}
	for _, line := range log {
		if err := b.read(line, s.Fails); err != nil {
			return fmt.Errorf("%s: %w\n%s", s.ID, err, log)
		}
	}
	if err := b.end(s.Fails); err != nil {
		return fmt.Errorf("%s: %w\n%s", s.ID, err, log)
	}
	return nil
}

// books are the contents of storage and of the turn, according to a log.
type books struct {
	held    map[string][]string // ids in storage, by collection
	fetched map[string]Script
	seen    Line // collections of the turn at the end
	calls   int  // of storage
	failed  string
	inside  bool // a dispatch was open when the call failed
	open    []string
	ends    int // of the turn
	errors  int
	error   string   // of the last error event
	shown   bool     // the error X was in some line
	lost    []string // tool calls of a group that was half replaced: gone from storage only
}

func (b *books) read(line Line, fails int) error {
	if name := line.text("storage"); name != "" {
		if b.calls++; b.calls == fails {
			b.failed, b.inside = name, len(b.open) > 1
			return nil
		}
		args, _ := line["args"].([]any) // none for some callbacks
		return b.apply(name, args)
	}
	if line["event"] == "error" {
		b.lost = deleted(line["error"])
	}
	b.shown = b.shown || strings.Contains(line.String(), `"is":"X"`)
	if saw, is := line["saw"].(map[string]any); is {
		b.seen = saw
	}
	event := line.text("event")
	if what, begins := strings.CutSuffix(event, "Start"); begins {
		b.open = append(b.open, what)
	} else if what, ends := strings.CutSuffix(event, "End"); ends {
		if len(b.open) == 0 || b.open[len(b.open)-1] != what {
			return fmt.Errorf("%s ends inside of %v", what, b.open)
		}
		b.open = b.open[:len(b.open)-1]
	}
	switch event {
	case "turnGateOpen":
		b.open = append(b.open, "gate")
	case "turnGateClosed":
		if b.open[len(b.open)-1] != "gate" {
			return fmt.Errorf("a gate closes inside of %v", b.open)
		}
		b.open = b.open[:len(b.open)-1]
	case "turnEnd":
		b.ends++
	case "error":
		b.errors++
		b.error = string(appendValue(nil, line["error"]))
	}
	return nil
}

// deleted returns the ids of a group that storage has deleted, according to an event's error.
func deleted(v any) []string {
	for {
		e, _ := v.(map[string]any)
		if e == nil {
			return nil
		}
		if ids := e["deletedIds"]; ids != nil {
			return strs(ids)
		}
		v = e["cause"]
	}
}

// apply repeats the effect of a callback.
func (b *books) apply(name string, args []any) error {
	switch {
	case name == "commit":
		for _, words := range strs(args[0]) {
			op, rest, _ := strings.Cut(words, " ")
			kind, id, _ := strings.Cut(rest, " ")
			if op != "replaceToolCallGroup" {
				b.write(op, kind, id)
				continue
			}
			old, by, _ := strings.Cut(id, " by ")
			b.replace(strings.Fields(old), strings.Fields(by))
		}
	case name == "replaceToolCallGroup":
		b.replace(strs(args[0]), strs(args[1]))
	case strings.HasPrefix(name, "fetch"), strings.HasPrefix(name, "refresh"):
		kind := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "fetch"), "refreshStanding"))
		for _, step := range b.fetched[name] {
			for _, item := range list(step.Arg) {
				if record, is := item.(map[string]any); is {
					_, item = only(record)
				}
				b.held[kind] = append(b.held[kind], str(item))
			}
		}
	case strings.HasSuffix(name, "Bytes"), name == "discard":
	default:
		for _, op := range []string{"store", "mutate", "delete"} {
			if kind, is := strings.CutPrefix(name, op); is {
				b.write(op, strings.ToLower(kind[:1])+kind[1:], str(args[len(args)-1]))
				return nil
			}
		}
		return fmt.Errorf("storage has no %s", name)
	}
	return nil
}

// write stores or deletes a record; a mutation keeps it.
func (b *books) write(op, kind, id string) {
	of := map[string]string{
		"standingInstruction": "instructions", "memory": "memories", "retrievable": "retrievables", "message": "messages",
		"thought": "thoughts", "toolCall": "toolcalls",
	}[kind]
	switch op {
	case "store":
		b.held[of] = append(b.held[of], id)
	case "delete":
		b.held[of] = slices.DeleteFunc(b.held[of], func(held string) bool { return held == id })
	}
}

func (b *books) replace(ids, by []string) {
	for _, id := range ids {
		b.write("delete", "toolCall", id)
	}
	for _, id := range by {
		b.write("store", "toolCall", id)
	}
}

// end checks what is left when the log has ended.
func (b *books) end(fails int) error {
	if len(b.open) > 0 || b.ends != 1 {
		return fmt.Errorf("the turn ended %d times, and %v not at all", b.ends, b.open)
	}
	if b.seen == nil {
		return fmt.Errorf("nobody looked at the turn")
	}
	for kind, ids := range b.seen {
		seen := strs(ids)
		held := slices.Clone(b.held[strings.ToLower(kind)])
		if kind == "toolCalls" {
			held = append(held, b.lost...)
		}
		slices.Sort(seen)
		slices.Sort(held)
		if !slices.Equal(seen, held) {
			return fmt.Errorf("the turn holds the %s %v, storage %v", kind, seen, held)
		}
	}
	conduit := strings.HasSuffix(b.failed, "Bytes")
	switch {
	case fails == 0:
	case b.failed == "" || !b.shown:
		return fmt.Errorf("the error of storage call %d does not show", fails)
	case conduit && b.inside: // the program decides how to handle it
	case b.errors != 1 || !strings.Contains(b.error, `"is":"X"`):
		return fmt.Errorf("the turn ended with %d errors, the last %s", b.errors, b.error)
	case b.inside && !strings.Contains(b.error, "E_STORAGE_COMMIT_ERROR"):
		return fmt.Errorf("a commit that fails ended the turn with %s", b.error)
	}
	return nil
}
