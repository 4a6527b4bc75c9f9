package chat

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

const (
	// compatibility tags the payloads of stored tool calls.
	compatibility = "chat-completions-v1"
	// maxArgsDepth is how deep arguments may nest: frames that carry them add their own levels.
	maxArgsDepth = 48
	maxItems     = 8192
	maxName      = 256 // bytes of a tool's name in a record
)

// pending is a call to run.
type pending struct {
	call
	record  string // id of the record
	wire    string // id sent to the endpoint; empty for the record's
	created int64
	body    []byte // of the finished record; nil until then
	kept    uint32 // the Kept of its result
}

var emptyMap = value.AppendMapHeader(nil, 0)

// runCalls runs the answer's tool calls, with their reports and records. It starts and stores them in order, and runs
// as many at once as the options allow. A call that cannot run gets an error result for the model.
func (st *state) runCalls() error {
	a := &st.answer
	list := make([]pending, len(a.calls))
	for i, c := range a.calls {
		// Take the times before any handler runs, so that the calls of one answer stay together in the timeline
		// whatever the handlers store.
		list[i] = pending{call: c, created: a.d.Stamp()}
	}
	st.identify(list)
	failed, stored := false, 0
	return a.d.Each(len(list), a.options.parallel, func(d Dispatch, i int) error {
		if failed || d.Aborted() || d.Signalled() {
			return nil
		}
		err := a.run(d, &list[i], list[0].record)
		for err == nil && stored < len(list) && list[stored].body != nil {
			c := &list[stored]
			stored++
			err = d.StoreToolCall(c.body, c.kept)
		}
		failed = failed || err != nil
		return err
	})
}

// identify sets the record id of each call: the endpoint's id, with a number appended if it is taken, since some
// endpoints restart their numbering in every response; or a new id if the endpoint gave none.
func (st *state) identify(list []pending) {
	d := st.answer.d
	bases := make([]string, len(list))
	taken := make([]int, len(list)) // highest number in use with the base, 1 for the base alone, 0 if it is free
	for i := range list {
		bases[i] = clip(bytes.TrimSpace(list[i].id), maxName)
	}
	d.Records(record.ToolCalls, func(_ int64, body []byte) bool {
		id := record.ID(record.ToolCalls, body)
		for i, base := range bases {
			taken[i] = max(taken[i], numberBehind(id, base))
		}
		return true
	})
	if st.reported == nil {
		st.reported = make(map[string]int)
	}
	for i, base := range bases {
		c := &list[i]
		if base == "" {
			c.record = d.NewID("c")
			c.wire = WireID(c.record)
			continue
		}
		c.record = base
		n := max(taken[i], st.reported[base]) + 1
		if n > 1 {
			c.record += "#" + strconv.Itoa(n)
		}
		if c.record != string(c.id) {
			c.wire = WireID(c.record)
		}
		st.reported[base] = n
	}
}

// numberBehind returns n if id is base + "#n", 1 if it is base itself, and 0 otherwise.
func numberBehind(id []byte, base string) int {
	if base == "" || len(id) < len(base) || string(id[:len(base)]) != base {
		return 0
	}
	if len(id) == len(base) {
		return 1
	}
	if id[len(base)] != '#' {
		return 0
	}
	n, err := strconv.Atoi(string(id[len(base)+1:]))
	if err != nil || n < 2 || n > 1<<30 {
		return 0
	}
	return n
}

