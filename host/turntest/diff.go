package turntest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/host/internal/recording"
)

// most is how many differences a report shows.
const most = 20

// jsonDifferences tells where two values that came out of JSON differ, a line each: "/path: got X, want Y". What is
// absent is like null.
func jsonDifferences(got, want any) (list []string) {
	recording.Diff("", got, want, func(path string, got, want any) {
		g, w := around(jsonText(got), jsonText(want))
		list = append(list, fmt.Sprintf("%s: got %s, want %s", orRoot(path), g, w))
	})
	return list
}

func orRoot(path string) string {
	if path == "" {
		return "the whole"
	}
	return path
}

// jsonText is a value as JSON text; what is absent is "nothing".
func jsonText(v any) string {
	if v == nil {
		return "nothing"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it came out of JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// around returns two texts, of long ones the part around their first difference.
func around(a, b string) (string, string) {
	const before, after = 40, 80
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(s string) string {
		from, to := max(same-before, 0), min(same+after, len(s))
		if len(s) <= before+after {
			from, to = 0, len(s)
		}
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		part := s[from:to]
		if from > 0 {
			part = "…" + part
		}
		if to < len(s) {
			part += "…"
		}
		return part
	}
	return cut(a), cut(b)
}

// eventNumber is the number of an event in its line, or its id in an invocation, and what stands in front of that. An
// event more or less changes those of all that follow.
var eventNumber = regexp.MustCompile(`"seq":\d+,|^(\{)"id":"[^"]*\.e\d+",`)

// lineDifferences tells how the lines of a log differ from those that are wanted. Lines count from 1, those of the
// wanted log.
func lineDifferences(got, want []string) []string {
	list := unified(got, want, func(line string) string { return eventNumber.ReplaceAllString(line, "$1") })
	if len(list) == 0 {
		list = unified(got, want, func(line string) string { return line })
	}
	return list
}

// unified compares lines by a part of them.
func unified(got, want []string, part func(string) string) (list []string) {
	keys := func(lines []string) []string {
		all := make([]string, len(lines))
		for i, line := range lines {
			all[i] = part(line)
		}
		return all
	}
	g, w := keys(got), keys(want)
	i, k := 0, 0
	for _, m := range append(matches(g, w), [2]int{len(g), len(w)}) {
		more, less := got[i:m[0]], want[k:m[1]]
		for n := range max(len(more), len(less)) {
			switch {
			case n >= len(more):
				list = append(list, fmt.Sprintf("line %d is gone: %s", k+n+1, shorten(less[n])))
			case n >= len(less):
				list = append(list, fmt.Sprintf("behind line %d comes: %s", k+len(less), shorten(more[n])))
			default:
				list = append(list, changed(k+n+1, part(more[n]), part(less[n]))...)
			}
		}
		i, k = m[0]+1, m[1]+1
	}
	return list
}

// changed tells how a line differs from another one.
func changed(number int, got, want string) (list []string) {
	var g, w map[string]any
	if json.Unmarshal([]byte(got), &g) == nil && json.Unmarshal([]byte(want), &w) == nil && nameOf(g) == nameOf(w) {
		for _, d := range jsonDifferences(g, w) {
			list = append(list, fmt.Sprintf("line %d, %s %s", number, nameOf(w), d))
		}
	}
	if len(list) == 0 {
		list = []string{fmt.Sprintf("line %d:\n    got  %s\n    want %s", number, shorten(got), shorten(want))}
	}
	return list
}

// nameOf is the name of a turn's event, or the author of a session's.
func nameOf(event map[string]any) string {
	for _, member := range []string{"event", "author"} {
		if name, ok := event[member].(string); ok {
			return name
		}
	}
	return "event"
}

// matches returns the places of a longest common subsequence of two lists. Of lists that differ in very many places it
// takes the common beginning and end only.
func matches(a, b []string) (list [][2]int) {
	begin := 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		list = append(list, [2]int{begin, begin})
		begin++
	}
	end := 0
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	x, y := a[begin:len(a)-end], b[begin:len(b)-end]
	const cells = 1 << 22
	if len(x) > 0 && len(y) > 0 && len(x) <= cells/len(y) {
		length := make([][]int32, len(x)+1) // of what is common behind two places
		for i := range length {
			length[i] = make([]int32, len(y)+1)
		}
		for i := len(x) - 1; i >= 0; i-- {
			for k := len(y) - 1; k >= 0; k-- {
				if x[i] == y[k] {
					length[i][k] = length[i+1][k+1] + 1
				} else {
					length[i][k] = max(length[i+1][k], length[i][k+1])
				}
			}
		}
		for i, k := 0, 0; i < len(x) && k < len(y); {
			switch {
			case x[i] == y[k]:
				list = append(list, [2]int{begin + i, begin + k})
				i, k = i+1, k+1
			case length[i+1][k] >= length[i][k+1]:
				i++
			default:
				k++
			}
		}
	}
	for ; end > 0; end-- {
		list = append(list, [2]int{len(a) - end, len(b) - end})
	}
	return list
}

// listed is a list of differences as it is reported, a line each.
func listed(list []string) string {
	var b strings.Builder
	for i, d := range list {
		if i == most {
			fmt.Fprintf(&b, "\n  and %s more", count(len(list)-most, "difference"))
			break
		}
		b.WriteString("\n  " + d)
	}
	return b.String()
}
