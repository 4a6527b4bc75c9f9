package runtime

import "github.com/turncore/turncore/runtime/record"

// contextOf returns the state of a context: 0 is the turn, n its n-th dispatch; nil if there is none.
func (t *Turn) contextOf(number uint32) *contextState {
	if number == 0 {
		return &t.context
	}
	if d := t.DispatchContext(number); d != nil {
		return &d.contextState
	}
	return nil
}

// Add appends count records with handles from first on, for host code: several new ones, or one that may already be in
// the collection, which is then left alone. It reports whether context and handles exist.
func (t *Turn) Add(context uint32, kind record.Kind, first int64, count uint32) bool {
	col := t.edited(context, kind)
	if col == nil || count == 0 || !t.Known(first) || !t.Known(first+int64(count)-1) {
		return false
	}
	if count > 1 || !col.contains(first) {
		col.append(first, count)
	}
	return true
}

// Remove removes a record from a collection, for host code.
func (t *Turn) Remove(context uint32, kind record.Kind, handle int64) bool {
	col := t.edited(context, kind)
	return col != nil && col.remove(handle)
}

// Replace replaces a record by another, for host code. The other is moved if it is already in the collection.
func (t *Turn) Replace(context uint32, kind record.Kind, handle, other int64) bool {
	col := t.edited(context, kind)
	if col == nil || !t.Known(other) {
		return false
	}
	if handle == other || !col.contains(handle) {
		return col.contains(handle)
	}
	col.remove(other)
	return col.replace(handle, other)
}

// Clear empties a collection, for host code.
func (t *Turn) Clear(context uint32, kind record.Kind) bool {
	col := t.edited(context, kind)
	if col != nil {
		col.clear()
	}
	return col != nil
}

// edited returns the collection that host code changes, nil if there is no such context or kind. It drops the counts
// derived from the collection.
func (t *Turn) edited(context uint32, kind record.Kind) *Collection {
	c := t.contextOf(context)
	if c == nil || int(kind) >= Collections {
		return nil
	}
	if d := t.DispatchContext(context); d != nil && kind == record.ToolCalls {
		d.counts = nil
	}
	return &c.cols[kind]
}

// SetStash sets a value under a top-level key of a context's stash, for the guest's code, and tells the host. There is
// no change if there is no such context. It keeps v.
func (t *Turn) SetStash(context uint32, key string, v []byte) {
	if stash := t.Stash(context); stash != nil {
		stash.Set(key, v)
		t.world.Sync(Sync{Context: context, Kind: KindStash, Op: SyncSet, Key: key, Body: v})
	}
}

// Stash returns the stash of a context; nil if there is no such context.
func (t *Turn) Stash(context uint32) *Stash {
	if c := t.contextOf(context); c != nil {
		return &c.stash
	}
	return nil
}

// Registry returns the registry of a context, ready to be changed; nil if there is no such context.
func (t *Turn) Registry(context uint32) *Registry {
	c := t.contextOf(context)
	if c == nil {
		return nil
	}
	c.registry = c.registry.own()
	return c.registry
}

// Digest returns a hash of each collection of a context, for comparison with the host's copies.
func (t *Turn) Digest(context uint32) (sums [Collections]uint32, ok bool) {
	c := t.contextOf(context)
	if c == nil {
		return sums, false
	}
	for k := range c.cols {
		sums[k] = c.cols[k].digest()
	}
	return sums, true
}
