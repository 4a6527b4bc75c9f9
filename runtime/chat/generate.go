package chat

import (
	"bytes"
	"errors"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/record"
)

// ErrAborted is the failure of a [Executor.Generate] whose dispatch was aborted.
var ErrAborted = errors.New("chat: the dispatch was aborted")

// Keeper takes a complete answer, for a caller that stores it elsewhere than in the dispatch and runs its calls itself.
// What it gets is valid until the executor is used again.
type Keeper interface {
	// KeepText takes a thought, or the message behind the thoughts. The payload is what to send back to the provider: a
	// map of one value by the tag of who takes it; nil for none.
	KeepText(text []byte, thought bool, payload []byte)
	// KeepCall takes a tool call.
	KeepCall(c *GeneratedCall)
}

// GeneratedCall is a tool call of an answer.
type GeneratedCall struct {
	ID, Name string
	Args     []byte // map
	Problem  string // why the call cannot run; empty if it can
	Extra    []byte // what to send back to the provider, as the payload of a thought
}

// Generate makes a model call and hands its answer to a keeper: thoughts, the message if there is one or no call, and
// calls. It returns the finish reason, in the provider's words; empty if unknown. It reports the answer's deltas and
// its cost to a listener, but stores nothing, runs no tool and does not signal. It fails if there is no answer that can
// be used.
func (e *Executor) Generate(d Dispatch, to Listener, keeper Keeper) (finish string, err error) {
	st := stateOf(d)
	if e, err = e.overridden(d, st); err != nil {
		return "", err
	}
	a := &st.answer
	a.to = to
	err = e.answer(d, st)
	if a.err != nil {
		err = a.err
	}
	if err == nil && d.Aborted() {
		err = ErrAborted
	}
	if err != nil {
		a.seal()
		return "", err
	}
	if err := a.reportStats(); err != nil {
		return "", err
	}
	a.keepGiven()
	for i := range a.thoughts {
		t := &a.thoughts[i]
		if t.payload != nil || len(bytes.TrimSpace(t.text)) > 0 && !a.repeats(i) {
			keeper.KeepText(t.text, true, tagged(a.options.native, t.payload))
		}
	}
	if len(a.message.text) > 0 || len(a.calls) == 0 {
		keeper.KeepText(a.message.text, false, nil)
	}
	for i := range a.calls {
		c := &a.calls[i]
		args, problem := parseArgs(c.args)
		if c.rejected != "" {
			problem = c.rejected
		}
		if problem != "" {
			args = emptyMap
		}
		keeper.KeepCall(&GeneratedCall{
			ID: clip(bytes.TrimSpace(c.id), maxName), Name: clip(c.name, maxName), Args: args, Problem: problem,
			Extra: tagged(a.options.extra, c.extra),
		})
	}
	return a.finish, nil
}

// ToolTimeout is how long a tool may run that an answer calls, in ms; 0 for no bound.
func (e *Executor) ToolTimeout() uint64 { return e.options.toolTimeout }

// tagged is a map of one value, nil for none.
func tagged(tag string, v []byte) []byte {
	if v == nil {
		return nil
	}
	return append(value.AppendString(value.AppendMapHeader(nil, 1), tag), v...)
}

// PastThought is a thought of an earlier answer, as it goes back to the model.
type PastThought struct {
	ID      string
	Text    []byte
	Payload []byte // of the [Keeper]; nil for none
	At      int64  // its place in time, in ms
}

// AppendPastThought appends the record of a thought.
func AppendPastThought(dst []byte, t *PastThought) []byte {
	f := record.ThoughtFields{ID: t.ID, Content: t.Text, CreatedAt: t.At, UpdatedAt: t.At}
	var payload value.Cursor
	if payload.Over(t.Payload); payload.Next() {
		f.ReplayCompatibility, f.Payload = string(payload.Key), payload.Value
	}
	return record.AppendThought(dst, f)
}

// PastCall is a tool call of an earlier answer, as it goes back to the model.
type PastCall struct {
	ID, Name string
	Args     []byte // map
	Results  []byte // value
	Failed   bool
	Extra    []byte // of the [GeneratedCall]; nil for none
	Group    string // the id of the first call of that answer
	Message  string // the id of that answer's message; empty for none
	At       int64  // its place in time, in ms
}

// AppendPastCall appends the record of a call.
func AppendPastCall(dst []byte, c *PastCall) []byte {
	members := 1
	p := value.AppendString(value.AppendString(nil, "group"), c.Group)
	if c.Message != "" {
		p = value.AppendString(value.AppendString(p, "message"), c.Message)
		members++
	}
	var extra value.Cursor
	if extra.Over(c.Extra); extra.Next() {
		p = extra.Append(p)
		members++
	}
	return record.AppendToolCall(dst, record.ToolCallFields{
		ID: c.ID, Tool: c.Name, Args: c.Args, ProviderCallID: c.ID, IsComplete: true, IsError: c.Failed, Results: resultText(c.Results),
		Payload: append(value.AppendMapHeader(nil, members), p...), ReplayCompatibility: compatibility,
		CreatedAt: c.At, UpdatedAt: c.At, CompletedAt: c.At,
	})
}