// WireID derives an id that every endpoint accepts from a record's id: 64 bits of FNV-1a, the same in every request.
func WireID(id string) string {
	sum := uint64(14695981039346656037)
	for _, c := range []byte(id) {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	digits := strconv.FormatUint(sum, 16)
	return "call_" + strings.Repeat("0", 16-len(digits)) + digits
}

// run runs one call of an answer's group, and makes its record unless the dispatch is aborted.
func (a *Answer) run(d Dispatch, c *pending, group string) error {
	name := clip(c.name, maxName)
	args, problem := parseArgs(c.args)
	if problem != "" {
		args = emptyMap
	}
	sum, err := value.Checksum(name, args)
	if err != nil {
		return fault.New(fault.InvalidToolArgs, name+": "+err.Error())
	}
	how := runtime.ToolRun{ProviderCallID: clip(bytes.TrimSpace(c.id), maxName), Checksum: sum, Spool: a.options.spoolOver}
	err = d.ReportToolCall(c.record, runtime.ToolCallReport{
		Tool: name, HasTool: name != "", Args: args, ProviderCallID: how.ProviderCallID, Checksum: sum,
	})
	if err != nil {
		return err
	}
	var result runtime.ToolResult
	tool, known := d.Tool(name)
	reads := known && tool.Artifact // its result is text of an artifact
	switch {
	case c.rejected != "":
		err = fault.New(fault.ChatToolUseFailed, c.rejected)
	case !known:
		err = unknownTool(d, name)
	case problem != "":
		err = fault.New(fault.ChatInvalidToolCallArgs, problem, "the arguments were "+clip(c.args, maxMessage))
	default:
		if reads {
			how.Spool = 0 // the model asked for the text itself
		}
		result, err = d.ExecuteTool(tool, args, how, a.options.toolTimeout)
	}
	report := runtime.ToolCallReport{IsError: err != nil, HasIsError: true, Complete: true, ExecutionID: result.ExecutionID}
	results := result.Parts
	switch {
	case err != nil:
		results = value.AppendString(nil, fault.MessageOf(err))
		report.Results = results
	case results != nil:
		report.Kept = result.Effect
	default:
		results = resultText(result.Value)
		report.Results = results
	}
	if reportErr := d.ReportToolCall(c.record, report); reportErr != nil || d.Aborted() {
		return reportErr
	}
	now := d.Stamp()
	c.kept = report.Kept
	c.body = record.AppendToolCall(nil, record.ToolCallFields{
		ID: c.record, Tool: name, Args: args, Checksum: sum, ExecutionID: result.ExecutionID, ProviderCallID: how.ProviderCallID, IsComplete: true, IsError: report.IsError, Results: results,
		Payload: a.payload(c, group, args, problem), ReplayCompatibility: compatibility, FromArtifactTool: reads,
		Inline:    reads && report.Kept != 0, // no reader tool is offered for it
		CreatedAt: c.created, UpdatedAt: now, CompletedAt: now,
	})
	return nil
}

// parseArgs parses a call's arguments into a map, or describes the problem.
func parseArgs(text []byte) (args []byte, problem string) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return emptyMap, ""
	}
	args, err := value.FromJSON(nil, text)
	if err != nil {
		return nil, err.Error()
	}
	if value.KindOf(args) != value.KindMap {
		return nil, "they must be a JSON object"
	}
	if _, err := value.Skip(args, maxArgsDepth); err != nil {
		return nil, "they nest deeper than " + strconv.Itoa(maxArgsDepth) + " levels"
	}
	if !fits(args) {
		return nil, "a list or an object in them has more than " + strconv.Itoa(maxItems) + " elements"
	}
	return args, ""
}

// fits reports whether a provider's value fits into a frame.
func fits(v []byte) bool { return value.Fits(v, maxArgsDepth, maxItems) }

func unknownTool(d Dispatch, name string) error {
	var names []string
	d.Tools(func(t *runtime.Tool) bool {
		names = append(names, t.Name)
		return true
	})
	if len(names) == 0 {
		return fault.New(fault.ChatUnknownTool, strconv.Quote(name), "no tools are available")
	}
	sort.SliceStable(names, func(i, j int) bool { return names[i] < names[j] })
	return fault.New(fault.ChatUnknownTool, strconv.Quote(name), "available tools: "+strings.Join(names, ", "))
}

// resultText turns a tool's result into text for the model: text unchanged, anything else as JSON.
func resultText(v []byte) []byte {
	switch value.KindOf(v) {
	case value.KindString:
		return bytes.Clone(v)
	case value.KindBytes:
		if b, ok := value.Bytes(v); ok && utf8.Valid(b) {
			return value.AppendText(nil, b)
		}
	case value.KindInvalid:
		v = value.AppendNil(nil)
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		text = []byte(err.Error())
	}
	return value.AppendText(nil, text)
}

// payload holds everything that later requests need to repeat the call exactly: the nonce of its result's marks, the
// group of calls made by one answer, the message they came with, the call's id on the wire and the text of its
// arguments. Text that is not a JSON object is kept but not sent again, since endpoints refuse it.
func (a *Answer) payload(c *pending, group string, args []byte, problem string) []byte {
	text := bytes.TrimSpace(c.args)
	key := "arguments"
	if problem != "" {
		key = "rejected"
	} else if plain, err := value.AppendJSON(nil, args); err == nil && (bytes.Equal(plain, text) || len(text) == 0) {
		key = ""
	}
	members := 2
	p := value.AppendString(value.AppendString(nil, "group"), group)
	p = value.AppendString(value.AppendString(p, "nonce"), a.d.Nonce(record.ToolCalls, []byte(c.record)))
	if a.message.id != "" {
		p = value.AppendString(value.AppendString(p, "message"), a.message.id)
		members++
	}
	if c.wire != "" {
		p = value.AppendString(value.AppendString(p, "id"), c.wire)
		members++
	}
	if key != "" {
		p = value.AppendText(value.AppendString(p, key), c.args)
		members++
	}
	if c.extra != nil {
		p = append(value.AppendString(p, a.options.extra), c.extra...)
		members++
	}
	return append(value.AppendMapHeader(nil, members), p...)
}
