package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turncore/turncore/abi"
	"github.com/turncore/turncore/abi/value"
	"github.com/turncore/turncore/host"
	"github.com/turncore/turncore/host/internal/wire"
)

// GetStash returns the value at a path of the stash as plain data. ok is false if there is none.
func (c *Context) GetStash(path string) (v any, ok bool) {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.stash.Get(strings.Split(path, "."))
}

// SetStash sets the value at a path of the stash.
func (c *Context) SetStash(path string, v any) error {
	// Encoding runs code of v's type, so that no lock may be held.
	data, err := wire.Append(nil, v, path)
	if err != nil {
		return host.NewError(abi.CodeInvalidValue, err.Error(), err)
	}
	steps := strings.Split(path, ".")
	if path == "" {
		return host.NewError(abi.CodeInvalidValue, "path: must be a non-empty string", nil)
	}
	if slices.Contains(steps, "") {
		return host.NewError(abi.CodeInvalidValue, "path: "+path+" is no path", nil)
	}
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if data, err = c.stash.With(path, steps, data); err != nil {
		return err
	}
	if limit := t.core.MaxBody(); len(data) > limit {
		return host.NewError(abi.CodeInvalidValue, path+": "+strconv.Itoa(len(data))+" bytes, at most "+strconv.Itoa(limit)+" fit a frame", nil)
	}
	c.putStash(steps[0], data)
	return nil
}

// DeleteStash removes the value at a path of the stash and reports whether there was one.
func (c *Context) DeleteStash(path string) bool {
	steps := strings.Split(path, ".")
	t := c.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(steps) > 1 {
		data, there := c.stash.Without(path, steps)
		if there {
			c.putStash(steps[0], data)
		}
		return there
	}
	if !c.stash.Unset(path) {
		return false
	}
	t.Edit(&abi.Edit{
		Context: c.number, Collection: abi.CollectionStash, Edit: abi.EditUnset, Data: abi.Bytes(value.AppendString(nil, path)),
	})
	return true
}

// putStash sets what is under a key. The caller holds the turn's lock.
func (c *Context) putStash(key string, data []byte) {
	c.stash.Set(key, data)
	c.turn.Edit(&abi.Edit{
		Context: c.number, Collection: abi.CollectionStash, Edit: abi.EditSet,
		Data: abi.Bytes(append(value.AppendString(nil, key), data...)),
	})
}

// AllStash returns the whole stash as plain data.
func (c *Context) AllStash() map[string]any {
	c.turn.mu.Lock()
	defer c.turn.mu.Unlock()
	return c.stash.All()
}

// readStash sets what the core's code has set. The caller holds t.mu.
func (c *Context) readStash(data abi.Raw) error {
	raw, err := abi.BytesOf(data)
	if err != nil {
		return err
	}
	r := abi.NewReader(raw)
	key := string(r.Text())
	v := r.Rest()
	if err := cmp.Or(r.Err(), value.Check(v)); err != nil {
		return fmt.Errorf("sync of the stash of context %d: %w", c.number, err)
	}
	c.stash.Set(key, slices.Clone(v))
	return nil
}
