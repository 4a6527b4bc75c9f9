package provider_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// dispatch is a dispatch that keeps what it is told. Times and ids are counted.
type dispatch struct {
	prompt   string   // system prompt
	events   []string // what was reported and stored, in order
	requests []*runtime.HTTPRequest
	acked    bool
	nackedBy error

	t         testing.TB
	iteration int
	state     any
	clock     int64
	minted    int
	records   [record.Kinds][]item
	seen      [record.Kinds][]item
	versions  [record.Kinds]uint32
	handles   int64
	tools     []offered
	replies   []reply
	streams   map[string]*stream
	gives     func() []byte // media of a tool's result in place of its text, nil for the text; may be nil
	stats     []byte
}

type item struct {
	handle int64
	body   []byte
}

type offered struct {
	*runtime.Tool
	run func(args string) (string, error)
}

type stream struct {
	text   []byte
	sealed bool
}

// newDispatch returns a dispatch without messages and tools.
func newDispatch(t testing.TB) *dispatch {
	return &dispatch{t: t, clock: 1000, streams: make(map[string]*stream)}
}

// newExecutor returns an executor with options, JSON text, that the providers may serve. It sends texts without marks,
// and each request once.
func newExecutor(t testing.TB, options string, providers ...chat.Provider) *chat.Executor {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(`{"trust":"off","retry":{"maxAttempts":1},`+options[1:]))
	if err != nil {
		t.Fatal(err)
	}
	e, err := chat.New(v, providers...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// say adds a message to the history.
func (d *dispatch) say(role, content string) {
	d.clock++
	d.add(record.Messages, record.AppendMessage(nil, record.MessageFields{
		ID: "in" + strconv.FormatInt(d.clock, 10), Role: role, Content: []byte(content), CreatedAt: d.clock,
		UpdatedAt: d.clock,
	}))
}

// add adds a record to the history.
func (d *dispatch) add(kind record.Kind, body []byte) {
	if err := record.Check(kind, body); err != nil {
		d.t.Fatalf("a %v that breaks the rules: %v", kind, err)
	}
	d.put(kind, body)
}

// put adds one that the core makes, which no host may give.
func (d *dispatch) put(kind record.Kind, body []byte) {
	d.handles++
	d.records[kind] = append(d.records[kind], item{d.handles, bytes.Clone(body)})
}

// offer adds a tool. schema is JSON text; run takes arguments as JSON and returns what the model reads.
func (d *dispatch) offer(name, schema string, run func(args string) (string, error)) {
	v, err := value.FromJSON(nil, []byte(schema))
	if err != nil {
		d.t.Fatal(err)
	}
	tool := &runtime.Tool{Number: uint32(len(d.tools) + 1), Name: name, Description: "Does " + name, InputSchema: v}
	d.tools = append(d.tools, offered{tool, run})
}

// play runs iterations with these responses until the dispatch is signalled or they are used up. A stream that is left
// open afterwards is an error.
func (d *dispatch) play(e *chat.Executor, replies ...reply) {
	d.t.Helper()
	for d.replies = replies; len(d.replies) > 0 && !d.Signalled(); d.iteration++ {
		if err := e.Execute(d); err != nil {
			d.t.Fatalf("iteration %d: %v", d.iteration, err)
		}
	}
	for id, s := range d.streams {
		if !s.sealed {
			d.t.Errorf("the stream %s is open", id)
		}
	}
}

// stored counts the records of a kind.
func (d *dispatch) stored(kind record.Kind) int { return len(d.records[kind]) }

// cost is what the last answer cost, as JSON.
func (d *dispatch) cost() string { return d.json(d.stats) }

func (d *dispatch) json(v []byte) string {
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		d.t.Fatalf("%v in %x", err, v)
	}
	return string(text)
}

// What follows is chat.Dispatch.

func (d *dispatch) Iteration() int  { return d.iteration }
func (d *dispatch) Aborted() bool   { return false }
func (d *dispatch) Signalled() bool { return d.acked || d.nackedBy != nil }
func (d *dispatch) State() *any     { return &d.state }
func (d *dispatch) Floor(ms int64)  { d.clock = max(d.clock, ms) }

func (d *dispatch) Stamp() int64 {
	d.clock++
	return d.clock
}

func (d *dispatch) Elapsed() uint64    { return 0 }
func (d *dispatch) Sleep(uint64) error { return nil }
func (d *dispatch) Now() int64         { return 0 }
func (d *dispatch) Random() uint64     { return 0 }

func (d *dispatch) NewID(prefix string) string {
	d.minted++
	return prefix + strconv.Itoa(d.minted)
}

func (d *dispatch) Nonce(kind record.Kind, id []byte) string {
	return trust.Nonce([]byte("seed"), []byte{byte(kind)}, id)
}

func (d *dispatch) Stash(string) ([]byte, bool)            { return nil, false }
func (d *dispatch) SystemPrompt() string                   { return d.prompt }
func (d *dispatch) Instructions(func([]byte) bool)         {}
func (d *dispatch) ReaderTools(string) []string            { return nil }
func (d *dispatch) Log(chat.Level, string, string, []byte) {}
func (d *dispatch) Model(r *runtime.ModelRequest) (runtime.Stream, error) {
	s, err := d.answer(&runtime.HTTPRequest{Body: r.Body, Splices: r.Splices})
	if err == nil {
		s.(*response).begun = true // parts have no head
	}
	return s, err
}

