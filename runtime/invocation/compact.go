package invocation

import (
	"slices"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/session"
)

// compaction says when the events of a session are summed up: its members by the names of compactionNames, 0 for none.
type compaction [len(compactionNames)]int

var compactionNames = [...]string{"invocations", "tokens", "overlap", "keep"}

const (
	everyInvocations = iota
	aboveTokens
	overlapOf
	keepOf
)

func (c *compaction) read(v []byte) bool {
	if value.KindOf(v) != value.KindMap {
		return false
	}
	var m value.Cursor
	for m.Over(v); m.Next(); {
		i := slices.Index(compactionNames[:], string(m.Key))
		n, isInt := value.Int(m.Value)
		if !isInt || i < 0 || n < 0 || n >= 1<<31 {
			return false
		}
		c[i] = int(n)
	}
	return c[everyInvocations]+c[aboveTokens] > 0
}

// summaryInstruction is the instruction of a model that sums up.
const summaryInstruction = `Sum up the conversation below for an assistant that goes on with it and sees nothing else of it. ` +
	`Keep what the user wants, facts, names, numbers, decisions, results of tools and open questions. ` +
	`What [system] says is an earlier summary. Answer with the summary alone.`

// compact stores an event that stands for earlier ones, if there are enough of them. That it fails, host code is told,
// and the invocation has ended well.
func (r *Run) compact(task runtime.Task) {
	c := &r.compaction
	need := c[everyInvocations]
	if n := c[aboveTokens]; n > 0 && r.Log.Tokens(r.first, n) >= n {
		need = 1
	}
	if need == 0 {
		return
	}
	told, first, last := r.Log.Digest(need, c[keepOf], c[overlapOf])
	if told == nil {
		return
	}
	e, err := r.sumUp(task, told)
	if err == nil {
		var m members
		m.text("first", first)
		m.text("last", last)
		e.Author, e.Role, e.Actions.Compaction = "system", "user", m.value()
		err = r.store(task, e, false, nil)
	}
	if err != nil && !r.turn.Aborted() {
		_, _ = r.callback(task, &Callback{Hook: SummaryError, Value: r.world.Error(err)}, &scope{agent: r.team.Root}, &session.Actions{})
	}
}

// sumUp makes an event of a summary, which host code gives, or else the first model of the team.
func (r *Run) sumUp(task runtime.Task, told []session.Part) (*session.Event, error) {
	root := r.team.Root
	if root.Hooks[Summary] > 0 {
		var actions session.Actions
		v, err := r.callback(task, &Callback{Hook: Summary, Value: session.AppendContent(nil, "user", told)}, &scope{agent: root}, &actions)
		if err == nil && v == nil {
			err = emptySummary()
		}
		if err != nil {
			return nil, err
		}
		return r.contentEvent("", v, &actions)
	}
	for _, a := range r.team.Agents {
		if a.Kind == LLM {
			return r.askSummary(task, a, told)
		}
	}
	return nil, fault.Plain("no agent has a model")
}

// askSummary lets the model of an agent sum up, without the agent's tools and callbacks.
func (r *Run) askSummary(task runtime.Task, a *Agent, told []session.Part) (*session.Event, error) {
	c := a.Config
	bare := &runtime.Config{Executor: c.Executor, Encodings: c.Encodings, Frame: c.Frame, Array: c.Array}
	s, err := r.open(&scope{agent: &Agent{Number: a.Number, Name: a.Name, Model: a.Model}}, bare)
	if err != nil {
		return nil, err
	}
	s.asked = &Request{Instructions: summaryInstruction, Contents: []session.Content{{Role: "user", Parts: told}}}
	var text []byte
	s.out = func(_ runtime.Task, e *session.Event, _ bool) error {
		if !e.Partial {
			text, _ = textOf(e.Parts)
		}
		return nil
	}
	err = r.askModel(task, s)
	r.leave(s)
	switch {
	case err != nil:
		return nil, err
	case s.err != nil:
		return nil, s.err
	case len(text) == 0:
		return nil, emptySummary()
	}
	return &session.Event{Parts: session.TextParts(string(text)), HasContent: true}, nil
}

func emptySummary() error { return fault.Plain("the summary is empty") }
