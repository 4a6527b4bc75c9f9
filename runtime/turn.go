package runtime

import (
	"strconv"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Collections is the number of kinds of collection.
const Collections = 6

// Input starts a turn or a standalone dispatch.
type Input struct {
	ID           string
	Now          int64 // ms since the Unix epoch
	Seed         []byte
	SystemPrompt string
	Aborted      bool
	Quota        *Quota // nil for none
}

// Turn is one end-to-end agent request: input pipeline, dispatch, output pipeline. It holds the TurnContext's
// collections; a standalone dispatch has an invisible Turn too.
type Turn struct {
	// The fields that every delta uses stand together: with thousands of turns, none of them stays in the processor's
	// cache.
	elapsed    uint64
	world      World
	dispatches []*Dispatch
	one        [1]*Dispatch // room for the usual number of dispatches
	seq        uint32
	standalone bool // a dispatch without a turn: nobody sees the turn's context
	noisy      bool

	Input
	config  *Config
	records records
	context contextState

	stamp      int64
	minted     []minted // ids so far, by prefix
	executions uint32   // number of tool executions
	kept       uint32   // kept of the running StoreToolCall
	started    uint64
	turnEnd    TurnEndEvent
	reason     error // of the abort; may be nil
	tools      []*Tool
	made       []*Tool           // by the guest, numbered from firstMade
	gates      []*Gate           // open gates, in order of opening
	settled    []GateResult      // how each gate was settled, by number from 1; zero while it is open
	gateDue    uint64            // the timer last requested
	usage      []usage           // of model calls, by model
	counted    map[counted]int64 // tokens of counted texts
	noise      uint64            // state of Random, once noisy

	held      uint64     // bytes, see Quota
	borrowed  uint64     // bytes of its histories
	histories []*History // histories in use
	over      error      // set when the turn exceeds its quota
}

// contextState is the common part of a TurnContext and a DispatchContext.
type contextState struct {
	number   uint32
	aborted  bool
	ended    bool
	registry *Registry
	cols     [Collections]Collection
	stash    Stash
	warned   map[string]bool // kinds and subjects of reported warnings
	place    location
}

// NewTurn prepares a turn. Invalid input fails before any event.
func NewTurn(config *Config, in Input, world World) (*Turn, error) {
	t := &Turn{Input: in, config: config, world: world}
	t.dispatches = t.one[:0]
	t.context.aborted = in.Aborted
	for k := range t.context.cols {
		t.context.cols[k].kind = record.Kind(k)
	}
	registry, err := config.registry()
	if err != nil {
		return nil, err
	}
	t.context.registry = registry
	return t, nil
}

// SetElapsed moves the turn's clock to ms since its start. It never goes back.
func (t *Turn) SetElapsed(ms uint64) {
	if ms > t.elapsed {
		t.elapsed = ms
	}
}

// Elapsed is the turn's clock, ms since its start.
func (t *Turn) Elapsed() uint64 { return t.elapsed }

// maxStamp is the last instant allowed in records.
const maxStamp = 8_640_000_000_000_000

// Stamp is a creation time for a record of the guest, in ms since the Unix epoch. Stamps of a turn strictly increase,
// so that sorting records by time keeps their order even when the clock stands still.
func (t *Turn) Stamp() int64 {
	t.stamp = min(max(t.stamp+1, t.Now+int64(t.elapsed)), maxStamp)
	return t.stamp
}

// Floor makes all further stamps higher than ms.
func (t *Turn) Floor(ms int64) { t.stamp = max(t.stamp, min(ms, maxStamp)) }

// NewID makes an id that is unique in the turn and the same when the turn is replayed.
func (t *Turn) NewID(prefix string) string {
	i := 0
	for i < len(t.minted) && t.minted[i].prefix != prefix {
		i++
	}
	if i == len(t.minted) {
		t.minted = append(t.minted, minted{prefix: prefix})
	}
	t.minted[i].count++
	return t.numbered(prefix, t.minted[i].count)
}

// numbered is the turn's id with a prefix and a number behind it.
func (t *Turn) numbered(prefix string, n uint32) string {
	var room [64]byte
	id := append(append(append(room[:0], t.ID...), '.'), prefix...)
	return string(strconv.AppendUint(id, uint64(n), 10))
}

// minted is how many ids of a prefix there are. A turn has few prefixes.
type minted struct {
	prefix string
	count  uint32
}

// Run runs the turn to its end and returns its status; err is set for StatusNack and StatusFailed.
func (t *Turn) Run(task Task, message int64) (status Status, iterations int, err error) {
	t.started = t.elapsed
	t.emit(nil, EventTurnStart, nil)
	status, iterations, err = t.stages(task, message)
	if t.over != nil && status != StatusFailed {
		if err == nil {
			t.emitError(nil, t.over)
		}
		status, err = StatusFailed, t.over
	}
	t.cutInside(task, nil)
	t.context.ended = true
	t.abortGates(nil)
	t.turnEnd = TurnEndEvent{Started: t.started, Status: status}
	if status == StatusFailed {
		t.turnEnd.Err = err
	}
	t.emit(nil, EventTurnEnd, &t.turnEnd)
	return status, iterations, err
}

func (t *Turn) stages(task Task, message int64) (Status, int, error) {
	t.context.place.enter(inStart)
	if message != 0 && !t.context.aborted {
		if _, err := t.Store(task, record.Messages, message); err != nil {
			return t.fail(0, err)
		}
	}
	t.context.place.enter(inInput)
	if err := t.pipeline(task, nil, TurnInput, t.config.TurnInput); err != nil {
		return t.fail(0, err)
	}
	if t.context.aborted {
		return StatusAborted, 0, nil
	}
	t.context.place.enter(inBetween)
	d, err := t.Dispatch(task, nil, t.config)
	iterations := 0
	if d != nil {
		iterations = d.iterations
	}
	switch {
	case err != nil:
		t.emitError(nil, err)
		if d != nil && d.nackedBy(err) {
			return StatusNack, iterations, err
		}
		return StatusFailed, iterations, err
	case t.context.aborted || d.status == StatusAborted:
		return StatusAborted, iterations, nil
	}
	t.context.place.enter(inOutput)
	if err := t.pipeline(task, nil, TurnOutput, t.config.TurnOutput); err != nil {
		return t.fail(iterations, err)
	}
	if t.context.aborted {
		return StatusAborted, iterations, nil
	}
	return StatusAck, iterations, nil
}

func (t *Turn) fail(iterations int, err error) (Status, int, error) {
	if t.context.aborted && t.isAbort(nil, err) {
		return StatusAborted, iterations, nil
	}
	t.emitError(nil, err)
	return StatusFailed, iterations, err
}

// Abort aborts the turn and its dispatches.
func (t *Turn) Abort(reason error) {
	if t.context.aborted {
		return
	}
	t.context.aborted, t.reason = true, reason
	for _, d := range t.dispatches {
		d.aborted = true
	}
	t.abortGates(reason)
}

// AbortDispatch aborts one dispatch and those inside it.
func (t *Turn) AbortDispatch(number uint32, reason error) {
	d := t.DispatchContext(number)
	if d == nil {
		return
	}
	d.Abort(reason)
	for _, inner := range t.dispatches {
		if inner.parent == d {
			t.AbortDispatch(inner.number, reason)
		}
	}
}

// Aborted reports whether the turn was aborted.
func (t *Turn) Aborted() bool { return t.context.aborted }

// DispatchContext returns the turn's n-th dispatch, nil if there is none.
func (t *Turn) DispatchContext(n uint32) *Dispatch {
	if n == 0 || n > uint32(len(t.dispatches)) {
		return nil
	}
	return t.dispatches[n-1]
}

// isAbort reports whether an error counts as the abort of the turn (d nil) or of a dispatch.
func (t *Turn) isAbort(d *Dispatch, err error) bool {
	aborted := t.context.aborted
	if d != nil {
		aborted = aborted || d.aborted
	}
	return aborted && fault.IsAbort(err)
}

// emit reports an event of the turn, or of the dispatch d.
func (t *Turn) emit(d *Dispatch, kind EventKind, payload any) {
	t.world.Event(t.head(d, kind), payload)
}

func (t *Turn) head(d *Dispatch, kind EventKind) Head {
	t.seq++
	h := Head{Seq: t.seq, Kind: kind, Elapsed: t.elapsed, Iteration: -1, Scope: ScopeTurn}
	if d != nil {
		h.Dispatch, h.Scope = d.number, ScopeDispatch|ScopeTurn
		if d.begun {
			h.Iteration = d.iteration
		}
	}
	return h
}

// emitError reports an error to the turn's listeners, or only to the observers of d if the turn will report it.
func (t *Turn) emitError(d *Dispatch, err error) {
	h := t.head(d, EventError)
	if d != nil {
		h.Scope = ScopeDispatch
		if !t.standalone {
			t.seq-- // the turn's listeners do not get it and must see no gap
		}
	}
	t.world.Event(h, &ErrorEvent{err})
}
