package runtime

import (
	"slices"
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Bound is compiled-in middleware. It lets the pipeline go on, or ends the dispatch by a signal; an error fails the
// pipeline.
type Bound func(task Task, d *Dispatch) error

// bounds is a dispatch's state for compiled-in middleware.
type bounds struct {
	calls   []int64             // tool calls stored in this dispatch that are not in repeats
	few     [2]int64            // room for the usual number of them
	repeats []repeat            // the others, by checksum
	stored  [Collections]uint32 // writes of the open iteration
	due     uint64              // time of the deadline on the turn's clock; 0 for none
	timed   bool                // a deadline was set
	expired bool                // the deadline passed and nacked the dispatch
}

// Deadline nacks with E_DEADLINE when the dispatch has run for ms milliseconds of the turn's clock: at once on a
// Tick, which aborts running code, otherwise before the next model call. An earlier ack stands, and the dispatch
// waits for an open gate. It belongs in the dispatch input pipeline.
func Deadline(ms uint64) Bound {
	return func(_ Task, d *Dispatch) error {
		if d.iteration == 0 && !d.bounds.timed {
			d.bounds.timed, d.bounds.due = true, d.started+ms
			d.turn.askTick()
		}
		if d.signalled() || d.turn.elapsed < d.started+ms {
			return nil
		}
		d.bounds.due = 0
		return d.Nack(d.late())
	}
}

// late is the error of a deadline that has passed.
func (d *Dispatch) late() error {
	return fault.New(fault.Deadline, "it has run for "+strconv.FormatUint(d.turn.elapsed-d.started, 10)+" ms")
}

// expire nacks the dispatch because its deadline has passed, and aborts the code that runs in it.
func (d *Dispatch) expire() {
	d.bounds.due = 0
	if d.signalled() || d.aborted {
		return
	}
	err := d.late()
	d.bounds.expired = d.Nack(err) == nil
	for _, inner := range d.turn.dispatches {
		if (inner == d || inner.inside(d)) && !inner.ended && !inner.aborted {
			inner.Abort(err)
			d.turn.world.Sync(Sync{Context: inner.number, Op: SyncSignal, Handle: SignalAbort, Err: err})
		}
	}
}

// repeat counts how often a call was stored.
type repeat struct {
	checksum, tool string
	count          int
}

// noteStore records a write for MaxRepeats and AckOnNoToolCalls.
func (d *Dispatch) noteStore(delta Delta) {
	b := &d.bounds
	switch delta.Op {
	case WriteStore:
		b.stored[delta.Kind]++
	case WriteReplaceGroup:
		b.stored[record.ToolCalls]++
		return
	default:
		return
	}
	if delta.Kind != record.ToolCalls {
		return
	}
	if b.calls == nil {
		b.calls = b.few[:0]
	}
	b.calls = append(b.calls, delta.Handle)
}

// countRepeats counts the tool calls stored since it ran last.
func (d *Dispatch) countRepeats() {
	b := &d.bounds
	for _, handle := range b.calls {
		call := record.ToolCall(d.turn.records.body(handle))
		checksum := string(call.Checksum())
		i := slices.IndexFunc(b.repeats, func(r repeat) bool { return r.checksum == checksum })
		if i < 0 {
			i = len(b.repeats)
			b.repeats = append(b.repeats, repeat{checksum: checksum, tool: string(call.Tool())})
		}
		b.repeats[i].count++
	}
	b.calls = b.calls[:0]
}

// MaxIterations nacks with E_MAX_ITERATIONS when a dispatch begins an iteration after its n-th, so that the work of the
// first n is kept. It belongs in the dispatch input pipeline.
func MaxIterations(n int) Bound {
	return func(_ Task, d *Dispatch) error {
		if int(d.iteration) < n || d.signalled() {
			return nil
		}
		return d.Nack(fault.New(fault.MaxIterations, strconv.Itoa(n)))
	}
}

// MaxRepeats nacks with E_MAX_REPEATS when the same tool call (tool and arguments) was stored more than n times in the
// dispatch. In the dispatch output pipeline it discards the iteration that repeats the call. In the input pipeline it
// keeps that iteration and starts no other.
func MaxRepeats(n int) Bound {
	return func(_ Task, d *Dispatch) error {
		if d.signalled() {
			return nil
		}
		d.countRepeats()
		for _, r := range d.bounds.repeats {
			if r.count > n {
				return d.Nack(fault.New(fault.MaxRepeats, r.tool+" was called "+strconv.Itoa(r.count)+" times with the same arguments, "+strconv.Itoa(n)+" are allowed"))
			}
		}
		return nil
	}
}

// AckOnNoToolCalls acks if the executor has not signalled and its iteration stored a message but no tool call: the
// model has answered and wants no tool. It belongs in the dispatch output pipeline.
func AckOnNoToolCalls() Bound {
	return func(_ Task, d *Dispatch) error {
		if d.signalled() || d.bounds.stored[record.ToolCalls] > 0 || d.bounds.stored[record.Messages] == 0 {
			return nil
		}
		return d.Ack()
	}
}
