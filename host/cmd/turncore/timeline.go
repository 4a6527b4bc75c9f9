package main

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/journal"
)

// timeline is what happened in a turn, from the frames of its journal. The npm package's command prints the same bytes.
type timeline struct {
	header  journal.Header
	verbose bool

	runners map[int64]frame  // OpenRunner by number
	start   *frame           // StartTurn, or StartInvocation
	named   map[int64]string // tools by number
	agents  map[int64]string // by number
	end     *frame           // End

	now        int64 // ms since the start
	moments    []*moment
	depths     map[int64]int // of contexts
	iterating  map[int64]bool
	effects    map[int64]*moment
	calls      map[int64]*moment
	streams    map[string]*moment
	dispatches map[int64]*moment
	iterations map[int64]*moment // by context: the one that runs
	gates      map[int64]*moment // by number
	tools      []*moment         // those that have no result yet
	requests   int               // to models
	called     int               // tools
	tokens     [2]int64          // prompt, completion
}

// moment is a line of the timeline.
type moment struct {
	at     int64
	depth  int
	label  string
	text   string
	tail   string // how it went
	body   []string
	style  style
	hidden bool
	kind   string // of an effect
	key    string // of a tool call
	begun  int64
	status int64 // of a response
	head   int64 // when it came
	size   int   // bytes of a response
	chunks []byte
	ended  bool
}

// frame holds the fields of all frames that matter here.
type frame struct {
	Frame, Kind, Method, Code, ID string
	Collection, Edit, Sync        string
	User, Session                 string // of an invocation
	System                        string `json:"systemPrompt"`

	Runner, Effect, Call, Context, Dispatch, Iteration int64 // numbers of them
	Elapsed, Now                                       int64 // ms
	Count, Other, Iterations                           int64
	Standalone                                         bool

	Initial       []block
	Tools, Agents []struct {
		Number int64
		Name   string
	}
	Error, Reason *failure

	Chat, Args, Payload, Data, Message, Status json.RawMessage // which are read where they matter
}

type block struct {
	Collection string
	Count      int64
	Data       json.RawMessage
}

// failure is an error on the wire.
type failure struct {
	Name, Code, Message string
	Cause               *failure
	given               bool // it is one; a damaged journal may hold anything in its place
}

// UnmarshalJSON takes an object for an error, and anything else for none.
func (f *failure) UnmarshalJSON(text []byte) error {
	if f.given = text[0] == '{' || text[0] == '['; f.given {
		type plain failure
		_ = json.Unmarshal(text, (*plain)(f)) // a field of another type stays empty
	}
	return nil
}

// happened tells whether there is an error.
func (f *failure) happened() bool { return f != nil && f.given }

// String is its code, its message and what led to it.
func (f *failure) String() string {
	text := cmp.Or(f.Code, f.Name)
	if f.Message != "" && text != "" {
		text += ": "
	}
	text += f.Message
	if f.Cause.happened() {
		text += " (because of " + f.Cause.String() + ")"
	}
	return text
}

