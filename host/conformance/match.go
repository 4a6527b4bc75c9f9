package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Log has the lines of a played scenario.
type Log []Line

// String returns the log as lines of canonical JSON.
func (l Log) String() string {
	var text strings.Builder
	for _, line := range l {
		text.WriteString(line.String() + "\n")
	}
	return text.String()
}

// Check compares a log with what the scenario expects.
func (s *Scenario) Check(log Log) error {
	names := map[string]any{}
	next := 0
	skip := false
	for i, want := range s.Expect {
		if want == "..." {
			skip = true
			continue
		}
		from := next
		for ; ; next++ {
			if next >= len(log) {
				return s.failure(log, from, "expected line %d is not there: %s", i, appendValue(nil, want))
			}
			trial := maps.Clone(names)
			why := matchLine(want, log[next], trial)
			if why == "" {
				names = trial
				break
			}
			if !skip {
				return s.failure(log, next, "line %d: %s, expected %s", next, why, appendValue(nil, want))
			}
		}
		next++
		skip = false
	}
	if next < len(log) && !skip {
		return s.failure(log, next, "line %d was not expected", next)
	}
	return s.checkMarks(log)
}

func (s *Scenario) failure(log Log, at int, format string, args ...any) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", s.ID, fmt.Sprintf(format, args...))
	for i, line := range log {
		mark := " "
		if i == at {
			mark = ">"
		}
		fmt.Fprintf(&text, "%s %2d %-50s %s\n", mark, i, line.Summary(), line)
	}
	return fmt.Errorf("%s", strings.TrimSuffix(text.String(), "\n"))
}

func matchLine(want any, line Line, names map[string]any) string {
	if text, ok := want.(string); ok {
		if got := line.Summary(); got != text {
			return fmt.Sprintf("it is %q", got)
		}
		return ""
	}
	return match(want, map[string]any(line), names, "")
}

// match compares a value with the expected one; it returns "" or the place of the difference.
func match(want, got any, names map[string]any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		if inner, only := want["json"]; only && len(want) == 1 {
			var v any
			text, ok := got.(string)
			if !ok || json.Unmarshal([]byte(text), &v) != nil {
				return fmt.Sprintf("%s is no JSON: %s", path, appendValue(nil, got))
			}
			return match(inner, v, names, path)
		}
		if len(want) == 1 {
			for name, arg := range want {
				if check, known := matchers[name]; known {
					if !check(arg, got) {
						return fmt.Sprintf("%s is %s", path, appendValue(nil, got))
					}
					return ""
				}
			}
		}
		m, ok := got.(map[string]any)
		if !ok {
			return path + " is no object"
		}
		for _, name := range sortedKeys(want) {
			value, there := m[name]
			at := strings.TrimPrefix(path+"."+name, ".")
			if absent, _ := want[name].(map[string]any); absent["absent"] == true {
				if there {
					return at + " is there"
				}
				continue
			}
			if !there {
				return at + " is absent"
			}
			if why := match(want[name], value, names, at); why != "" {
				return why
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s is %s", path, appendValue(nil, got))
		}
		for i := range want {
			if why := match(want[i], list[i], names, fmt.Sprintf("%s[%d]", path, i)); why != "" {
				return why
			}
		}
		return ""
	case string:
		if want == "*" {
			return ""
		}
		if name, ok := strings.CutPrefix(want, "$"); ok {
			if bound, there := names[name]; there {
				return match(bound, got, names, path)
			}
			names[name] = got
			return ""
		}
	}
	if string(appendValue(nil, want)) != string(appendValue(nil, got)) {
		return fmt.Sprintf("%s is %s", path, appendValue(nil, got))
	}
	return ""
}

// matchers are objects of one member that stand for a set of values.
var matchers = map[string]func(arg, got any) bool{
	"contains": func(arg, got any) bool { return text(arg, got, strings.Contains) },
	"starts":   func(arg, got any) bool { return text(arg, got, strings.HasPrefix) },
	"ends":     func(arg, got any) bool { return text(arg, got, strings.HasSuffix) },
	"min":      func(arg, got any) bool { n, ok := got.(float64); return ok && n >= arg.(float64) },
	"length":   func(arg, got any) bool { s, ok := got.(string); return ok && float64(len(units(s))) == arg },
}

func text(arg, got any, compare func(s, part string) bool) bool {
	s, isText := got.(string)
	part, known := arg.(string)
	return isText && known && compare(s, part)
}
