package turn

import (
	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// edits are changes that host code made to collections and that the core has not been told of yet. They go out in front
// of the turn's next frame.
type edits struct {
	frames []byte
	// Records that were added one after the other share a frame; this one is still open.
	context uint32
	kind    uint8
	first   int64
	count   uint32
	bodies  []byte // behind room for their header
}

// maxEdits is how many bytes of edits are held back at most.
const maxEdits = 4 << 20

// Edit queues a change. The caller holds the turn's lock and has applied the change to the host's copy.
func (t *Turn) Edit(f *abi.Edit) {
	if t.closed {
		return
	}
	e := &t.edits
	e.close(t.number)
	f.Turn = t.number
	e.add(f)
	if len(e.frames) > maxEdits {
		_ = t.Push() // when it fails the turn has ended
	}
}

// addRecord puts a record at the end of a collection, if it is not in. The caller holds t.mu.
func (t *Turn) addRecord(c *Context, r record.Record, body []byte) {
	kind := collections.Of(r)
	if handle, known := t.handles.Find(r); known {
		if !c.records[kind].Has(handle) {
			c.records[kind].Add(handle, 1)
			t.Edit(&abi.Edit{Context: c.number, Collection: kind, Edit: abi.EditAddKnown, Handle: handle})
		}
		return
	}
	e := &t.edits
	next := t.handles.Next()
	// A large one gets a frame of its own.
	if e.count == 0 || e.context != c.number || e.kind != kind || e.first+int64(e.count) != next || len(body) > collections.MaxBlock {
		e.close(t.number)
		e.context, e.kind, e.first = c.number, kind, next
	}
	c.records[kind].Add(t.handles.Give(r), 1)
	if t.closed {
		return
	}
	if e.count == 0 {
		e.bodies = append(e.bodies, make([]byte, abi.BytesRoom)...)
	}
	e.bodies, e.count = append(e.bodies, body...), e.count+1
	if len(e.bodies) > maxEdits/2 {
		e.close(t.number)
		_ = t.Push() // when it fails the turn has ended
	}
}

// add appends a frame.
func (e *edits) add(f *abi.Edit) {
	s := takeSpace()
	s.edit = *f
	e.frames = abi.Append(e.frames, &s.edit)
	s.free()
}

// close ends the frame of records that were added one after the other.
func (e *edits) close(turn uint32) {
	if e.count == 0 {
		return
	}
	e.add(&abi.Edit{
		Turn: turn, Context: e.context, Collection: e.kind, Edit: abi.EditAdd, Handle: e.first, Count: e.count,
		Data: abi.BytesIn(e.bodies),
	})
	e.count = 0
	if cap(e.bodies) > 1<<16 {
		e.bodies = nil // do not hold on to one large batch for the rest of the turn
	}
	e.bodies = e.bodies[:0]
}

// addHistory puts the records of a history at the end of a collection. The caller holds t.mu.
func (t *Turn) addHistory(c *Context, view collections.View) error {
	if view.Len() == 0 || t.closed {
		return nil
	}
	// From the first record on that has its handle already they go one by one. Mostly that is none, or the last: the
	// turn's own message.
	rest := view.From(t.handles.FirstKnown(view))
	if view = view.First(view.Len() - len(rest)); view.Len() > 0 {
		number, err := t.core.History(view)
		if err != nil {
			return err
		}
		t.journal.history(number, view)
		first := t.handles.GiveHistory(view)
		c.records[view.Kind()].Add(first, view.Len())
		t.Edit(&abi.Edit{
			Context: c.number, Collection: view.Kind(), Edit: abi.EditAddHistory, Handle: first, Count: uint32(view.Len()), History: number,
		})
	}
	for i, r := range rest {
		t.addRecord(c, r, view.History().Body(view.Len()+i))
	}
	return nil
}

// replaceRecord puts a record in the place of another. The caller holds t.mu.
func (t *Turn) replaceRecord(c *Context, old, r record.Record, body abi.Raw) bool {
	kind := collections.Of(old)
	o := &c.records[kind]
	at, known := t.handles.Find(old)
	if !known || !o.Has(at) {
		return false
	}
	other, known := t.handles.Find(r)
	if known && other == at {
		return true
	}
	if known && o.Has(other) {
		// It leaves the place where it was.
		o.Remove(other)
		t.Edit(&abi.Edit{Context: c.number, Collection: kind, Edit: abi.EditRemove, Handle: other})
	}
	other, data := t.name(r, body)
	o.Replace(at, other)
	t.Edit(&abi.Edit{Context: c.number, Collection: kind, Edit: abi.EditReplace, Handle: at, Other: other, Data: data})
	return true
}

// name returns the handle of a record and, if the guest does not know it, its body, which encode has made. The caller
// holds t.mu and sends what is returned as its next frame of the turn, or as part of it.
func (t *Turn) name(r record.Record, body abi.Raw) (handle int64, data abi.Raw) {
	if handle, known := t.handles.Find(r); known {
		return handle, nil
	}
	t.edits.close(t.number)
	return t.handles.Give(r), body
}

// encode returns the body of a record for a Data field. It may run code of the record's payload: no lock may be held.
func (t *Turn) encode(r record.Record) (abi.Raw, error) {
	body, err := t.appendRecord(make([]byte, abi.BytesRoom), r)
	if err != nil {
		return nil, err
	}
	return abi.BytesIn(body), nil
}

func (t *Turn) appendRecord(dst []byte, r record.Record) ([]byte, error) {
	out, err := collections.AppendBody(dst, r)
	if err != nil {
		return nil, err
	}
	if n := len(out) - len(dst); n > t.core.MaxBody() {
		return nil, TooLarge("", "a record", n, t.core.MaxBody(), nil)
	}
	return out, nil
}
