package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// seam is the context of a scripted host function: the turn's (d nil) or a dispatch's.
type seam struct {
	*play
	task Task
	d    *Dispatch
	n    int // iteration
}

type (
	executor   func(s *seam) error
	middleware func(s *seam, next func()) error
)

// play is a scripted host: it runs the host functions in place, records the core's output, and mirrors collections.
type play struct {
	t      testing.TB
	config Config
	turn   *Turn

	executor  executor
	pipelines [4][]middleware
	handler   func(s *seam, call *CallTool) ([]byte, error)
	stored    func(task Task, what string) error // one write; nil succeeds
	committed func(task Task, deltas []Delta) error
	discarded func(task Task, e *Discard) error
	message   string // text of the turn's own message
	prepare   func(p *play)
	listen    func(payload any)
	due       uint64 // of the requested tick

	library library // of artifacts

	words   []string
	events  []noted
	storage []string // calls of storage callbacks, in order
	mirror  [][Collections][]int64
	signals map[uint32]int64 // of dispatches, by number
	timers  []uint64         // requested
	expired []uint32         // contexts aborted by a deadline
	names   map[int64]string
	next    int64
	effects uint32
	seq     uint32
	opened  []string // begin events without their end
}

// noted is an event as received.
type noted struct {
	Head
	payload any
}

var (
	errX        = &fault.Error{Name: "Error", Message: "X", Handle: 901}
	errY        = &fault.Error{Name: "Error", Message: "Y", Handle: 902}
	abortion    = &fault.Error{Name: "AbortError", Message: "stop", Handle: 903, Abort: true}
	gateResults = [...]string{"resolved", "rejected", "aborted", "timeout"}
	statuses    = [...]string{"ack", "nack", "aborted", "failed", "continue"}
	verbs       = [...]string{"store", "mutate", "delete", "replace"}
	eventWord   = map[EventKind]string{
		EventMessage: "msg", EventThought: "th", EventTurnStart: "tS", EventGenerationStats: "stats",
	}
)

// run plays a turn to its end and returns its result.
func (p *play) run() (Status, int, error) {
	p.t.Helper()
	return p.start(Input{ID: "T", Now: 1000, SystemPrompt: "test"})
}

func (p *play) start(in Input) (Status, int, error) {
	p.t.Helper()
	if !p.open(in) {
		return StatusFailed, 0, errors.New("refused")
	}
	var own int64
	if p.message != "" {
		own = p.record(record.Messages, "own", p.message)
	}
	status, iterations, err := p.turn.Run(hand{p}, own)
	p.finish()
	return status, iterations, err
}

// standalone plays a dispatch without a turn.
func (p *play) standalone(in Input) (Status, int, error) {
	p.t.Helper()
	if !p.open(in) {
		return StatusFailed, 0, errors.New("refused")
	}
	status, iterations, err := p.turn.Standalone(hand{p})
	p.finish()
	return status, iterations, err
}

func (p *play) open(in Input) bool {
	p.t.Helper()
	p.words, p.events, p.storage, p.opened = nil, nil, nil, nil
	p.mirror, p.names, p.next, p.effects, p.seq = make([][Collections][]int64, 1), map[int64]string{}, 1, 0, 0
	p.signals, p.expired, p.timers = map[uint32]int64{}, nil, nil
	p.library.reset()
	for i := range p.pipelines {
		list := []*[]Middleware{&p.config.TurnInput, &p.config.TurnOutput, &p.config.DispatchInput, &p.config.DispatchOutput}[i]
		if *list == nil {
			for k := range p.pipelines[i] {
				*list = append(*list, Middleware{Index: k})
			}
		}
	}
	turn, err := NewTurn(&p.config, in, p)
	if err != nil {
		p.t.Logf("refused: %v", err)
		p.words = append(p.words, "refused("+codeOf(err)+")")
		return false
	}
	p.turn = turn
	if p.prepare != nil {
		p.prepare(p)
	}
	return true
}

