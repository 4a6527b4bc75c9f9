package turn

import (
	"fmt"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/event"
	"github.com/turncore/turncore/host/internal/bus"
	"github.com/turncore/turncore/host/internal/wire"
)

// Kinds of event on the wire that listeners know as KindMessage and KindThought.
const (
	messageInterrupted = event.Kind(abi.EventMessageInterrupted)
	thoughtInterrupted = event.Kind(abi.EventThoughtInterrupted)
)

// begun is something that an event said has begun and none that it has ended.
type begun struct {
	kind      event.Kind
	dispatch  uint32
	iteration int
	elapsed   uint64
}

func (t *Turn) readEvent(frame []byte) error {
	f := &t.space.event
	if err := abi.DecodeTo(frame, f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	if t.context(f.Dispatch) == nil {
		return fmt.Errorf("an event of dispatch %d, which is not open", f.Dispatch)
	}
	f.Seq += t.made
	t.seq = f.Seq
	t.note(f)
	if kind := event.Kind(f.Kind); kind == event.KindTurnGateOpen || kind == event.KindTurnGateClosed {
		if err := t.noteGate(f); err != nil {
			return fmt.Errorf("event %s: %w", kind, err)
		}
	}
	cut, dropped := t.cutLog(f, len(frame))
	if dropped || !t.wanted(f) {
		return nil
	}
	ev, err := t.event(f)
	if err != nil {
		return fmt.Errorf("event %s: %w", event.Kind(f.Kind), err)
	}
	if line, ok := ev.(*event.Log); ok && cut {
		line.Type, line.Message, line.Payload = "cut", t.cutNote(), nil
	}
	t.noteModel(f, ev)
	t.enqueue(delivery{event: ev, scope: f.Scope, number: f.Dispatch})
	return nil
}

// wanted tells whether anybody wants to know of an event: a listener, or the turn itself.
func (t *Turn) wanted(f *abi.Event) bool {
	switch kind := event.Kind(f.Kind); kind {
	case event.KindMessage, event.KindThought, event.KindToolCall, event.KindIterationEnd, event.KindDispatchEnd, event.KindGenerationStats:
		return true
	default:
		if kind < event.KindMessage || kind > bus.LastKind || kind.String() == "" {
			return true // to be refused
		}
		if f.Scope&abi.ScopeTurn != 0 && (t.Bus.Wants(kind) || t.Own.Wants(kind)) {
			return true
		}
		return f.Scope&abi.ScopeDispatch != 0 && f.Dispatch > 0 && t.contexts[f.Dispatch].Listen != nil
	}
}

// ShownID is the turn's id as users see it: a standalone dispatch has none.
func (t *Turn) ShownID() string {
	if t.Standalone {
		return ""
	}
	return t.ID
}

func (t *Turn) headOf(f *abi.Event) event.Head {
	h := event.Head{Seq: f.Seq, TurnID: t.ShownID(), Iteration: int(f.Iteration), At: t.at(f.Elapsed)}
	if f.Dispatch > 0 {
		h.DispatchID = t.contexts[f.Dispatch].id
	}
	return h
}

// note keeps the list of what has begun.
func (t *Turn) note(f *abi.Event) {
	switch kind := event.Kind(f.Kind); kind {
	case event.KindTurnStart, event.KindDispatchStart, event.KindIterationStart:
		if kind == event.KindIterationStart {
			t.contexts[f.Dispatch].iteration = f.Iteration
		}
		t.begun = append(t.begun, begun{kind, f.Dispatch, int(f.Iteration), f.Elapsed})
	case event.KindTurnEnd, event.KindDispatchEnd, event.KindIterationEnd:
		for i := len(t.begun) - 1; i >= 0; i-- {
			if b := t.begun[i]; b.kind == kind-1 && b.dispatch == f.Dispatch {
				t.begun = append(t.begun[:i], t.begun[i+1:]...)
				break
			}
		}
	}
}

// event makes the event that a frame describes.
func (t *Turn) event(f *abi.Event) (event.Event, error) {
	h := t.headOf(f)
	switch event.Kind(f.Kind) {
	case event.KindMessage, messageInterrupted:
		d, err := t.stream(f, 0)
		return &event.Message{Head: h, StreamDelta: d}, err
	case event.KindThought, thoughtInterrupted:
		d, err := t.stream(f, 1)
		return &event.Thought{Head: h, StreamDelta: d}, err
	case event.KindToolCall:
		return t.toolCallEvent(h, f)
	case event.KindTurnStart:
		return &event.TurnStart{Head: h}, nil
	case event.KindDispatchStart:
		return &event.DispatchStart{Head: h}, nil
	case event.KindIterationStart:
		return &event.IterationStart{Head: h}, nil
	case event.KindTurnEnd:
		var p abi.TurnEndEvent
		err := p.Unmarshal(f.Payload)
		return &event.TurnEnd{Head: h, Status: event.Status(p.Status), StartedAt: t.at(p.Started), Err: t.errors.decode(p.Error)}, err
	case event.KindDispatchEnd:
		var p abi.DispatchEndEvent
		err := p.Unmarshal(f.Payload)
		return &event.DispatchEnd{
			Head: h, Status: event.Status(p.Status), Iterations: int(p.Iterations), StartedAt: t.at(p.Started), Err: t.errors.decode(p.Error),
		}, err
	case event.KindIterationEnd:
		var p abi.IterationEndEvent
		err := p.Unmarshal(f.Payload)
		if err != nil {
			return nil, err
		}
		ev := &event.IterationEnd{Head: h, Status: event.Status(p.Status), StartedAt: t.at(p.Started)}
		if len(p.Discarded) > 0 {
			ev.Discarded, err = t.Deltas(p.Discarded)
		}
		return ev, err
	case event.KindToolExecutionStart:
		var p abi.ToolStartEvent
		err := p.Unmarshal(f.Payload)
		if err != nil {
			return nil, err
		}
		args, err := wire.JSON(p.Args)
		execution := event.ToolExecution{ToolName: p.Tool, CallID: p.CallID, ExecutionID: p.ExecutionID, ProviderCallID: p.ProviderCallID}
		return &event.ToolExecutionStart{Head: h, ToolExecution: execution, Args: args}, err
	case event.KindToolExecutionEnd:
		var p abi.ToolEndEvent
		err := p.Unmarshal(f.Payload)
		execution := event.ToolExecution{ToolName: p.Tool, CallID: p.CallID, ExecutionID: p.ExecutionID, ProviderCallID: p.ProviderCallID}
		return &event.ToolExecutionEnd{Head: h, ToolExecution: execution, IsError: p.IsError, StartedAt: t.at(p.Started)}, err
	case event.KindTurnGateOpen, event.KindTurnGateClosed:
		return t.gateEvent(h, f)
	}
	return t.report(h, f)
}

// report makes those events that carry what somebody has to say.
func (t *Turn) report(h event.Head, f *abi.Event) (event.Event, error) {
	switch event.Kind(f.Kind) {
	case event.KindLog:
		var p abi.LogEvent
		err := p.Unmarshal(f.Payload)
		ev := &event.Log{Head: h, Level: event.Level(p.Level), Type: p.Kind, Message: p.Message}
		if err == nil && p.HasPayload {
			ev.Payload, err = wire.JSON(orNil(p.Payload))
		}
		return ev, err
	case event.KindWarning:
		var p abi.WarningEvent
		err := p.Unmarshal(f.Payload)
		if err != nil {
			return nil, err
		}
		ev := &event.Warning{Head: h, Source: "turn-runner", Type: p.Kind, Message: p.Message, Err: t.errors.decode(p.Error)}
		if p.Source == 1 {
			ev.Source = "dispatch-runner"
		}
		ev.Payload, err = wire.JSON(p.Payload)
		return ev, err
	case event.KindError:
		var p abi.ErrorEvent
		err := p.Unmarshal(f.Payload)
		return &event.Error{Head: h, Err: t.errors.decode(&p.Error)}, err
	case event.KindGenerationStats:
		var p abi.StatsEvent
		err := p.Unmarshal(f.Payload)
		if err != nil {
			return nil, err
		}
		stats, err := wire.JSON(p.Stats)
		return &event.GenerationStats{Head: h, Stats: stats}, err
	}
	return nil, fmt.Errorf("kind %d is unknown", f.Kind)
}

// orNil is a value that is there, nil included.
func orNil(raw abi.Raw) []byte {
	if len(raw) == 0 {
		return value.AppendNil(nil)
	}
	return raw
}

// stream adds a delta to its stream's text. The text so far is a part of one buffer, so that no report costs more than
// its own delta.
func (t *Turn) stream(f *abi.Event, which int) (event.StreamDelta, error) {
	in := abi.NewReader(f.Payload)
	if n := in.Array(); n != 5 {
		return event.StreamDelta{}, fmt.Errorf("%d elements are not a stream's", n)
	}
	id := in.Text()
	created := in.Uint(abi.MaxInt)
	delta := in.Text()
	length := in.Uint(abi.MaxInt)
	complete := in.Bool()
	if err := in.Err(); err != nil {
		return event.StreamDelta{}, err
	}
	interrupted := event.Kind(f.Kind) >= messageInterrupted
	if interrupted && !complete {
		return event.StreamDelta{}, fmt.Errorf("stream %q is interrupted and not complete", id)
	}
	s := t.emitting
	if s == nil || s != t.emitted[which][streamKey{f.Dispatch, string(id)}] {
		s = t.reportedStream(which, f.Dispatch, id, created)
	}
	start := s.text.Len()
	s.text.Write(delta)
	full := s.text.String()
	if uint64(len(full)) != length {
		return event.StreamDelta{}, fmt.Errorf("stream %q has %d bytes, not %d", id, len(full), length)
	}
	return event.StreamDelta{
		ID: s.id, Delta: full[start:], Full: full, IsComplete: complete, IsInterrupted: interrupted, CreatedAt: t.at(created),
	}, nil
}

// reportedStream is the text that an executor reports under an id.
func (t *Turn) reportedStream(which int, dispatch uint32, id []byte, created uint64) *stream {
	s := t.texts[which][streamKey{dispatch, string(id)}]
	if s == nil {
		if t.texts[which] == nil {
			t.texts[which] = make(map[streamKey]*stream)
		}
		s = &stream{id: string(id), created: created}
		t.texts[which][streamKey{dispatch, s.id}] = s
	}
	return s
}

// stream is a text that is being reported.
type stream struct {
	id      string
	created uint64
	text    strings.Builder
}

func (t *Turn) toolCallEvent(h event.Head, f *abi.Event) (event.Event, error) {
	var p abi.ToolCallEvent
	err := p.Unmarshal(f.Payload)
	if err != nil {
		return nil, err
	}
	ev := &event.ToolCall{
		Head: h, ID: p.ID, Tool: p.Tool, Checksum: p.Checksum, IsComplete: p.Complete, IsError: p.IsError,
		ExecutionID: p.ExecutionID, ProviderCallID: p.ProviderCallID, CreatedAt: t.at(p.Created),
	}
	if !wire.IsNil(p.Args) {
		if ev.Args, err = wire.JSON(p.Args); err != nil {
			return nil, err
		}
	}
	switch p.Results {
	case abi.ResultsHost:
		ev.Results = t.results[streamKey{f.Dispatch, p.ID}]
	case abi.ResultsValue:
		if ev.Results, err = wire.Plain(p.Value); err == nil && !wire.IsNil(p.Value) {
			ev.ResultsJSON, err = wire.JSON(p.Value)
		}
	case abi.ResultsKept:
		ev.Results, err = t.reported(p.Kept)
	}
	return ev, err
}