// frame takes the next frame.
func (t *timeline) frame(text json.RawMessage) {
	f := &frame{}
	_ = json.Unmarshal(text, f) // a field of another type stays empty
	if t.depths == nil {
		t.runners, t.depths, t.iterating = map[int64]frame{}, map[int64]int{}, map[int64]bool{}
		t.effects, t.calls, t.gates = map[int64]*moment{}, map[int64]*moment{}, map[int64]*moment{}
		t.named, t.agents = map[int64]string{}, map[int64]string{}
		t.streams, t.dispatches, t.iterations = map[string]*moment{}, map[int64]*moment{}, map[int64]*moment{}
	}
	switch f.Frame {
	case "Call", "Result", "Chunk", "Abort", "Tick", "Event":
		t.now = max(t.now, f.Elapsed)
	}
	switch f.Frame {
	case "OpenRunner":
		t.runners[f.Runner] = *f
		for _, tool := range f.Tools {
			t.named[tool.Number] = tool.Name
		}
	case "OpenAgents":
		for _, agent := range f.Agents {
			t.agents[agent.Number] = agent.Name
		}
	case "StartTurn":
		t.begin(f)
	case "StartInvocation":
		t.start = f
	case "Edit":
		if f.Edit == "addHistory" {
			t.add(&moment{label: "history", text: fmt.Sprintf("%d %s", f.Count, f.Collection), style: faint})
		}
	case "Call":
		t.calls[f.Call] = t.add(&moment{depth: t.depth(f.Context), label: "call", text: f.Method, style: faint, hidden: !t.verbose})
		if t.verbose && len(f.Args) > 0 && string(f.Args) != "null" {
			t.calls[f.Call].body = []string{string(f.Args)}
		}
	case "Reply":
		if m := t.calls[f.Call]; m != nil {
			t.settle(m, f)
			if f.Error.happened() {
				m.hidden = false
			}
		}
	case "Sync":
		if f.Sync == "open" {
			t.depths[f.Context] = t.depth(f.Other) + 1
		}
	case "Effect":
		if t.invocation() {
			t.invoked(f)
		} else {
			t.effect(f)
		}
	case "Chunk":
		t.chunk(f)
	case "Result":
		if m := t.effects[f.Effect]; m != nil {
			t.settle(m, f)
		}
	case "Cancel":
		if m := t.effects[f.Effect]; m != nil && !m.ended {
			m.tail += ", cancelled"
		}
	case "Abort":
		what := "the turn"
		if t.invocation() {
			what = "the invocation"
		}
		if f.Context > 0 {
			what = fmt.Sprintf("dispatch %d", f.Context)
		}
		if f.Reason.happened() {
			what += ": " + f.Reason.String()
		}
		t.add(&moment{depth: t.depth(f.Context), label: "abort", text: what, style: bad})
	case "Event":
		t.event(f)
	case "End":
		t.end = f
	case "Fault":
		var message string
		_ = json.Unmarshal(f.Message, &message) // a text in this frame
		t.add(&moment{label: "fault", text: f.Code + ": " + message, style: bad})
	case "":
		t.add(&moment{label: "malformed", text: t.cut(string(text)), style: bad})
	}
}

func (t *timeline) add(m *moment) *moment {
	m.at, m.begun = t.now, t.now
	t.moments = append(t.moments, m)
	return m
}

// depth is how far what happens in a context is indented.
func (t *timeline) depth(context int64) int {
	if t.invocation() {
		return int(min(context, 1)) // its contexts are model calls, one after the other
	}
	depth := t.depths[context]
	if t.iterating[context] {
		depth++
	}
	return depth
}

func (t *timeline) begin(f *frame) {
	t.start = f
	var message block
	_ = json.Unmarshal(f.Message, &message) // a block in this frame
	for _, b := range append([]block{message}, f.Initial...) {
		var records []json.RawMessage
		if json.Unmarshal(b.Data, &records) != nil || records == nil || b.Collection != "messages" {
			if b.Count > 0 {
				t.add(&moment{label: "history", text: fmt.Sprintf("%d %s", b.Count, b.Collection), style: faint})
			}
			continue
		}
		for _, r := range records {
			message := membersOf(r)
			t.say(t.add(&moment{label: message.text("role")}), message.text("content"))
		}
	}
}

// members are the members of a value of the host's or a model's, by their names as they are: a struct would take names
// that differ in case for its own.
type members map[string]any

// membersOf are those of an object; anything else has none.
func membersOf(object json.RawMessage) (m members) {
	_ = json.Unmarshal(object, &m)
	return m
}

// text is a member that is a text, "" for any other.
func (m members) text(name string) string {
	text, _ := m[name].(string)
	return text
}

// number is a member that is a whole number, 0 for any other.
func (m members) number(name string) int64 {
	n, _ := m[name].(float64)
	if n != math.Trunc(n) || math.Abs(n) > maxWhole {
		return 0
	}
	return int64(n)
}

// maxWhole is the largest number up to which every whole one is a float64.
const maxWhole = 1<<53 - 1

// say gives a moment a text that people wrote or read: whole or its beginning.
func (t *timeline) say(m *moment, text string) {
	if !t.verbose {
		m.text = short(text)
		return
	}
	lines := strings.Split(text, "\n")
	m.text, m.body = lines[0], lines[1:]
}

// longestMoment is how much of a text is shown, in characters.
const longestMoment = 200

// short is a text in one line, its beginning if it is long.
func short(text string) string {
	var line []rune
	gap := false
	for _, r := range text {
		if isSpace(r) {
			gap = len(line) > 0
			continue
		}
		if gap && len(line) < longestMoment {
			line = append(line, ' ')
		}
		gap = false
		// A text can be megabytes: nothing beyond its beginning is read.
		if len(line) == longestMoment {
			return string(line) + "…"
		}
		line = append(line, r)
	}
	return string(line)
}

func isSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