// finish checks invariants of every turn.
func (p *play) finish() {
	p.t.Helper()
	if len(p.opened) > 0 {
		p.t.Errorf("%v began and did not end", p.opened)
	}
	for _, d := range p.turn.dispatches {
		if told := p.signals[d.number] != 0; told != d.signalled() {
			p.t.Errorf("dispatch %d: signalled %v, and the host was told %v", d.number, d.signalled(), told)
		}
	}
	for context := range p.mirror {
		sums, ok := p.turn.Digest(uint32(context))
		if !ok {
			p.t.Fatalf("there is no context %d", context)
		}
		for kind, handles := range p.mirror[context] {
			if p.turn.standalone && context == 0 {
				continue
			}
			if got := digestOf(handles); got != sums[kind] {
				p.t.Errorf("context %d: the host's copy of its %ss is %v, the core's differs", context, record.Kind(kind), p.list(uint32(context), record.Kind(kind)))
			}
		}
	}
}

// want compares the events, in short form.
func (p *play) want(words string) {
	p.t.Helper()
	if got := strings.Join(p.words, " "); got != words {
		p.t.Errorf("events\n got %s\nwant %s", got, words)
	}
}

// Stream implements World.
func (p *play) Stream(h Head, e StreamEvent) {
	e.ID, e.Delta = slices.Clone(e.ID), slices.Clone(e.Delta)
	p.Event(h, e)
}

// Event implements World.
func (p *play) Event(h Head, payload any) {
	p.t.Helper()
	if h.Seq != p.seq+1 {
		p.t.Errorf("seq %d, want %d", h.Seq, p.seq+1)
	}
	if h.Scope != ScopeDispatch || p.turn.standalone {
		p.seq++ // an event that the turn's listeners do not get leaves no gap in their sequence
	}
	if n := len(p.events); n > 0 && h.Elapsed < p.events[n-1].Elapsed {
		p.t.Errorf("elapsed %d after %d", h.Elapsed, p.events[n-1].Elapsed)
	}
	p.events = append(p.events, noted{h, payload})
	p.words = append(p.words, p.word(h, payload))
	if p.listen != nil {
		p.listen(payload)
	}
}

// Timer implements World.
func (p *play) Exceeded() {}

func (p *play) Timer(due uint64) { p.due, p.timers = due, append(p.timers, due) }

// nested records begin and end events, which must nest properly.
func (p *play) nested(name string, begin bool) {
	p.t.Helper()
	if begin {
		p.opened = append(p.opened, name)
		return
	}
	if n := len(p.opened); n == 0 || p.opened[n-1] != name {
		p.t.Errorf("%s ends within %v", name, p.opened)
		return
	}
	p.opened = p.opened[:len(p.opened)-1]
}

func (p *play) word(h Head, payload any) string {
	mark := ""
	if h.Dispatch > 1 {
		mark = fmt.Sprintf("#%d", h.Dispatch)
	}
	switch e := payload.(type) {
	case *TurnEndEvent:
		p.nested("turn", false)
		return "tE(" + statuses[e.Status] + codeSuffix(e.Err) + ")"
	case *DispatchEndEvent:
		p.nested("dispatch"+mark, false)
		return fmt.Sprintf("dE%s(%s,%d%s)", mark, statuses[e.Status], e.Iterations, codeSuffix(e.Err))
	case *IterationEndEvent:
		p.nested("iteration"+mark, false)
		word := fmt.Sprintf("iE%s(%d,%s", mark, h.Iteration, statuses[e.Status])
		for _, d := range e.Discarded {
			word += ",-" + p.deltaWord(d)
		}
		return word + ")"
	case *ToolCallEvent:
		return fmt.Sprintf("tc(%t)", e.Complete)
	case *CallTool:
		return "xS"
	case *ToolEndEvent:
		return fmt.Sprintf("xE(%t)", e.IsError)
	case *GateOpenEvent:
		return "gO"
	case *GateClosedEvent:
		return "gC(" + gateResults[e.Result] + ")"
	case *LogEvent:
		return fmt.Sprintf("log(%d)", e.Level)
	case *WarningEvent:
		return "warn(" + e.Kind + ")"
	case *ErrorEvent:
		if h.Scope == ScopeDispatch {
			return "derr" + mark + "(" + codeOf(e.Err) + ")"
		}
		return "err(" + codeOf(e.Err) + ")"
	}
	switch h.Kind {
	case EventTurnStart:
		p.nested("turn", true)
	case EventDispatchStart:
		p.nested("dispatch"+mark, true)
		return "dS" + mark
	case EventIterationStart:
		p.nested("iteration"+mark, true)
		return fmt.Sprintf("iS%s(%d)", mark, h.Iteration)
	}
	return eventWord[h.Kind]
}

