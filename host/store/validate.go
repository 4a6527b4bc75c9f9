package store

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/record"
)

// Validate returns the E_INVALID_VALUE of an append that no store takes: it names the field.
func (a *Append) Validate() error {
	if a.Event != nil {
		if err := checkText("event.id", a.Event.ID); err != nil {
			return err
		}
	}
	for i, v := range a.State {
		if err := checkNames("state", i, v.Scope, v.Name); err != nil {
			return err
		}
	}
	for i, v := range a.Artifacts {
		if err := checkNames("artifacts", i, v.Scope, v.Name); err != nil {
			return err
		}
		if v.Version < 0 {
			return invalidField(fmt.Sprintf("artifacts[%d].version", i), "must not be negative")
		}
	}
	return nil
}

// checkDeltas returns the E_INVALID_VALUE of a write that no store knows: it names the field.
func checkDeltas(deltas []Delta) error {
	for i := range deltas {
		d := &deltas[i]
		switch d.Op {
		case OpStore, OpMutate, OpDelete:
			continue
		case OpReplaceToolCallGroup:
		default:
			return invalidField(fmt.Sprintf("deltas[%d].op", i), `must be "store", "mutate", "delete" or "replaceToolCallGroup"`)
		}
		if d.Kind != record.KindToolCall.String() {
			return invalidField(fmt.Sprintf("deltas[%d].kind", i), `must be "toolCall" in a write that replaces a group`)
		}
		if n := slices.Index(d.Records, nil); n >= 0 {
			return invalidField(fmt.Sprintf("deltas[%d].records[%d]", i, n), "must not be nil")
		}
	}
	return nil
}

// Validate returns the E_INVALID_VALUE of a query that no store answers: it names the field.
func (q *EventQuery) Validate() error {
	if q.Limit < 0 {
		return invalidField("limit", "must not be negative")
	}
	return nil
}

// InvalidCursor is the E_INVALID_VALUE of a cursor that no page has ended with. Its details are a map of field.
func InvalidCursor() error {
	return invalidField("cursor", "must be empty or what the call before returned as next")
}

// Validate returns the E_INVALID_VALUE of a point at which no store forks: it names the field.
func (p *ForkPoint) Validate() error {
	for i, v := range p.State {
		if err := checkText(fmt.Sprintf("state[%d].name", i), v.Name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Artifacts)) {
		if err := checkText("artifacts", name); err != nil {
			return err
		}
		if p.Artifacts[name] < 0 {
			return invalidField("artifacts."+name, "must not be negative")
		}
	}
	return nil
}

// Empty tells whether the append has neither an event nor state nor artifacts.
func (a *Append) Empty() bool { return a.Event == nil && len(a.State)+len(a.Artifacts) == 0 }

// Validate returns the E_INVALID_VALUE of what no store adds to a journal: it names the field.
func (a *JournalAppend) Validate() error {
	switch {
	case a.Epoch < 1:
		return invalidField("epoch", "must be positive")
	case a.At < 0:
		return invalidField("at", "must not be negative")
	case len(a.Entries) == 0:
		return invalidField("entries", "must have at least one")
	}
	return nil
}

// checkNames checks the names of the i-th element of a list.
func checkNames(list string, i int, scope, name string) error {
	switch {
	case !utf8.ValidString(scope):
		return checkText(fmt.Sprintf("%s[%d].scope", list, i), scope)
	case !utf8.ValidString(name):
		return checkText(fmt.Sprintf("%s[%d].name", list, i), name)
	}
	return nil
}

func checkText(field, text string) error {
	if !utf8.ValidString(text) {
		return invalidField(field, "must be valid UTF-8")
	}
	return nil
}

func invalidField(field, why string) error {
	e := host.NewError(host.CodeInvalidValue, field+": "+why, nil)
	e.Details = map[string]any{"field": field}
	return e
}
