package runtime

import (
	"slices"

	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
	"github.com/turncore/turncore/runtime/value"
)

// WriteOp is a kind of write. The numbers are the ABI's.
type WriteOp uint8

// Kinds of write.
const (
	WriteStore        WriteOp = 0
	WriteMutate       WriteOp = 1
	WriteDelete       WriteOp = 2
	WriteReplaceGroup WriteOp = 3
)

// Delta is one write.
type Delta struct {
	Op      WriteOp
	Kind    record.Kind
	Handle  int64    // store, mutate
	ID      string   // the record's id; of an instruction the text (delete) or the old text (mutate)
	IDs     []string // replace group: removed
	Handles []int64  // replace group: their replacements
}

// MaxQueue is how many writes an iteration may queue.
const MaxQueue = 8192

// Accept gives the handles from first on to count records whose bodies lie back to back in data.
func (t *Turn) Accept(first int64, count uint32, data []byte) bool {
	return t.records.put(span{first: first, count: count, block: &block{count: count, data: data}})
}

// AcceptHistory gives the handles from first on to the first count records of a history.
func (t *Turn) AcceptHistory(first int64, count uint32, h *History) bool {
	return count <= h.Len() && t.records.put(span{first: first, count: count, history: h})
}

// Known tells whether a handle names a record.
func (t *Turn) Known(handle int64) bool { return t.records.known(handle) }

// check validates the record behind a handle.
func (t *Turn) check(kind record.Kind, handle int64) error {
	return record.Check(kind, t.records.body(handle))
}

// Store stores a record from turn middleware: through the storage callback at once, then in the collection.
func (t *Turn) Store(task Task, kind record.Kind, handle int64) error {
	return t.write(task, Delta{Op: WriteStore, Kind: kind, Handle: handle})
}

// Mutate replaces a record by one with the same id; old is the text that an instruction replaces.
func (t *Turn) Mutate(task Task, kind record.Kind, handle int64, old string) error {
	return t.write(task, Delta{Op: WriteMutate, Kind: kind, Handle: handle, ID: old})
}

// Delete deletes a record by its id, an instruction by its text.
func (t *Turn) Delete(task Task, kind record.Kind, id string) error {
	return t.write(task, Delta{Op: WriteDelete, Kind: kind, ID: id})
}

// ReplaceGroup replaces tool calls by others.
func (t *Turn) ReplaceGroup(task Task, ids []string, handles []int64) error {
	return t.write(task, Delta{Op: WriteReplaceGroup, Kind: record.ToolCalls, IDs: ids, Handles: handles})
}

func (t *Turn) write(task Task, delta Delta) error {
	if err := t.admit(&t.context, &delta); err != nil {
		return err
	}
	if _, err := task.Await(&Write{Delta: delta}); err != nil {
		return err
	}
	t.apply(&t.context, delta)
	return nil
}

// admit checks a write against a context before anything is changed, and fills in a mutated record's id.
func (t *Turn) admit(c *contextState, delta *Delta) error {
	handles := delta.Handles
	if delta.Op == WriteStore || delta.Op == WriteMutate {
		handles = []int64{delta.Handle}
	}
	for _, handle := range handles {
		if err := t.check(delta.Kind, handle); err != nil {
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

// collision refuses an id that a tool call and a retrievable would share.
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

// apply makes a write's change in a context's collection and tells the world.
func (t *Turn) apply(c *contextState, delta Delta) {
	col := &c.cols[delta.Kind]
	switch delta.Op {
	case WriteStore:
		if !col.contains(delta.Handle) {
			col.append(delta.Handle, 1)
			t.sync(c, delta.Kind, SyncAdd, delta.Handle, 0)
		}
	case WriteMutate:
		t.replaceByID(c, col, delta.ID, delta.Handle)
	case WriteDelete:
		if handle, ok := col.find(&t.records, delta.ID); ok {
			col.remove(handle)
			t.sync(c, delta.Kind, SyncRemove, handle, 0)
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
		col.append(handle, 1)
		t.sync(c, col.kind, SyncAdd, handle, 0)
		return
	}
	for _, extra := range found[1:] {
		col.remove(extra)
		t.sync(c, col.kind, SyncRemove, extra, 0)
	}
	if found[0] != handle {
		col.replace(found[0], handle)
		t.sync(c, col.kind, SyncReplace, found[0], handle)
	}
}

// replaceGroup puts replacements where the first of the removed tool calls was, or at the end.
func (t *Turn) replaceGroup(c *contextState, col *Collection, delta Delta) {
	var removed []int64
	col.each(func(handle int64) bool {
		if slices.Contains(delta.IDs, string(record.ID(col.kind, t.records.body(handle)))) {
			removed = append(removed, handle)
		}
		return true
	})
	before := int64(0)
	if len(removed) > 0 {
		before = removed[0]
	}
	for _, handle := range delta.Handles {
		if slices.Contains(removed, handle) || col.contains(handle) {
			col.remove(handle)
			t.sync(c, col.kind, SyncRemove, handle, 0)
			removed = slices.DeleteFunc(removed, func(h int64) bool { return h == handle })
			if handle == before {
				before = 0
				if len(removed) > 0 {
					before = removed[0]
				}
			}
		}
		col.insert(handle, before)
		t.sync(c, col.kind, SyncInsert, handle, before)
	}
	for _, handle := range removed {
		col.remove(handle)
		t.sync(c, col.kind, SyncRemove, handle, 0)
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

// StoreBody queues a record that the guest made. It keeps body.
func (d *Dispatch) StoreBody(kind record.Kind, body []byte) error {
	return d.Store(kind, d.turn.records.make(body))
}

func (d *Dispatch) write(delta Delta) error {
	if !d.begun || d.ended {
		return fault.New(fault.CallAfterEnd, "no iteration of this dispatch is open")
	}
	if len(d.queue) >= MaxQueue {
		return fault.New(fault.ABILimitExceeded, "an iteration queues at most 8,192 writes")
	}
	if err := d.turn.admit(&d.contextState, &delta); err != nil {
		return err
	}
	d.enqueue(delta)
	return nil
}

// enqueue changes the dispatch's collection and queues the write.
func (d *Dispatch) enqueue(delta Delta) {
	if delta.Kind == record.ToolCalls {
		d.counts = nil
	}
	d.turn.apply(&d.contextState, delta)
	d.queue = append(d.queue, delta)
}

// Commit writes the queue to storage, then to the parent's collections. What it committed a later nack does not take
// back. When it fails the queue holds what was not written.
func (d *Dispatch) Commit(task Task) error {
	deltas := d.queue
	if len(deltas) == 0 {
		return nil
	}
	d.queue = nil
	if d.parent != nil {
		for _, delta := range deltas {
			d.parent.enqueue(delta)
		}
		return nil
	}
	if _, err := task.Await(&Commit{Context: d.number, Deltas: deltas}); err != nil {
		f := fault.Wrap(fault.StorageCommitError, err)
		f.Details = fault.DetailsOf(err)
		applied := min(appliedOf(f.Details), len(deltas))
		d.queue = append(deltas[applied:len(deltas):len(deltas)], d.queue...)
		return f
	}
	if d.turn.standalone {
		return nil // there is no parent
	}
	for _, delta := range deltas {
		d.turn.apply(&d.turn.context, delta)
	}
	return nil
}

// appliedOf reads how many writes of a failed commit were applied: the first of a two-element list.
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

// ToolCallCount is how many current tool calls carry a checksum.
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