func (p *play) deltaWord(d Delta) string {
	switch d.Op {
	case WriteReplaceGroup:
		word := "replace[" + strings.Join(d.IDs, " ") + "]by"
		for _, h := range d.Handles {
			word += " " + p.names[h]
		}
		return word
	case WriteDelete:
		return "delete " + d.Kind.String() + " " + d.ID
	case WriteMutate:
		if d.Kind == record.Instructions {
			return "mutate instruction " + d.ID + " to " + p.names[d.Handle]
		}
	}
	return verbs[d.Op] + " " + d.Kind.String() + " " + p.names[d.Handle]
}

func codeOf(err error) string {
	if f, ok := err.(*fault.Error); ok && f.Code != "" {
		return string(f.Code)
	}
	return fault.MessageOf(err)
}

func codeSuffix(err error) string {
	if err == nil {
		return ""
	}
	return "," + codeOf(err)
}

// hand is a task that performs every effect at once.
type hand struct{ *play }

// Await implements Task.
func (k hand) Await(e Effect) ([]byte, error) {
	p := k.play
	p.effects++
	switch e := e.(type) {
	case *CallExecutor:
		return nil, p.executor(&seam{p, k, p.turn.DispatchContext(e.Context), e.Iteration})
	case *CallMiddleware:
		s := &seam{play: p, task: k, d: p.turn.DispatchContext(e.Context)}
		if s.d != nil {
			s.n = s.d.Iteration()
		}
		return nil, p.pipelines[e.Pipeline][e.Index](s, func() { e.Next(k) })
	case *CallTool:
		e.Number = p.effects
		return p.handler(&seam{play: p, task: k, d: p.turn.DispatchContext(e.Context)}, e)
	case *Write:
		return nil, p.save(k, e.Delta)
	case *Commit:
		if p.committed != nil {
			return nil, p.committed(k, e.Deltas)
		}
		for i, d := range e.Deltas {
			if err := p.save(k, d); err != nil {
				f := fault.Plain(fault.MessageOf(err))
				f.Cause = err
				f.Details = value.AppendInt(value.AppendInt(value.AppendListHeader(nil, 2), int64(i)), int64(len(e.Deltas)))
				return nil, f
			}
		}
		return nil, nil
	case *Spool, *Read, *Estimate, *Forge:
		return nil, p.library.serve(p, e)
	case *Discard:
		if p.discarded != nil {
			return nil, p.discarded(k, e)
		}
		return nil, nil
	}
	p.t.Fatalf("effect %T", e)
	return nil, nil
}

// Wait implements Task. Nothing else runs meanwhile, so ready must hold.
func (k hand) Wait(ready func() bool) {
	if !ready() {
		k.t.Fatal("the task waits for ever")
	}
}

// Request implements Task.
func (k hand) Sleep(uint32, uint64) error             { return errors.New("no clock") }
func (k hand) Request(*HTTPRequest) (Stream, error)   { return nil, errors.New("no network") }
func (k hand) Generate(*ModelRequest) (Stream, error) { return nil, errors.New("no engine") }

func (p *play) save(task Task, d Delta) error {
	word := p.deltaWord(d)
	if p.stored != nil {
		if err := p.stored(task, word); err != nil {
			return err
		}
	}
	p.storage = append(p.storage, word)
	return nil
}

// saved compares the writes that reached storage.
func (p *play) saved(calls ...string) {
	p.t.Helper()
	if !slices.Equal(p.storage, calls) {
		p.t.Errorf("storage saw %q, want %q", p.storage, calls)
	}
}
