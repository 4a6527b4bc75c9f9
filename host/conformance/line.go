package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/turncore/turncore/abi/value"
)

// Line is one line of a log, as plain data.
type Line map[string]any

// String returns the line as canonical JSON: members sorted by the UTF-16 code units of their names, no space, numbers
// and strings as ECMAScript writes them.
func (l Line) String() string { return string(appendValue(nil, map[string]any(l))) }

func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return value.AppendJSONNumber(dst, v)
	case string:
		return value.AppendJSONString(dst, v)
	case []string:
		return appendList(dst, v)
	case []any:
		return appendList(dst, v)
	case Line:
		return appendValue(dst, map[string]any(v))
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return slices.Compare(units(a), units(b)) })
		dst = append(dst, '{')
		for i, key := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(value.AppendJSONString(dst, key), ':')
			dst = appendValue(dst, v[key])
		}
		return append(dst, '}')
	}
	panic(malformed("a log line holds a %T", v))
}

func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

func appendList[E any](dst []byte, list []E) []byte {
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, item)
	}
	return append(dst, ']')
}

// Summary returns the line in a few words, for comparison with expected strings.
func (l Line) Summary() string {
	switch {
	case l["event"] != nil:
		return l.eventSummary()
	case l["storage"] != nil:
		return words("storage", l["storage"], l["args"])
	case l["tokenizer"] != nil:
		texts, _ := l["texts"].([]any)
		return words("tokenizer", l["tokenizer"], string(appendValue(nil, texts)))
	case l["said"] != nil:
		return l.text("by") + ": " + l.text("said")
	case l["model"] != nil:
		return words("model", l["model"])
	case l["request"] != nil:
		return words("request", l["request"])
	case l["saw"] != nil:
		return l.text("by") + " saw " + string(appendValue(nil, l["saw"]))
	}
	did := l.text("by") + " did " + l.text("did")
	if err := l["threw"]; err != nil {
		return did + ": threw " + errorWord(err)
	}
	if got, there := l["got"]; there {
		return did + ": " + string(appendValue(nil, got))
	}
	return did
}

func (l Line) eventSummary() string {
	name := l.text("event")
	switch name {
	case "turnEnd":
		return words(name, l["status"], errorWord(l["error"]))
	case "dispatchEnd":
		return words(name, l["status"], l["iterations"], errorWord(l["error"]))
	case "iterationStart":
		return words(name, l["iteration"])
	case "iterationEnd":
		return words(name, l["iteration"], l["status"], discarded(l["discarded"]))
	case "message", "thought":
		return words(name, l["id"], string(appendValue(nil, l["aDelta"])), flag(l, "isComplete", "complete"), flag(l, "isInterrupted", "interrupted"))
	case "toolCall":
		return words(name, l["id"], l["tool"], flag(l, "isComplete", "complete"), flag(l, "isError", "failed"))
	case "toolExecutionStart":
		return words(name, l["toolName"])
	case "toolExecutionEnd":
		return words(name, l["toolName"], flag(l, "isError", "failed"))
	case "modelCallStart":
		return words(name, l["model"], l["attempt"])
	case "modelCallEnd":
		return words(name, l["model"], l["attempt"], l["status"])
	case "turnGateOpen":
		return words(name, l["gateId"])
	case "turnGateClosed":
		return words(name, l["gateId"], l["result"])
	case "log":
		return words(name, l["level"], l["kind"], l["message"])
	case "warning":
		return words(name, l["kind"])
	case "error":
		return words(name, errorWord(l["error"]))
	}
	return name
}

func (l Line) text(name string) string {
	s, _ := l[name].(string)
	return s
}

func flag(l Line, name, word string) string {
	if l[name] == true {
		return word
	}
	return ""
}

// discarded lists dropped writes: "-store message m1".
func discarded(v any) string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		d, _ := item.(map[string]any)
		all = append(all, words("-"+Line(d).text("op"), d["kind"], d["id"]))
	}
	return strings.Join(all, " ")
}

// errorWord names an error: by its name in the scenario, or by its code.
func errorWord(v any) string {
	e, _ := v.(map[string]any)
	return cmp.Or(Line(e).text("is"), Line(e).text("code"))
}

// words joins the non-empty words.
func words(parts ...any) string {
	var all []string
	for _, part := range parts {
		switch part := part.(type) {
		case nil:
		case string:
			if part != "" {
				all = append(all, part)
			}
		case []any:
			if s := words(part...); s != "" {
				all = append(all, s)
			}
		default:
			all = append(all, string(appendValue(nil, part)))
		}
	}
	return strings.Join(all, " ")
}