func (t *timeline) effect(f *frame) {
	label := f.Kind
	if label == "store" {
		label = "write"
	}
	m := t.add(&moment{depth: t.depth(f.Context), label: label, kind: f.Kind, style: faint})
	t.effects[f.Effect] = m
	var args struct {
		Pipeline    string
		Index       int64
		Iteration   int64
		Method, URL string
		Body        json.RawMessage
		Write       string
		Collection  string
		ID          string
		Deltas      []struct{ Write, Collection string }
		Model       string
	}
	_ = json.Unmarshal(f.Args, &args) // what is missing is not shown
	switch f.Kind {
	case "executor":
		m.style, m.text = plain, fmt.Sprintf("iteration %d", args.Iteration)
	case "middleware":
		m.text = fmt.Sprintf("%s %d", args.Pipeline, args.Index)
	case "tool":
		m.hidden = true // its events are shown
	case "store":
		m.text = strings.TrimSpace(args.Write + " " + args.Collection + " " + args.ID)
	case "commit", "discard":
		var writes []string
		for _, d := range args.Deltas {
			writes = append(writes, d.Write+" "+d.Collection)
		}
		m.text = strings.Join(writes, ", ")
	case "http":
		m.style = plain
		m.text = args.Method + " " + args.URL
		if body := bytesOf(args.Body); len(body) > 0 {
			m.text += fmt.Sprintf(", %d bytes", len(body))
			t.attach(m, body)
		}
		t.requests++
	case "model":
		m.style = plain
		body := bytesOf(args.Body)
		m.text = fmt.Sprintf("%s, %d bytes", args.Model, len(body))
		t.attach(m, body)
		t.requests++
	default:
		m.text = short(string(f.Args))
	}
}

// attach shows a body, if all is to be shown.
func (t *timeline) attach(m *moment, body []byte) {
	if t.verbose && len(body) > 0 {
		m.body = append(m.body, strings.Split(strings.TrimRight(value.UTF8(string(body)), "\r\n"), "\n")...)
	}
}

// bytesOf are the bytes of a byte string: a JSON string, or {"hex": …}.
func bytesOf(text json.RawMessage) []byte {
	var s string
	if json.Unmarshal(text, &s) == nil {
		return []byte(s)
	}
	var other struct{ Hex string }
	_ = json.Unmarshal(text, &other)
	b, _ := hex.DecodeString(other.Hex)
	return b
}

func (t *timeline) chunk(f *frame) {
	m := t.effects[f.Effect]
	if m == nil {
		return
	}
	var status int64
	_ = json.Unmarshal(f.Status, &status) // a number in this frame
	if status != 0 {
		m.status, m.head = status, t.now
	}
	data := bytesOf(f.Data)
	m.size += len(data)
	if t.verbose {
		m.chunks = append(m.chunks, data...)
	}
}

// settle tells how an effect or a call went.
func (t *timeline) settle(m *moment, f *frame) {
	if m.ended {
		return
	}
	m.ended = true
	if m.status != 0 {
		m.tail += fmt.Sprintf(" → %d after %s", m.status, duration(m.head-m.begun))
	}
	if m.size > 0 {
		m.tail += fmt.Sprintf(", %d bytes", m.size)
	}
	m.tail += ", " + duration(t.now-m.begun)
	t.attach(m, m.chunks)
	t.blame(m, f.Error)
}

