package chat_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/internal/provider"
	"github.com/turncore/turncore/internal/trust"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/chat"
	"github.com/turncore/turncore/runtime/record"
)

// dispatch is a Dispatch that records its calls.
type dispatch struct {
	t            testing.TB
	iteration    int
	elapsed      uint64
	slept        []uint64
	random       uint64
	state        any
	clock        int64
	minted       int
	prompt       string
	instructions []string
	records      [record.Kinds][]item
	seen         [record.Kinds][]item
	versions     [record.Kinds]uint32
	visited      int // visited records of the timeline
	handles      int64
	tools        []*runtime.Tool
	hidden       []*runtime.Tool
	run          func(t *runtime.Tool, args []byte) ([]byte, error)
	answer       func(r *runtime.HTTPRequest) (runtime.Stream, error)
	generate     func(r *runtime.ModelRequest) (runtime.Stream, error)
	hand         func(body []byte) // gets requests, which are then not recorded; may be nil
	onReport     func()
	onSleep      func()
	stash        []byte // under chat.OverrideKey; nil for none
	order        []int  // order in which Each runs its bodies; nil for ascending
	atOnce       int    // of the last Each

	aborted, acked bool
	nacked         error
	events         []string
	streams        map[string]*stream
	stats          []byte
	requests       [][]byte
	kept           []uint32 // of the stored tool calls
	logs           []string
	payloads       []string
	failReport     error
	read           []string // requests about artifacts
	failRead       error
	mediaSize      int64
	splices        []runtime.Splice // of the last request
	quiet          bool             // record no events
}

type item struct {
	handle int64
	body   []byte
}

type stream struct {
	text   []byte
	sealed bool
}

var errSealed = errors.New("sealed")

func newDispatch(t testing.TB) *dispatch {
	return &dispatch{t: t, clock: 1000, streams: map[string]*stream{}}
}

func (d *dispatch) add(kind record.Kind, body []byte) {
	if err := record.Check(kind, body); err != nil {
		d.t.Fatalf("a %v that breaks the rules: %v", kind, err)
	}
	d.handles++
	d.records[kind] = append(d.records[kind], item{d.handles, bytes.Clone(body)})
}

func (d *dispatch) addMessage(role, content string) {
	d.clock++
	d.add(record.Messages, record.AppendMessage(nil, record.MessageFields{
		ID: "in" + strconv.FormatInt(d.clock, 10), Role: role, Content: []byte(content), CreatedAt: d.clock, UpdatedAt: d.clock,
	}))
}

// iterate runs the executor as a runner would, until it signals or after n iterations.
func (d *dispatch) iterate(e *chat.Executor, n int) {
	d.t.Helper()
	for d.iteration = 0; d.iteration < n && !d.Signalled() && !d.aborted; d.iteration++ {
		if err := e.Execute(d); err != nil {
			d.t.Fatalf("iteration %d: %v", d.iteration, err)
		}
	}
}

// open lists the streams that are not sealed.
func (d *dispatch) open() []string {
	var ids []string
	for id, s := range d.streams {
		if !s.sealed {
			ids = append(ids, id)
		}
	}
	return ids
}

func (d *dispatch) Iteration() int  { return d.iteration }
func (d *dispatch) Aborted() bool   { return d.aborted }
func (d *dispatch) Signalled() bool { return d.acked || d.nacked != nil }
func (d *dispatch) State() *any     { return &d.state }

func (d *dispatch) Stamp() int64 {
	d.clock++
	return d.clock
}

func (d *dispatch) Elapsed() uint64 { return d.elapsed }
func (d *dispatch) Now() int64      { return 784111777000 } // Sun, 06 Nov 1994 08:49:37 GMT
func (d *dispatch) Random() uint64  { return d.random }

func (d *dispatch) Sleep(ms uint64) error {
	d.slept = append(d.slept, ms)
	if d.onSleep != nil {
		d.onSleep()
	}
	if d.aborted {
		return errors.New("aborted")
	}
	d.elapsed += ms
	return nil
}

func (d *dispatch) Floor(ms int64) { d.clock = max(d.clock, ms) }

func (d *dispatch) NewID(prefix string) string {
	d.minted++
	return "turn." + prefix + strconv.Itoa(d.minted)
}

