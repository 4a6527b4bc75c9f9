package runtime

import (
	"strconv"

	"github.com/turncore/turncore/internal/pattern"
	"github.com/turncore/turncore/runtime/fault"
)

// grepSteps is how many steps a pattern may take per batch of lines, so that no step of the module takes long.
const grepSteps = 16 << 20

var grepTool = readerTool{
	name: "artifact_grep",
	description: "Search an artifact for a regular expression in RE2 syntax (no look-around, no back-references) and read " +
		"the lines that match.",
	properties: `"pattern":{"type":"string","description":"The regular expression."},` +
		`"flags":{"type":"string","pattern":"^[imsu]*$","description":"Any of i (ignore case), m, s, u."}`,
	required: []string{"pattern"},
	run: func(r *reader, args []byte) ([]byte, error) {
		source, flags := TextArgument(args, "pattern"), TextArgument(args, "flags")
		p, err := pattern.RE2(source, flags)
		if err != nil {
			return nil, err
		}
		return r.grep(p.Matcher())
	},
}

// grep returns the lines that match.
func (r *reader) grep(m *pattern.Matcher) ([]byte, error) {
	budget, batch := 0, -1
	p, next, count, err := r.collect(0, maxLine, func(i uint64, line []byte) (bool, error) {
		if batch != r.batches {
			budget, batch = grepSteps, r.batches
		}
		found := m.Match(line, &budget)
		if budget < 0 {
			return false, fault.Plain("the pattern takes too many steps at line " + strconv.FormatUint(i, 10) + "; use a simpler one")
		}
		return found, nil
	})
	if err != nil {
		return nil, err
	}
	if next >= count {
		return p.result(""), nil
	}
	if p.clipped {
		return p.result("The result is cut: the lines from " + strconv.FormatUint(next, 10) + " of " + strconv.FormatUint(count, 10) +
			" on were not searched. Use a pattern that matches fewer lines."), nil
	}
	return p.result("The result is cut: line " + strconv.FormatUint(next, 10) + " of " + strconv.FormatUint(count, 10) +
		" matches as well, and further lines may. Use a pattern that matches fewer lines."), nil
}
