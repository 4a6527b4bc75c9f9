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
	c := t.contextOf(context)
	if c == nil || int(kind) >= Collections || count == 0 || !t.Known(first) || !t.Known(first+int64(count)-1) {
		return false
	}
	if count == 1 && c.cols[kind].contains(first) {
		return true
	}
	c.cols[kind].append(first, count)
	t.edited(context, kind)
	return true
}

// Remove removes a record from a collection, for host code.
func (t *Turn) Remove(context uint32, kind record.Kind, handle int64) bool {
	c := t.contextOf(context)
	if c == nil || int(kind) >= Collections {
		return false
	}
	t.edited(context, kind)
	return c.cols[kind].remove(handle)
}

// Replace replaces a record by another, for host code. The other is moved if it is already in the collection.
func (t *Turn) Replace(context uint32, kind record.Kind, handle, other int64) bool {
	c := t.contextOf(context)
	if c == nil || int(kind) >= Collections || !t.Known(other) {
		return false
	}
	t.edited(context, kind)
	col := &c.cols[kind]
	if handle == other || !col.contains(handle) {
		return col.contains(handle)
	}
	col.remove(other)
	return col.replace(handle, other)
}

// Clear empties a collection, for host code.
func (t *Turn) Clear(context uint32, kind record.Kind) bool {
	c := t.contextOf(context)
	if c == nil || int(kind) >= Collections {
		return false
	}
	t.edited(context, kind)
	c.cols[kind].clear()
	return true
}

// edited drops counts derived from a collection that host code changed.
func (t *Turn) edited(context uint32, kind record.Kind) {
	if kind != record.ToolCalls {
		return
	}
	if d := t.DispatchContext(context); d != nil {
		d.counts = nil
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
