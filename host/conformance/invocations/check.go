package invocations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turncore/turncore/host/conformance"
)

// Check compares a log with what the scenario expects, and with its marks, if it has any.
func (s *Scenario) Check(log conformance.Log) error {
	if err := s.check(log); err != nil {
		return fmt.Errorf("%s, %s: %w\n%s", s.ID, s.Title, err, log)
	}
	return s.CheckStored(log)
}

func (s *Scenario) check(log conformance.Log) error {
	want := &s.Expect
	var delivered, ends []string
	var final []bool
	var last conformance.Line
	for _, line := range log {
		switch {
		case line["event"] != nil && !rewound(line):
			delivered = append(delivered, briefOf(line["event"]))
			final = append(final, line["final"] == true)
		case line["stored"] != nil && line["by"] == byMain:
			last = line
		case line["did"] != nil:
			if end := ended(line); end != "" {
				ends = append(ends, end)
			}
		}
	}
	stored, _ := last["stored"].([]any)
	for _, c := range []struct {
		what      string
		got, want []string
	}{{"delivered", delivered, want.Delivered}, {"ends", ends, want.Ends}, {"stored", texts(stored), want.Stored}} {
		if c.want != nil && !slices.Equal(c.got, c.want) {
			return fmt.Errorf("%s is\n     %s\nwant %s", c.what, strings.Join(c.got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
	if want.Final != nil && !slices.Equal(final, want.Final) {
		return fmt.Errorf("final is %v, want %v", final, want.Final)
	}
	if want.State != nil && text(last["state"]) != text(want.State) {
		return fmt.Errorf("the state is %s, want %s", text(last["state"]), text(want.State))
	}
	for _, members := range want.Saw {
		if !slices.ContainsFunc(log, func(line conformance.Line) bool { return has(line, members) }) {
			return fmt.Errorf("no line has %s", text(members))
		}
	}
	if s.Marks != "" && s.Marks != log.Marks() {
		return fmt.Errorf("the marks are not those of the log: %s", log.Marks())
	}
	return nil
}

// rewound reports whether a line tells of the event of a rewind.
func rewound(line conformance.Line) bool {
	e, _ := line["event"].(map[string]any)
	actions, _ := e["actions"].(map[string]any)
	return actions["rewindBeforeInvocationId"] != nil
}

// ended is the word for the end of what a caller does; empty for what is told when it fails, alone, and did not.
func ended(line conformance.Line) string {
	threw, failed := line["threw"].(map[string]any)
	switch {
	case failed && threw["code"] != nil:
		return threw["code"].(string)
	case failed:
		return threw["message"].(string)
	case line["left"] != nil || line["did"] == "create" || line["did"] == "load":
		return ""
	}
	return "ok"
}

func has(line conformance.Line, members map[string]any) bool {
	for name, v := range members {
		if text(line[name]) != text(v) {
			return false
		}
	}
	return true
}

func text(v any) string { return conformance.Line{"": v}.String() }

func texts(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i], _ = v.(string)
	}
	return out
}
