// Package artifact answers questions about the text of a JSON artifact, and formats answers for a model. It reads no
// artifact by itself: the caller has the text.
//
// An answer is an encoded value (package value), or nil if there is none. [Render] turns it into the text that a reader
// tool returns.
package artifact

import (
	"bytes"
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/internal/jsonpath"
)

// Format is the syntax of a JSON artifact.
type Format string

// The formats.
const (
	FormatJSON   Format = "json"   // one JSON text
	FormatJSON5  Format = "json5"  // one JSON5 text
	FormatJSONL  Format = "jsonl"  // a JSON text on each non-blank line
	FormatNDJSON Format = "ndjson" // the same as FormatJSONL; never inferred
)

// FormatError says that a text does not match a format.
type FormatError struct {
	Format Format // empty if the text matches no format
	Line   int    // the faulty line, from 1; 0 if unknown
	Cause  error  // a [*value.SyntaxError]
}

// Error names the format, the line and the fault.
func (e *FormatError) Error() string {
	if e.Format == "" {
		return "the artifact is neither JSON, nor JSON on each line, nor JSON5: " + e.Cause.Error()
	}
	text := "the artifact is no " + string(e.Format)
	if e.Line > 0 {
		text += ", line " + strconv.Itoa(e.Line)
	}
	return text + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Cause }

// JSON holds the records of a JSON artifact: one, or one per line.
type JSON struct {
	format  Format
	values  []byte // of all records
	records [][]byte
}

// ParseJSON reads a text. hint is its format; any other hint makes it try JSON, then JSON lines, then JSON5. The error
// is a [*FormatError]; if no format matches, its cause says why the text is not JSON5.
func ParseJSON(text []byte, hint Format) (*JSON, error) {
	j := &JSON{format: hint}
	var err error
	switch hint {
	case FormatJSON:
		err = j.one(text, value.FromJSON)
	case FormatJSON5:
		err = j.one(text, value.FromJSON5)
	case FormatJSONL, FormatNDJSON:
		err = j.lines(text)
	default:
		if j.format = FormatJSON; j.one(text, value.FromJSON) == nil {
			return j, nil
		}
		if j.format = FormatJSONL; j.lines(text) == nil && len(j.records) > 0 {
			return j, nil
		}
		if j.format = FormatJSON5; j.one(text, value.FromJSON5) == nil {
			return j, nil
		}
		_, err = value.FromJSON5(nil, text)
		return nil, &FormatError{Cause: err}
	}
	if err != nil {
		return nil, err
	}
	return j, nil
}

func (j *JSON) one(text []byte, read func(dst, text []byte) ([]byte, error)) (err error) {
	if j.values, err = read(nil, bytes.TrimPrefix(text, byteOrderMark)); err != nil {
		return &FormatError{Format: j.format, Cause: err}
	}
	j.records = [][]byte{j.values}
	return nil
}

// byteOrderMark may precede a text and is not part of it.
var byteOrderMark = []byte("\ufeff")

// lines reads a record from each non-blank line.
func (j *JSON) lines(text []byte) error {
	rest := bytes.TrimPrefix(text, byteOrderMark)
	var ends []int
	j.values = nil
	for n := 1; len(rest) > 0; n++ {
		var line []byte
		if line, rest, _ = bytes.Cut(rest, []byte{'\n'}); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		values, err := value.FromJSON(j.values, line)
		if err != nil {
			return &FormatError{Format: j.format, Line: n, Cause: err}
		}
		j.values = values
		ends = append(ends, len(values))
	}
	j.records = make([][]byte, len(ends))
	start := 0
	for i, end := range ends {
		j.records[i] = j.values[start:end:end]
		start = end
	}
	return nil
}

// single reports whether the format has a single record.
func (j *JSON) single() bool { return j.format == FormatJSON || j.format == FormatJSON5 }

// Type is the format, as a string.
func (j *JSON) Type() []byte { return value.AppendString(nil, string(j.format)) }

// Length is the number of records.
func (j *JSON) Length() []byte { return value.AppendInt(nil, int64(len(j.records))) }

// Keys lists the distinct keys of the root object, or of all records that are objects, in order of appearance. It is
// nil when there are none, except for an object without members.
func (j *JSON) Keys() []byte {
	seen := map[string]struct{}{}
	var keys []byte
	for _, record := range j.records {
		if value.KindOf(record) != value.KindMap {
			continue
		}
		// Records have been read and are well-formed.
		_ = value.Each(record, func(key, _ []byte) bool {
			if _, again := seen[string(key)]; !again {
				seen[string(key)] = struct{}{}
				keys = value.AppendText(keys, key)
			}
			return true
		})
	}
	if len(seen) == 0 && !(j.single() && value.KindOf(j.values) == value.KindMap) {
		return nil
	}
	return append(value.AppendListHeader(nil, len(seen)), keys...)
}

// Get lists all values that a JSONPath query selects from the records. The error is a [*jsonpath.Error] or one of the
// limits of package jsonpath, which hold for all records together.
func (j *JSON) Get(path string) ([]byte, error) {
	return j.find(path, func(found *list, _, node []byte) bool {
		found.add(node)
		return true
	})
}

// Filter lists the records from which a JSONPath query selects anything. Errors are those of [JSON.Get].
func (j *JSON) Filter(path string) ([]byte, error) {
	return j.find(path, func(found *list, record, _ []byte) bool {
		found.add(record)
		return false
	})
}

func (j *JSON) find(path string, each func(found *list, record, node []byte) bool) ([]byte, error) {
	q, err := jsonpath.Parse(path)
	if err != nil {
		return nil, err
	}
	var found list
	budget := jsonpath.BudgetFor(len(j.values))
	for _, record := range j.records {
		if err := q.Each(record, budget, func(node []byte) bool {
			return each(&found, record, node) && !found.full
		}); err != nil {
			return nil, err
		}
		if found.full {
			return nil, jsonpath.ErrTooManyNodes
		}
	}
	return found.value(), nil
}

// Slice lists the records from start (from 0) up to but not including end. Negative numbers count from the end. An
// artifact with a single record is a list of one.
func (j *JSON) Slice(start, end int) []byte {
	n := len(j.records)
	if j.single() {
		start, end = 0, n
	}
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	var found list
	for i := max(start, 0); i < min(end, n); i++ {
		found.add(j.records[i])
	}
	return found.value()
}

// list is an answer under construction.
type list struct {
	n    int
	body []byte
	full bool // it exceeds maxAnswer
}

// maxAnswer is the largest size of an answer in bytes before it is rendered: a query may select the same part of a
// large artifact many times over.
const maxAnswer = 32 << 20

func (l *list) add(v []byte) {
	if l.full = l.full || len(l.body)+len(v) > maxAnswer; !l.full {
		l.n++
		l.body = append(l.body, v...)
	}
}

func (l *list) value() []byte { return append(value.AppendListHeader(nil, l.n), l.body...) }
