package runtime

import (
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Executor is a compiled-in executor. It runs once per iteration; it signals with Ack or Nack, or returns to run
// again. An error nacks the dispatch.
type Executor interface {
	Execute(task Task, d *Dispatch) error
}

// Measurer is an executor that can measure its next request.
type Measurer interface {
	// Measure visits the pieces of the text that Execute would send next without some records, each with the handles of
	// its records. A piece with inside is part of the previous piece. A visited piece is valid until the executor is
	// used again. Execute would fail with the same error.
	Measure(task Task, d *Dispatch, without map[int64]bool, visit func(text []byte, handles []int64, inside bool)) error
}

// Dispatch is one LLM execution cycle: the loop around the executor, and its DispatchContext.
type Dispatch struct {
	// As in Turn, the fields that every delta uses stand together.
	turn      *Turn
	streaming *stream // the last delta's
	iteration int32
	begun     bool // an iteration is open
	closing   bool // it takes no more writes
	contextState

	path   []byte    // location in the turn without the seam, see AppendPath
	parent *Dispatch // dispatch whose context is the source; nil for the turn's, or if standalone
	config *Config

	started    uint64 // when the dispatch began
	iterations int
	begunAt    uint64 // when the iteration began
	status     Status
	acked      bool
	nacked     bool
	committing bool // a commit is under way
	nackErr    error
	reason     error

	queue     []Delta
	queued    int // bytes in the queue
	streams   [2]map[string]*stream
	toolCalls map[string]*toolStream
	counts    map[string]int // current tool calls by checksum; nil until first needed
	bounds    bounds
	state     any // owned by the executor
	artifacts artifacts
	streamed  int // bytes of open streams
	rendered  int // bytes of the last request
	spooling  int // stores waiting for their text to be spooled
	running   []*toolRun
	one       [1]*toolRun // room for the usual number of executions

	// Reused in every iteration.
	call         CallExecutor
	iterationEnd IterationEndEvent
	commit       Commit

	dispatchEnd DispatchEndEvent
}

// Dispatch runs a dispatch from the turn's context (source nil) or another dispatch's. It returns the failure of the
// dispatch; d is nil if it was rejected before its start.
func (t *Turn) Dispatch(task Task, source *Dispatch, config *Config) (*Dispatch, error) {
	if source == nil && t.iterating() {
		return nil, fault.New(fault.InvalidLLMDispatchInput, "the turn's context cannot be the source while an iteration of that turn is open; use the dispatch's context")
	}
	if source != nil && source.ended {
		return nil, fault.New(fault.InvalidLLMDispatchInput, "the source dispatch has ended")
	}
	d := t.open(source, config)
	if err := d.begin(task); err != nil {
		return nil, err
	}
	return d, d.run(task)
}

// begin prepares the dispatch before its first event. A failure rejects it.
func (d *Dispatch) begin(task Task) error {
	err := d.spoolPending(task)
	if err != nil && !d.turn.isAbort(d, err) {
		d.ended = true
		return err
	}
	return nil
}

// iterating reports whether a dispatch of the turn has an open iteration.
func (t *Turn) iterating() bool {
	for _, d := range t.dispatches {
		if d.begun {
			return true
		}
	}
	return false
}

// open makes a DispatchContext as a copy of its source.
func (t *Turn) open(source *Dispatch, config *Config) *Dispatch {
	d := &Dispatch{turn: t, parent: source, config: config}
	d.running = d.one[:0]
	from := &t.context
	if source != nil {
		from = &source.contextState
	}
	d.path = t.openPath(from)
	d.number = uint32(len(t.dispatches) + 1)
	for k := range d.cols {
		d.cols[k] = from.cols[k].snapshot()
	}
	d.stash = from.stash.snapshot()
	d.registry = from.registry.snapshot()
	d.aborted = from.aborted
	t.dispatches = append(t.dispatches, d)
	other := int64(from.number)
	if t.standalone {
		other = -1
	}
	t.world.Sync(Sync{Context: d.number, Op: SyncOpen, Other: other})
	return d
}

// Standalone prepares a dispatch without a turn; the turn's state holds the raw context.
func (t *Turn) Standalone(task Task) (status Status, iterations int, err error) {
	t.standalone = true
	d := t.open(nil, t.config)
	if err = d.begin(task); err != nil {
		return StatusRefused, 0, err
	}
	if err = d.run(task); t.over != nil {
		return StatusFailed, d.iterations, t.over
	}
	return d.status, d.iterations, err
}

// run runs the loop and returns its failure.
func (d *Dispatch) run(task Task) error {
	t := d.turn
	d.started = t.elapsed
	t.emit(d, EventDispatchStart, nil)
	failure := d.loop(task)
	if d.ended {
		return failure // it was cut off
	}
	switch {
	case failure != nil:
		d.status = StatusNack
	case d.aborted && !d.bounds.expired:
		d.status = StatusAborted
	case d.nacked:
		d.status, failure = StatusNack, d.nackErr
		t.emitError(d, failure)
	default:
		d.status = StatusAck
	}
	d.end(failure)
	return failure
}

func (d *Dispatch) end(failure error) {
	d.cutTools()
	d.ended = true
	d.turn.hold(-d.rendered)
	d.rendered = 0
	if d.bounds.due > 0 {
		d.turn.askTick()
	}
	d.dispatchEnd = DispatchEndEvent{Started: d.started, Status: d.status, Iterations: d.iterations, Err: failure}
	d.turn.emit(d, EventDispatchEnd, &d.dispatchEnd)
}

// loop runs iterations until a signal, an abort, or a failure, which it reports to the dispatch's observers.
func (d *Dispatch) loop(task Task) error {
	for n := 0; !d.aborted && !d.signalled(); n++ {
		d.enterIteration()
		d.iteration, d.iterations, d.begun, d.closing = int32(n), n+1, true, false
		d.begunAt, d.bounds.stored = d.turn.elapsed, [Collections]uint32{}
		d.place.enter(inBetween)
		d.turn.emit(d, EventIterationStart, nil)
		failure, committed := d.iterate(task)
		if d.ended {
			return failure
		}
		d.turn.cutInside(task, d)
		status := StatusContinue
		switch {
		case failure != nil:
			status = StatusNack
		case d.aborted && !committed && !d.bounds.expired:
			status = StatusAborted
		case d.nacked:
			status = StatusNack
		case d.acked:
			status = StatusAck
		}
		d.endIteration(task, status)
		if failure != nil {
			return failure
		}
	}
	return nil
}

// endIteration ends the open iteration and drops its queue.
func (d *Dispatch) endIteration(task Task, status Status) {
	if status != StatusContinue {
		d.cutTools()
	}
	end := &d.iterationEnd // reused, unless it carries discarded writes, which somebody may keep
	if len(d.queue) > 0 {
		end = &IterationEndEvent{}
	}
	*end = IterationEndEvent{Started: d.begunAt, Status: status, Discarded: d.queue}
	d.turn.hold(-d.streamed - d.queued)
	d.queue, d.queued, d.streamed, d.closing = nil, 0, 0, true
	if len(end.Discarded) > 0 && d.config.OnDiscard && task != nil {
		// The application sees the dropped writes; an error of its callback does not change the outcome.
		if _, err := task.Await(&Discard{Context: d.number, Deltas: end.Discarded, Status: status}); err != nil {
			d.turn.emit(d, EventWarning, &WarningEvent{FromDispatch: true, Kind: "discard-callback-failed", Message: "discardCallback failed", Err: err})
		}
	}
	d.turn.emit(d, EventIterationEnd, end)
	d.begun = false
}

// iterate runs one iteration. It commits the writes on success, and leaves them in the queue otherwise.
func (d *Dispatch) iterate(task Task) (failure error, committed bool) {
	if failure = d.forge(task); failure != nil {
		if d.turn.isAbort(d, failure) {
			failure = nil
		}
		return failure, false
	}
	failure = d.seams(task)
	if failure == nil {
		d.place.enter(inCommit)
	}
	if failure == nil && !d.aborted && !d.nacked && d.spooling > 0 { // stores that nobody awaited
		task.Wait(func() bool { return d.spooling == 0 || d.aborted || d.nacked })
	}
	for failure == nil && !d.aborted && !d.nacked && (len(d.queue) > 0 || d.committing) {
		committed = true
		if err := d.Commit(task); err != nil {
			if d.turn.isAbort(d, err) { // storage heeded the abort: unwritten changes are dropped
				break
			}
			failure = d.report(err)
		}
	}
	if d.committing { // a ctx.commit() that nobody awaited
		task.Wait(func() bool { return !d.committing })
	}
	return failure, committed && len(d.queue) == 0
}

// seams runs the input pipeline, the executor and the output pipeline, until a signal stops them.
func (d *Dispatch) seams(task Task) error {
	d.place.enter(inInput)
	if err := d.turn.pipeline(task, d, DispatchInput, d.config.DispatchInput); err != nil {
		return d.report(err)
	}
	if d.aborted || d.signalled() {
		return nil
	}
	d.place.enter(inExecute)
	if err := d.execute(task); err != nil {
		if d.turn.isAbort(d, err) {
			return nil
		}
		return d.report(fault.Wrap(fault.LLMExecutionExecutorError, err))
	}
	if d.aborted || d.nacked {
		return nil
	}
	d.place.enter(inOutput)
	if err := d.turn.pipeline(task, d, DispatchOutput, d.config.DispatchOutput); err != nil {
		return d.report(err)
	}
	return nil
}

func (d *Dispatch) execute(task Task) error {
	if d.config.Executor != nil {
		return d.config.Executor.Execute(task, d)
	}
	d.call = CallExecutor{Context: d.number, Iteration: int(d.iteration)}
	_, err := task.Await(&d.call)
	return err
}

// report reports the dispatch's failure to its observers.
func (d *Dispatch) report(err error) error {
	if !d.ended {
		d.turn.emitError(d, err)
	}
	return err
}

// Number of the dispatch within its turn, from 1.
func (d *Dispatch) Number() uint32 { return d.number }

// Status of a dispatch that has ended.
func (d *Dispatch) Status() Status { return d.status }

// Iterations that ran so far.
func (d *Dispatch) Iterations() int { return d.iterations }

// Iteration that is running, from 0.
func (d *Dispatch) Iteration() int { return int(d.iteration) }

// Turn that the dispatch belongs to.
func (d *Dispatch) Turn() *Turn { return d.turn }

// Aborted reports whether the dispatch was aborted, by itself or with its turn.
func (d *Dispatch) Aborted() bool { return d.aborted }

// State holds the executor's own state of the dispatch.
func (d *Dispatch) State() *any { return &d.state }

// Records visits a collection in order, with each record's handle and encoded body.
func (d *Dispatch) Records(kind record.Kind, yield func(handle int64, body []byte) bool) {
	d.cols[kind].each(func(handle int64) bool { return yield(handle, d.turn.records.body(handle)) })
}

// RecordsFrom visits a collection from the n-th record on.
func (d *Dispatch) RecordsFrom(kind record.Kind, n int, yield func(handle int64, body []byte)) {
	d.cols[kind].eachFrom(n, func(handle int64) { yield(handle, d.turn.records.body(handle)) })
}

// Version returns the number of records of a collection, and a number that changes with every change except
// appending.
func (d *Dispatch) Version(kind record.Kind) (version uint32, size int) {
	c := &d.cols[kind]
	return c.edits, c.size()
}
