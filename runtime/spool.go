package runtime

import (
	"github.com/turncore/turncore/runtime/fault"
	"github.com/turncore/turncore/runtime/record"
)

// Spools reports whether storing a record must wait until its text, which the host holds, is spooled.
func (t *Turn) Spools(kind record.Kind, handle int64) bool {
	return kind == record.Retrievables && unspooled(t.records.body(handle))
}

// unspooled reports whether a retrievable's content is a text that the host holds and that must be read through a
// reader.
func unspooled(body []byte) bool {
	r := record.Retrievable(body)
	return record.PartOf(r.Part()) == record.TextPart && !r.Inline()
}

// spool has the host spool the text of a record and returns the handle that replaces the record's.
func (t *Turn) spool(task Task, context uint32, handle int64) (int64, error) {
	e := &Spool{Context: context, Handle: handle}
	if _, err := task.Await(e); err != nil {
		return 0, err
	}
	return t.spooled(e)
}

// spooled checks the host's answer and returns the handle that replaces the spooled one.
func (t *Turn) spooled(e *Spool) (int64, error) {
	if e.Into == 0 {
		return e.Handle, nil
	}
	if err := t.records.check(record.Retrievables, e.Into); err != nil {
		return 0, err
	}
	before, after := record.Retrievable(t.records.body(e.Handle)), record.Retrievable(t.records.body(e.Into))
	if string(before.ID()) != string(after.ID()) || record.PartOf(after.Part()) != record.ArtifactPart {
		return 0, fault.New(fault.InvalidInitialRetrievableValue, "the spooled record of "+string(before.ID())+" must have the same id and an artifact as its content")
	}
	return e.Into, nil
}

// StoreSpooled is Store, or Mutate by op, for a record for which Spools is true. It returns the handle of the queued
// record. The iteration waits for it.
func (d *Dispatch) StoreSpooled(task Task, op WriteOp, handle int64) (int64, error) {
	delta := Delta{Op: op, Kind: record.Retrievables, Handle: handle}
	if err := d.writable(1); err != nil {
		return 0, err
	}
	if err := d.turn.admit(&d.contextState, &delta); err != nil {
		return 0, err
	}
	d.spooling++
	into, err := d.turn.spool(task, d.number, handle)
	d.spooling--
	if err != nil {
		return 0, err
	}
	delta.Handle = into
	return into, d.write(delta)
}

// StoreDocument queues a retrievable of the guest. First the host spools the text of body and replaces it by an
// artifact. StoreDocument keeps body until then. The iteration waits for it.
func (d *Dispatch) StoreDocument(task Task, body []byte) error {
	t := d.turn
	delta := Delta{Op: WriteStore, Kind: record.Retrievables, Handle: t.records.make(body)}
	err := d.writable(1)
	if err == nil {
		err = t.admit(&d.contextState, &delta)
	}
	if err != nil {
		t.records.unmake()
		return err
	}
	made := delta.Handle
	t.sync(&d.contextState, record.Retrievables, SyncName, made, 0)
	d.spooling++
	delta.Handle, err = t.spool(task, d.number, made)
	d.spooling--
	if err != nil {
		return err
	}
	if delta.Handle != made {
		t.records.made[-made-1] = t.records.body(delta.Handle) // without the text
	}
	return d.write(delta)
}

// spoolPending spools the texts of the pending retrievables, one after the other, and replaces those records here and
// in the contexts they come from. It stops at the first failure. It leaves an up-to-date scan of the retrievables.
func (d *Dispatch) spoolPending(task Task) error {
	d.scan(sourcesFound)
	pending := d.artifacts.pending
	if len(pending) == 0 {
		return nil
	}
	for _, handle := range pending {
		into, err := d.turn.spool(task, d.number, handle)
		if err != nil {
			return err
		}
		if into == handle {
			d.artifacts.kept = append(d.artifacts.kept, into)
			continue
		}
		d.replaceSpooled(handle, into)
	}
	// The collection has changed meanwhile.
	d.artifacts.pending = nil
	d.artifacts.scans[sourcesFound].edits = d.cols[record.Retrievables].edits - 1
	d.scan(sourcesFound)
	return nil
}

// replaceSpooled replaces a record here and in the contexts that the dispatch's context was copied from.
func (d *Dispatch) replaceSpooled(handle, into int64) {
	t := d.turn
	for at := d; ; at = at.parent {
		c := &t.context
		if at != nil {
			c = &at.contextState
		} else if t.standalone {
			return
		}
		if col := &c.cols[record.Retrievables]; col.replace(handle, into) {
			t.sync(c, col.kind, SyncReplace, handle, into)
		}
		if at == nil {
			return
		}
	}
}