func (t *timeline) event(f *frame) {
	depth := t.depth(f.Dispatch)
	var p struct {
		ID, Delta, Tool, Checksum   string
		CallID                      string `json:"callId"`
		ExecutionID                 string `json:"executionId"`
		Args, Value, Payload, Stats json.RawMessage
		Complete, IsError           bool
		Results, Status, Kind       string
		Message, Reason, Result     string
		Started, Iterations, Level  int64
		Gate                        int64
		Discarded                   []json.RawMessage
		Error                       *failure
	}
	_ = json.Unmarshal(f.Payload, &p) // what is missing is not shown
	switch f.Kind {
	case "message", "thought", "messageInterrupted", "thoughtInterrupted":
		label, broken := strings.CutSuffix(f.Kind, "Interrupted")
		m := t.streams[label+p.ID]
		if m == nil {
			m = t.add(&moment{depth: depth, label: label})
			if label == "thought" {
				m.style = faint
			}
			t.streams[label+p.ID] = m
		}
		m.chunks = append(m.chunks, p.Delta...)
		if t.say(m, string(m.chunks)); broken {
			m.tail = " (broken off)"
		}
	case "dispatchStart":
		t.dispatches[f.Dispatch] = t.add(&moment{depth: t.depth(f.Dispatch) - 1, label: "dispatch", text: fmt.Sprint(f.Dispatch)})
	case "dispatchEnd":
		if m := t.dispatches[f.Dispatch]; m != nil {
			m.tail = fmt.Sprintf(" → %s after %s, %s", p.Status, count(p.Iterations, "iteration"), duration(t.now-m.begun))
			t.blame(m, p.Error)
		}
	case "iterationStart":
		t.iterations[f.Dispatch] = t.add(&moment{depth: depth, label: "iteration", text: fmt.Sprint(f.Iteration)})
		t.iterating[f.Dispatch] = true
	case "iterationEnd":
		if m := t.iterations[f.Dispatch]; m != nil {
			m.tail = fmt.Sprintf(" → %s, %s", p.Status, duration(t.now-m.begun))
			if n := len(p.Discarded); n > 0 {
				m.tail += ", " + count(int64(n), "write") + " discarded"
			}
		}
		t.iterating[f.Dispatch] = false
	case "toolExecutionStart":
		t.tools = append(t.tools, t.add(&moment{
			depth: depth, label: "tool", text: p.Tool + " " + t.cut(string(p.Args)), style: accent, key: p.CallID + p.ExecutionID,
		}))
		t.called++
	case "toolExecutionEnd":
		for _, m := range t.tools {
			if m.key == p.CallID+p.ExecutionID && !m.ended {
				m.ended, m.tail = true, ", "+duration(t.now-m.begun)
				break
			}
		}
	case "toolCall":
		if p.Complete {
			t.result(depth, p.Tool, p.Checksum, p.ExecutionID, p.Args, p.Results, p.Value, p.IsError)
		}
	case "turnGateOpen":
		m := t.add(&moment{depth: depth, label: "gate", text: strings.TrimSpace(p.ID + " " + p.Reason), style: warn})
		if len(p.Payload) > 0 && string(p.Payload) != "null" {
			m.text += " " + t.cut(string(p.Payload))
		}
		m.tail = " → open"
		t.gates[p.Gate] = m
	case "turnGateClosed":
		if m := t.gates[p.Gate]; m != nil {
			m.tail = fmt.Sprintf(" → %s after %s", p.Result, duration(t.now-m.begun))
		}
	case "log":
		level := "log"
		if p.Level >= 0 && p.Level < 5 {
			level = [...]string{"trace", "debug", "info", "warn", "error"}[p.Level]
		}
		m := t.add(&moment{depth: depth, label: "log", text: level + " " + strings.TrimSpace(p.Kind+" "+p.Message), style: faint})
		if len(p.Payload) > 0 && string(p.Payload) != "null" {
			m.text += " " + t.cut(string(p.Payload))
		}
	case "warning":
		m := t.add(&moment{depth: depth, label: "warning", text: p.Kind + ": " + p.Message, style: warn})
		if p.Error.happened() {
			m.tail = " ✗ " + p.Error.String()
		}
	case "error":
		if p.Error.happened() {
			t.add(&moment{depth: depth, label: "error", text: p.Error.String(), style: bad})
		}
	case "generationStats":
		t.stats(depth, p.Stats)
	}
}

// cut is a text in one line, whole if all is to be shown.
func (t *timeline) cut(text string) string {
	if t.verbose {
		return text
	}
	return short(text)
}

// blame tells about the error that ended something.
func (t *timeline) blame(m *moment, e *failure) {
	if e.happened() {
		m.tail += " ✗ " + e.String()
		m.style = bad
	}
}

// result shows what came out of a tool call. One that was refused before it ran has not been shown yet.
func (t *timeline) result(depth int, tool, checksum, execution string, args json.RawMessage, where string, value json.RawMessage, isError bool) {
	var m *moment
	for i, other := range t.tools {
		if other.key == checksum+execution || execution == "" && strings.HasPrefix(other.key, checksum) {
			m = other
			t.tools = append(t.tools[:i:i], t.tools[i+1:]...)
			break
		}
	}
	if m == nil {
		m = t.add(&moment{depth: depth, label: "tool", text: strings.TrimSpace(tool + " " + t.cut(string(args))), style: accent, ended: true})
		m.tail = ", not run"
	}
	text := "(the host has the result)"
	if where == "value" {
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
	} else if where == "none" {
		text = "(no result)"
	}
	arrow := "← "
	if isError {
		arrow, m.style = "✗ ", bad
	}
	lines := []string{short(text)}
	if t.verbose {
		lines = strings.Split(text, "\n")
	}
	lines[0] = arrow + lines[0]
	m.body = append(m.body, lines...)
}

