package runtime

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
)

// stream is the state of a message or thought stream. It lives as long as its dispatch.
type stream struct {
	created uint64
	length  uint64
	id      string
	kind    StreamKind
	sealed  bool

	sealedIn int32 // iteration in which it was sealed
}

// StreamKind is the kind of a stream: message or thought.
type StreamKind uint8

// Report adds a delta to a stream and notifies listeners. The first report of an id opens its stream, complete seals
// it, and a report on a sealed stream fails with a *fault.StreamSealed.
func (d *Dispatch) Report(kind StreamKind, id, delta []byte, complete bool) error {
	return d.add(kind, id, delta, complete, false)
}

// Interrupt adds the last delta to an interrupted stream and seals it.
func (d *Dispatch) Interrupt(kind StreamKind, id, delta []byte) error {
	return d.add(kind, id, delta, true, true)
}

func (d *Dispatch) add(kind StreamKind, id, delta []byte, complete, interrupted bool) error {
	if d.ended {
		return fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	s := d.streaming
	if s == nil || s.kind != kind&1 || s.id != string(id) {
		s = d.stream(kind&1, id)
		d.streaming = s
	}
	if s.sealed {
		return d.sealed(streamWords[s.kind], s.id, s.sealedIn)
	}
	s.length += uint64(len(delta))
	s.sealed, s.sealedIn = complete, d.iteration
	d.turn.world.Stream(d.turn.head(d, EventMessage+EventKind(kind&1)), StreamEvent{
		ID: id, Created: s.created, Delta: delta, Length: s.length, Complete: complete, Interrupted: interrupted,
	})
	return nil
}

// streamWords name the kinds of stream.
var streamWords = [...]string{"message", "thought"}

// sealed is the error for a report on a stream or tool call completed in the given iteration. If that is an earlier
// one, the usual mistake is an executor that returns without a signal and repeats all of its work.
func (d *Dispatch) sealed(what, id string, iteration int32) error {
	message := "the " + what + " " + strconv.Quote(id) + " takes no more reports: "
	if iteration == d.iteration {
		return &fault.StreamSealed{Message: message + "an earlier one has completed it"}
	}
	return &fault.StreamSealed{Message: message + "it was completed in iteration " + strconv.Itoa(int(iteration)) +
		", and the executor runs again since nobody called ack or nack"}
}

// stream returns a stream and begins it if necessary.
func (d *Dispatch) stream(kind StreamKind, id []byte) *stream {
	streams := &d.streams[kind]
	s := (*streams)[string(id)]
	if s == nil {
		if *streams == nil {
			*streams = make(map[string]*stream)
		}
		s = &stream{created: d.turn.elapsed, id: string(id), kind: kind}
		(*streams)[s.id] = s
	}
	return s
}

// ToolCallReport is a report of a tool call; absent parts keep their values.
type ToolCallReport struct {
	Tool       string
	HasTool    bool
	Args       []byte // value; nil if absent
	Results    []byte // value made by the guest; nil if absent
	HostHas    bool   // the host holds results
	Kept       uint32 // number of the tool effect whose result, kept by the host, is reported; 0 if absent
	IsError    bool
	HasIsError bool
	Complete   bool
	// The execution that produced the results, and the provider's id of the call; empty if absent.
	ExecutionID, ProviderCallID string
	// The checksum of Tool and Args, so that it is not computed again; empty if it is not known.
	Checksum string
}

type toolStream struct {
	created  uint64
	tool     string
	args     []byte
	checksum string
	results  []byte
	hostHas  bool
	kept     uint32
	isError  bool
	sealed   bool
	sealedIn int32 // iteration in which it was sealed

	executionID, providerCallID string
}

// ReportToolCall notifies listeners of a tool call. A report after a complete one fails with a *fault.StreamSealed.
func (d *Dispatch) ReportToolCall(id string, r ToolCallReport) error {
	if d.ended {
		return fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	s := d.toolCalls[id]
	if s == nil {
		if d.toolCalls == nil {
			d.toolCalls = make(map[string]*toolStream)
		}
		s = &toolStream{created: d.turn.elapsed}
		d.toolCalls[id] = s
	}
	if s.sealed {
		return d.sealed("tool call", id, s.sealedIn)
	}
	if r.HasTool {
		s.tool = r.Tool
	}
	if d.turn.hold(len(r.Args) + len(r.Results)); d.turn.over != nil {
		return d.turn.over
	}
	if r.Args != nil {
		s.args = r.Args
	}
	if r.Results != nil {
		s.results, s.hostHas, s.kept = r.Results, false, 0
	}
	if r.HostHas {
		s.results, s.hostHas, s.kept = nil, true, 0
	}
	if r.Kept != 0 {
		s.results, s.hostHas, s.kept = nil, false, r.Kept
	}
	if r.HasIsError {
		s.isError = r.IsError
	}
	if r.ExecutionID != "" {
		s.executionID = r.ExecutionID
	}
	if r.ProviderCallID != "" {
		s.providerCallID = r.ProviderCallID
	}
	if s.tool != "" && s.args != nil && (r.HasTool || r.Args != nil || s.checksum == "") {
		s.checksum = r.Checksum
		if s.checksum == "" {
			sum, err := value.Checksum(s.tool, s.args)
			if err != nil {
				return fault.New(fault.InvalidToolArgs, s.tool+": "+err.Error())
			}
			s.checksum = sum
		}
	}
	s.sealed, s.sealedIn = r.Complete, d.iteration
	d.turn.emit(d, EventToolCall, &ToolCallEvent{
		ID: id, Tool: s.tool, Args: s.args, Checksum: s.checksum, Created: s.created,
		Complete: s.sealed, IsError: s.isError, Results: s.results, HostHas: s.hostHas, Kept: s.kept,
		ExecutionID: s.executionID, ProviderCallID: s.providerCallID,
	})
	return nil
}

// Log sends a line of the structured log to observers. payload may be nil.
func (d *Dispatch) Log(level uint8, kind, message string, payload []byte) {
	d.turn.emit(d, EventLog, &LogEvent{Level: level, Kind: kind, Message: message, HasPayload: payload != nil, Payload: payload})
}

// ReportStats sends the cost of a model call to observers; stats is an encoded map.
func (d *Dispatch) ReportStats(stats []byte) {
	d.turn.noteUsage(stats)
	d.turn.emit(d, EventGenerationStats, &StatsEvent{Stats: stats})
}

// Warn reports a problem that did not stop the turn to observers of a context. Of several warnings of one kind about
// one subject it reports only the first, but all warnings with an empty subject.
func (t *Turn) Warn(context uint32, subject string, e *WarningEvent) {
	d := t.DispatchContext(context)
	e.FromDispatch = d != nil
	if subject != "" {
		c := t.contextOf(context)
		key := e.Kind + " " + subject
		if c.warned[key] {
			return
		}
		if c.warned == nil {
			c.warned = make(map[string]bool)
		}
		c.warned[key] = true
	}
	t.emit(d, EventWarning, e)
}

// Emit notifies listeners of an event with a payload that host code made.
func (t *Turn) Emit(context uint32, kind EventKind, payload []byte) {
	t.emit(t.DispatchContext(context), kind, &RawEvent{Payload: payload})
}
