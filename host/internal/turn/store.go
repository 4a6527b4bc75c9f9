package turn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/host/internal/collections"
	"github.com/turncore/turncore/host/record"
	"github.com/turncore/turncore/host/store"
)

// Store is MethodStore and MethodMutate. It returns the reply's value.
func (c *Context) Store(method uint8, r record.Record, old string) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	body, err := c.turn.encode(r)
	if err != nil {
		return nil, err
	}
	return c.Invoke(method, func(b []byte) ([]byte, error) {
		handle, data := c.turn.name(r, body)
		return (&abi.StoreArgs{Collection: collections.Of(r), Handle: handle, Data: data, Old: old}).Append(b), nil
	})
}

// StoreFound stores a document and returns the one that was stored in its place.
func (c *Context) StoreFound(method uint8, r *record.Retrievable) (*record.Retrievable, error) {
	v, err := c.Store(method, r, "")
	if err != nil {
		return nil, err
	}
	t := c.turn
	in := abi.NewReader(v)
	handle := in.Int(abi.MaxInt)
	t.mu.Lock()
	defer t.mu.Unlock()
	stored, ok := t.handles.Record(handle).(*record.Retrievable)
	if !in.OK() || !ok {
		return nil, fmt.Errorf("the reply to a store names %d, which is no document", handle)
	}
	return stored, nil
}

// Delete is MethodDelete.
func (c *Context) Delete(kind uint8, id string) error {
	_, err := c.Invoke(abi.MethodDelete, Payload(&abi.DeleteArgs{Collection: kind, ID: id}))
	return err
}

// ReplaceGroup is MethodReplaceGroup: it replaces the tool calls with the given ids.
func (c *Context) ReplaceGroup(ids []string, replacements []*record.ToolCall) error {
	t := c.turn
	bodies := make([]abi.Raw, len(replacements))
	for i, r := range replacements {
		err := r.Validate()
		if err == nil {
			bodies[i], err = t.encode(r)
		}
		if err != nil {
			return err
		}
	}
	_, err := c.Invoke(abi.MethodReplaceGroup, func(b []byte) ([]byte, error) {
		args := abi.ReplaceGroupArgs{IDs: ids}
		for i, r := range replacements {
			handle, data := t.name(r, bodies[i])
			args.Items = append(args.Items, abi.Item{Handle: handle, Data: data})
		}
		return args.Append(b), nil
	})
	return err
}

// ToolCallCount is MethodToolCallCount.
func (c *Context) ToolCallCount(checksum string) (int, error) {
	v, err := c.Invoke(abi.MethodToolCallCount, Payload(&abi.CountArgs{Checksum: checksum}))
	if err != nil {
		return 0, err
	}
	in := abi.NewReader(v)
	n := int(in.Int(math.MaxInt32))
	return n, in.Err()
}

var writeOps = map[uint8]store.Op{
	abi.WriteStore: store.OpStore, abi.WriteMutate: store.OpMutate, abi.WriteDelete: store.OpDelete, abi.WriteReplaceGroup: store.OpReplaceToolCallGroup,
}

// Delta resolves the handles of a write. The caller holds the turn's lock.
func (t *Turn) Delta(f *abi.Delta) (store.Delta, error) {
	op, known := writeOps[f.Write]
	if !known || f.Collection >= record.Kinds {
		return store.Delta{}, fmt.Errorf("write %d of collection %d", f.Write, f.Collection)
	}
	d := store.Delta{Op: op, Kind: record.Kind(f.Collection).String(), ID: f.ID, IDs: f.IDs}
	switch f.Write {
	case abi.WriteStore, abi.WriteMutate:
		r := t.handles.Record(f.Handle)
		if r == nil || collections.Of(r) != f.Collection {
			return store.Delta{}, fmt.Errorf("handle %d names no record of collection %d", f.Handle, f.Collection)
		}
		d.Record = r
		d.ID = cmp.Or(d.ID, record.Key(r))
	case abi.WriteReplaceGroup:
		for _, handle := range f.Handles {
			c, ok := t.handles.Record(handle).(*record.ToolCall)
			if !ok {
				return store.Delta{}, fmt.Errorf("handle %d names no tool call", handle)
			}
			d.Records = append(d.Records, c)
		}
	}
	return d, nil
}

// Deltas resolves the handles of writes. The caller holds the turn's lock.
func (t *Turn) Deltas(list []abi.Delta) ([]store.Delta, error) {
	out := make([]store.Delta, len(list))
	for i := range list {
		var err error
		if out[i], err = t.Delta(&list[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