func (d *dispatch) Ack() error                     { return d.signal(&d.acked, nil) }
func (d *dispatch) Nack(err error) error           { return d.signal(nil, err) }
func (d *dispatch) StoreMessage(body []byte) error { return d.store(record.Messages, body) }

func (d *dispatch) StoreThought(body []byte) error { return d.store(record.Thoughts, body) }

func (d *dispatch) StoreToolCall(body []byte, _ uint32) error { return d.store(record.ToolCalls, body) }

func (d *dispatch) Each(n, _ int, body func(d chat.Dispatch, i int) error) error {
	var errs []error
	for i := range n {
		errs = append(errs, body(d, i))
	}
	return errors.Join(errs...)
}

func (d *dispatch) HTTP(r *runtime.HTTPRequest) (runtime.Stream, error) { return d.answer(r) }
func (d *dispatch) ReportMessage(id string, delta []byte, complete bool) error {
	return d.report("message", id, delta, complete)
}

func (d *dispatch) ReportThought(id string, delta []byte, complete bool) error {
	return d.report("thought", id, delta, complete)
}

func (d *dispatch) SealMessage(id string, interrupted bool) error {
	return d.seal("message", id, interrupted)
}

func (d *dispatch) SealThought(id string, interrupted bool) error {
	return d.seal("thought", id, interrupted)
}

// seal ends the line of a stream that was broken off with ! in place of |.
func (d *dispatch) seal(kind, id string, interrupted bool) error {
	n := len(d.events)
	err := d.report(kind, id, nil, true)
	if interrupted && len(d.events) > n {
		d.events[n] = d.events[n][:len(d.events[n])-1] + "!"
	}
	return err
}

func (d *dispatch) MediaSize(int64, int) (int64, error) { return -1, nil }

func (d *dispatch) ArtifactSize(record.Kind, int64, int) (bytes, lines uint64, err error) {
	return 0, 0, errors.New("there are no artifacts")
}

func (d *dispatch) ArtifactText(record.Kind, int64, int) ([]byte, error) {
	return nil, errors.New("there are no artifacts")
}

// Version is that of the collection as the test last saw it changed in any way but by appending.
func (d *dispatch) Version(kind record.Kind) (version uint32, size int) {
	list, seen := d.records[kind], d.seen[kind]
	for i, it := range seen {
		if i >= len(list) || list[i].handle != it.handle {
			d.versions[kind]++
			break
		}
	}
	d.seen[kind] = slices.Clone(list)
	return d.versions[kind], len(list)
}

func (d *dispatch) RecordsFrom(kind record.Kind, n int, yield func(handle int64, body []byte)) {
	for _, it := range d.records[kind][n:] {
		yield(it.handle, it.body)
	}
}

func (d *dispatch) Records(kind record.Kind, yield func(handle int64, body []byte) bool) {
	for _, it := range d.records[kind] {
		if !yield(it.handle, it.body) {
			return
		}
	}
}

func (d *dispatch) Tools(yield func(*runtime.Tool) bool) {
	for _, t := range d.tools {
		if !yield(t.Tool) {
			return
		}
	}
}

func (d *dispatch) Tool(name string) (*runtime.Tool, bool) {
	for _, t := range d.tools {
		if t.Name == name {
			return t.Tool, true
		}
	}
	return nil, false
}

func (d *dispatch) ReportToolCall(id string, r runtime.ToolCallReport) error {
	text := r.Tool
	if r.Args != nil {
		text += d.json(r.Args)
	}
	if r.Results != nil {
		text += d.json(r.Results)
	}
	return d.report("call", id, []byte(text), r.Complete)
}

func (d *dispatch) ReportStats(stats []byte) error {
	d.stats = bytes.Clone(stats)
	return nil
}

func (d *dispatch) ExecuteTool(t *runtime.Tool, args []byte, run runtime.ToolRun, timeout uint64) (runtime.ToolResult, error) {
	text, err := d.tools[t.Number-1].run(d.json(args))
	if d.gives != nil && err == nil {
		if parts := d.gives(); parts != nil {
			return runtime.ToolResult{Parts: parts, Effect: 1}, nil
		}
	}
	return runtime.ToolResult{Value: value.AppendString(nil, text)}, err
}

func (d *dispatch) signal(acked *bool, err error) error {
	if d.Signalled() {
		return errors.New("already signalled")
	}
	if d.nackedBy = err; acked != nil {
		*acked = true
	}
	return nil
}

func (d *dispatch) report(kind, id string, delta []byte, complete bool) error {
	s := d.streams[kind+" "+id]
	if s == nil {
		s = new(stream)
		d.streams[kind+" "+id] = s
	}
	if s.sealed {
		d.t.Errorf("a report to the sealed stream %s", id)
	}
	s.text = append(s.text, delta...)
	s.sealed = complete
	line := kind + " " + id + " " + string(delta)
	if complete {
		line += "|"
	}
	d.events = append(d.events, line)
	return nil
}

func (d *dispatch) store(kind record.Kind, body []byte) error {
	d.events = append(d.events, "store "+string(record.ID(kind, body)))
	d.add(kind, body)
	return nil
}
