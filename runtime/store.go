package runtime

import (
	"strconv"

	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// WriteOp is a kind of write.
type WriteOp uint8

// Delta is one write.
type Delta struct {
	Op      WriteOp
	Kind    record.Kind
	Handle  int64    // store, mutate
	ID      string   // the record's id; of an instruction the text (delete) or the old text (mutate)
	IDs     []string // replace group: removed
	Handles []int64  // replace group: their replacements
}

// MaxQueue is the largest number of queued writes of an iteration, unless its runner's Config sets less.
const MaxQueue = 8192

// Accept assigns the handles from first on to count records whose bodies are consecutive in data.
func (t *Turn) Accept(first int64, count uint32, data []byte) bool {
	if !t.records.put(span{first: first, block: block{count: count, data: data}}) {
		return false
	}
	t.hold(len(data))
	return true
}

// AcceptHistory assigns the handles from first on to the first count records of a history.
func (t *Turn) AcceptHistory(first int64, count uint32, h *History) bool {
	if count > h.Len() || !t.records.put(span{first: first, history: h, block: block{count: count}}) {
		return false
	}
	t.borrow(h, count)
	return true
}

// Known reports whether a handle names a record.
func (t *Turn) Known(handle int64) bool { return t.records.known(handle) }

// Store stores a record from turn middleware: immediately through the storage callback, then in the collection. If
// the host holds the text of a retrievable, that text is spooled first. It returns the handle of the stored record.
func (t *Turn) Store(task Task, kind record.Kind, handle int64) (int64, error) {
	return t.write(task, Delta{Op: WriteStore, Kind: kind, Handle: handle})
}

// Mutate replaces a record by one with the same id; old is the text that an instruction replaces. Like Store it
// returns the handle of the stored record.
func (t *Turn) Mutate(task Task, kind record.Kind, handle int64, old string) (int64, error) {
	return t.write(task, Delta{Op: WriteMutate, Kind: kind, Handle: handle, ID: old})
}

// Delete deletes a record by its id, an instruction by its text.
func (t *Turn) Delete(task Task, kind record.Kind, id string) error {
	_, err := t.write(task, Delta{Op: WriteDelete, Kind: kind, ID: id})
	return err
}

// ReplaceGroup replaces tool calls by others.
func (t *Turn) ReplaceGroup(task Task, ids []string, handles []int64) error {
	_, err := t.write(task, Delta{Op: WriteReplaceGroup, Kind: record.ToolCalls, IDs: ids, Handles: handles})
	return err
}

func (t *Turn) write(task Task, delta Delta) (int64, error) {
	if err := t.admit(&t.context, &delta); err != nil {
		return 0, err
	}
	if t.Spools(delta.Kind, delta.Handle) {
		var err error
		if delta.Handle, err = t.spool(task, 0, delta.Handle); err != nil {
			return 0, err
		}
		if err := t.admit(&t.context, &delta); err != nil { // the id may be taken by this time
			return 0, err
		}
	}
	if _, err := task.Await(&Write{Delta: delta}); err != nil {
		return 0, err
	}
	t.apply(&t.context, delta)
	return delta.Handle, nil
}

// admit checks a write against a context before any change, and sets the id of a mutation.
func (t *Turn) admit(c *contextState, delta *Delta) error {
	handles := delta.Handles
	if delta.Op == WriteStore || delta.Op == WriteMutate {
		handles = []int64{delta.Handle}
	}
	for _, handle := range handles {
		if err := t.records.check(delta.Kind, handle); err != nil {
			return err
		}
		if delta.Op != WriteReplaceGroup {
			if err := t.collision(c, delta.Kind, handle); err != nil {
				return err
			}
		}
	}
	if delta.Op == WriteMutate && delta.Kind != record.Instructions {
		delta.ID = string(record.ID(delta.Kind, t.records.body(delta.Handle)))
	}
	return nil
}

// collision rejects an id that a tool call and a retrievable would share.
func (t *Turn) collision(c *contextState, kind record.Kind, handle int64) error {
	other := record.ToolCalls
	switch kind {
	case record.ToolCalls:
		other = record.Retrievables
	case record.Retrievables:
	default:
		return nil
	}
	if len(c.cols[other].runs) == 0 {
		return nil
	}
	id := string(record.ID(kind, t.records.body(handle)))
	if _, taken := c.cols[other].find(&t.records, id); taken {
		return fault.New(fault.ArtifactIDCollision, id)
	}
	return nil
}

// apply applies a write to a context's collection and notifies the world.
func (t *Turn) apply(c *contextState, delta Delta) {
	col := &c.cols[delta.Kind]
	switch delta.Op {
	case WriteStore:
		t.addOnce(c, col, delta.Handle)
	case WriteMutate:
		t.replaceByID(c, col, delta.ID, delta.Handle)
	case WriteDelete:
		if handle, ok := col.find(&t.records, delta.ID); ok {
			t.take(c, col, handle)
		}
	case WriteReplaceGroup:
		t.replaceGroup(c, col, delta)
	}
}

// replaceByID removes every record with the id and puts handle in the place of the first, or at the end.
func (t *Turn) replaceByID(c *contextState, col *Collection, id string, handle int64) {
	var found []int64
	for at, ok := col.find(&t.records, id); ok; at, ok = col.findAfter(&t.records, id, at) {
		found = append(found, at)
	}
	if len(found) == 0 {
		t.addOnce(c, col, handle)
		return
	}
	for _, extra := range found[1:] {
		t.take(c, col, extra)
	}
	if found[0] != handle {
		t.take(c, col, handle) // an instruction may already be in under its own text
		col.replace(found[0], handle)
		t.sync(c, col.kind, SyncReplace, found[0], handle)
	}
}

// addOnce appends a record unless it is in.
func (t *Turn) addOnce(c *contextState, col *Collection, handle int64) {
	if !col.contains(handle) {
		col.append(handle, 1)
		t.sync(c, col.kind, SyncAdd, handle, int64(t.kept))
	}
}

// take removes a record if it is in.
func (t *Turn) take(c *contextState, col *Collection, handle int64) {
	if col.remove(handle) {
		t.sync(c, col.kind, SyncRemove, handle, 0)
	}
}

// replaceGroup puts replacements where the first of the removed tool calls was, or at the end.
func (t *Turn) replaceGroup(c *contextState, col *Collection, delta Delta) {
	ids := make(map[string]struct{}, len(delta.IDs))
	for _, id := range delta.IDs {
		ids[id] = struct{}{}
	}
	replacements := make(map[int64]struct{}, len(delta.Handles))
	for _, handle := range delta.Handles {
		replacements[handle] = struct{}{}
	}
	var removed []int64
	var before int64 // the first record after the removed ones that stays in place
	col.each(func(handle int64) bool {
		if _, ok := ids[string(record.ID(col.kind, t.records.body(handle)))]; ok {
			removed = append(removed, handle)
		} else if _, moves := replacements[handle]; !moves && before == 0 && len(removed) > 0 {
			before = handle
		}
		return true
	})
	for _, handle := range removed {
		t.take(c, col, handle)
	}
	for _, handle := range delta.Handles {
		t.take(c, col, handle)
		col.insert(handle, before)
		t.sync(c, col.kind, SyncInsert, handle, before)
	}
}

func (t *Turn) sync(c *contextState, kind record.Kind, op SyncOp, handle, other int64) {
	s := Sync{Context: c.number, Kind: kind, Op: op, Handle: handle, Other: other}
	subject := handle
	if op == SyncReplace {
		subject = other
	}
	if subject < 0 {
		s.Body = t.records.body(subject)
	}
	t.world.Sync(s)
}

// Store queues a record. The dispatch's own collection changes at once; storage and the parent follow when the
// iteration succeeds.
func (d *Dispatch) Store(kind record.Kind, handle int64) error {
	return d.write(Delta{Op: WriteStore, Kind: kind, Handle: handle})
}

// Mutate queues the replacement of a record by one with the same id; old is the text that an instruction replaces.
func (d *Dispatch) Mutate(kind record.Kind, handle int64, old string) error {
	return d.write(Delta{Op: WriteMutate, Kind: kind, Handle: handle, ID: old})
}

// Delete queues the deletion of a record by its id, of an instruction by its text.
func (d *Dispatch) Delete(kind record.Kind, id string) error {
	return d.write(Delta{Op: WriteDelete, Kind: kind, ID: id})
}

// ReplaceGroup queues the replacement of tool calls by others.
func (d *Dispatch) ReplaceGroup(ids []string, handles []int64) error {
	return d.write(Delta{Op: WriteReplaceGroup, Kind: record.ToolCalls, IDs: ids, Handles: handles})
}

// StoreBody queues a record of the guest. It keeps body.
func (d *Dispatch) StoreBody(kind record.Kind, body []byte) error {
	d.turn.hold(len(body))
	if d.turn.over != nil {
		return d.turn.over
	}
	err := d.Store(kind, d.turn.records.make(body))
	if err != nil {
		d.turn.records.unmake()
		d.turn.hold(-len(body))
	}
	return err
}

// StoreToolCall queues a tool call of the guest. If the host keeps its results, kept is the number of that tool effect;
// 0 for text.
func (d *Dispatch) StoreToolCall(body []byte, kept uint32) error {
	d.turn.kept = kept
	err := d.StoreBody(record.ToolCalls, body)
	d.turn.kept = 0
	return err
}

func (d *Dispatch) write(delta Delta) error {
	if err := d.writable(1); err != nil {
		return err
	}
	if err := d.turn.admit(&d.contextState, &delta); err != nil {
		return err
	}
	d.enqueue(delta)
	return nil
}

// writable reports whether the iteration accepts n more writes.
func (d *Dispatch) writable(n int) error {
	if d.turn.over != nil {
		return d.turn.over
	}
	if !d.begun || d.closing {
		return fault.New(fault.CallAfterEnd, "no iteration of this dispatch is open")
	}
	limit := d.turn.config.Queue
	if limit == 0 {
		limit = MaxQueue
	}
	if len(d.queue)+n > limit {
		return fault.New(fault.ABILimitExceeded, "an iteration queues at most "+strconv.Itoa(limit)+" writes")
	}
	return nil
}

// enqueue changes the dispatch's collection and queues the write.
func (d *Dispatch) enqueue(delta Delta) {
	if delta.Kind == record.ToolCalls {
		d.counts = nil
	}
	d.noteStore(delta)
	d.turn.apply(&d.contextState, delta)
	d.queue = append(d.queue, delta)
	n := delta.bytes()
	d.queued += n
	d.turn.hold(n)
}

// Commit writes the queue to storage, then to the parent's collections. A later nack does not undo it. If it fails,
// the queue keeps the remaining writes. Commits of a dispatch run one after another, so that storage gets its writes
// in call order.
func (d *Dispatch) Commit(task Task) error {
	if d.committing {
		task.Wait(func() bool { return !d.committing })
	}
	if d.ended {
		return fault.New(fault.CallAfterEnd, "the dispatch has ended")
	}
	deltas := d.queue
	if len(deltas) == 0 {
		return nil
	}
	if d.turn.over != nil {
		return d.turn.over
	}
	if d.parent != nil {
		if err := d.parent.writable(len(deltas)); err != nil {
			return err
		}
		d.turn.hold(-d.queued)
		d.queue, d.queued = nil, 0
		for _, delta := range deltas {
			d.parent.enqueue(delta)
		}
		return nil
	}
	bytes := d.queued
	d.queue, d.queued, d.committing = nil, 0, true
	d.commit = Commit{Context: d.number, Deltas: deltas}
	_, err := task.Await(&d.commit)
	d.commit.Deltas, d.committing = nil, false
	applied := len(deltas)
	if err != nil {
		f := fault.Wrap(fault.StorageCommitError, err)
		f.Details = fault.DetailsOf(err)
		applied = min(appliedOf(f.Details), applied)
		d.queue = append(deltas[applied:len(deltas):len(deltas)], d.queue...)
		d.queued += bytes // applied writes stay counted until the iteration ends
		bytes = 0
		err = f
	}
	d.turn.hold(-bytes)
	if !d.turn.standalone {
		for _, delta := range deltas[:applied] {
			d.turn.apply(&d.turn.context, delta)
		}
	}
	return err
}

// appliedOf returns how many writes of a failed commit were applied: the first of a two-element list.
func appliedOf(details []byte) (applied int) {
	if value.KindOf(details) == value.KindList {
		_ = value.EachItem(details, func(i int, v []byte) bool {
			n, _ := value.Int(v)
			applied = max(int(n), 0)
			return false
		})
	}
	return applied
}

// ToolCallCount is the number of current tool calls with a checksum.
func (d *Dispatch) ToolCallCount(checksum string) int {
	if d.counts == nil {
		d.counts = make(map[string]int)
		d.Records(record.ToolCalls, func(_ int64, body []byte) bool {
			d.counts[string(record.ToolCall(body).Checksum())]++
			return true
		})
	}
	return d.counts[checksum]
}
