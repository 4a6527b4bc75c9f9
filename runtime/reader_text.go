package runtime

import (
	"math"
	"strconv"

	"github.com/turncore/turncore/abi/value"
)

// textTools read artifacts of all classes as lines of text.
var textTools = readerGroup{tools: []readerTool{
	{
		name:        "artifact_head",
		description: "Read the first lines of an artifact.",
		properties:  countProperty,
		run: func(r *reader, args []byte) ([]byte, error) {
			return r.page(0, uint64(argument(args, "n", 10)))
		},
	},
	{
		name:        "artifact_tail",
		description: "Read the last lines of an artifact.",
		properties:  countProperty,
		run: func(r *reader, args []byte) ([]byte, error) {
			_, count, err := r.size()
			if err != nil {
				return nil, err
			}
			return r.page(count-min(count, uint64(argument(args, "n", 10))), count)
		},
	},
	grepTool,
	{
		name:        "artifact_cat",
		description: "Read the lines of an artifact from start, counted from 0, up to but not including end. Without them, all lines.",
		properties: `"start":{"type":"integer","minimum":0,"description":"The first line, counted from 0."},` +
			`"end":{"type":"integer","minimum":0,"description":"The line after the last."}`,
		run: func(r *reader, args []byte) ([]byte, error) {
			return r.page(uint64(argument(args, "start", 0)), uint64(argument(args, "end", maxLine)))
		},
	},
	{
		name:        "artifact_byte_length",
		description: "Get the size of an artifact in bytes.",
		run: func(r *reader, _ []byte) ([]byte, error) {
			bytes, _, err := r.size()
			return strconv.AppendUint(nil, bytes, 10), err
		},
	},
	{
		name:        "artifact_line_count",
		description: "Get the number of lines of an artifact.",
		run: func(r *reader, _ []byte) ([]byte, error) {
			_, lines, err := r.size()
			return strconv.AppendUint(nil, lines, 10), err
		},
	},
	{
		name:        "artifact_estimate_tokens",
		description: "Estimate how many tokens the whole text of an artifact has in an encoding.",
		properties: `"encoding":{"type":"string","enum":["gpt2","r50k_base","p50k_base","p50k_edit","cl100k_base","o200k_base",` +
			`"gemini","gemma","llama2","claude"]}`,
		required: []string{"encoding"},
		run: func(r *reader, args []byte) ([]byte, error) {
			tokens, err := r.tokens(TextArgument(args, "encoding"))
			return strconv.AppendUint(nil, tokens, 10), err
		},
	},
}}

const countProperty = `"n":{"type":"integer","minimum":1,"default":10,"description":"How many lines."}`

// maxLine exceeds the number of lines of any artifact.
const maxLine = 1 << 52

// argument returns an integer argument, or a default if it is absent.
func argument(args []byte, name string, without int64) int64 {
	v, _ := value.Get(args, name)
	if n, ok := value.Int(v); ok {
		return max(min(n, maxLine), 0)
	}
	if f, ok := value.Number(v); ok && f >= 0 {
		return maxLine // an integer out of range
	}
	return without
}

// place returns an integer argument, which may be negative, as a position in a list.
func place(args []byte, name string, without int) int {
	v, _ := value.Get(args, name)
	if f, ok := value.Number(v); ok {
		return int(max(min(f, math.MaxInt32), math.MinInt32))
	}
	return without
}

// page returns the lines from one up to another.
func (r *reader) page(from, to uint64) ([]byte, error) {
	p, next, count, err := r.collect(from, to, func(uint64, []byte) (bool, error) { return true, nil })
	if err != nil {
		return nil, err
	}
	if next >= min(to, count) {
		return p.result(""), nil
	}
	return p.result("The result is cut: line " + strconv.FormatUint(next, 10) + " of " + strconv.FormatUint(count, 10) +
		" is next. Go on with artifact_cat and start " + strconv.FormatUint(next, 10) + "."), nil
}

// collect fills a page with the wanted lines from one up to another. It returns the next line to read, and the number
// of lines.
func (r *reader) collect(from, to uint64, wanted func(i uint64, line []byte) (bool, error)) (p page, next, count uint64, err error) {
	var failure error
	next = from
	count, err = r.lines(from, to, func(i uint64, line []byte) bool {
		var want bool
		next = i
		if want, failure = wanted(i, line); failure != nil || want && !p.add(line) {
			return false
		}
		next++
		return true
	})
	if err == nil {
		err = failure
	}
	if p.clipped {
		next++ // its beginning has been shown
	}
	return p, next, count, err
}
