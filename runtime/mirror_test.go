package runtime

import (
	"slices"
	"strings"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Sync implements World: it mirrors the core's changes in the simplest way.
func (p *play) Sync(s Sync) {
	p.t.Helper()
	if s.Op == SyncOpen {
		if int(s.Context) != len(p.mirror) {
			p.t.Fatalf("context %d opens, want %d", s.Context, len(p.mirror))
		}
		var copies [Collections][]int64
		for k, handles := range p.mirror[max(s.Other, 0)] {
			copies[k] = slices.Clone(handles)
		}
		p.mirror = append(p.mirror, copies)
		return
	}
	if s.Op == SyncSignal {
		p.signal(s)
		return
	}
	if s.Kind == KindTools {
		p.syncTools(s)
		return
	}
	col := &p.mirror[s.Context][s.Kind]
	at := slices.Index(*col, s.Handle)
	subject := s.Handle
	switch s.Op {
	case SyncAdd, SyncInsert:
		if at >= 0 {
			p.t.Errorf("sync %d of handle %d, which is in already", s.Op, s.Handle)
		}
		at = len(*col)
		if s.Op == SyncInsert && s.Other != 0 {
			at = slices.Index(*col, s.Other)
		}
		*col = slices.Insert(*col, at, s.Handle)
	case SyncRemove:
		*col = slices.Delete(*col, at, at+1)
	case SyncReplace:
		if slices.Contains(*col, s.Other) {
			p.t.Errorf("sync puts handle %d in twice", s.Other)
		}
		(*col)[at] = s.Other
		subject = s.Other
	case SyncName:
	default:
		p.t.Errorf("sync %d", s.Op)
	}
	if subject < 0 != (s.Body != nil) {
		p.t.Errorf("sync of handle %d has the body %q", subject, s.Body)
	}
}

// signal checks that a dispatch is signalled once, and in the same way as in the core.
func (p *play) signal(s Sync) {
	p.t.Helper()
	d := p.turn.DispatchContext(s.Context)
	if s.Handle == SignalAbort {
		if d == nil || !d.aborted || !fault.Is(s.Err, fault.Deadline) {
			p.t.Errorf("context %d is aborted with %v", s.Context, s.Err)
		}
		p.expired = append(p.expired, s.Context)
		return
	}
	if d == nil || p.signals[s.Context] != 0 {
		p.t.Fatalf("signal %d of context %d, which had %d", s.Handle, s.Context, p.signals[s.Context])
	}
	p.signals[s.Context] = s.Handle
	switch s.Handle {
	case SignalAck:
		if !d.acked || s.Err != nil {
			p.t.Errorf("an ack of context %d with %v", s.Context, s.Err)
		}
	case SignalNack:
		if !d.nacked || s.Err != d.nackErr {
			p.t.Errorf("a nack of context %d with %v, want %v", s.Context, s.Err, d.nackErr)
		}
	default:
		p.t.Errorf("signal %d of context %d", s.Handle, s.Context)
	}
}

func digestOf(handles []int64) uint32 {
	sum := uint32(2166136261)
	for _, h := range handles {
		for shift := 0; shift < 32; shift += 8 {
			sum = (sum ^ uint32(h>>shift)&255) * 16777619
		}
	}
	return sum
}

// record assigns a handle to a record and returns it. text distinguishes records with the same id.
func (p *play) record(kind record.Kind, id, text string) int64 {
	p.t.Helper()
	handle := p.next
	p.next++
	if !p.turn.Accept(handle, 1, bodyOf(kind, id, text)) {
		p.t.Fatalf("handle %d is refused", handle)
	}
	p.names[handle] = id
	if text != "" && text != "sum" {
		p.names[handle] += ":" + text
	}
	return handle
}

// bodyOf is the body of a record. text is its content, or a tool call's checksum; instructions ignore it.
func bodyOf(kind record.Kind, id, text string) []byte {
	content := []byte(text)
	if text == "" {
		content, text = []byte("text"), "sum"
	}
	switch kind {
	case record.Instructions:
		return value.AppendString(nil, id)
	case record.Memories:
		return record.AppendMemory(nil, record.MemoryFields{ID: id, Content: content, Confidence: 0.5})
	case record.Retrievables:
		return record.AppendRetrievable(nil, record.RetrievableFields{ID: id, Content: content, TrustTier: "first-party"})
	case record.Messages:
		return record.AppendMessage(nil, record.MessageFields{ID: id, Role: "user", Content: content})
	case record.Thoughts:
		return record.AppendThought(nil, record.ThoughtFields{ID: id, Content: content})
	}
	return record.AppendToolCall(nil, record.ToolCallFields{
		ID: id, Tool: "calc", Args: value.AppendMapHeader(nil, 0), Checksum: text, IsComplete: true, Results: value.AppendString(nil, "r"),
	})
}

// add changes a context's collection as host code does: it changes the mirror and notifies the core.
func (p *play) add(context uint32, kind record.Kind, handles ...int64) {
	p.t.Helper()
	for _, h := range handles {
		if !slices.Contains(p.mirror[context][kind], h) {
			p.mirror[context][kind] = append(p.mirror[context][kind], h)
		}
		if !p.turn.Add(context, kind, h, 1) {
			p.t.Fatalf("adding handle %d is refused", h)
		}
	}
}

// list returns a collection of a context, as the names of its records.
func (p *play) list(context uint32, kind record.Kind) string {
	var names []string
	p.turn.contextOf(context).cols[kind].each(func(h int64) bool {
		name, ok := p.names[h]
		if !ok {
			name = string(record.ID(kind, p.turn.records.body(h)))
		}
		names = append(names, name)
		return true
	})
	return strings.Join(names, " ")
}

// holds checks a collection of a context.
func (p *play) holds(context uint32, kind record.Kind, names string) {
	p.t.Helper()
	if got := p.list(context, kind); got != names {
		p.t.Errorf("context %d has the %ss %q, want %q", context, kind, got, names)
	}
}

// context is the number of the seam's context.
func (s *seam) context() uint32 {
	if s.d == nil {
		return 0
	}
	return s.d.Number()
}

// store stores a fresh record through the seam's context.
func (s *seam) store(kind record.Kind, id, text string) error {
	h := s.record(kind, id, text)
	if s.d == nil {
		_, err := s.turn.Store(s.task, kind, h)
		return err
	}
	return s.d.Store(kind, h)
}

func (s *seam) mutate(kind record.Kind, id, text string) error {
	h := s.record(kind, id, text)
	if s.d == nil {
		_, err := s.turn.Mutate(s.task, kind, h, "")
		return err
	}
	return s.d.Mutate(kind, h, "")
}

func (s *seam) delete(kind record.Kind, id string) error {
	if s.d == nil {
		return s.turn.Delete(s.task, kind, id)
	}
	return s.d.Delete(kind, id)
}

// must ends the test if a step of a script fails.
func (s *seam) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// say streams a whole message without storing it.
func (s *seam) say(id, text string) {
	s.t.Helper()
	s.must(s.d.Report(MessageStream, []byte(id), []byte(text), true))
}

func (s *seam) ack() error  { return s.d.Ack() }
func (s *seam) abort()      { s.turn.Abort(abortion) }
func ackOnce(s *seam) error { return s.d.Ack() }