func (t *timeline) stats(depth int, text json.RawMessage) {
	s := membersOf(text)
	prompt, completion := s.number("promptTokens"), s.number("completionTokens")
	t.tokens[0] += prompt
	t.tokens[1] += completion
	m := t.add(&moment{depth: depth, label: "tokens", text: fmt.Sprintf("%d in, %d out", prompt, completion), style: faint})
	for _, more := range []string{s.text("finishReason"), s.text("model")} {
		if more != "" {
			m.text += ", " + more
		}
	}
	if t.verbose {
		m.body = []string{string(text)}
	}
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// duration is a time in ms, for people.
func duration(ms int64) string {
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case ms < 60_000:
		return fmt.Sprintf("%d.%d s", ms/1000, ms%1000/100)
	}
	return fmt.Sprintf("%d min %d s", ms/60_000, ms%60_000/1000)
}

// print writes the timeline.
func (t *timeline) print(out *output) {
	t.printHead(out)
	for _, m := range t.moments {
		if !m.hidden {
			m.print(out)
		}
	}
	end := &moment{at: t.now, label: "ended", style: bad}
	var status string
	switch {
	case t.start == nil:
		end.text = "no turn begins in this journal"
	case t.end == nil && t.invocation():
		end.text = "not: the journal stops while the invocation runs"
	case t.end == nil:
		end.text = "not: the journal stops while the turn runs"
	default:
		_ = json.Unmarshal(t.end.Status, &status) // a name in this frame
		end.text = fmt.Sprintf("%s after %s, %s", status, count(t.end.Iterations, "iteration"), duration(t.now))
		if t.invocation() {
			end.text = fmt.Sprintf("%s after %s", status, duration(t.now))
		}
		if status == "ack" {
			end.style = plain
		}
		t.blame(end, t.end.Error)
	}
	end.print(out)
	out.line(styled{faint, fmt.Sprintf("%22s%s, %s, %d tokens in, %d out", "", count(int64(t.requests), "request"),
		count(int64(t.called), "tool call"), t.tokens[0], t.tokens[1])})
}

// maxTime is the end of the year 9999, in ms.
const maxTime = 253402300799999

// printHead writes what the turn is and what it begins with.
func (t *timeline) printHead(out *output) {
	field := func(name, text string) {
		if text != "" {
			out.line(styled{faint, fmt.Sprintf("%-8s", name)}, styled{plain, text})
		}
	}
	h := &t.header
	engine := h.Engine
	if module := h.Module; module != "" && module != h.Engine {
		engine += ", module " + module[:min(12, len(module))]
	}
	engine += fmt.Sprintf(", ABI %d.%d", h.ABI>>16, h.ABI&0xffff)
	if t.start != nil {
		what := "turn"
		if t.start.Standalone {
			what = "dispatch"
		}
		if t.invocation() {
			what = "invocation "
		}
		field(what, t.start.ID)
		began := fmt.Sprint(t.start.Now)
		if t.start.Now >= 0 && t.start.Now <= maxTime {
			began = time.UnixMilli(t.start.Now).UTC().Format("2006-01-02T15:04:05.000Z")
		}
		field("began", began)
		if t.invocation() {
			field("session", t.start.Session+" of "+t.start.User)
		}
	}
	field("engine", engine)
	if t.start != nil {
		runner := t.runners[t.start.Runner]
		chat := membersOf(runner.Chat) // none for an executor of the host's
		model := chat.text("model")
		if provider := chat.text("provider"); provider != "" {
			model += " of " + provider
		}
		if baseURL := chat.text("baseURL"); baseURL != "" {
			model += " at " + baseURL
		}
		field("model", model)
		var names []string
		for _, tool := range runner.Tools {
			names = append(names, tool.Name)
		}
		field("tools", strings.Join(names, ", "))
		field("system", t.cut(t.start.System))
	}
	out.line()
}

// textColumn is where texts begin, without indentation.
const textColumn = 22

func (m *moment) print(out *output) {
	text := m.text
	if !m.ended && (m.kind != "" || m.label == "tool") && m.tail == "" {
		m.tail = ", not ended"
	}
	indent := strings.Repeat("  ", max(m.depth, 0))
	out.line(styled{faint, fmt.Sprintf("%4d.%03d  ", m.at/1000, m.at%1000)},
		styled{m.style, strings.TrimRight(fmt.Sprintf("%s%-10s  %s%s", indent, m.label, text, m.tail), " ")})
	for _, line := range m.body {
		out.line(styled{m.style, strings.TrimRight(fmt.Sprintf("%*s%s%s", textColumn, "", indent, line), " ")})
	}
}
