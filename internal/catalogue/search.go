package catalogue

import (
	"bytes"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/record"
)

// maxShown is how many bytes of a line are answered, or up to three less so that no character is split.
const maxShown = 1024

// query is words that must all occur, in either case, and how many hits are wanted.
type query struct {
	words []string
	limit int

	hits int
	list []byte
}

func queryOf(args []byte) *query {
	return &query{words: strings.Fields(strings.ToLower(runtime.TextArgument(args, "query"))), limit: int(number(args, "limit", 10))}
}

func (q *query) matches(line []byte) bool {
	lower := bytes.ToLower(line)
	for _, word := range q.words {
		if !bytes.Contains(lower, []byte(word)) {
			return false
		}
	}
	return true
}

// look adds a line that matches and tells whether more are wanted.
func (q *query) look(id string, i uint64, line []byte) bool {
	if !q.matches(line) {
		return true
	}
	q.hits++
	m := value.AppendString(value.AppendString(value.AppendMapHeader(q.list, 3), "id"), id)
	m = value.AppendInt(value.AppendString(m, "line"), int64(i))
	q.list = value.AppendText(value.AppendString(m, "text"), runtime.ClipText(line, maxShown))
	return q.hits < q.limit
}

// result is the hits as a list of {id, line, text}, lines from 0.
func (q *query) result() []byte { return append(value.AppendListHeader(nil, q.hits), q.list...) }

// searchRetrievables searches the documents, those whose text is spooled too.
func searchRetrievables(task runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	q := queryOf(args)
	more := true
	d.Records(record.Retrievables, func(_ int64, body []byte) bool {
		r := record.Retrievable(body)
		if r.Part() != nil {
			return true
		}
		rest := r.Content()
		for i := uint64(0); more && rest != nil; i++ {
			line, after, found := bytes.Cut(rest, []byte{'\n'})
			more = q.look(string(r.ID()), i, line)
			if rest = after; !found {
				rest = nil
			}
		}
		return more
	})
	if !more {
		return q.result(), nil
	}
	err := d.EachArtifactLine(task, record.Retrievables, q.look)
	return q.result(), err
}

// searchArtifacts searches the artifacts of tool calls and of documents.
func searchArtifacts(task runtime.Task, d *runtime.Dispatch, args []byte) ([]byte, error) {
	q := queryOf(args)
	err := d.EachArtifactLine(task, record.ToolCalls, q.look)
	if err == nil && q.hits < q.limit {
		err = d.EachArtifactLine(task, record.Retrievables, q.look)
	}
	return q.result(), err
}
