package turns

import (
	"fmt"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host/internal/wire"
)

// Kinds of event on the wire that listeners know as KindMessage and KindThought.
const (
	messageInterrupted = Kind(abi.EventMessageInterrupted)
	thoughtInterrupted = Kind(abi.EventThoughtInterrupted)
)

// begun is something that an event said has begun and none that it has ended.
type begun struct {
	kind      Kind
	dispatch  uint32
	iteration int
	elapsed   uint64
}

func (t *turn) readEvent(frame []byte) error {
	f := &t.frames.event
	if err := abi.DecodeTo(frame, f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	if c := t.context(f.Dispatch); c == nil || f.Dispatch != 0 && c.dispatch == nil {
		return fmt.Errorf("an event of dispatch %d, which is not open", f.Dispatch)
	}
	t.seq = f.Seq
	t.note(f)
	if kind := Kind(f.Kind); kind == KindTurnGateOpen || kind == KindTurnGateClosed {
		if err := t.noteGate(f); err != nil {
			return fmt.Errorf("event %s: %w", kind, err)
		}
	}
	if !t.wanted(f) {
		return nil
	}
	ev, err := t.event(f)
	if err != nil {
		return fmt.Errorf("event %s: %w", Kind(f.Kind), err)
	}
	t.enqueue(delivery{event: ev, scope: f.Scope, number: f.Dispatch})
	return nil
}

// wanted tells whether anybody wants to know of an event: a listener, or the turn itself.
func (t *turn) wanted(f *abi.Event) bool {
	switch kind := Kind(f.Kind); kind {
	case KindMessage, KindThought, KindToolCall, KindIterationEnd, KindDispatchEnd, KindGenerationStats:
		return true
	default:
		if kind < KindMessage || kind > lastKind || kind.String() == "" {
			return true // to be refused
		}
		if f.Scope&abi.ScopeTurn != 0 && (t.bus.wants(kind) || t.own.wants(kind)) {
			return true
		}
		return f.Scope&abi.ScopeDispatch != 0 && f.Dispatch > 0 && t.contexts[f.Dispatch].dispatch.listen != nil
	}
}

// shownID is the turn's id as users see it: a standalone dispatch has none.
func (t *turn) shownID() string {
	if t.standalone {
		return ""
	}
	return t.id
}

func (t *turn) headOf(f *abi.Event) Head {
	h := Head{Seq: f.Seq, TurnID: t.shownID(), Iteration: int(f.Iteration), At: t.at(f.Elapsed)}
	if f.Dispatch > 0 {
		h.DispatchID = t.contexts[f.Dispatch].dispatch.id
	}
	return h
}

// note keeps the list of what has begun.
func (t *turn) note(f *abi.Event) {
	switch kind := Kind(f.Kind); kind {
	case KindTurnStart, KindDispatchStart, KindIterationStart:
		if d := t.contexts[f.Dispatch].dispatch; kind == KindIterationStart && d != nil {
			d.iteration = int(f.Iteration)
		}
		t.begun = append(t.begun, begun{kind, f.Dispatch, int(f.Iteration), f.Elapsed})
	case KindTurnEnd, KindDispatchEnd, KindIterationEnd:
		for i := len(t.begun) - 1; i >= 0; i-- {
			if b := t.begun[i]; b.kind == kind-1 && b.dispatch == f.Dispatch {
				t.begun = append(t.begun[:i], t.begun[i+1:]...)
				break
			}
		}
	}
}

// event makes the event that a frame describes.
func (t *turn) event(f *abi.Event) (Event, error) {
	h := t.headOf(f)
	switch Kind(f.Kind) {
	case KindMessage, messageInterrupted:
		d, err := t.stream(f, 0)
		return &MessageEvent{h, d}, err
	case KindThought, thoughtInterrupted:
		d, err := t.stream(f, 1)
		return &ThoughtEvent{h, d}, err
	case KindToolCall:
		return t.toolCallEvent(h, f)
	case KindTurnStart:
		return &TurnStartEvent{h}, nil
	case KindDispatchStart:
		return &DispatchStartEvent{h}, nil
	case KindIterationStart:
		return &IterationStartEvent{h}, nil
	case KindTurnEnd:
		p, err := abi.Decode[abi.TurnEndEvent](f.Payload)
		return &TurnEndEvent{h, Status(p.Status), t.at(p.Started), t.errors.decode(p.Error)}, err
	case KindDispatchEnd:
		p, err := abi.Decode[abi.DispatchEndEvent](f.Payload)
		return &DispatchEndEvent{h, Status(p.Status), int(p.Iterations), t.at(p.Started), t.errors.decode(p.Error)}, err
	case KindIterationEnd:
		p, err := abi.Decode[abi.IterationEndEvent](f.Payload)
		if err != nil {
			return nil, err
		}
		ev := &IterationEndEvent{Head: h, Status: Status(p.Status), StartedAt: t.at(p.Started)}
		if len(p.Discarded) > 0 {
			ev.Discarded, err = t.deltas(p.Discarded)
		}
		return ev, err
	case KindToolExecutionStart:
		p, err := abi.Decode[abi.ToolStartEvent](f.Payload)
		if err != nil {
			return nil, err
		}
		args, err := wire.JSON(p.Args)
		return &ToolExecutionStartEvent{h, ToolExecution{p.Tool, p.CallID, p.ExecutionID, p.ProviderCallID}, args}, err
	case KindToolExecutionEnd:
		p, err := abi.Decode[abi.ToolEndEvent](f.Payload)
		execution := ToolExecution{p.Tool, p.CallID, p.ExecutionID, p.ProviderCallID}
		return &ToolExecutionEndEvent{h, execution, p.IsError, t.at(p.Started)}, err
	case KindTurnGateOpen, KindTurnGateClosed:
		return t.gateEvent(h, f)
	}
	return t.report(h, f)
}

// report makes those events that carry what somebody has to say.
func (t *turn) report(h Head, f *abi.Event) (Event, error) {
	switch Kind(f.Kind) {
	case KindLog:
		p, err := abi.Decode[abi.LogEvent](f.Payload)
		ev := &LogEvent{Head: h, Level: Level(p.Level), Type: p.Kind, Message: p.Message}
		if err == nil && p.HasPayload {
			ev.Payload, err = wire.JSON(orNil(p.Payload))
		}
		return ev, err
	case KindWarning:
		p, err := abi.Decode[abi.WarningEvent](f.Payload)
		if err != nil {
			return nil, err
		}
		ev := &WarningEvent{Head: h, Source: "turn-runner", Type: p.Kind, Message: p.Message, Err: t.errors.decode(p.Error)}
		if p.Source == 1 {
			ev.Source = "dispatch-runner"
		}
		ev.Payload, err = wire.JSON(p.Payload)
		return ev, err
	case KindError:
		p, err := abi.Decode[abi.ErrorEvent](f.Payload)
		return &ErrorEvent{h, t.errors.decode(&p.Error)}, err
	case KindGenerationStats:
		p, err := abi.Decode[abi.StatsEvent](f.Payload)
		if err != nil {
			return nil, err
		}
		stats, err := wire.JSON(p.Stats)
		return &GenerationStatsEvent{h, stats}, err
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
func (t *turn) stream(f *abi.Event, which int) (StreamDelta, error) {
	in := abi.NewReader(f.Payload)
	if n := in.Array(); n != 5 {
		return StreamDelta{}, fmt.Errorf("%d elements are not a stream's", n)
	}
	id := in.Text()
	created := in.Uint(abi.MaxInt)
	delta := in.Text()
	length := in.Uint(abi.MaxInt)
	complete := in.Bool()
	if err := in.Err(); err != nil {
		return StreamDelta{}, err
	}
	interrupted := Kind(f.Kind) >= messageInterrupted
	if interrupted && !complete {
		return StreamDelta{}, fmt.Errorf("stream %q is interrupted and not complete", id)
	}
	s := t.emitting
	if s == nil || s != t.emitted[which][streamKey{f.Dispatch, string(id)}] {
		s = t.reportedStream(which, f.Dispatch, id, created)
	}
	start := s.text.Len()
	s.text.Write(delta)
	full := s.text.String()
	if uint64(len(full)) != length {
		return StreamDelta{}, fmt.Errorf("stream %q has %d bytes, not %d", id, len(full), length)
	}
	return StreamDelta{
		ID: s.id, Delta: full[start:], Full: full, IsComplete: complete, IsInterrupted: interrupted, CreatedAt: t.at(created),
	}, nil
}

// reportedStream is the text that an executor reports under an id.
func (t *turn) reportedStream(which int, dispatch uint32, id []byte, created uint64) *stream {
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

func (t *turn) toolCallEvent(h Head, f *abi.Event) (Event, error) {
	p, err := abi.Decode[abi.ToolCallEvent](f.Payload)
	if err != nil {
		return nil, err
	}
	ev := &ToolCallEvent{
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
			ev.results, err = wire.JSON(p.Value)
		}
	case abi.ResultsKept:
		ev.Results, err = t.reported(p.Kept)
	}
	return ev, err
}