func (d *dispatch) Nonce(kind record.Kind, id []byte) string {
	return trust.Nonce([]byte("seed"), []byte{byte(kind)}, id)
}

func (d *dispatch) Stash(key string) ([]byte, bool) {
	return d.stash, key == chat.OverrideKey && d.stash != nil
}

func (d *dispatch) SystemPrompt() string { return d.prompt }

func (d *dispatch) Instructions(yield func(text []byte) bool) {
	for _, s := range d.instructions {
		if !yield([]byte(s)) {
			return
		}
	}
}

// Version is the version that the test last set, and the current size.
func (d *dispatch) Version(kind record.Kind) (version uint32, size int) {
	list, seen := d.records[kind], d.seen[kind]
	if d.hand != nil { // passed on
		return d.versions[kind], len(list)
	}
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
		d.visited++
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

func (d *dispatch) ArtifactSize(kind record.Kind, handle int64, part int) (bytes, lines uint64, err error) {
	d.read = append(d.read, "size "+strconv.Itoa(part))
	return 1000, 20, d.failRead
}

func (d *dispatch) ArtifactText(kind record.Kind, handle int64, part int) ([]byte, error) {
	d.read = append(d.read, "text "+strconv.Itoa(part))
	return []byte("text " + strconv.Itoa(part) + " of " + kind.String()), d.failRead
}

func (d *dispatch) MediaSize(handle int64, part int) (int64, error) {
	d.read = append(d.read, "media "+strconv.Itoa(part))
	return d.mediaSize, d.failRead
}

func (d *dispatch) ReaderTools(class string) []string { return []string{"read_" + class, "read"} }

func (d *dispatch) Tools(yield func(*runtime.Tool) bool) {
	for _, t := range d.tools {
		if !yield(t) {
			return
		}
	}
}

func (d *dispatch) Tool(name string) (*runtime.Tool, bool) {
	for _, t := range slices.Concat(d.tools, d.hidden) {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

func (d *dispatch) report(kind, id string, delta []byte, complete bool) error {
	s := d.streams[id]
	if s == nil {
		s = &stream{}
		d.streams[id] = s
	}
	if s.sealed {
		return errSealed
	}
	s.text = append(s.text, delta...)
	s.sealed = complete
	if d.onReport != nil {
		d.onReport()
	}
	if d.failReport != nil {
		return d.failReport
	}
	if !d.quiet {
		line := kind + " " + id + " " + string(delta)
		if complete {
			line += "|"
		}
		d.events = append(d.events, line)
	}
	return nil
}

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

// seal ends the line of an interrupted stream with ! instead of |.
func (d *dispatch) seal(kind, id string, interrupted bool) error {
	n := len(d.events)
	err := d.report(kind, id, nil, true)
	if interrupted && len(d.events) > n {
		d.events[n] = d.events[n][:len(d.events[n])-1] + "!"
	}
	return err
}

func (d *dispatch) ReportToolCall(id string, r runtime.ToolCallReport) error {
	text := r.Tool
	if r.Args != nil {
		text += d.json(r.Args)
	}
	if r.Results != nil {
		text += d.json(r.Results)
	}
	if r.Kept != 0 {
		text += "kept " + strconv.Itoa(int(r.Kept))
	}
	if r.HasIsError && r.IsError {
		text += " failed"
	}
	return d.report("call", id, []byte(text), r.Complete)
}

func (d *dispatch) json(v []byte) string {
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		d.t.Fatalf("%v in %x", err, v)
	}
	return string(text)
}

func (d *dispatch) ReportStats(stats []byte) error {
	if err := value.Check(stats); err != nil {
		d.t.Fatalf("stats: %v", err)
	}
	d.stats = bytes.Clone(stats)
	if !d.quiet {
		d.events = append(d.events, "stats")
	}
	return nil
}

func (d *dispatch) Log(level chat.Level, kind, message string, payload []byte) {
	d.logs = append(d.logs, kind+": "+message)
	if payload != nil {
		d.payloads = append(d.payloads, d.json(payload))
	}
}

func (d *dispatch) store(kind record.Kind, body []byte) error {
	if !d.quiet {
		d.events = append(d.events, "store "+string(record.ID(kind, body)))
	}
	d.add(kind, body)
	return nil
}

func (d *dispatch) StoreMessage(body []byte) error { return d.store(record.Messages, body) }
func (d *dispatch) StoreThought(body []byte) error { return d.store(record.Thoughts, body) }

func (d *dispatch) StoreToolCall(body []byte, kept uint32) error {
	d.kept = append(d.kept, kept)
	return d.store(record.ToolCalls, body)
}

func (d *dispatch) ExecuteTool(t *runtime.Tool, args []byte, run runtime.ToolRun, timeout uint64) (runtime.ToolResult, error) {
	d.events = append(d.events, "run "+t.Name+d.json(args))
	v, err := d.run(t, args)
	if err == nil && record.IsParts(v) {
		return runtime.ToolResult{Parts: v, Effect: 7}, nil
	}
	return runtime.ToolResult{Value: v}, err
}

func (d *dispatch) Each(n, atOnce int, body func(d chat.Dispatch, i int) error) error {
	d.atOnce = atOnce
	errs := make([]error, n)
	for i := range n {
		if d.order != nil {
			i = d.order[i]
		}
		errs[i] = body(d, i)
	}
	return errors.Join(errs...)
}

func (d *dispatch) HTTP(r *runtime.HTTPRequest) (runtime.Stream, error) {
	if d.hand != nil {
		d.hand(r.Body)
		return d.answer(r)
	}
	d.requests, d.splices = append(d.requests, bytes.Clone(r.Body)), slices.Clone(r.Splices)
	return d.answer(r)
}

func (d *dispatch) Model(r *runtime.ModelRequest) (runtime.Stream, error) {
	d.requests, d.splices = append(d.requests, bytes.Clone(r.Body)), slices.Clone(r.Splices)
	return d.generate(r)
}

func (d *dispatch) Ack() error {
	if d.Signalled() {
		return errors.New("already signalled")
	}
	d.acked = true
	return nil
}

func (d *dispatch) Nack(err error) error {
	if d.Signalled() {
		return errors.New("already signalled")
	}
	d.nacked = err
	return nil
}

// response is a Stream that returns a response in parts.
type response struct {
	status    int
	mime      string
	headers   [][2]string
	parts     [][]byte
	err       error // instead of the end
	onNext    func(n int)
	idle      uint64
	cancelled bool
	at        int
}

func (r *response) Next() (runtime.Chunk, bool, error) {
	if r.onNext != nil {
		r.onNext(r.at)
	}
	if r.at == 0 {
		r.at++
		status := r.status
		if status == 0 {
			status = 200
		}
		mime := r.mime
		if mime == "" {
			mime = "text/event-stream; charset=utf-8"
		}
		return runtime.Chunk{Status: status, Headers: append(r.headers, [2]string{"content-type", mime})}, true, nil
	}
	if r.at <= len(r.parts) {
		r.at++
		return runtime.Chunk{Data: r.parts[r.at-2]}, true, nil
	}
	return runtime.Chunk{}, false, r.err
}

func (r *response) Idle(ms uint64) { r.idle = ms }
func (r *response) Cancel()        { r.cancelled = true }

// split cuts text into random parts of at most 40 bytes, reproducibly; seed 0 leaves it whole.
func split(text string, seed uint64) [][]byte {
	var parts [][]byte
	for seed != 0 && len(text) > 0 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		n := min(int(seed%40)+1, len(text))
		parts = append(parts, []byte(text[:n]))
		text = text[n:]
	}
	if len(text) > 0 {
		parts = append(parts, []byte(text))
	}
	return parts
}

// replies answers requests with the given bodies, in order.
func (d *dispatch) replies(bodies ...string) {
	n := 0
	d.answer = func(*runtime.HTTPRequest) (runtime.Stream, error) {
		if n == len(bodies) {
			d.t.Fatal("a request too many")
		}
		n++
		return &response{parts: split(bodies[n-1], 0)}, nil
	}
}

func newExecutor(t testing.TB, options string) *chat.Executor {
	t.Helper()
	e, err := chat.New(fromJSON(t, options), provider.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func fromJSON(t testing.TB, text string) []byte {
	t.Helper()
	v, err := value.FromJSON(nil, []byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}
