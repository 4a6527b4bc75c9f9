package turn

import (
	"fmt"
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
)

// readSync changes the host's copy of a context as the core says.
func (t *Turn) readSync(frame []byte) error {
	f := &t.space.sync
	if err := abi.DecodeTo(frame, f); err != nil {
		return err
	}
	if err := t.mine(f.Turn); err != nil {
		return err
	}
	if f.Sync == abi.SyncOpen {
		return t.openDispatch(f.Context, f.Other)
	}
	c := t.context(f.Context)
	switch {
	case c == nil:
		return fmt.Errorf("sync of context %d, which is not open", f.Context)
	case f.Sync == abi.SyncSignal:
		return t.readSignal(c, f)
	case f.Sync == abi.SyncSet && f.Collection == abi.CollectionStash:
		return c.readStash(f.Data)
	case f.Sync == abi.SyncTools && f.Collection == abi.CollectionTools:
		return t.Program.SetTools(c, f.Data)
	case f.Sync == abi.SyncDefine && f.Collection == abi.CollectionTools:
		return t.Program.AdoptTool(f.Data)
	case f.Collection >= record.Kinds:
		return fmt.Errorf("sync of collection %d", f.Collection)
	}
	o, subject := &c.records[f.Collection], f.Handle
	if f.Sync == abi.SyncReplace {
		subject = f.Other
	}
	if f.Sync != abi.SyncRemove {
		kept := int64(0)
		if f.Sync == abi.SyncAdd {
			kept = f.Other
		}
		if err := t.adopt(f.Collection, subject, f.Data, kept); err != nil {
			return err
		}
		if f.Sync == abi.SyncName {
			return nil
		}
		if o.Has(subject) {
			return fmt.Errorf("sync: handle %d is in collection %d already", subject, f.Collection)
		}
	}
	switch f.Sync {
	case abi.SyncAdd:
		o.Add(f.Handle, 1)
	case abi.SyncInsert:
		o.Insert(f.Handle, f.Other)
	case abi.SyncRemove:
		if !o.Remove(f.Handle) {
			return fmt.Errorf("sync: handle %d is not in collection %d", f.Handle, f.Collection)
		}
	case abi.SyncReplace:
		if !o.Replace(f.Handle, f.Other) {
			return fmt.Errorf("sync: handle %d is not in collection %d", f.Handle, f.Collection)
		}
	default:
		return fmt.Errorf("sync %d is unknown", f.Sync)
	}
	return nil
}

// adopt makes sure that a handle names a record of the right kind; the guest's come with their body the first time.
// kept is the effect whose kept result a tool call then holds, 0 for none.
func (t *Turn) adopt(kind uint8, handle int64, data abi.Raw, kept int64) error {
	body, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	if body != nil && t.handles.Record(handle) == nil {
		r, err := record.Decode(record.Kind(kind), body)
		if err != nil {
			return err
		}
		if kept != 0 {
			if err := t.adoptResult(r, kept); err != nil {
				return err
			}
		}
		if !t.handles.Adopt(handle, r) {
			return fmt.Errorf("sync: handle %d comes out of turn", handle)
		}
	}
	if r := t.handles.Record(handle); r == nil || collections.Of(r) != kind {
		return fmt.Errorf("sync: handle %d names no record of collection %d", handle, kind)
	}
	return nil
}

// openDispatch makes the context of a dispatch that begins.
func (t *Turn) openDispatch(number uint32, source int64) error {
	if int(number) != len(t.contexts) {
		return fmt.Errorf("context %d begins, expected was %d", number, len(t.contexts))
	}
	if p, ok := t.Program.(Stepper); ok {
		c := t.root.open(number)
		if err := p.Step(c, uint32(source)); err != nil {
			return err
		}
		t.contexts = append(t.contexts, c)
		return nil
	}
	// The source of a standalone dispatch is the state that the start frame filled.
	from := t.context(uint32(max(source, 0)))
	if from == nil {
		return fmt.Errorf("context %d begins as a copy of %d, which is not open", number, source)
	}
	c := from.open(number)
	t.Program.Open(c, from, t.opening)
	t.contexts = append(t.contexts, c)
	return nil
}

// verify compares the collections with the core's.
func (t *Turn) verify() error {
	for _, c := range t.contexts {
		if c.number == 0 && t.Standalone {
			continue
		}
		digest := &call{}
		t.lastCall++
		t.calls[t.lastCall] = digest
		in := abi.Append(nil, &abi.Call{Turn: t.number, Call: t.lastCall, Elapsed: t.elapsed, Context: c.number, Method: abi.MethodDigest})
		if err := t.step(&actor{}, in); err != nil {
			return err
		}
		sums := abi.NewReader(digest.value)
		n, err := sums.Array(), sums.Err()
		for kind := 0; kind < n && kind < record.Kinds && err == nil; kind++ {
			if sum := sums.Uint(math.MaxUint32); uint32(sum) != c.records[kind].Digest() {
				err = fmt.Errorf("the %s collections of context %d differ", record.Kind(kind).String(), c.number)
			}
		}
		if err == nil && n != record.Kinds {
			err = fmt.Errorf("the digest of context %d is malformed", c.number)
		}
		if err != nil {
			err = t.core.Retire(err)
			t.perish(err)
			return err
		}
	}
	return nil
}
